/** The SQL statements about sessions and sign-in attempts. */
import type { PersonRole } from '../base/account.ts';
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { AccountStatus } from './states.ts';

// The user's row is locked first. Disabling a user and changing a password also write this row first and then
// end the sessions. A session that starts at the same moment is therefore either ended with the others or not
// started.
const INSERT_SESSION = statement<{ ends_at: Date }>(
  'sessions.insert',
  `with person as (
     select user_id from users
      where user_id = $2 and disabled_at is null and password_hash is not distinct from $6 for share)
   insert into sessions (session_id, user_id, token_hash, user_agent, ends_at, by_provider)
   select $1, user_id, $3, $4, now() + make_interval(secs => $5::float8), $7 from person
   returning ends_at`,
);

export interface NewSession {
  sessionId: string;
  userId: string;
  /**
   * The hash of the password that was verified. The session does not start if the user's hash is different
   * now.
   */
  passwordHash: string | null;
  tokenHash: Buffer;
  userAgent: string;
  seconds: number;
  /** Whether the provider authenticated the user. */
  byProvider: boolean;
}

/** @returns the time when the session ends; undefined when the user is disabled or has another password now */
export async function insertSession(on: Queryable, session: NewSession): Promise<Date | undefined> {
  const { sessionId, userId, tokenHash, userAgent, seconds, passwordHash, byProvider } = session;
  const values = [sessionId, userId, tokenHash, userAgent, seconds, passwordHash, byProvider];
  return (await on.query(INSERT_SESSION, values))[0]?.ends_at;
}

export interface SessionUserRow {
  session_id: string;
  user_id: string;
  email: string;
  name: string;
  role: PersonRole;
  part: number | null;
  account_id: string | null;
  username: string | null;
  account_status: AccountStatus | null;
  owner: boolean;
  ends_at: Date;
  second_factor: boolean;
  by_provider: boolean;
  /** Whether the time of this use must be written to `last_seen_at`. */
  untouched: boolean;
}

const LIVE = `s.ends_at > now() and s.last_seen_at > now() - make_interval(secs => $2::float8)`;

// `last_seen_at` is written at most once a minute. If a quarter of the idle time is shorter than a minute, it is
// written once in that time.
const FIND_SESSION = statement<SessionUserRow>(
  'sessions.find',
  `select s.session_id, u.user_id, u.email, u.name, u.role, u.part, u.account_id, a.username, a.status as account_status, u.owner, s.ends_at, s.by_provider,
          exists (select from second_factors f where f.user_id = u.user_id and f.confirmed_at is not null) as second_factor,
          s.last_seen_at < now() - make_interval(secs => least(60, $2::float8 / 4)) as untouched
     from sessions s join users u on u.user_id = s.user_id
     left join accounts a on a.part = u.part and a.account_id = u.account_id
    where s.token_hash = $1 and u.disabled_at is null and ${LIVE}`,
);

/** Returns an open session with its user. @param idleSeconds the idle time after which a session ends */
export async function findSession(
  on: Queryable,
  tokenHash: Buffer,
  idleSeconds: number,
): Promise<SessionUserRow | undefined> {
  return (await on.query(FIND_SESSION, [tokenHash, idleSeconds]))[0];
}

const OPEN_AMONG = statement<{ session_id: string; role: PersonRole }>(
  'sessions.open_among',
  `select s.session_id, u.role from sessions s join users u on u.user_id = s.user_id
    where s.session_id = any($1) and u.disabled_at is null and ${LIVE}`,
);

/** Returns the sessions among `sessionIds` that have not ended. Does not record a use of them. */
export function selectOpenSessions(
  on: Queryable,
  sessionIds: readonly string[],
  idleSeconds: number,
): Promise<{ session_id: string; role: PersonRole }[]> {
  return on.query(OPEN_AMONG, [sessionIds, idleSeconds]);
}

export const touchSession = statement<never, { sessionId: string }>(
  'sessions.touch',
  `update sessions set last_seen_at = now() where session_id = :sessionId`,
).run;

/** Replaces the token of a session. @returns the time when the session ends; undefined when it has already ended */
export const replaceSessionToken = statement<{ ends_at: Date }, { sessionId: string; tokenHash: Buffer }>(
  'sessions.rotate',
  `update sessions set token_hash = :tokenHash where session_id = :sessionId returning ends_at`,
).firstValue;

export interface SessionRow {
  session_id: string;
  user_agent: string;
  created_at: Date;
  last_seen_at: Date;
  ends_at: Date;
}

