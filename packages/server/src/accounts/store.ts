/** What is asked of the database about accounts. */

import type { AccountRef, Dialect, Environment } from '../account.ts';
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';

export interface KeyRow {
  part: number;
  account_id: string;
  username: string;
  environment: Environment;
  secret_hash: Buffer;
  dialect: Dialect;
  read_only: boolean;
  default_brand: string | null;
}

const INSERT_ACCOUNT = statement(
  'accounts.insert',
  `insert into accounts (part, account_id, username, email, chat) values ($1, $2, $3, $4, $5)`,
);

export async function insertAccount(
  on: Queryable,
  account: AccountRef,
  fields: { username: string; email: string | undefined; chat: boolean },
): Promise<void> {
  await on.query(INSERT_ACCOUNT, [
    account.part,
    account.accountId,
    fields.username,
    fields.email ?? null,
    fields.chat,
  ]);
}

export interface AccountRow {
  part: number;
  account_id: string;
  username: string;
  email: string | null;
  chat: boolean;
}

const FIND_ACCOUNT = statement<AccountRow>(
  'accounts.find',
  `select part, account_id, username, email, chat from accounts where username = $1`,
);

export async function findAccount(on: Queryable, username: string): Promise<AccountRow | undefined> {
  const [row] = await on.query(FIND_ACCOUNT, [username]);
  return row;
}

const USERNAME = statement<{ username: string }>(
  'accounts.username',
  `select username from accounts where part = $1 and account_id = $2`,
);

export async function readUsername(on: Queryable, account: AccountRef): Promise<string | undefined> {
  const [row] = await on.query(USERNAME, [account.part, account.accountId]);
  return row?.username;
}

const SET_CHAT = statement(
  'accounts.set_chat',
  `update accounts set chat = $3 where part = $1 and account_id = $2`,
);

export async function setChat(on: Queryable, account: AccountRef, chat: boolean): Promise<void> {
  await on.query(SET_CHAT, [account.part, account.accountId, chat]);
}

const INSERT_KEY = statement(
  'accounts.insert_key',
  `insert into keys (key_id, part, account_id, environment, name, secret_hash, dialect)
   values ($3, $1, $2, $4, $5, $6, $7)`,
);

export async function insertKey(
  on: Queryable,
  account: AccountRef,
  key: { keyId: string; environment: Environment; name: string; hash: Buffer; dialect: Dialect },
): Promise<void> {
  await on.query(INSERT_KEY, [
    account.part,
    account.accountId,
    key.keyId,
    key.environment,
    key.name,
    key.hash,
    key.dialect,
  ]);
}

const FIND_KEY = statement<KeyRow>(
  'accounts.find_key',
  `select k.part, k.account_id, a.username, k.environment, k.secret_hash, k.dialect, k.read_only,
          a.default_brand
     from keys k join accounts a on a.part = k.part and a.account_id = k.account_id
    where k.key_id = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`,
);

/** A live key by the part of it that is not secret. Whether the rest is right, the caller checks. */
export async function findKey(on: Queryable, keyId: string): Promise<KeyRow | undefined> {
  const [row] = await on.query(FIND_KEY, [keyId]);
  return row;
}

const INSERT_SECRET = statement(
  'accounts.insert_webhook_secret',
  `insert into webhook_secrets (part, account_id, secret_id, environment, sealed) values ($1, $2, $3, $4, $5)`,
);

export async function insertWebhookSecret(
  on: Queryable,
  account: AccountRef,
  secret: { secretId: string; environment: Environment; sealed: Buffer },
): Promise<void> {
  await on.query(INSERT_SECRET, [
    account.part,
    account.accountId,
    secret.secretId,
    secret.environment,
    secret.sealed,
  ]);
}

const LIVE_SECRETS = statement<{ secret_id: string; sealed: Buffer }>(
  'accounts.live_webhook_secrets',
  `select secret_id, sealed from webhook_secrets
    where part = $1 and account_id = $2 and environment = $3 and (expires_at is null or expires_at > now())
    order by secret_id desc`,
);

/** The sealed webhook secrets to sign with now, newest first. */
export function liveWebhookSecrets(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
): Promise<{ secret_id: string; sealed: Buffer }[]> {
  return on.query(LIVE_SECRETS, [account.part, account.accountId, environment]);
}
