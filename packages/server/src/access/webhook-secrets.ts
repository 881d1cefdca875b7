/**
 * The webhook secrets of an account: one for the callbacks of each environment, and one for each webhook endpoint.
 * The database stores them encrypted. While one replaces another, several sign.
 */
import { type Actor, type KeyActor, recordAudit } from '../audit/audit.ts';
import type { AccountRef, Environment } from '../base/account.ts';
import { ApiError } from '../base/errors.ts';
import { uuidv7 } from '../base/ids.ts';
import { createBatcher } from '../database/batcher.ts';
import { type Database, isUnavailable, type Queryable, type Transaction } from '../database/database.ts';
import {
  createWebhookSecret,
  MAX_LIVE_SECRETS,
  type SecretUse,
  secretContext,
  type Vault,
} from './secrets.ts';
import { lockAccount } from './store.ts';
import * as store from './webhook-secret-store.ts';

/** Lists the active secrets that sign the callbacks of an account, without their values, newest first. */
export function listWebhookSecrets(on: Queryable, account: AccountRef): Promise<store.StoredSecretRow[]> {
  return store.selectWebhookSecrets(on, { account, endpointId: null });
}

/** Returns the active secrets that sign the callbacks of an environment, in their `whsec_…` form, newest first. */
export async function webhookSecrets(
  database: Database,
  vault: Vault,
  account: AccountRef,
  environment: Environment,
): Promise<string[]> {
  const use = { environment, endpointId: null };
  const rows = await store.liveWebhookSecrets(database, { ...use, account });
  return rows.map(({ sealed }) => vault.open(sealed, secretContext(account, use)).toString());
}

/**
 * Returns a function that returns the active secrets of one use, newest first. It reads the secrets for all
 * concurrent calls in one query. Nothing is cached, so a rolled secret is used at once.
 */
export function createSecretReader(
  database: Database,
  vault: Vault,
): (account: AccountRef, use: SecretUse) => Promise<string[]> {
  const reading = createBatcher<{ account: AccountRef; use: SecretUse }, string[]>({
    async run(wanted) {
      const names = wanted.map(({ account, use }) => secretContext(account, use));
      const once = [...new Map(names.map((name, index) => [name, wanted[index]!])).values()];
      const rows = await store.allLiveWebhookSecrets(database, once);
      const opened = Map.groupBy(rows, ({ account, use }) => secretContext(account, use));
      const secrets = new Map(
        [...opened].map(([name, sealed]) => [
          name,
          sealed.map((one) => vault.open(one.sealed, name).toString()),
        ]),
      );
      return names.map((name) => secrets.get(name) ?? []);
    },
    weigh: () => 1,
    maxItems: 256,
    maxWeight: 256,
    maxWaiting: 100_000,
    maxRunning: 2,
    isolates: (error) => !isUnavailable(error),
  });
  return (account, use) => reading.add({ account, use });
}

/**
 * Creates a secret for the callbacks of an environment. The previous secrets continue to sign during the overlap.
 * @returns the secret in clear text, which cannot be shown again
 * @throws ApiError `conflict` like `rollSecretOf`
 */
export function rollWebhookSecret(
  database: Database,
  vault: Vault,
  by: Actor,
  account: AccountRef,
  environment: Environment,
  overlapSeconds: number,
): Promise<string> {
  const use = { environment, endpointId: null };
  return database.transaction((transaction) =>
    rollSecretOf(transaction, vault, by, account, use, overlapSeconds),
  );
}

/**
 * Creates a webhook secret for one use. The previous secrets continue to sign during the overlap. Ended secrets are
 * deleted, so that the cost of a delivery does not grow with every roll.
 * @returns the secret in clear text, which cannot be shown again
 * @throws ApiError `conflict` when `MAX_LIVE_SECRETS` previous secrets would still sign; no secret is changed
 * in this case
 */
export async function rollSecretOf(
  transaction: Transaction,
  vault: Vault,
  by: Actor | KeyActor,
  account: AccountRef,
  use: SecretUse,
  overlapSeconds: number,
): Promise<string> {
  const { environment, endpointId } = use;
  await lockAccount(transaction, account);
  const before = await store.selectWebhookSecrets(transaction, { account, endpointId });
  await store.expireWebhookSecrets(transaction, account, use, overlapSeconds);
  const live = await store.liveWebhookSecrets(transaction, { ...use, account });
  if (live.length >= MAX_LIVE_SECRETS) throw tooManySecrets(before, environment);
  const { secret, secretId } = await insertSecret(transaction, vault, account, use);
  await recordAudit(transaction, by, {
    action: 'webhook_secret.rolled',
    account,
    subject: secretId,
    detail: {
      environment,
      overlap_seconds: overlapSeconds,
      ...(endpointId === null ? {} : { endpoint: endpointId }),
    },
  });
  return secret;
}

function tooManySecrets(before: readonly store.StoredSecretRow[], environment: Environment): ApiError {
  const ends = before
    .filter((secret) => secret.environment === environment && secret.expires_at !== null)
    .map(({ secret_id, expires_at }) => `${secret_id} ends at ${expires_at!.toISOString()}`)
    .toReversed();
  return new ApiError(
    'conflict',
    `At most ${MAX_LIVE_SECRETS} webhook secrets can be active in ${environment}: ${ends.join(', ')}. Wait until one ends, or roll without an overlap, which ends them all now.`,
  );
}

/**
 * Rolls a webhook secret without an overlap, or creates the first one. Runs inside the caller's transaction and
 * writes no audit entry.
 */
export async function replaceWebhookSecret(
  transaction: Transaction,
  vault: Vault,
  account: AccountRef,
  use: SecretUse,
): Promise<string> {
  await store.expireWebhookSecrets(transaction, account, use, 0);
  return (await insertSecret(transaction, vault, account, use)).secret;
}

async function insertSecret(
  transaction: Transaction,
  vault: Vault,
  account: AccountRef,
  use: SecretUse,
): Promise<{ secret: string; secretId: string }> {
  const secret = createWebhookSecret();
  const secretId = uuidv7();
  const sealed = vault.seal(Buffer.from(secret), secretContext(account, use));
  await store.insertWebhookSecret(transaction, { ...use, account, secretId, sealed });
  return { secret, secretId };
}
