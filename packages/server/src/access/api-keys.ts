/** API-key authentication: finds the account of the key in an `Authorization` header. */
import type { FastifyInstance } from 'fastify';
import { type AccountRef, type Caller, type Environment, type KeyScope, SCOPES } from '../base/account.ts';
import { ApiError, accountSuspended, unauthorized } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { MAX_ORIGIN_LENGTH } from './accounts.ts';
import { requireOrigin } from './cors.ts';
import type { KeyRateLimiter } from './key-rate-limiter.ts';
import { hashesEqual, hashKey, keyIdOf } from './secrets.ts';
import * as store from './store.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The key that `requireCaller` refused. */
    refusedKey?: RefusedKey;
  }
}

/** What the log shows about a refused key. The answer is the same for all. */
export interface RefusedKey {
  /** The public part of the key; undefined if the request has none. */
  keyId?: string;
  /** `unknown` also if the secret part is wrong. */
  reason: 'missing' | 'unknown' | 'revoked' | 'expired' | 'wrong environment' | 'wrong username';
  /** The account of the key; undefined unless the secret part is right. */
  account?: AccountRef;
  username?: string;
}

/** The error for a refused key. */
class KeyRefusal extends ApiError {
  readonly refused: RefusedKey;
  constructor(refused: RefusedKey) {
    const { code, message, headers } = unauthorized();
    super(code, message, headers);
    this.refused = refused;
  }
}

export interface ApiKeyAuthenticator {
  /**
   * Returns the caller with this API key. All failures get the same answer. @throws ApiError `unauthorized`
   */
  authenticate(authorization: string | undefined, environment: Environment): Promise<Caller>;
  /** Returns whether any account allows API calls from web pages of this origin. */
  isListedOrigin(origin: string): Promise<boolean>;
  /** Clears the cache of keys and origins. Called when a key or an account was changed. */
  clearCache(): void;
}

const CACHE_MILLISECONDS = 5_000;

const MAX_CACHED_KEYS = 10_000;
const MAX_CACHED_ORIGINS = 1_000;

/** An unknown key is compared with this row, so that its refusal takes as long as that of a known key. */
const NO_KEY: store.KeyRow = {
  part: 0,
  account_id: '00000000-0000-0000-0000-000000000000',
  username: '',
  account_status: 'active',
  environment: 'production',
  secret_hash: Buffer.alloc(32),
  dialect: 'spec',
  read_only: true,
  scopes: [],
  daily_cents: null,
  key_requests: null,
  allowed_origins: [],
  default_brand: null,
  ended: null,
  seconds_left: null,
  untouched: false,
};

const SCHEME = 'apikey ';

/**
 * The maximum length of an `Authorization` header. A user name has at most 64 characters and a key has 60.
 * The rest is for the scheme and for spaces.
 */
const MAX_CREDENTIAL_LENGTH = 256;

/**
 * Splits `ApiKey USERNAME:KEY` in one pass. A regular expression is not used: with backtracking over spaces,
 * one header from an unauthenticated client took 0.16 s.
 * @throws ApiError `unauthorized`
 */
function readCredential(authorization = ''): { username: string; secret: string } {
  if (authorization.length > MAX_CREDENTIAL_LENGTH) throw new KeyRefusal({ reason: 'unknown' });
  const written = authorization.trim();
  const credential = written.slice(SCHEME.length).trimStart();
  const colon = credential.indexOf(':');
  if (written.slice(0, SCHEME.length).toLowerCase() !== SCHEME || colon < 0) {
    throw new KeyRefusal({ reason: written === '' ? 'missing' : 'unknown' });
  }
  return { username: credential.slice(0, colon), secret: credential.slice(colon + 1) };
}

/**
 * Creates an authenticator that caches each key for five seconds, and never beyond the key's expiry.
 * `clearCache` empties the cache at once. The cache is keyed by the hash of the credential, so it never
 * contains the credential itself.
 */
