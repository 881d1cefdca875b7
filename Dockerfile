# The program as its npm package, with the offline engine. `compose.yaml` runs it with a PostgreSQL.
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY . .
RUN npm ci && npm run package && npm install --global --prefix /program ./dist/dragoman-[0-9]*.tgz

FROM node:24-bookworm-slim
COPY --from=build /program /usr/local
# Apertium from Debian's packages.
RUN dragoman engine install && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives
RUN mkdir /data && chown node:node /data
ENV NODE_ENV=production DRAGOMAN_HOST=0.0.0.0 DRAGOMAN_DATA=/data
USER node
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.DRAGOMAN_PORT || 8080) + '/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["dragoman"]
CMD ["serve"]
