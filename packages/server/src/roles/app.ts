/** Creates the HTTP app with the routes of all modules. The app does not listen yet. */
import { createServer } from 'node:http';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { ApiKeyAuthenticator } from '../access/api-keys.ts';
import { requireCaller } from '../access/api-keys.ts';
import { type Audience, CUSTOMERS, OPERATORS, PROGRAMS } from '../access/audiences.ts';
import { allowOrigins } from '../access/cors.ts';
import { createKeyRateLimiter, type KeyRateLimiter } from '../access/key-rate-limiter.ts';
import type { SignInProvider } from '../access/provider.ts';
import type { Vault } from '../access/secrets.ts';
import { protectWebRoutes, requirePerson } from '../access/session-auth.ts';
import type { Mailer } from '../accounts/mail.ts';
import { peopleConsole } from '../accounts/people-console.ts';
import { peopleRoutes } from '../accounts/people-routes.ts';
import { accountRoutes } from '../accounts/routes.ts';
import { sandboxConsole, sandboxRoutes } from '../accounts/sandbox-routes.ts';
import { teamRoutes } from '../accounts/team.ts';
import { agentRoutes } from '../agents/routes.ts';
import { createWaits } from '../agents/waits.ts';
import type { Environment } from '../base/account.ts';
import { createLog, type Log } from '../base/log.ts';
import { brandRoutes } from '../brands/brand-routes.ts';
import { proposalRoutes } from '../brands/proposal-routes.ts';
import { contextRoutes } from '../brands/routes.ts';
import { followDeliveries } from '../chats/chats.ts';
import type { MessageCreator } from '../chats/create.ts';
import { customerChatRoutes } from '../chats/customer.ts';
import { chatRoutes } from '../chats/routes.ts';
import { chatWebhooks } from '../chats/schemas.ts';
import type { Database } from '../database/database.ts';
import { endpointRoutes } from '../deliveries/endpoint-routes.ts';
import { type DeliveryRouteOptions, deliveryRoutes } from '../deliveries/routes.ts';
import { deliveryWebhooks } from '../deliveries/schemas.ts';
import { queriesOfCustomer, queryRoutes } from '../editing/review/customer.ts';
import { type EditingRouteOptions, editingRoutes } from '../editing/routes.ts';
import { withdrawTextsOf } from '../editing/votes/undo-votes.ts';
import { guideRoutes } from '../guides/routes.ts';
import { createProxyTrust, readClientAddresses } from '../http/client-address.ts';
import { compressAnswers } from '../http/compression.ts';
import { acceptJson, answerErrors, answerUnreadable, BODY_LIMIT, routeOf } from '../http/http.ts';
import { createLoadShedder, type LoadShedder } from '../http/load-shedding.ts';
import { type ApiName, describeInterface, type OpenApi } from '../http/openapi.ts';
import type { Reopen } from '../jobs/acceptance.ts';
import { acceptanceRoutes } from '../jobs/acceptance-routes.ts';
import { clockRoutes } from '../jobs/api/clock.ts';
import { quoteRoutes } from '../jobs/api/quote.ts';
import { jobRoutes } from '../jobs/api/routes.ts';
import { wordCountRoutes } from '../jobs/api/word-count.ts';
import type { JobCreator } from '../jobs/create/create.ts';
import { documentRoutes } from '../jobs/documents/documents.ts';
import type { JobHooks } from '../jobs/jobs.ts';
import { consoleJobRoutes } from '../jobs/list/console.ts';
import { customerJobRoutes } from '../jobs/list/customer.ts';
import { jobWebhooks } from '../jobs/schemas.ts';
import { languageConsole } from '../languages/console.ts';
import type { Languages } from '../languages/languages.ts';
import { languageRoutes } from '../languages/routes.ts';
import { priceConsole } from '../ledger/price-console.ts';
import { statementRoutes } from '../ledger/statement-routes.ts';
import { transferRoutes } from '../ledger/transfer-routes.ts';
import type { Hub } from '../live/hub.ts';
import { LIVE_PATH, liveRoutes } from '../live/routes.ts';
import { memoryLookUpRoutes } from '../memory/look-up.ts';
import { memoryRoutes } from '../memory/routes.ts';
import type { Readiness } from '../operations/health.ts';
import type { Metrics } from '../operations/metrics.ts';
import { operationRoutes } from '../operations/routes.ts';
import { accountConsole } from '../overview/accounts.ts';
import { auditConsole } from '../overview/audit.ts';
import { credentialRoutes } from '../overview/credential-routes.ts';
import { customerRoutes } from '../overview/customer.ts';
import { operationConsole } from '../overview/overview.ts';
import { retentionOfCustomer } from '../retention/customer.ts';
import type { Scanner } from '../scanning/scanner.ts';
import { loadSettings, type Settings } from '../settings/settings.ts';
import { comparisonRoutes } from '../translation/comparison-console.ts';
import { consoleEngineRoutes } from '../translation/console.ts';
import { webRoutes } from './web.ts';

