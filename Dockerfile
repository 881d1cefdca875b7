# The program with its web app and the offline engine. `compose.yaml` runs it with a PostgreSQL.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY . .
# Installs all libraries, builds the web app, then removes what only tests and builds need.
RUN npm ci && npm prune --omit=dev --ignore-scripts && rm -rf .git

FROM node:24-bookworm-slim
WORKDIR /app
COPY --from=build --chown=root:root /app .
# Apertium from Debian's packages.
RUN node packages/server/bin/dragoman.js engine install && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives
RUN mkdir /data && chown node:node /data
ENV NODE_ENV=production DRAGOMAN_HOST=0.0.0.0 DRAGOMAN_DATA=/data
USER node
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.DRAGOMAN_PORT || 8080) + '/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "packages/server/bin/dragoman.js"]
CMD ["serve"]
