/** The SQL statements of the console's pages about accounts. */
import type { AccountStatus } from '../access/accounts.ts';
import type { AccountRef, Environment } from '../base/account.ts';
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';

export interface ListedAccount {
  /** The account's id, as log lines show it. */
  id: string;
  username: string;
  status: AccountStatus;
  email: string | null;
  chat: boolean;
  created_at: Date;
  balance: number;
  credit_limit: number | null;
  sandbox_balance: number;
}

const LIST = statement<ListedAccount>(
  'accounts.list',
  `select a.account_id as id, a.username, a.status, a.email, a.chat, a.created_at, p.available_cents as balance,
          p.credit_limit_cents as credit_limit, s.available_cents as sandbox_balance
     from accounts a
     join balances p on p.part = a.part and p.account_id = a.account_id and p.environment = 'production'
     join balances s on s.part = p.part and s.account_id = p.account_id and s.environment = 'sandbox'
    where ($1::text is null or strpos(lower(a.username), $1) > 0 or strpos(lower(a.email), $1) > 0)
      and ($2::text is null or a.username > $2) and (not $3 or p.available_cents < 0)
    order by a.username limit $4`,
);

/** Lists accounts. @param filter.part a part of the user name or e-mail address, in lower case */
export function listAccounts(
  on: Queryable,
  filter: { part: string | undefined; after: string | undefined; overdrawn: boolean },
  limit: number,
): Promise<ListedAccount[]> {
  return on.query(LIST, [filter.part ?? null, filter.after ?? null, filter.overdrawn, limit]);
}

export interface StoredAccount {
  username: string;
  status: AccountStatus;
  email: string | null;
  chat: boolean;
  chat_pairs: string[] | null;
  chat_from: Date | null;
  chat_until: Date | null;
  default_brand: string | null;
  key_requests: number | null;
  created_at: Date;
}

const READ = statement<StoredAccount>(
  'accounts.read',
  `select username, status, email, chat, chat_pairs, chat_from, chat_until, default_brand, key_requests,
          created_at
     from accounts where part = $1 and account_id = $2`,
);

export async function readAccount(on: Queryable, account: AccountRef): Promise<StoredAccount> {
  const [row] = await on.query(READ, [account.part, account.accountId]);
  return row!;
}

export const setEmail = statement<never, { account: AccountRef; email: string | null }>(
  'accounts.set_email',
  'update accounts set email = :email where part = :part and account_id = :account_id',
).run;

/** Returns the accounts with a negative production balance, the lowest balance first. */
export const listOverdrawn = statement<
  { username: string; environment: Environment; balance: number },
  { limit: number }
>(
  'accounts.overdrawn',
  `select a.username, b.environment, b.available_cents as balance
     from accounts a join balances b on b.part = a.part and b.account_id = a.account_id
    where b.environment = 'production' and b.available_cents < 0 order by b.available_cents limit :limit`,
).rows;

const SETUP = statement<{ account: boolean; editors: boolean }>(
  'accounts.setup',
  `select exists (select from accounts where erased_at is null) as account,
          exists (select from user_languages l join users u on u.user_id = l.user_id where u.disabled_at is null) as editors`,
);

/** Returns whether any account exists, and whether any enabled user has a language pair. */
export async function findSetup(on: Queryable): Promise<{ account: boolean; editors: boolean }> {
  return (await on.query(SETUP))[0]!;
}