const LIST_SESSIONS = statement<SessionRow>(
  'sessions.list',
  `select s.session_id, s.user_agent, s.created_at, s.last_seen_at, s.ends_at from sessions s
    where s.user_id = $1 and ${LIVE} order by s.last_seen_at desc, s.session_id`,
);

export function selectSessions(on: Queryable, userId: string, idleSeconds: number): Promise<SessionRow[]> {
  return on.query(LIST_SESSIONS, [userId, idleSeconds]);
}

const END_SESSION = statement<{ session_id: string }>(
  'sessions.end',
  `delete from sessions where user_id = $1 and session_id = $2 returning session_id`,
);

/** Deletes a session of a user. @returns whether the user had this session */
export async function deleteSession(on: Queryable, userId: string, sessionId: string): Promise<boolean> {
  const ended = (await on.query(END_SESSION, [userId, sessionId])).length > 0;
  if (ended) on.changed('sessions');
  return ended;
}

export const deleteSessionByToken = statement<{ session_id: string }, { tokenHash: Buffer }>(
  'sessions.end_by_token',
  `delete from sessions where token_hash = :tokenHash returning session_id`,
).reporting('sessions').found;

/** Deletes all sessions of a user, except the one with the id `except`. */
export const deleteSessions = statement<{ session_id: string }, { userId: string; except: string | null }>(
  'sessions.end_all',
  `delete from sessions where user_id = :userId and (:except::uuid is null or session_id <> :except)
    returning session_id`,
).reporting('sessions').found;

const FORGET_ENDED = statement(
  'sessions.forget_ended',
  `delete from sessions where session_id in (select session_id from sessions where ends_at < now() limit $1)`,
);
const FORGET_ATTEMPTS = statement<{ forgotten: number }>(
  'sign_ins.forget',
  `with gone as (
     delete from sign_ins where mark in (
       select mark from sign_ins
        where last_at < now() - interval '1 day' and closed_until < now() order by last_at limit $1)
     returning 1)
   select count(*) as forgotten from gone`,
);

/**
 * Deletes at most `limit` ended sessions, and as many counts of sign-in attempts that are older than a day.
 * @returns the number of counts
 */
export async function deleteEnded(on: Queryable, limit: number): Promise<number> {
  await on.query(FORGET_ENDED, [limit]);
  const [row] = await on.query(FORGET_ATTEMPTS, [limit]);
  return row?.forgotten ?? 0;
}

// Attempts are counted before the password is checked and in one statement, so concurrent guesses all count.
// The nth attempt after the free ones blocks further attempts for 2^n - 1 seconds. A day without attempts
// resets the count. An attempt without a delay sets `closed_until` to its own time. That value does not delay
// a transaction that began earlier and waited for the row.
const ATTEMPT = statement<{ attempts: number }>(
  'sign_ins.attempt',
  `insert into sign_ins (mark, attempts) values ($1, 1)
   on conflict (mark) do update set last_at = now(),
     attempts = case when sign_ins.last_at < now() - interval '1 day' then 1 else sign_ins.attempts + 1 end,
     closed_until = case when sign_ins.last_at < now() - interval '1 day' then now()
       else now() + make_interval(secs => least($3::float8,
         power(2, least(20, greatest(0, sign_ins.attempts + 1 - $2::integer))) - 1)) end
    where sign_ins.closed_until <= greatest(sign_ins.last_at, now())
   returning attempts`,
);
const CLOSED_FOR = statement<{ seconds: number }>(
  'sign_ins.closed_for',
  `select extract(epoch from closed_until - now())::float8 as seconds from sign_ins where mark = $1`,
);

/**
 * Counts a sign-in attempt, unless attempts are blocked now.
 * @param free the number of attempts without a delay
 * @returns the seconds until an attempt is allowed; undefined when this attempt is allowed
 */
export async function countAttempt(
  on: Queryable,
  mark: Buffer,
  { free, mostSeconds }: { free: number; mostSeconds: number },
): Promise<number | undefined> {
  const counted = await on.query(ATTEMPT, [mark, free, mostSeconds]);
  if (counted.length > 0) return undefined;
  const [row] = await on.query(CLOSED_FOR, [mark]);
  return Math.max(1, Math.ceil(row?.seconds ?? 1));
}

/** Subtracts one attempt and removes the delay that the attempt caused. */
export const decrementAttempts = statement<never, { mark: Buffer }>(
  'sign_ins.forgive_attempt',
  `update sign_ins set attempts = greatest(0, attempts - 1), closed_until = last_at where mark = :mark`,
).run;
export const deleteAttempts = statement<never, { mark: Buffer }>(
  'sign_ins.forget_mark',
  `delete from sign_ins where mark = :mark`,
).run;