export function createApiKeyAuthenticator(
  database: Database,
  now: () => number = Date.now,
): ApiKeyAuthenticator {
  const cache = new Map<string, { caller: Caller; until: number }>();
  const origins = new Map<string, { listed: boolean; until: number }>();
  let clears = 0;

  async function lookUp(
    username: string,
    secret: string,
    environment: Environment,
  ): Promise<{ caller: Caller; secondsLeft: number }> {
    const keyId = keyIdOf(secret, 'production') ?? keyIdOf(secret, 'sandbox') ?? '';
    const found = await store.findKey(database, { keyId });
    const key = found ?? NO_KEY;
    const secretRight = hashesEqual(hashKey(secret), key.secret_hash);
    const nameRight = hashesEqual(hashKey(username), hashKey(key.username));
    if (found === undefined || !secretRight) {
      throw new KeyRefusal({ ...(keyId === '' ? {} : { keyId }), reason: 'unknown' });
    }
    const refuse = (reason: RefusedKey['reason']) =>
      new KeyRefusal({
        keyId,
        reason,
        account: { part: key.part, accountId: key.account_id } as AccountRef,
        username: key.username,
      });
    if (key.ended !== null) throw refuse(key.ended);
    if (key.environment !== environment) throw refuse('wrong environment');
    if (!nameRight) throw refuse('wrong username');
    // Writes the time of the key's last use. The request does not wait for this write, because the time only
    // informs operators.
    if (key.untouched) void store.touchKey(database, { keyId }).catch(() => {});
    const caller = {
      account: { part: key.part, accountId: key.account_id } as AccountRef,
      username,
      keyId,
      environment,
      dialect: key.dialect,
      readOnly: key.read_only,
      scopes: key.scopes ?? SCOPES,
      dailyCents: key.daily_cents ?? undefined,
      requestsPerSecond: key.key_requests ?? undefined,
      allowedOrigins: key.allowed_origins,
      defaultBrand: key.default_brand ?? undefined,
      suspended: key.account_status === 'suspended',
    };
    return { caller, secondsLeft: key.seconds_left ?? Number.POSITIVE_INFINITY };
  }

  return {
    async authenticate(authorization, environment) {
      const { username, secret } = readCredential(authorization);
      const cacheKey = hashKey(`${environment} ${username}:${secret}`).toString('base64');
      const cached = cache.get(cacheKey);
      if (cached !== undefined && cached.until > now()) return cached.caller;
      cache.delete(cacheKey);
      const clearsBefore = clears;
      const since = now();
      const { caller, secondsLeft } = await lookUp(username, secret, environment);
      // If a key was revoked while its row was read, the row may be outdated and is not cached.
      if (clearsBefore !== clears) return caller;
      if (cache.size >= MAX_CACHED_KEYS) cache.clear();
      cache.set(cacheKey, { caller, until: since + Math.min(CACHE_MILLISECONDS, secondsLeft * 1000) });
      return caller;
    },
    async isListedOrigin(origin) {
      if (origin.length > MAX_ORIGIN_LENGTH) return false;
      const cached = origins.get(origin);
      if (cached !== undefined && cached.until > now()) return cached.listed;
      const clearsBefore = clears;
      const until = now() + CACHE_MILLISECONDS;
      const listed = await store.isListedOrigin(database, { origin });
      if (clearsBefore !== clears) return listed;
      if (origins.size >= MAX_CACHED_ORIGINS) origins.clear();
      origins.set(origin, { listed, until });
      return listed;
    },
    clearCache() {
      clears++;
      cache.clear();
      origins.clear();
    },
  };
}

/** Requires that the caller's key has a scope. @throws ApiError `insufficient_scope` that names the scope */
export function requireScope({ scopes }: Caller, scope: KeyScope): void {
  if (scopes.includes(scope) || (scope === 'machine' && scopes.includes('jobs'))) return;
  // This header of RFC 6750 names the missing scope, because 403 answers of the chat interface have no body.
  throw new ApiError('insufficient_scope', `This key does not have the scope "${scope}".`, {
    'www-authenticate': `ApiKey error="insufficient_scope", scope="${scope}"`,
  });
}

/**
 * Requires an API key of one environment, with the scopes of the operation, for every route of `app`. Counts
 * the requests of each key.
 * @throws TypeError when a route without a scope is registered
 */
export function requireCaller(
  app: FastifyInstance,
  { authenticator, limiter }: { authenticator: ApiKeyAuthenticator; limiter: KeyRateLimiter },
  environment: Environment,
): void {
  app.addHook('onRoute', ({ url, config }) => {
    if (config?.scope === undefined) throw new TypeError(`the route ${url} does not declare its scope`);
  });
  app.addHook('onRequest', async (request, reply) => {
    try {
      request.caller = await authenticator.authenticate(request.headers.authorization, environment);
    } catch (error) {
      if (error instanceof KeyRefusal) request.refusedKey = error.refused;
      throw error;
    }
    reply.headers(limiter.count(request.caller));
    requireOrigin(request, reply);
    if (request.caller.suspended) throw accountSuspended();
    const { scope = 'any', readOnlyKeys = false } = request.routeOptions.config;
    for (const one of [scope].flat()) if (one !== 'any') requireScope(request.caller, one);
    const reads = readOnlyKeys || request.method === 'GET' || request.method === 'HEAD';
    if (request.caller.readOnly && !reads) {
      throw new ApiError('read_only_key', 'This key is read-only.');
    }
  });
}
