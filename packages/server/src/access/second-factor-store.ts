/** The SQL statements about second factors and recovery codes. */
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';

export interface SecondFactorRow {
  sealed: Buffer;
  confirmed_at: Date | null;
  /** The number of recovery codes that were not used. */
  recovery_codes: number;
}

export const readSecondFactorRow = statement<SecondFactorRow, { userId: string }>(
  'second_factors.read',
  `select f.sealed, f.confirmed_at,
          (select count(*)::integer from recovery_codes r where r.user_id = f.user_id and r.used_at is null) as recovery_codes
     from second_factors f where f.user_id = :userId`,
).first;

/** Stores a secret that the user has not confirmed yet. @returns false when the user already has a confirmed secret */
export const insertSecret = statement<{ user_id: string }, { userId: string; sealed: Buffer }>(
  'second_factors.begin',
  `insert into second_factors (user_id, sealed) values (:userId, :sealed)
   on conflict (user_id) do update set sealed = excluded.sealed, created_at = excluded.created_at
     where second_factors.confirmed_at is null
   returning user_id`,
).found;

/**
 * Confirms a secret with the time step of its first code. @returns false when another request has confirmed it first
 */
export const confirmSecret = statement<{ user_id: string }, { userId: string; sealed: Buffer; step: number }>(
  'second_factors.confirm',
  `update second_factors set confirmed_at = now(), last_step = :step
    where user_id = :userId and sealed = :sealed and confirmed_at is null
   returning user_id`,
).found;

/** Records an accepted code. @returns false when this code or a later one was accepted before */
export const useStep = statement<{ user_id: string }, { userId: string; sealed: Buffer; step: number }>(
  'second_factors.use_step',
  `update second_factors set last_step = :step
    where user_id = :userId and sealed = :sealed and confirmed_at is not null and last_step < :step
   returning user_id`,
).found;

/**
 * Uses up a recovery code. @returns false when the user has no such unused code
 * @param marks the hashes of the code with each secret key that the process has
 */
export const takeRecoveryCode = statement<{ user_id: string }, { userId: string; marks: readonly Buffer[] }>(
  'second_factors.use_recovery_code',
  `update recovery_codes r set used_at = now()
    where r.user_id = :userId and r.mark = any (:marks::bytea[]) and r.used_at is null
      and exists (select from second_factors f where f.user_id = r.user_id and f.confirmed_at is not null)
   returning r.user_id`,
).found;

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

export const countSecondFactors = statement<{ count: number }>(
  'second_factors.count',
  'select count(*)::integer as count from second_factors',
).value;

/** Counts the users with unused recovery codes. */
export const countRecoveryCodeUsers = statement<{ count: number }>(
  'second_factors.count_recovery_code_users',
  'select count(distinct user_id)::integer as count from recovery_codes where used_at is null',
).value;

/** Lists the encrypted secrets of users by their id, after the one of `after`. */
export const listSealedFactors = statement<
  { user_id: string; sealed: Buffer },
  { after: string | null; limit: number }
>(
  'second_factors.list_sealed',
  `select user_id, sealed from second_factors where :after::uuid is null or user_id > :after order by user_id
    limit :limit`,
).rows;

/** Replaces an encrypted secret. @returns false if it was changed or deleted meanwhile */
export const resealFactor = statement<{ user_id: string }, { userId: string; old: Buffer; next: Buffer }>(
  'second_factors.reseal',
  'update second_factors set sealed = :next where user_id = :userId and sealed = :old returning user_id',
).found;
