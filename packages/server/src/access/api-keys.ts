/** API-key authentication: finds the account of the key in an `Authorization` header. */
import type { FastifyInstance } from 'fastify';
import type { AccountRef, Caller, Environment } from '../base/account.ts';
import { ApiError, unauthorized } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { hashesEqual, hashKey, keyIdOf } from './secrets.ts';
import * as store from './store.ts';

export interface ApiKeyAuthenticator {
  /** @throws ApiError `unauthorized`; the answer is the same for every cause */
  authenticate(authorization: string | undefined, environment: Environment): Promise<Caller>;
  /** Clears the cache of keys, because one was revoked or changed. */
  clearCache(): void;
}

const CACHE_MILLISECONDS = 5_000;

const MAX_CACHED_KEYS = 10_000;

/** An unknown key is compared with this row, so that a failure takes as long as a success. */
const NO_KEY: store.KeyRow = {
  part: 0,
  account_id: '00000000-0000-0000-0000-000000000000',
  username: '',
  environment: 'production',
  secret_hash: Buffer.alloc(32),
  dialect: 'spec',
  read_only: true,
  default_brand: null,
  seconds_left: null,
  untouched: false,
};

const SCHEME = 'apikey ';

/** A user name has at most 64 characters and a key 60; the rest allows for spaces. */
const MAX_CREDENTIAL_LENGTH = 256;

/**
 * Splits `ApiKey USERNAME:KEY` in one pass. The caller is not authenticated yet, and a regular expression that
 * backtracked over spaces took 0.16 s for one header.
 * @throws ApiError `unauthorized`
 */
function readCredential(authorization = ''): { username: string; secret: string } {
  if (authorization.length > MAX_CREDENTIAL_LENGTH) throw unauthorized();
  const written = authorization.trim();
  const credential = written.slice(SCHEME.length).trimStart();
  const colon = credential.indexOf(':');
  if (written.slice(0, SCHEME.length).toLowerCase() !== SCHEME || colon < 0) throw unauthorized();
  return { username: credential.slice(0, colon), secret: credential.slice(colon + 1) };
}

/**
 * Caches a key for five seconds under the hash of the whole credential, never under the credential itself. A revoked
 * key is refused after `clearCache`, and after five seconds at the latest. A cached key never outlives its expiry.
 */
export function createApiKeyAuthenticator(
  database: Database,
  now: () => number = Date.now,
): ApiKeyAuthenticator {
  const cache = new Map<string, { caller: Caller; until: number }>();
  let clears = 0;

  async function lookUp(
    username: string,
    secret: string,
    environment: Environment,
  ): Promise<{ caller: Caller; secondsLeft: number }> {
    const keyId = keyIdOf(secret, environment) ?? '';
    const found = await store.findActiveKey(database, keyId);
    const key = found ?? NO_KEY;
    const secretRight = hashesEqual(hashKey(secret), key.secret_hash);
    const nameRight = hashesEqual(hashKey(username), hashKey(key.username));
    if (found === undefined || !secretRight || !nameRight || key.environment !== environment) {
      throw unauthorized();
    }
    // Informs the operator only, so nothing waits for it and it may be lost.
    if (key.untouched) void store.touchKey(database, keyId).catch(() => {});
    const caller = {
      account: { part: key.part, accountId: key.account_id } as AccountRef,
      username,
      environment,
      dialect: key.dialect,
      readOnly: key.read_only,
      defaultBrand: key.default_brand ?? undefined,
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
      // A row read before a revocation is not cached after it.
      if (clearsBefore !== clears) return caller;
      if (cache.size >= MAX_CACHED_KEYS) cache.clear();
      cache.set(cacheKey, { caller, until: since + Math.min(CACHE_MILLISECONDS, secondsLeft * 1000) });
      return caller;
    },
    clearCache() {
      clears++;
      cache.clear();
    },
  };
}

/** Requires an API key of the given environment for every route of `app`. */
export function requireCaller(
  app: FastifyInstance,
  authenticator: ApiKeyAuthenticator,
  environment: Environment,
): void {
  app.addHook('onRequest', async (request) => {
    request.caller = await authenticator.authenticate(request.headers.authorization, environment);
    if (request.caller.readOnly && request.method !== 'GET' && request.method !== 'HEAD') {
      throw new ApiError('read_only_key', 'This key is read-only.');
    }
  });
}
