/** The routes `/healthz`, `/readyz` and `/metrics`, which processes of every role serve. */
import type { FastifyInstance } from 'fastify';
import { hashesEqual, hashKey } from '../access/secrets.ts';
import { notFound, unauthorized } from '../base/errors.ts';
import { VERSION } from '../base/version.ts';
import { resource } from '../http/http.ts';
import type { Readiness } from './health.ts';
import type { Metrics } from './metrics.ts';

export function operationRoutes(
  app: FastifyInstance,
  options: { metrics: Metrics; metricsToken: string | undefined; readiness(): Promise<Readiness> },
): void {
  resource(app, '/healthz', { GET: async () => ({ status: 'ok', version: VERSION }) });
  resource(app, '/readyz', {
    async GET(_, reply) {
      const readiness = await options.readiness();
      if (!readiness.ready) reply.header('retry-after', '1');
      return reply.code(readiness.ready ? 200 : 503).send(readiness);
    },
  });
  resource(app, '/metrics', {
    async GET(request, reply) {
      if (options.metricsToken === undefined) throw notFound();
      const expected = hashKey(`Bearer ${options.metricsToken}`);
      if (!hashesEqual(hashKey(request.headers.authorization ?? ''), expected)) throw unauthorized();
      const { contentType, text } = await options.metrics.expose();
      return reply.type(contentType).send(text);
    },
  });
}
