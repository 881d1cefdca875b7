/**
 * Webhook endpoints: URLs that get each event of one environment of an account that matches their filter, in
 * addition to the callbacks to the URLs of requests. `event-store.ts` inserts their deliveries with the event. Each
 * endpoint has a secret of its own.
 */
import { lockAccount } from '../access/accounts.ts';
import type { Vault } from '../access/secrets.ts';
import { limitCredentials } from '../access/sessions.ts';
import { replaceWebhookSecret, rollSecretOf } from '../access/webhook-secrets.ts';
import { type Actor, type KeyActor, recordAudit } from '../audit/audit.ts';
import type { AccountRef, Environment } from '../base/account.ts';
import { fieldError, notFound, reason } from '../base/errors.ts';
import { uuidv7 } from '../base/ids.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import type { AddressGuard } from './addresses.ts';
import { hostOf } from './deliveries.ts';
import { type Endpoint, MAX_ENDPOINTS } from './endpoint-schemas.ts';
import { deleteEndpointRow, listEndpoints, saveEndpoint } from './endpoint-store.ts';
import { ENDPOINT_MOVES } from './states.ts';

export interface EndpointContext {
  database: Database;
  vault: Vault;
  guard: AddressGuard;
}

/**
 * The originator of a change. Changes by API keys get audit entries too, because an endpoint that was registered with
 * a stolen key gets events after the key is revoked.
 */
export type EndpointActor = Actor | KeyActor;

/** Names an endpoint of an account. An API key reaches only the endpoints of its environment. */
export interface EndpointKey {
  id: string;
  environment?: Environment;
}

type Settings = Pick<Endpoint, 'url' | 'events' | 'description' | 'status'>;

/**
 * Registers an active webhook endpoint.
 * @returns the endpoint, and its secret in clear text, which cannot be shown again
 * @throws ApiError `invalid_request` for `url` if the URL is not allowed or registered already, or the environment
 * has `MAX_ENDPOINTS` endpoints; `too_many_attempts`
 */
export function createEndpoint(
  { database, vault, guard }: EndpointContext,
  by: EndpointActor,
  account: AccountRef,
  wanted: Pick<Endpoint, 'environment' | 'url' | 'events' | 'description'>,
): Promise<{ endpoint: Endpoint; secret: string }> {
  checkUrl(guard, wanted.url);
  return database.transaction(async (transaction) => {
    await lockAccount(transaction, account);
    const others = await listEndpoints(transaction, { account, environment: wanted.environment });
    refuseDuplicate(others, wanted.url);
    if (others.length >= MAX_ENDPOINTS) {
      throw fieldError('url', reason('too_many_endpoints', { most: MAX_ENDPOINTS }));
    }
    const endpointId = uuidv7();
    const row = { ...wanted, id: endpointId, key_id: keyIdOf(by), status: 'active' as const };
    const endpoint = await saveEndpoint(transaction, account, row, hostOf(wanted.url));
    const use = { environment: wanted.environment, endpointId };
    const secret = await replaceWebhookSecret(transaction, vault, account, use);
    await limitCredentials(transaction, vault, account);
    await record(transaction, by, account, endpoint, 'endpoint.created');
    return { endpoint, secret };
  });
}

/**
 * Changes settings of a webhook endpoint. The changes apply to later events; deliveries that exist keep their URL.
 * @throws ApiError like `createEndpoint`, also `too_many_attempts` if something changes; `not_found` if the account has no such endpoint
 */
