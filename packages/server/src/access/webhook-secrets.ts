/**
 * The webhook secrets of an account. The database stores them encrypted. Several secrets of an environment
 * can sign at the same time.
 */
import { type Actor, recordAudit } from '../audit/audit.ts';
import type { AccountRef, Environment } from '../base/account.ts';
import { ApiError } from '../base/errors.ts';
import { uuidv7 } from '../base/ids.ts';
import { createBatcher } from '../database/batcher.ts';
import { type Database, isUnavailable, type Queryable, type Transaction } from '../database/database.ts';
import { createWebhookSecret, MAX_LIVE_SECRETS, secretContext, type Vault } from './secrets.ts';
import * as store from './store.ts';

/** Lists the active webhook secrets of an account without their values, newest first. */
export function listWebhookSecrets(on: Queryable, account: AccountRef): Promise<store.StoredSecretRow[]> {
  return store.selectWebhookSecrets(on, account);
}

/** Returns the active webhook secrets of an environment in their `whsec_…` form, newest first. */
export async function webhookSecrets(
  database: Database,
  vault: Vault,
  account: AccountRef,
  environment: Environment,
): Promise<string[]> {
  const rows = await store.liveWebhookSecrets(database, account, environment);
  return rows.map(({ sealed }) => vault.open(sealed, secretContext(account, environment)).toString());
}

/**
 * Returns a function like `webhookSecrets` that reads the secrets for all concurrent calls in one query.
 * Nothing is cached, so a rolled secret is used at once.
 */
export function createSecretReader(
  database: Database,
  vault: Vault,
): (account: AccountRef, environment: Environment) => Promise<string[]> {
  const reading = createBatcher<{ account: AccountRef; environment: Environment }, string[]>({
    async run(wanted) {
      const names = wanted.map(({ account, environment }) => secretContext(account, environment));
      const once = [...new Map(names.map((name, index) => [name, wanted[index]!])).values()];
      const rows = await store.allLiveWebhookSecrets(database, once);
      const opened = Map.groupBy(rows, ({ account, environment }) => secretContext(account, environment));
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
  return (account, environment) => reading.add({ account, environment });
}

/**
 * Creates a webhook secret for an environment. The previous secrets continue to sign during the overlap.
 * Ended secrets are deleted, so that the cost of a delivery does not grow with every roll.
 * @returns the secret in clear text, which cannot be shown again
 * @throws ApiError `conflict` when `MAX_LIVE_SECRETS` previous secrets would still sign; no secret is changed
 * in this case
 */
export async function rollWebhookSecret(
  database: Database,
  vault: Vault,
  by: Actor,
  account: AccountRef,
  environment: Environment,
  overlapSeconds: number,
): Promise<string> {
  const secret = createWebhookSecret();
  const secretId = uuidv7();
  const sealed = vault.seal(Buffer.from(secret), secretContext(account, environment));
  await database.transaction(async (transaction) => {
    await store.lockAccount(transaction, account);
    const before = await store.selectWebhookSecrets(transaction, account);
    await store.expireWebhookSecrets(transaction, account, environment, overlapSeconds);
    const live = await store.liveWebhookSecrets(transaction, account, environment);
    if (live.length >= MAX_LIVE_SECRETS) throw tooManySecrets(before, environment);
    await store.insertWebhookSecret(transaction, account, { secretId, environment, sealed });
    await recordAudit(transaction, by, {
      action: 'webhook_secret.rolled',
      account,
      subject: secretId,
      detail: { environment, overlap_seconds: overlapSeconds },
    });
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
 * Rolls a webhook secret without an overlap. Runs inside the caller's transaction and writes no audit entry.
 */
export async function replaceWebhookSecret(
  transaction: Transaction,
  vault: Vault,
  account: AccountRef,
  environment: Environment,
): Promise<string> {
  const secret = createWebhookSecret();
  const sealed = vault.seal(Buffer.from(secret), secretContext(account, environment));
  await store.expireWebhookSecrets(transaction, account, environment, 0);
  await store.insertWebhookSecret(transaction, account, { secretId: uuidv7(), environment, sealed });
  return secret;
}
