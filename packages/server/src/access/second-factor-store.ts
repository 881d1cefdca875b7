/** The SQL statements about second factors and recovery codes. */
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';

export interface SecondFactorRow {
  sealed: Buffer;
  confirmed_at: Date | null;
  /** The number of recovery codes that were not used. */
  recovery_codes: number;
}

const READ = statement<SecondFactorRow>(
  'second_factors.read',
  `select f.sealed, f.confirmed_at,
          (select count(*)::integer from recovery_codes r where r.user_id = f.user_id and r.used_at is null) as recovery_codes
     from second_factors f where f.user_id = $1`,
);

export async function readSecondFactorRow(
  on: Queryable,
  userId: string,
): Promise<SecondFactorRow | undefined> {
  return (await on.query(READ, [userId]))[0];
}

const BEGIN = statement<{ user_id: string }>(
  'second_factors.begin',
  `insert into second_factors (user_id, sealed) values ($1, $2)
   on conflict (user_id) do update set sealed = excluded.sealed, created_at = excluded.created_at
     where second_factors.confirmed_at is null
   returning user_id`,
);

/** Stores a secret that the user has not confirmed yet. @returns false when the user already has a confirmed secret */
export async function insertSecret(on: Queryable, userId: string, sealed: Buffer): Promise<boolean> {
  return (await on.query(BEGIN, [userId, sealed])).length > 0;
}

const CONFIRM = statement<{ user_id: string }>(
  'second_factors.confirm',
  `update second_factors set confirmed_at = now(), last_step = $3
    where user_id = $1 and sealed = $2 and confirmed_at is null
   returning user_id`,
);

/**
 * Confirms a secret with the time step of its first code. @returns false when another request has confirmed it first
 */
export async function confirmSecret(
  on: Queryable,
  userId: string,
  sealed: Buffer,
  step: number,
): Promise<boolean> {
  return (await on.query(CONFIRM, [userId, sealed, step])).length > 0;
}

const USE_STEP = statement<{ user_id: string }>(
  'second_factors.use_step',
  `update second_factors set last_step = $3
    where user_id = $1 and sealed = $2 and confirmed_at is not null and last_step < $3
   returning user_id`,
);

/** Records an accepted code. @returns false when this code or a later one was accepted before */
export async function useStep(on: Queryable, userId: string, sealed: Buffer, step: number): Promise<boolean> {
  return (await on.query(USE_STEP, [userId, sealed, step])).length > 0;
}

const USE_RECOVERY_CODE = statement<{ user_id: string }>(
  'second_factors.use_recovery_code',
  `update recovery_codes r set used_at = now()
    where r.user_id = $1 and r.mark = any ($2::bytea[]) and r.used_at is null
      and exists (select from second_factors f where f.user_id = r.user_id and f.confirmed_at is not null)
   returning r.user_id`,
);

/**
 * Uses up a recovery code. @returns false when the user has no such unused code
 * @param marks the hashes of the code with each secret key that the process has
 */
export async function takeRecoveryCode(
  on: Queryable,
  userId: string,
  marks: readonly Buffer[],
): Promise<boolean> {
  return (await on.query(USE_RECOVERY_CODE, [userId, marks])).length > 0;
}

const FORGET_RECOVERY_CODES = statement(
  'second_factors.forget_recovery_codes',
  `delete from recovery_codes where user_id = $1`,
);
const INSERT_RECOVERY_CODES = statement(
  'second_factors.insert_recovery_codes',
  `insert into recovery_codes (user_id, mark) select $1, unnest($2::bytea[])`,
);

/** Replaces all recovery codes of a user. */
export async function replaceRecoveryCodes(
  on: Queryable,
  userId: string,
  marks: readonly Buffer[],
): Promise<void> {
  await on.query(FORGET_RECOVERY_CODES, [userId]);
  await on.query(INSERT_RECOVERY_CODES, [userId, marks]);
}

const REMOVE = statement<{ confirmed: boolean }>(
  'second_factors.remove',
  `delete from second_factors where user_id = $1 returning confirmed_at is not null as confirmed`,
);

/** Removes the second factor and the recovery codes of a user. @returns whether the second factor was confirmed */
export async function deleteSecondFactor(on: Queryable, userId: string): Promise<boolean> {
  return (await on.query(REMOVE, [userId]))[0]?.confirmed ?? false;
}

const COUNT = statement<{ count: number }>(
  'second_factors.count',
  'select count(*)::integer as count from second_factors',
);

export async function countSecondFactors(on: Queryable): Promise<number> {
  return (await on.query(COUNT))[0]!.count;
}

const COUNT_RECOVERY_CODE_USERS = statement<{ count: number }>(
  'second_factors.count_recovery_code_users',
  'select count(distinct user_id)::integer as count from recovery_codes where used_at is null',
);

/** Counts the users with unused recovery codes. */
export async function countRecoveryCodeUsers(on: Queryable): Promise<number> {
  return (await on.query(COUNT_RECOVERY_CODE_USERS))[0]!.count;
}

const LIST_SEALED = statement<{ user_id: string; sealed: Buffer }>(
  'second_factors.list_sealed',
  `select user_id, sealed from second_factors where $1::uuid is null or user_id > $1 order by user_id limit $2`,
);

/** Lists the encrypted secrets of users by their id, after the one of `after`. */
export function listSealedFactors(on: Queryable, after: string | undefined, limit: number) {
  return on.query(LIST_SEALED, [after ?? null, limit]);
}

const RESEAL = statement<{ user_id: string }>(
  'second_factors.reseal',
  'update second_factors set sealed = $3 where user_id = $1 and sealed = $2 returning user_id',
);

/** Replaces an encrypted secret. @returns false if it was changed or deleted meanwhile */
export async function resealFactor(
  on: Queryable,
  userId: string,
  old: Buffer,
  next: Buffer,
): Promise<boolean> {
  return (await on.query(RESEAL, [userId, old, next])).length > 0;
}