export function changeEndpoint(
  { database, guard, vault }: EndpointContext,
  by: EndpointActor,
  account: AccountRef,
  key: EndpointKey,
  change: Partial<Settings>,
): Promise<Endpoint> {
  return database.transaction(async (transaction) => {
    const { endpoint: before, others } = await lockEndpoint(transaction, account, key);
    const isMoved = change.url !== undefined && change.url !== before.url;
    const wanted = { ...before, ...change, ...(isMoved ? { key_id: keyIdOf(by) } : {}) };
    // A page sends all fields, and an endpoint with a URL that is not allowed any more can still be disabled.
    if (isMoved) checkUrl(guard, wanted.url);
    refuseDuplicate(others, wanted.url);
    const after = await saveEndpoint(transaction, account, wanted, hostOf(wanted.url));
    const changed = (['url', 'events', 'description'] as const).filter(
      (name) => String(before[name]) !== String(after[name]),
    );
    const moves = Object.values(ENDPOINT_MOVES).filter(
      ({ from, to }) => before.status === from && after.status === to,
    );
    if (changed.length + moves.length > 0) await limitCredentials(transaction, vault, account);
    if (changed.length > 0) await record(transaction, by, account, after, 'endpoint.changed', { changed });
    for (const { action } of moves) await record(transaction, by, account, after, action);
    return after;
  });
}

/**
 * Deletes a webhook endpoint with its secrets. Its deliveries stay in the lists; pending ones end at their next
 * attempt.
 * @throws ApiError `not_found` if the account has no such endpoint
 */
export async function deleteEndpoint(
  { database }: EndpointContext,
  by: EndpointActor,
  account: AccountRef,
  key: EndpointKey,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const { endpoint } = await lockEndpoint(transaction, account, key);
    await deleteEndpointRow(transaction, { account, endpointId: endpoint.id });
    await record(transaction, by, account, endpoint, 'endpoint.deleted');
  });
}

/**
 * Creates a new secret of a webhook endpoint. The previous secrets continue to sign during the overlap.
 * @returns the secret in clear text, which cannot be shown again
 * @throws ApiError `not_found` if the account has no such endpoint; `too_many_attempts`; `conflict` like `rollSecretOf`
 */
export function rollEndpointSecret(
  { database, vault }: EndpointContext,
  by: EndpointActor,
  account: AccountRef,
  key: EndpointKey,
  overlapSeconds: number,
): Promise<string> {
  return database.transaction(async (transaction) => {
    const { endpoint } = await lockEndpoint(transaction, account, key);
    const use = { environment: endpoint.environment, endpointId: endpoint.id };
    await limitCredentials(transaction, vault, account);
    return rollSecretOf(transaction, vault, by, account, use, overlapSeconds);
  });
}

/** Finds a webhook endpoint. @throws ApiError `not_found` if the account has no such endpoint */
export async function findEndpoint(
  on: Queryable,
  account: AccountRef,
  { id, environment }: EndpointKey,
): Promise<Endpoint> {
  const found = (await listEndpoints(on, { account, environment: environment ?? null })).find(
    (endpoint) => endpoint.id === id.toLowerCase(),
  );
  if (found === undefined) throw notFound();
  return found;
}

/** Locks the account, so that its endpoints change one after the other. */
async function lockEndpoint(
  transaction: Transaction,
  account: AccountRef,
  key: EndpointKey,
): Promise<{ endpoint: Endpoint; others: Endpoint[] }> {
  await lockAccount(transaction, account);
  const endpoint = await findEndpoint(transaction, account, key);
  const all = await listEndpoints(transaction, { account, environment: endpoint.environment });
  return { endpoint, others: all.filter(({ id }) => id !== endpoint.id) };
}

const keyIdOf = (by: EndpointActor): string | null =>
  typeof by !== 'string' && 'keyId' in by ? by.keyId : null;

function checkUrl(guard: AddressGuard, url: string): void {
  const verdict = guard.checkUrl(url);
  if (!verdict.ok) throw fieldError('url', reason('url', { why: verdict.reason }));
}

function refuseDuplicate(others: readonly Endpoint[], url: string): void {
  if (others.some((other) => other.url === url)) throw fieldError('url', reason('endpoint_exists'));
}

/** Records who changed an endpoint. The entry has the host but not the URL, because URLs may contain secrets. */
async function record(
  transaction: Transaction,
  by: EndpointActor,
  account: AccountRef,
  { id, environment, url }: Endpoint,
  action: string,
  more: object = {},
): Promise<void> {
  const detail = { environment, host: hostOf(url), ...more };
  await recordAudit(transaction, by, { action, account, subject: id, detail });
}
