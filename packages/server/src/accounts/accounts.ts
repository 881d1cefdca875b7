/** Creates accounts and changes their settings. */
import {
  AccountError,
  accountNamed,
  KEYS_CHANNEL,
  registerAccount,
  setChat,
  setCorrection,
  setKeyRequests,
} from '../access/accounts.ts';
import { addKey } from '../access/keys.ts';
import type { Vault } from '../access/secrets.ts';
import { type Actor, recordAudit } from '../audit/audit.ts';
import type { AccountRef, Caller, Dialect, Environment } from '../base/account.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import {
  availableCents,
  creditLimitOf,
  isOverdrawn,
  openBalances,
  setCreditLimit,
} from '../ledger/ledger.ts';

export interface NewAccount {
  username: string;
  email: string | undefined;
  /** The initial production balance, in cents. */
  balanceCents: number;
  dialect: Dialect;
  chat: boolean;
  /**
   * Whether the production balance has a credit limit. By default it has a limit of zero, so the balance
   * cannot go below zero.
   */
  prepaid?: boolean | undefined;
}

/**
 * The credentials of a new account in clear text, which cannot be shown again. Keys have the form `user:key`.
 */
export interface AccountCredentials {
  username: string;
  production_key: string;
  sandbox_key: string;
  webhook_secret_production: string;
  webhook_secret_sandbox: string;
}

const USERNAME = /^[A-Za-z0-9._@+-]{1,64}$/;
const UNIQUE_VIOLATION = '23505';

/**
 * Creates an account with a key and a webhook secret for each environment, in one transaction.
 * @throws AccountError when the username is not valid or is taken
 */
export async function createAccount(
  database: Database,
  vault: Vault,
  by: Actor,
  wanted: NewAccount,
): Promise<AccountCredentials> {
  if (!USERNAME.test(wanted.username)) {
    throw new AccountError('A username must have 1 to 64 characters of A-Z a-z 0-9 . _ @ + -');
  }
  const { username, dialect, email = null, balanceCents, chat } = wanted;
  const prepaid = wanted.prepaid !== false;
  try {
    return await database.transaction(async (transaction) => {
      const { account: ref, webhookSecrets } = await registerAccount(transaction, vault, wanted);
      await openBalances(transaction, ref, { production: balanceCents, sandbox: 0 });
      if (!prepaid) await setCreditLimit(transaction, ref, 'production', null);
      const first = { name: 'first', dialect, readOnly: false, scopes: undefined, expiresAt: undefined };
      const createFirst = (environment: Environment) =>
        addKey(transaction, by, { ref, username }, { ...first, environment });
      const { key: production_key } = await createFirst('production');
      const { key: sandbox_key } = await createFirst('sandbox');
      await recordAudit(transaction, by, {
        action: 'account.created',
        account: ref,
        subject: username,
        detail: { email, balance_cents: balanceCents, prepaid, chat },
      });
      return {
        username,
        production_key,
        sandbox_key,
        webhook_secret_production: webhookSecrets.production,
        webhook_secret_sandbox: webhookSecrets.sandbox,
      };
    });
  } catch (error) {
    if ((error as { code?: string }).code === UNIQUE_VIOLATION) {
      throw new AccountError(`There is already an account named ${username}.`);
    }
    throw error;
  }
}

/**
 * Creates an account without keys in the caller's transaction. The webhook secrets of the account are not
 * returned.
 * @throws a unique violation of PostgreSQL when the username is taken
 */
export async function createBareAccount(
  transaction: Transaction,
  vault: Vault,
  wanted: Pick<NewAccount, 'username' | 'email' | 'chat'>,
): Promise<AccountRef> {
  const { account } = await registerAccount(transaction, vault, wanted);
  await openBalances(transaction, account, { production: 0, sandbox: 0 });
  return account;
}

/**
 * Returns the calling account as in the API's answer. If an account has no e-mail address, the answer has an
 * empty string, because clients expect a string.
 */
export async function presentAccount(
  on: Queryable,
  { account, username, environment }: Caller,
): Promise<{ username: string; email: string; balance: number }> {
  const [{ email }, balance] = await Promise.all([
    accountNamed(on, username),
    availableCents(on, account, environment),
  ]);
  return { username, email: email ?? '', balance };
}

export interface AccountChanges {
  chat?: boolean | undefined;
  chatCorrection?: boolean | undefined;
  /** Whether the balance has a credit limit. */
  prepaid?: boolean | undefined;
  /** The credit limit in cents. A balance with a credit limit is a prepaid balance. */
  creditLimit?: number | undefined;
  /**
   * The limit of requests a second for each key; 0 for no limit, null for the limit of the server
   * (`DRAGOMAN_KEY_REQUESTS`).
   */
  keyRequests?: number | null | undefined;
  /** The environment to which `prepaid` and `creditLimit` apply. */
  environment: Environment;
}

/**
 * Applies all of the changes to an account, or none of them.
 * @throws AccountError when the account does not exist, the changes contradict each other, or the balance is
 * below the new limit
 */
export async function setAccount(
  database: Database,
  by: Actor,
  username: string,
  { chat, chatCorrection, prepaid, creditLimit, keyRequests, environment }: AccountChanges,
): Promise<void> {
  if (prepaid === false && creditLimit !== undefined) {
    throw new AccountError('An account that is not prepaid has no credit limit. Set only one of the two.');
  }
  try {
    await database.transaction(async (transaction) => {
      const { ref } = await accountNamed(transaction, username);
      if (chat !== undefined) await setChat(transaction, { account: ref, chat });
      if (chatCorrection !== undefined)
        await setCorrection(transaction, { account: ref, wanted: chatCorrection });
      if (keyRequests !== undefined) await setKeyRequests(transaction, { account: ref, limit: keyRequests });
      if (prepaid === false) await setCreditLimit(transaction, ref, environment, null);
      else if (creditLimit !== undefined || prepaid) {
        const before = await creditLimitOf(transaction, ref, environment);
        await setCreditLimit(transaction, ref, environment, creditLimit ?? before ?? 0);
      }
      const wanted = { chat, chatCorrection, creditLimit, prepaid, keyRequests };
      const changed = Object.entries(wanted).filter(([, value]) => value !== undefined);
      if (changed.length > 0) {
        await recordAudit(transaction, by, {
          action: 'account.changed',
          account: ref,
          subject: username,
          detail: { ...Object.fromEntries(changed), environment },
        });
      }
    });
  } catch (error) {
    if (!isOverdrawn(error)) throw error;
    throw new AccountError(`${username} owes more than that in ${environment}. Top up its balance first.`);
  }
  if (keyRequests !== undefined) await database.notify(KEYS_CHANNEL);
}
