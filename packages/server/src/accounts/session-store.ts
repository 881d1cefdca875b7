/** What is asked of the database about sessions, and about attempts to begin one. */
import type { PersonRole } from '../account.ts';
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';

// Whoever disables a person or changes their password writes the person first and then ends their sessions. With the person
// locked, a session that begins in that moment is either seen and ended, or does not begin.
const INSERT_SESSION = statement<{ ends_at: Date }>(
  'sessions.insert',
  `with person as (
     select user_id from users
      where user_id = $2 and disabled_at is null and password_hash is not distinct from $6 for share)
   insert into sessions (session_id, user_id, token_hash, user_agent, ends_at)
   select $1, user_id, $3, $4, now() + make_interval(secs => $5::float8) from person
   returning ends_at`,
);

export interface NewSession {
  sessionId: string;
  userId: string;
  /** Of the password that the person has shown to know; with another it does not begin. */
  passwordHash: string | null;
  tokenHash: Buffer;
  userAgent: string;
  seconds: number;
}

/** @returns when it ends; undefined when the person is disabled or has another password by now */
export async function insertSession(on: Queryable, session: NewSession): Promise<Date | undefined> {
  const { sessionId, userId, tokenHash, userAgent, seconds, passwordHash } = session;
  const values = [sessionId, userId, tokenHash, userAgent, seconds, passwordHash];
  return (await on.query(INSERT_SESSION, values))[0]?.ends_at;
}

export interface SeenRow {
  session_id: string;
  user_id: string;
  email: string;
  name: string;
  role: PersonRole;
  part: number | null;
  account_id: string | null;
  username: string | null;
  owner: boolean;
  ends_at: Date;
  /** Not remembered as seen for a while. */
  untouched: boolean;
}

const LIVE = `s.ends_at > now() and s.last_seen_at > now() - make_interval(secs => $2::float8)`;

// Seen is remembered to the minute, or to a quarter of a shorter idle time: one write a minute, not one a request.
const FIND_SESSION = statement<SeenRow>(
  'sessions.find',
  `select s.session_id, u.user_id, u.email, u.name, u.role, u.part, u.account_id, a.username, u.owner, s.ends_at,
          s.last_seen_at < now() - make_interval(secs => least(60, $2::float8 / 4)) as untouched
     from sessions s join users u on u.user_id = s.user_id
     left join accounts a on a.part = u.part and a.account_id = u.account_id
    where s.token_hash = $1 and u.disabled_at is null and ${LIVE}`,
);

/** A session that has not ended, with whose it is. @param idleSeconds after which one ends that nobody uses */
export async function findSession(
  on: Queryable,
  tokenHash: Buffer,
  idleSeconds: number,
): Promise<SeenRow | undefined> {
  return (await on.query(FIND_SESSION, [tokenHash, idleSeconds]))[0];
}

const OPEN_AMONG = statement<{ session_id: string; role: PersonRole }>(
  'sessions.open_among',
  `select s.session_id, u.role from sessions s join users u on u.user_id = s.user_id
    where s.session_id = any($1) and u.disabled_at is null and ${LIVE}`,
);

/** Those of these sessions that have not ended. To be looked at is not to be used. */
export function findOpenAmong(
  on: Queryable,
  sessionIds: readonly string[],
  idleSeconds: number,
): Promise<{ session_id: string; role: PersonRole }[]> {
  return on.query(OPEN_AMONG, [sessionIds, idleSeconds]);
}

const TOUCH_SESSION = statement(
  'sessions.touch',
  `update sessions set last_seen_at = now() where session_id = $1`,
);

export async function touchSession(on: Queryable, sessionId: string): Promise<void> {
  await on.query(TOUCH_SESSION, [sessionId]);
}

const ROTATE_SESSION = statement<{ ends_at: Date }>(
  'sessions.rotate',
  `update sessions set token_hash = $2, rotated_at = now() where session_id = $1 returning ends_at`,
);

