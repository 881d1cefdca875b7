/**
 * The second factor of a user: codes of an authenticator app (`totp.ts`), and recovery codes for a lost device.
 *
 * - Setting it up takes two steps. Sign-in asks for a code only after the user has entered a first code, so an app
 *   that does not work locks nobody out.
 * - Each code is accepted once. Recovery codes are stored as keyed hashes, the secret is encrypted.
 * - Attempts are limited by user, from all addresses together, because codes are short.
 */
import { randomBytes } from 'node:crypto';
import type { Actor } from '../audit/audit.ts';
import { recordAudit } from '../audit/audit.ts';
import type { Person } from '../base/account.ts';
import { ApiError, fieldError, reason } from '../base/errors.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { type ChangedUser, personAudit } from './people.ts';
import * as store from './second-factor-store.ts';
import type { Vault } from './secrets.ts';
import { endSessions, forgiveAttempts, limitAttempts } from './sessions.ts';
import { base32, createTotpSecret, otpauthUri, stepOfCode } from './totp.ts';

/** The limit of wrong codes: five, then delays of 1, 3, 7 … seconds, up to 15 minutes. */
const CODE_ATTEMPTS = { free: 5, mostSeconds: 900 };
const RECOVERY_CODES = 10;
const RECOVERY_CODE_BYTES = 10;
/** 50 random bits. They cannot be guessed at the limited rate, nor from the keyed hash without the key. */
const RECOVERY_CODE_LENGTH = 10;

export interface SecondFactor {
  enabledAt: Date;
  /** The number of unused recovery codes. */
  recoveryCodes: number;
}

/** Returns the confirmed second factor of a user, if there is one. */
export async function readSecondFactor(on: Queryable, userId: string): Promise<SecondFactor | undefined> {
  const row = await store.readSecondFactorRow(on, { userId });
  if (row === undefined || row.confirmed_at === null) return undefined;
  return { enabledAt: row.confirmed_at, recoveryCodes: row.recovery_codes };
}

/** Returns the encryption context of the secret of a second factor. */
export const secondFactorContext = (userId: string): string => `second-factor ${userId}`;

/**
 * Creates a secret for the user's authenticator app. It replaces an earlier one that was not confirmed.
 * @throws ApiError `conflict` when the user already has a second factor
 */
export async function beginSecondFactor(
  on: Queryable,
  vault: Vault,
  { userId, email }: Pick<Person, 'userId' | 'email'>,
): Promise<{ secret: string; uri: string }> {
  const secret = createTotpSecret();
  if (!(await store.insertSecret(on, { userId, sealed: vault.seal(secret, secondFactorContext(userId)) }))) {
    throw new ApiError('conflict', 'You already have a second factor. Turn it off first.');
  }
  return { secret: base32(secret), uri: otpauthUri(secret, email) };
}

/**
 * Turns the second factor on with the first code of the app, and ends the user's other sessions.
 * @returns the recovery codes in clear text, which cannot be shown again
 * @throws ApiError `invalid_request` for a wrong code; `conflict` without a secret; `too_many_attempts`
 */
export async function confirmSecondFactor(
  database: Database,
  vault: Vault,
  person: Person,
  code: string,
): Promise<string[]> {
  const { userId } = person;
  const row = await store.readSecondFactorRow(database, { userId });
  if (row === undefined || row.confirmed_at !== null) {
    throw new ApiError('conflict', 'There is no second factor to confirm. Set it up again.');
  }
  const attempts = await limitCodes(database, vault, userId);
  const step = readStep(vault, userId, row.sealed, code);
  if (step === undefined) throw wrongCode();
  await forgiveAttempts(database, attempts);
  return database.transaction(async (transaction) => {
    if (!(await store.confirmSecret(transaction, { userId, sealed: row.sealed, step }))) throw wrongCode();
    await endSessions(transaction, userId, person.sessionId);
    await recordAudit(transaction, person, ownAudit('person.second_factor', person, { enabled: true }));
    return writeRecoveryCodes(transaction, vault, userId);
  });
}

