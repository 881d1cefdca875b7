/**
 * The rotation of the secret key. While processes are replaced, each of them has both keys: it opens what either key has
 * sealed, and seals with the key that the database names. So processes that still have the old key alone can read
 * everything until the rotation begins. The rotation names the new key in the database, and seals each stored secret with
 * it. It can be killed and repeated at any time, because a secret that the new key opens is left alone.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { recordAudit } from '../audit/audit.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { secondFactorContext } from './second-factor.ts';
import * as factors from './second-factor-store.ts';
import { FOLLOW_MILLISECONDS, nameNewKey, rotationVaults } from './secret-key.ts';
import { secretContext, type Vault } from './secrets.ts';
import * as webhooks from './webhook-secret-store.ts';

/** The number of secrets that one transaction reads and writes. */
const BATCH = 200;

export interface Rotation {
  /** Whether this call named the new key in the database. */
  begun: boolean;
  /** The number of secrets that this call sealed with the new key. */
  sealed: number;
  /** The number of secrets that are still sealed with the previous key, because they were changed meanwhile. */
  left: number;
  /** The number of secrets that neither key opens: their key was lost before. */
  unreadable: number;
  /** The number of users whose recovery codes work only as long as processes have the previous key. */
  recoveryCodes: number;
}

interface Sealed {
  sealed: Buffer;
  context: string;
  /** Writes the secret. @returns false if it was changed or deleted meanwhile */
  write(transaction: Transaction, sealed: Buffer): Promise<boolean>;
}

/**
 * Seals all stored secrets with the new secret key.
 * @throws SecretKeyError when the settings do not have the new key and the key of the database
 */
export async function rotateSecretKey(
  database: Database,
  settings: Parameters<typeof rotationVaults>[0],
): Promise<Rotation> {
  const vaults = rotationVaults(settings);
  const begun = await database.transaction(async (transaction) => {
    if (!(await nameNewKey(transaction, vaults))) return false;
    const audit = { action: 'secret_key.rotated', subject: 'secret key', detail: {} };
    await recordAudit(transaction, 'command', audit);
    return true;
  });
  const first = await sealAll(database, vaults);
  // Processes notice the new key within this time. Until then they may have sealed with the previous one. A repeated
  // call waits too, because the one before it may have been killed just now.
  await wait(2 * FOLLOW_MILLISECONDS);
  const second = await sealAll(database, vaults);
  return {
    begun,
    sealed: first.sealed + second.sealed,
    left: second.left,
    unreadable: second.unreadable,
    recoveryCodes: await factors.countRecoveryCodeUsers(database),
  };
}

/** Counts the stored secrets that cannot be read any more if their key is lost. */
export async function countSecrets(
  on: Queryable,
): Promise<{ webhookSecrets: number; secondFactors: number }> {
  return {
    webhookSecrets: await webhooks.countWebhookSecrets(on),
    secondFactors: await factors.countSecondFactors(on),
  };
}

interface Counts {
  sealed: number;
  left: number;
  unreadable: number;
}

async function sealAll(database: Database, vaults: { next: Vault; previous: Vault }): Promise<Counts> {
  const counts: Counts = { sealed: 0, left: 0, unreadable: 0 };
  for (const batches of [webhookSecrets, secondFactors]) {
    for await (const batch of batches(database)) {
      await database.transaction(async (transaction) => {
        for (const one of batch) await sealOne(transaction, one, vaults, counts);
      });
    }
  }
  return counts;
}

async function sealOne(
  transaction: Transaction,
  { sealed, context, write }: Sealed,
  { next, previous }: { next: Vault; previous: Vault },
  counts: Counts,
): Promise<void> {
  if (opened(next, sealed, context) !== undefined) return;
  const secret = opened(previous, sealed, context);
  if (secret === undefined) {
    counts.unreadable++;
    return;
  }
  if (await write(transaction, next.seal(secret, context))) counts.sealed++;
  else counts.left++;
}

function opened(vault: Vault, sealed: Buffer, context: string): Buffer | undefined {
  try {
    return vault.open(sealed, context);
  } catch {
    return undefined;
  }
}

async function* webhookSecrets(database: Database): AsyncGenerator<Sealed[]> {
  let last: webhooks.StoredSealedSecret | undefined;
  for (;;) {
    const rows = await webhooks.listSealedSecrets(database, last, BATCH);
    if (rows.length === 0) return;
    last = rows.at(-1);
    yield rows.map(({ account, use, secretId, sealed }) => ({
      sealed,
      context: secretContext(account, use),
      write: (transaction, next) =>
        webhooks.resealSecret(transaction, { account, secretId, old: sealed, next }),
    }));
  }
}

async function* secondFactors(database: Database): AsyncGenerator<Sealed[]> {
  let last: string | undefined;
  for (;;) {
    const rows = await factors.listSealedFactors(database, { after: last ?? null, limit: BATCH });
    if (rows.length === 0) return;
    last = rows.at(-1)!.user_id;
    yield rows.map(({ user_id: userId, sealed }) => ({
      sealed,
      context: secondFactorContext(userId),
      write: (transaction, next) => factors.resealFactor(transaction, { userId, old: sealed, next }),
    }));
  }
}