export interface AppOptions extends Pick<DeliveryRouteOptions, 'guard' | 'deliveryDue'> {
  database: Database;
  vault: Vault;
  mailer: Mailer;
  /** The OpenID Connect provider that users sign in with, if there is one. */
  provider: SignInProvider | undefined;
  /** Returns the public address of the server, without a final slash. */
  root(): string;
  authenticator: ApiKeyAuthenticator;
  creator: JobCreator;
  hooks: JobHooks;
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

/**
 * The maximum length of a path parameter. It equals Node's limit for the request line and headers, so Fastify refuses
 * no id for its length. The modules check the length of ids.
 */
const MAX_PATH_LENGTH = 16 * 1024;
/**
 * The factor between the text limit and the body limit. A body has up to two texts (the source and a supplied
 * translation), and JSON may double the bytes of each (`\u4e2d` is six bytes for three).
 */
const JSON_OVERHEAD = 4;
const ENVELOPE_BYTES = 1024 * 1024;

/**
 * Paths that monitoring and open pages request all the time. Their access lines are logged at the level
 * `debug`.
 */
const POLLED_PATHS = new Set(['/healthz', '/readyz', '/metrics', LIVE_PATH]);

/** The headers of all answers. Answers are data, so browsers must not run, frame, sniff or store them. */
const SAFE_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

const ENVIRONMENTS: { environment: Environment; prefix: string }[] = [
  { environment: 'production', prefix: '' },
  { environment: 'sandbox', prefix: '/sandbox' },
];

/** Adds the sandbox prefix to URLs that are requested at the sandbox's own host name. */
function rewrite(url: string, host: string, sandbox: URL | undefined): string {
  if (sandbox === undefined || /^\/(sandbox|healthz|readyz|metrics|docs|openapi\.json)\b/.test(url))
    return url;
  const requested = `${sandbox.protocol}//${host}`;
  return URL.canParse(requested) && new URL(requested).host === sandbox.host ? `/sandbox${url}` : url;
}

// Limits for slow clients. With Fastify's defaults, a slow client can hold a connection for minutes.
const SERVER_LIMITS = {
  headersTimeout: 3_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 75_000,
};

/**
 * Logs one warning when a request came through a proxy although `DRAGOMAN_TRUSTED_PROXIES` is empty. All
 * clients behind a proxy that is not trusted count as one address.
 */
function warnOfProxy(app: FastifyInstance, settings: Settings, log: Log): void {
  const secure = settings.publicUrl?.startsWith('https:') ?? false;
  if (!secure || settings.trustedProxies.length > 0) return;
  let warned = false;
  app.addHook('onRequest', async ({ headers }) => {
    if (warned || headers['x-forwarded-for'] === undefined) return;
    warned = true;
    log.warn(
      'a request has X-Forwarded-For but no proxy is trusted, so all clients share one sign-in limit; set DRAGOMAN_TRUSTED_PROXIES to the network of your proxy',
    );
  });
}

type CoreOptions = Pick<AppOptions, 'settings' | 'log' | 'metrics' | 'readiness'>;

/** Returns what an access line shows about the caller, also about one whose key was refused. */
function describeCaller({ caller, person, refusedKey }: FastifyRequest): object {
  const key = caller ?? refusedKey;
  const account = key?.account ?? person?.account?.ref;
  const username = key?.username ?? person?.account?.username;
  return {
    ...(account && { account: account.accountId, username }),
    ...(key?.keyId && { key: key.keyId }),
    ...(refusedKey && { reason: refusedKey.reason }),
  };
}

/** Creates the app of a worker process: health, readiness and metrics. Other paths get 404. */
export function createWorkerApp(options: CoreOptions): FastifyInstance {
  return createCore(options, loadShedderOf(options.settings));
}

const loadShedderOf = (settings: Settings) =>
  createLoadShedder(settings.maxRequests, SAFE_HEADERS, settings.trustedProxies.length > 0);

function createCore(options: CoreOptions, shedder: LoadShedder): FastifyInstance {
  const { settings, log, metrics } = options;
  const sandbox = settings.sandboxUrl === undefined ? undefined : new URL(settings.sandboxUrl);
  const app = fastify({
    logger: false, // Fastify's own log is off. The hooks below log each request by its route and never by its URL.
    bodyLimit: BODY_LIMIT,
    // A request that arrived before the server closed is answered. A proxy would not send it to another process.
    return503OnClosing: false,
    serverFactory: (handle) =>
      createServer(
        SERVER_LIMITS,
        shedder.guard(handle, () => metrics.shed()),
      ),
    // Only trusted proxies may set the client's address.
    trustProxy: settings.trustedProxies.length > 0 && createProxyTrust(settings.trustedProxies),
    clientErrorHandler: answerUnreadable(SAFE_HEADERS),
    genReqId: () => crypto.randomUUID(),
    // `/a/b` and `/a//b/` are served like `/a/b/`, without a redirect, which would turn a POST into a GET.
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: MAX_PATH_LENGTH,
      // If a parameter is repeated, only its last value counts, because the schemas do not allow lists.
      querystringParser: (written) => Object.fromEntries(new URLSearchParams(written)),
    },
    rewriteUrl: (request) => rewrite(request.url ?? '/', request.headers.host ?? '', sandbox),
    frameworkErrors(error, _, reply: FastifyReply) {
      const bad = error.code === 'FST_ERR_BAD_URL';
      void reply.code(bad ? 400 : 404).send({ error: bad ? 'path: is not a valid URL.' : 'Not found' });
    },
  });