/**
 * Checks a code of the app or a recovery code, and uses it up.
 * @throws ApiError `second_factor_required` without a code; `invalid_request` for a wrong code, or for one
 * that was used before; `too_many_attempts`
 */
export async function requireCode(
  database: Database,
  vault: Vault,
  user: ChangedUser,
  code: string | undefined,
): Promise<void> {
  const userId = user.user_id;
  const row = await store.readSecondFactorRow(database, { userId });
  if (row === undefined || row.confirmed_at === null) return;
  if (code === undefined || code.trim() === '') {
    throw new ApiError('second_factor_required', 'Enter the code of your authenticator app.');
  }
  const attempts = await limitCodes(database, vault, userId);
  const written = code.replace(/[\s-]/g, '');
  const step = readStep(vault, userId, row.sealed, written);
  if (step === undefined) await useRecoveryCode(database, vault, user, written);
  else if (!(await store.useStep(database, { userId, sealed: row.sealed, step }))) throw wrongCode();
  await forgiveAttempts(database, attempts);
}

/**
 * Returns the time step of a valid code, or undefined for a wrong code. Every code is wrong if the user's secret was
 * encrypted with a secret key that is lost.
 */
function readStep(vault: Vault, userId: string, sealed: Buffer, code: string): number | undefined {
  let secret: Buffer;
  try {
    secret = vault.open(sealed, secondFactorContext(userId));
  } catch {
    return undefined;
  }
  return stepOfCode(secret, code.replace(/\s/g, ''), Date.now());
}

async function useRecoveryCode(
  database: Database,
  vault: Vault,
  user: ChangedUser,
  written: string,
): Promise<void> {
  const marks = vault.marks(recoveryCode(user.user_id, written));
  await database.transaction(async (transaction) => {
    if (!(await store.takeRecoveryCode(transaction, { userId: user.user_id, marks }))) throw wrongCode();
    const by = { userId: user.user_id, email: user.email };
    await recordAudit(transaction, by, personAudit('person.recovery_code', user));
  });
}

/** Replaces the recovery codes of a user. @returns the new codes in clear text */
export function renewRecoveryCodes(database: Database, vault: Vault, person: Person): Promise<string[]> {
  return database.transaction(async (transaction) => {
    const codes = await writeRecoveryCodes(transaction, vault, person.userId);
    await recordAudit(transaction, person, ownAudit('person.recovery_codes', person));
    return codes;
  });
}

/**
 * Removes the second factor of a user.
 * @returns whether the user had one
 */
export function removeSecondFactor(
  database: Database,
  by: Actor,
  user: ChangedUser,
  { keepSession }: { keepSession?: string } = {},
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    if (!(await store.deleteSecondFactor(transaction, user.user_id))) return false;
    await endSessions(transaction, user.user_id, keepSession);
    await recordAudit(transaction, by, personAudit('person.second_factor', user, { enabled: false }));
    return true;
  });
}

const ownAudit = (action: string, { userId, email, account }: Person, detail: object = {}) =>
  personAudit(action, { user_id: userId, email, account }, detail);

const recoveryCode = (userId: string, code: string) => `recovery code ${userId} ${code.toLowerCase()}`;

async function writeRecoveryCodes(transaction: Transaction, vault: Vault, userId: string): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () =>
    base32(randomBytes(RECOVERY_CODE_BYTES)).slice(0, RECOVERY_CODE_LENGTH).toLowerCase(),
  );
  const marks = codes.map((code) => vault.mark(recoveryCode(userId, code)));
  await store.replaceRecoveryCodes(transaction, userId, marks);
  return codes.map((code) => `${code.slice(0, 5)}-${code.slice(5)}`);
}

async function limitCodes(on: Queryable, vault: Vault, userId: string): Promise<Buffer> {
  const mark = vault.mark(`second factor ${userId}`);
  await limitAttempts(on, mark, CODE_ATTEMPTS);
  return mark;
}

function wrongCode(): ApiError {
  return fieldError('code', reason('code_wrong'));
}
