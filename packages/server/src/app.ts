/** Composes the HTTP app out of the rooms' routes. Never listens. */
import fastify, { type FastifyInstance } from 'fastify';
import type { Environment } from './account.ts';
import type { Doorkeeper } from './accounts/accounts.ts';
import type { Database } from './database/database.ts';
import { acceptJson, answerErrors, requireCaller, routeOf } from './http.ts';
import type { Creator } from './jobs/create.ts';
import { jobRoutes } from './jobs/routes.ts';
import type { Log } from './log.ts';
import type { Readiness } from './operations/health.ts';
import type { Metrics } from './operations/metrics.ts';
import { operationRoutes } from './operations/routes.ts';
import type { Settings } from './settings.ts';

export interface AppOptions {
  database: Database;
  doorkeeper: Doorkeeper;
  creator: Creator;
  metrics: Metrics;
  readiness(): Promise<Readiness>;
  settings: Pick<Settings, 'maxTextBytes' | 'sandboxUrl' | 'metricsToken'>;
  log: Log;
}

/** JSON may write a byte of text as up to six; three times is what real encoders need (`\u4e2d` for 3 bytes). */
const JSON_OVERHEAD = 3;
const ENVELOPE_BYTES = 1024 * 1024;

/** Answers are data: nothing may run them, frame them, guess at their type, or keep them. */
const SAFE_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

const DOORS: { environment: Environment; prefix: string }[] = [
  { environment: 'production', prefix: '' },
  { environment: 'sandbox', prefix: '/sandbox' },
];

export function createApp(options: AppOptions): FastifyInstance {
  const { settings, log, metrics } = options;
  const sandbox = settings.sandboxUrl === undefined ? undefined : new URL(settings.sandboxUrl);
  const app = fastify({
    logger: false, // a request is logged below, by its route and never by its address
    bodyLimit: settings.maxTextBytes * JSON_OVERHEAD + ENVELOPE_BYTES,
    // Fastify's own limits let a trickling client hold a connection for minutes.
    requestTimeout: 30_000,
    http: { headersTimeout: 3_000, connectionsCheckingInterval: 1_000 },
    keepAliveTimeout: 75_000,
    genReqId: () => crypto.randomUUID(),
    // `/a/b` and `/a//b/` are `/a/b/`: served, never redirected, since a redirected POST becomes a GET.
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 512 },
    rewriteUrl(request) {
      const url = request.url ?? '/';
      const host = request.headers.host;
      const atSandbox = sandbox !== undefined && host === sandbox.host && !url.startsWith('/sandbox/');
      return atSandbox ? `/sandbox${url}` : url;
    },
  });

  acceptJson(app);
  answerErrors(app, log);
  app.addHook('onRequest', async (_, reply) => {
    reply.headers(SAFE_HEADERS);
  });
  app.addHook('onResponse', async (request, reply) => {
    const milliseconds = Math.round(reply.elapsedTime * 10) / 10;
    const route = routeOf(request);
    metrics.request(request.method, route, reply.statusCode, milliseconds / 1000);
    const status = reply.statusCode;
    log.debug({ request: request.id, method: request.method, route, status, milliseconds }, 'answered');
  });

  operationRoutes(app, { ...options, metricsToken: settings.metricsToken });
  for (const { environment, prefix } of DOORS) {
    void app.register(
      async (door) => {
        requireCaller(door, options.doorkeeper, environment);
        jobRoutes(door, options);
      },
      { prefix },
    );
  }
  return app;
}