  app.decorate('textBodyLimit', settings.maxTextBytes * JSON_OVERHEAD + ENVELOPE_BYTES);
  acceptJson(app);
  compressAnswers(app);
  answerErrors(app, log);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...SAFE_HEADERS, 'x-request-id': request.id });
  });
  app.addHook('onResponse', async (request, reply) => {
    const milliseconds = Math.round(reply.elapsedTime * 10) / 10;
    const route = routeOf(request);
    const { method, id } = request;
    const status = reply.statusCode;
    // Event streams are left out of the request metrics, because the duration of a stream says nothing about
    // speed.
    if (route !== LIVE_PATH || status !== 200) metrics.request(method, route, status, milliseconds / 1000);
    const line = { request: id, method, route, status, milliseconds, ...describeCaller(request) };
    log[POLLED_PATHS.has(route) ? 'debug' : 'info'](line, 'answered');
  });
  readClientAddresses(app, log);
  warnOfProxy(app, settings, log);

  void app.register(async (root) => {
    operationRoutes(root, { ...options, metricsToken: settings.metricsToken });
  });
  return app;
}

/** Creates the app with the routes of all modules, in both environments. */
export function createApp(options: AppOptions): FastifyInstance {
  const shedder = loadShedderOf(options.settings);
  const app = createCore(options, shedder);
  describeInterface(app, { ...jobWebhooks, ...chatWebhooks, ...deliveryWebhooks });
  void app.register(async (web) => {
    protectWebRoutes(web, options);
    peopleRoutes(web, options);
    sandboxRoutes(web, options);
    editingRoutes(web, options);
    liveRoutes(web, options);
    void web.register(async (customers) => {
      requirePerson(customers, options, 'customer');
      customerRoutes(customers, options);
      teamRoutes(customers, options);
      customerJobRoutes(customers, options);
      documentRoutes(customers, options);
      customerChatRoutes(customers, options);
      sharedRoutes(customers, options, CUSTOMERS);
      queriesOfCustomer(customers, options);
      retentionOfCustomer(customers, options);
    });
    void web.register(async (operators) => {
      requirePerson(operators, options, 'operator');
      operationConsole(operators, options);
      peopleConsole(operators, options);
      sandboxConsole(operators, options);
      auditConsole(operators, options);
      accountConsole(operators, options);
      priceConsole(operators, options);
      languageConsole(operators, options);
      consoleEngineRoutes(operators, options);
      comparisonRoutes(operators, options);
      consoleJobRoutes(operators, options);
      sharedRoutes(operators, options, OPERATORS);
    });
  });
  void app.register(async (root) => {
    webRoutes(root, options);
    guideRoutes(root);
  });
  const limiter = createKeyRateLimiter(options.settings.keyRequests);
  // Calls of agents that wait for results may be up to a quarter of the concurrent requests.
  const waits = createWaits(Math.floor(options.settings.maxRequests / 4));
  void app.register(async (api) => {
    shedder.count(api);
    for (const { environment, prefix } of ENVIRONMENTS) {
      void api.register(async (scope) => apiRoutes(scope, { ...options, limiter }, environment), { prefix });
      const agents = async (scope: FastifyInstance) => {
        requireCaller(scope, { ...options, limiter }, environment);
        agentRoutes(scope, { ...options, waits }, environment);
      };
      void api.register(agents, { prefix });
    }
  });
  return app;
}

