/** Composes the HTTP app out of the rooms' routes. Never listens. */
import { createServer } from 'node:http';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import type { Environment } from './account.ts';
import type { Doorkeeper } from './accounts/accounts.ts';
import { accountConsole } from './accounts/console.ts';
import { customerRoutes } from './accounts/customer.ts';
import { openDoor, requirePerson } from './accounts/door.ts';
import type { Mailer } from './accounts/mail.ts';
import { peopleConsole } from './accounts/people-console.ts';
import { peopleRoutes } from './accounts/people-routes.ts';
import { accountRoutes } from './accounts/routes.ts';
import { sandboxConsole, sandboxRoutes } from './accounts/sandbox-routes.ts';
import type { Vault } from './accounts/secrets.ts';
import { teamRoutes } from './accounts/team.ts';
import { brandConsole } from './brands/console.ts';
import { brandsOfCustomer } from './brands/customer.ts';
import { brandRoutes } from './brands/routes.ts';
import { followDeliveries } from './chats/chats.ts';
import type { MessageCreator } from './chats/create.ts';
import { chatsOfCustomer } from './chats/customer.ts';
import { chatRoutes } from './chats/routes.ts';
import { chatWebhooks } from './chats/schemas.ts';
import type { Database } from './database/database.ts';
import { deliveryConsole } from './deliveries/console.ts';
import { deliveriesOfCustomer } from './deliveries/customer.ts';
import { type DeliveryRouteOptions, deliveryRoutes } from './deliveries/routes.ts';
import { deliveryWebhooks } from './deliveries/schemas.ts';
import { type EditingRouteOptions, editingRoutes } from './editing/routes.ts';
import { guideRoutes } from './guides/routes.ts';
import { acceptJson, answerErrors, answerUnreadable, BODY_LIMIT, requireCaller, routeOf } from './http.ts';
import { jobConsole } from './jobs/console.ts';
import type { Creator } from './jobs/create.ts';
import { jobsOfCustomer } from './jobs/customer.ts';
import type { JobFollower } from './jobs/jobs.ts';
import { jobRoutes } from './jobs/routes.ts';
import { jobWebhooks } from './jobs/schemas.ts';
import type { Reopen } from './jobs/verdict.ts';
import { verdictRoutes } from './jobs/verdict-routes.ts';
import { wordCountRoutes } from './jobs/word-count.ts';
import { languageConsole } from './languages/console.ts';
import type { Languages } from './languages/languages.ts';
import { languageRoutes } from './languages/routes.ts';
import { ledgerConsole } from './ledger/console.ts';
import { ledgerOfCustomer } from './ledger/customer.ts';
import { priceConsole } from './ledger/price-console.ts';
import type { Hub } from './live/hub.ts';
import { LIVE_PATH, liveRoutes } from './live/routes.ts';
import { createLoad } from './load.ts';
import { createLog, type Log } from './log.ts';
import { memoryRoutes } from './memory/routes.ts';
import { type Audience, describeInterface, type OpenApi } from './openapi.ts';
import { auditConsole } from './operations/audit-console.ts';
import { operationConsole } from './operations/console.ts';
import type { Readiness } from './operations/health.ts';
import type { Metrics } from './operations/metrics.ts';
import { operationRoutes } from './operations/routes.ts';
import { retentionOfCustomer } from './retention/customer.ts';
import type { Scanner } from './scanning/scanner.ts';
import { loadSettings, type Settings } from './settings.ts';
import { engineConsole } from './translation/console.ts';
import { webRoutes } from './web.ts';

export interface AppOptions extends Pick<DeliveryRouteOptions, 'guard' | 'deliveryDue'> {
  database: Database;
  vault: Vault;
  mailer: Mailer;
  /** Where people reach this server, without a slash at the end. */
  root(): string;
  doorkeeper: Doorkeeper;
  creator: Creator;
  follower: JobFollower;
  reopen: Reopen;
  editing: EditingRouteOptions['editing'];
  languages: Languages;
  live: Hub;
  scanner: Scanner;
  messages: MessageCreator;
  metrics: Metrics;
  readiness(): Promise<Readiness>;
  settings: Settings;
  log: Log;
}

