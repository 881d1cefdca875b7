/**
 * The SQL statements about webhook secrets. A secret signs the callbacks of an environment, or the deliveries to
 * one webhook endpoint.
 */
import type { AccountRef, Environment } from '../base/account.ts';
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import { MAX_LIVE_SECRETS, type SecretUse } from './secrets.ts';

export const insertWebhookSecret = statement<
  never,
  { account: AccountRef; secretId: string; sealed: Buffer } & SecretUse
>(
  'accounts.insert_webhook_secret',
  `insert into webhook_secrets (part, account_id, secret_id, environment, endpoint_id, sealed)
   values (:part, :account_id, :secretId, :environment, :endpointId, :sealed)`,
).run;

const EXPIRE_SECRETS = statement(
  'accounts.expire_webhook_secrets',
  `update webhook_secrets set expires_at = least(expires_at, now() + make_interval(secs => $5::float8))
    where part = $1 and account_id = $2 and environment = $3 and endpoint_id is not distinct from $4::uuid
      and (expires_at is null or expires_at > now())`,
);

const FORGET_SECRETS = statement(
  'accounts.forget_webhook_secrets',
  `delete from webhook_secrets where part = $1 and account_id = $2 and expires_at <= now()`,
);

/**
 * Ends the active secrets of one use after some seconds. A secret that would end earlier still ends at
 * the earlier time. Deletes ended secrets.
 */
export async function expireWebhookSecrets(
  on: Queryable,
  account: AccountRef,
  { environment, endpointId }: SecretUse,
  seconds: number,
): Promise<void> {
  await on.query(EXPIRE_SECRETS, [account.part, account.accountId, environment, endpointId, seconds]);
  await on.query(FORGET_SECRETS, [account.part, account.accountId]);
}

/** Returns the active webhook secrets of one use in encrypted form, newest first. */
export const liveWebhookSecrets = statement<
  { secret_id: string; sealed: Buffer },
  { account: AccountRef } & SecretUse
>(
  'accounts.live_webhook_secrets',
  `select secret_id, sealed from webhook_secrets
    where part = :part and account_id = :account_id and environment = :environment
      and endpoint_id is not distinct from :endpointId::uuid
      and (expires_at is null or expires_at > now())
    order by secret_id desc`,
).rows;

export interface StoredSecretRow {
  secret_id: string;
  environment: Environment;
  created_at: Date;
  /** The time when the secret ends; null until it is rolled. */
  expires_at: Date | null;
}

/**
 * Returns the active webhook secrets of an account without their values, newest first.
 * @param endpointId null for the secrets that sign the callbacks of both environments
 */
export const selectWebhookSecrets = statement<
  StoredSecretRow,
  { account: AccountRef; endpointId: string | null }
>(
  'accounts.kept_webhook_secrets',
  `select secret_id, environment, created_at, expires_at from webhook_secrets
    where part = :part and account_id = :account_id and endpoint_id is not distinct from :endpointId::uuid
      and (expires_at is null or expires_at > now())
    order by secret_id desc`,
).rows;

interface SealedRow {
  part: number;
  account_id: string;
  environment: Environment;
  endpoint_id: string | null;
  sealed: Buffer;
}

const ALL_LIVE_SECRETS = statement<SealedRow>(
  'accounts.all_live_webhook_secrets',
  `select g.part, g.account_id, g.environment, g.endpoint_id, s.sealed
     from unnest($1::smallint[], $2::uuid[], $3::text[], $4::uuid[]) as g (part, account_id, environment, endpoint_id)
     cross join lateral (
       select s.secret_id, s.sealed from webhook_secrets s
        where s.part = g.part and s.account_id = g.account_id and s.environment = g.environment
          and s.endpoint_id is not distinct from g.endpoint_id and (s.expires_at is null or s.expires_at > now())
        order by s.secret_id desc limit $5) s
    order by s.secret_id desc`,
);

const NEWEST_SECRET = statement<SealedRow>(
  'accounts.newest_webhook_secret',
  'select part, account_id, environment, endpoint_id, sealed from webhook_secrets order by secret_id desc limit 1',
);

/** A webhook secret in encrypted form, with what it signs. */
export interface SealedSecret {
  account: AccountRef;
  use: SecretUse;
  sealed: Buffer;
}

function toSealed(row: SealedRow): SealedSecret {
  const account = { part: row.part, accountId: row.account_id } as AccountRef;
  return { account, use: { environment: row.environment, endpointId: row.endpoint_id }, sealed: row.sealed };
}

/** Returns the latest webhook secret of all accounts, or undefined when there is none. */
export async function newestWebhookSecret(on: Queryable): Promise<SealedSecret | undefined> {
  const [row] = await on.query(NEWEST_SECRET);
  return row && toSealed(row);
}

/** Returns the active webhook secrets of several uses, at most `MAX_LIVE_SECRETS` for each. */
export async function allLiveWebhookSecrets(
  on: Queryable,
  wanted: readonly { account: AccountRef; use: SecretUse }[],
): Promise<SealedSecret[]> {
  const rows = await on.query(ALL_LIVE_SECRETS, [
    wanted.map(({ account }) => account.part),
    wanted.map(({ account }) => account.accountId),
    wanted.map(({ use }) => use.environment),
    wanted.map(({ use }) => use.endpointId),
    MAX_LIVE_SECRETS,
  ]);
  return rows.map(toSealed);
}

/** Counts the active webhook secrets of all accounts. */
export const countWebhookSecrets = statement<{ count: number }>(
  'accounts.count_webhook_secrets',
  'select count(*)::integer as count from webhook_secrets where expires_at is null or expires_at > now()',
).value;

const LIST_SEALED = statement<SealedRow & { secret_id: string }>(
  'accounts.list_sealed_webhook_secrets',
  `select part, account_id, secret_id, environment, endpoint_id, sealed from webhook_secrets
    where $1::smallint is null or (part, account_id, secret_id) > ($1, $2::uuid, $3::uuid)
    order by part, account_id, secret_id limit $4`,
);

export interface StoredSealedSecret extends SealedSecret {
  secretId: string;
}

/** Lists the encrypted webhook secrets of all accounts in the order of their keys, after the one of `after`. */
export async function listSealedSecrets(
  on: Queryable,
  after: StoredSealedSecret | undefined,
  limit: number,
): Promise<StoredSealedSecret[]> {
  const key = after && [after.account.part, after.account.accountId, after.secretId];
  const rows = await on.query(LIST_SEALED, [...(key ?? [null, null, null]), limit]);
  return rows.map((row) => ({ ...toSealed(row), secretId: row.secret_id }));
}

/** Replaces an encrypted webhook secret. @returns false if it was deleted meanwhile */
export const resealSecret = statement<
  { secret_id: string },
  { account: AccountRef; secretId: string; old: Buffer; next: Buffer }
>(
  'accounts.reseal_webhook_secret',
  `update webhook_secrets set sealed = :next
    where part = :part and account_id = :account_id and secret_id = :secretId and sealed = :old returning secret_id`,
).found;