/** Registers the operations that more than one audience may call. */
function sharedRoutes(app: FastifyInstance, options: AppOptions, audience: Audience): void {
  deliveryRoutes(app, { ...options, onDeliveriesChanged: followDeliveries }, audience);
  endpointRoutes(app, options, audience);
  credentialRoutes(app, options, audience);
  statementRoutes(app, options, audience);
  transferRoutes(app, options, audience);
  acceptanceRoutes(app, options, audience);
  brandRoutes(app, options, audience);
  proposalRoutes(app, options, audience);
  memoryRoutes(app, { ...options, withdrawVotes: withdrawTextsOf }, audience);
}

/** Registers the API for customers' programs in one environment. */
function apiRoutes(
  app: FastifyInstance,
  options: AppOptions & { limiter: KeyRateLimiter },
  environment: Environment,
): void {
  allowOrigins(app, options.authenticator);
  requireCaller(app, options, environment);
  jobRoutes(app, options);
  contextRoutes(app, options);
  memoryLookUpRoutes(app, options);
  wordCountRoutes(app, options);
  quoteRoutes(app, options);
  clockRoutes(app, options);
  languageRoutes(app, options);
  accountRoutes(app, options);
  queryRoutes(app, options);
  chatRoutes(app, options);
  sharedRoutes(app, options, PROGRAMS);
}

/**
 * Returns the OpenAPI document of the routes. Creates an app for this purpose, which has no database and
 * answers no requests.
 */
export async function describeApp(which: ApiName = 'public'): Promise<OpenApi> {
  const app = createApp({ settings: loadSettings({}), log: createLog('silent') } as unknown as AppOptions);
  await app.ready();
  return (which === 'web' ? app.describeWeb() : app.swagger()) as OpenApi;
}