/** What opened it before does no more. @returns when it ends; undefined when it has */
export async function rotateSession(
  on: Queryable,
  sessionId: string,
  tokenHash: Buffer,
): Promise<Date | undefined> {
  return (await on.query(ROTATE_SESSION, [sessionId, tokenHash]))[0]?.ends_at;
}

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

export function listSessions(on: Queryable, userId: string, idleSeconds: number): Promise<SessionRow[]> {
  return on.query(LIST_SESSIONS, [userId, idleSeconds]);
}

const END_SESSION = statement<{ session_id: string }>(
  'sessions.end',
  `delete from sessions where user_id = $1 and session_id = $2 returning session_id`,
);

/** @returns whether the person had it */
export async function endSession(on: Queryable, userId: string, sessionId: string): Promise<boolean> {
  return (await on.query(END_SESSION, [userId, sessionId])).length > 0;
}

const END_BY_TOKEN = statement('sessions.end_by_token', `delete from sessions where token_hash = $1`);

export async function endByToken(on: Queryable, tokenHash: Buffer): Promise<void> {
  await on.query(END_BY_TOKEN, [tokenHash]);
}

const END_SESSIONS = statement(
  'sessions.end_all',
  `delete from sessions where user_id = $1 and ($2::uuid is null or session_id <> $2)`,
);

/** Every session of a person, but for one that may stay. */
export async function endSessions(on: Queryable, userId: string, stays?: string): Promise<void> {
  await on.query(END_SESSIONS, [userId, stays ?? null]);
}

// A few at a time: nobody who signs in waits for a year's.
const FORGET_ENDED = statement(
  'sessions.forget_ended',
  `delete from sessions where session_id in (select session_id from sessions where ends_at < now() limit 50)`,
);
const FORGET_ATTEMPTS = statement(
  'sign_ins.forget',
  `delete from sign_ins where mark in
     (select mark from sign_ins where last_at < now() - interval '1 day' and closed_until < now() limit 50)`,
);

/** Forgets sessions that have ended, and attempts of yesterday. */
export async function forgetOld(on: Queryable): Promise<void> {
  await on.query(FORGET_ENDED);
  await on.query(FORGET_ATTEMPTS);
}

// Counted before it is looked at, in one statement: ten thousand guesses at once are not one guess. The nth attempt
// after the free ones closes the door for 2^n - 1 seconds; a day without one forgets them.
const ATTEMPT = statement<{ attempts: number }>(
  'sign_ins.attempt',
  `insert into sign_ins (mark, attempts) values ($1, 1)
   on conflict (mark) do update set last_at = now(),
     attempts = case when sign_ins.last_at < now() - interval '1 day' then 1 else sign_ins.attempts + 1 end,
     closed_until = case when sign_ins.last_at < now() - interval '1 day' then now()
       else now() + make_interval(secs => least($3::float8,
         power(2, least(20, greatest(0, sign_ins.attempts + 1 - $2::integer))) - 1)) end
    where sign_ins.closed_until <= now()
   returning attempts`,
);
const CLOSED_FOR = statement<{ seconds: number }>(
  'sign_ins.closed_for',
  `select extract(epoch from closed_until - now())::float8 as seconds from sign_ins where mark = $1`,
);

/**
 * Counts an attempt, where one may be made now.
 * @param free so many without a delay
 * @returns seconds until one may be made; undefined when this one may
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

const FORGIVE = statement(
  'sign_ins.forgive',
  `update sign_ins set attempts = greatest(0, attempts - 1), closed_until = now() where mark = $1`,
);
const FORGET_MARK = statement('sign_ins.forget_mark', `delete from sign_ins where mark = $1`);

/** Takes back what a right password had counted. */
export async function forgiveAttempt(on: Queryable, mark: Buffer): Promise<void> {
  await on.query(FORGIVE, [mark]);
}

export async function forgetAttempts(on: Queryable, mark: Buffer): Promise<void> {
  await on.query(FORGET_MARK, [mark]);
}