/** More than Node reads of a request's first line: what an id may be, its room says, in its own words. */
const MAX_PATH_LENGTH = 16 * 1024;
/** Two texts, each written with twice its bytes (`\u4e2d` is six for three). */
const JSON_OVERHEAD = 4;
const ENVELOPE_BYTES = 1024 * 1024;

/** Machines ask for these all day long, so their access lines are at the level `debug`. */
const UNREMARKABLE = new Set(['/healthz', '/readyz', '/metrics', LIVE_PATH]);

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

/** At the sandbox's own host name the prefix is not needed; health is the same at both. */
function rewrite(url: string, host: string, sandbox: URL | undefined): string {
  if (sandbox === undefined || /^\/(sandbox|healthz|readyz|metrics|docs|openapi\.json)\b/.test(url))
    return url;
  const asked = `${sandbox.protocol}//${host}`;
  return URL.canParse(asked) && new URL(asked).host === sandbox.host ? `/sandbox${url}` : url;
}

// Fastify's own limits let a trickling client hold a connection for minutes.
const SERVER_LIMITS = {
  headersTimeout: 3_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 75_000,
};

/** Says once that a proxy stands before this server and is not named: all visitors then count as one address. */
function warnOfProxy(app: FastifyInstance, settings: Settings, log: Log): void {
  const secure = settings.publicUrl?.startsWith('https:') ?? false;
  if (!secure || settings.trustedProxies.length > 0) return;
  let warned = false;
  app.addHook('onRequest', async ({ headers }) => {
    if (warned || headers['x-forwarded-for'] === undefined) return;
    warned = true;
    log.warn(
      'a request came with X-Forwarded-For and no proxy is trusted, so all visitors share one limit for sign-in; set DRAGOMAN_TRUSTED_PROXIES to the network of your proxy',
    );
  });
}

type CoreOptions = Pick<AppOptions, 'settings' | 'log' | 'metrics' | 'readiness'>;

/** An app with what every role serves: health, readiness and metrics. Anything else is answered with 404. */
export function createWorkerApp(options: CoreOptions): FastifyInstance {
  return createCore(options, loadOf(options.settings));
}

const loadOf = (settings: Settings) =>
  createLoad(settings.maxRequests, SAFE_HEADERS, settings.trustedProxies.length > 0);

function createCore(options: CoreOptions, load: ReturnType<typeof createLoad>): FastifyInstance {
  const { settings, log, metrics } = options;
  const sandbox = settings.sandboxUrl === undefined ? undefined : new URL(settings.sandboxUrl);
  const app = fastify({
    logger: false, // a request is logged below, by its route and never by its address
    bodyLimit: BODY_LIMIT,
    serverFactory: (handle) =>
      createServer(
        SERVER_LIMITS,
        load.guard(handle, () => metrics.shed()),
      ),
    // Who is asked for the address that a request comes from; nobody else may say it.
    trustProxy: settings.trustedProxies.length > 0 && settings.trustedProxies,
    clientErrorHandler: answerUnreadable(SAFE_HEADERS),
    genReqId: () => crypto.randomUUID(),
    // `/a/b` and `/a//b/` are `/a/b/`: served, never redirected, since a redirected POST becomes a GET.
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: MAX_PATH_LENGTH,
      // One value each, the last: a list where a text is expected would fault.
      querystringParser: (written) => Object.fromEntries(new URLSearchParams(written)),
    },
    rewriteUrl: (request) => rewrite(request.url ?? '/', request.headers.host ?? '', sandbox),
    frameworkErrors(error, _, reply: FastifyReply) {
      const bad = error.code === 'FST_ERR_BAD_URL';
      void reply.code(bad ? 400 : 404).send({ error: bad ? 'path: is not a valid address.' : 'Not found' });
    },
  });

  app.decorate('textBodyLimit', settings.maxTextBytes * JSON_OVERHEAD + ENVELOPE_BYTES);
  acceptJson(app);
  answerErrors(app, log);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...SAFE_HEADERS, 'x-request-id': request.id });
  });
  app.addHook('onResponse', async (request, reply) => {
    const milliseconds = Math.round(reply.elapsedTime * 10) / 10;
    const route = routeOf(request);
    const { method, id, caller, person } = request;
    const status = reply.statusCode;
    // A stream lasts for as long as its page is open, which says nothing about our speed.
    if (route !== LIVE_PATH || status !== 200) metrics.request(method, route, status, milliseconds / 1000);
    const account = (caller?.account ?? person?.account?.ref)?.accountId;
    const line = { request: id, method, route, status, milliseconds, ...(account && { account }) };
    log[UNREMARKABLE.has(route) ? 'debug' : 'info'](line, 'answered');
  });
  warnOfProxy(app, settings, log);

  void app.register(async (root) => {
    operationRoutes(root, { ...options, metricsToken: settings.metricsToken });
  });
  return app;
}

/** The app with every route of every room, in both environments. It does not listen. */
export function createApp(options: AppOptions): FastifyInstance {
  const load = loadOf(options.settings);
  const app = createCore(options, load);
  describeInterface(app, { ...jobWebhooks, ...chatWebhooks, ...deliveryWebhooks });
  void app.register(async (web) => {
    openDoor(web, options);
    peopleRoutes(web, options);
    sandboxRoutes(web, options);
    editingRoutes(web, options);
    liveRoutes(web, options);
    void web.register(async (customers) => {
      requirePerson(customers, options, 'customer');
      customerRoutes(customers, options);
      teamRoutes(customers, options);
      jobsOfCustomer(customers, options);
      chatsOfCustomer(customers, options);
      deliveriesOfCustomer(customers, { ...options, deliveriesMoved: followDeliveries });
      ledgerOfCustomer(customers, options);
      brandsOfCustomer(customers, options);
      retentionOfCustomer(customers, options);
    });
    void web.register(async (operators) => {
      requirePerson(operators, options, 'operator');
      operationConsole(operators, options);
      peopleConsole(operators, options);
      sandboxConsole(operators, options);
      auditConsole(operators, options);
      accountConsole(operators, options);
      ledgerConsole(operators, options);
      priceConsole(operators, options);
      brandConsole(operators, options);
      languageConsole(operators, options);
      engineConsole(operators, options);
      jobConsole(operators, options);
      deliveryConsole(operators, { ...options, deliveriesMoved: followDeliveries });
    });
    memoryRoutes(web, options);
    verdictRoutes(web, options);
  });
  void app.register(async (root) => {
    webRoutes(root, options);
    guideRoutes(root);
  });
  void app.register(async (doors) => {
    load.count(doors);
    for (const { environment, prefix } of DOORS) void doors.register(openInterface(environment), { prefix });
  });
  return app;

  /** Both interfaces of an environment. */
  function openInterface(environment: Environment) {
    return async (door: FastifyInstance) => {
      requireCaller(door, options.doorkeeper, environment);
      jobRoutes(door, options);
      brandRoutes(door);
      wordCountRoutes(door, options);
      languageRoutes(door, options);
      accountRoutes(door, options);
      chatRoutes(door, options);
      deliveryRoutes(door, { ...options, deliveriesMoved: followDeliveries });
    };
  }
}

/** The description of an interface, from an app that has nothing behind its routes and answers nobody. */
export async function describeApp(audience: Audience = 'public'): Promise<OpenApi> {
  const app = createApp({ settings: loadSettings({}), log: createLog('silent') } as unknown as AppOptions);
  await app.ready();
  return (audience === 'web' ? app.describeWeb() : app.swagger()) as OpenApi;
}
