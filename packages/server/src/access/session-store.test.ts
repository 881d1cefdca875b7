/** Tests each SQL statement about sessions and sign-in attempts, with rows of another user in the tables. */
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { uuidv7 } from '../base/ids.ts';
import { createLog } from '../base/log.ts';
import type { Transaction } from '../database/database.ts';
import { startJobMaintenance } from '../jobs/worker/maintenance.ts';
import { createBrowser, createPerson, startTestServer, type TestServer } from '../testing/harness.ts';
import { createToken, hashKey } from './secrets.ts';
import * as store from './session-store.ts';
import { authenticateSession, forgiveAttempt, readOpenSessions, rotateSession } from './sessions.ts';

let server: TestServer;
let owner: pg.Client;
beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_TRUSTED_PROXIES: '127.0.0.0/8' } });
  owner = await server.connectOwner();
});
afterAll(() => server.stop());

const LIMITS = { sessionIdleSeconds: 1800, sessionSeconds: 3600 };
const NO_MAILS = {
  mailer: { send: async () => undefined },
  mayMail: async () => false,
  forgiveMail: async () => {},
  root: () => '',
};
const newEditor = () => createPerson(server, { role: 'editor' });
const seenAgo = (userId: string, seconds: number) =>
  owner.query(
    'update sessions set last_seen_at = now() - make_interval(secs => $2::float8) where user_id = $1',
    [userId, seconds],
  );
async function secondsSinceSeen(userId: string): Promise<number> {
  const { rows } = await owner.query(
    'select extract(epoch from now() - last_seen_at)::float8 as seconds from sessions where user_id = $1',
    [userId],
  );
  return rows[0].seconds;
}

/** Runs `work` in one transaction, in which `now()` is constant. This allows tests of exact limits. */
async function atOneMoment<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
  return server.database.transaction(work);
}

describe('sessions', () => {
  it('are ended only for the user whose id is passed', async () => {
    const [one, other] = [await newEditor(), await newEditor()];
    expect((await one.call('DELETE', '/api/sessions')).status).toBe(204);
    expect((await one.call('GET', '/api/session')).status).toBe(200);
    expect((await other.call('GET', '/api/session')).status).toBe(200);
    await store.deleteSessions(server.database, { userId: one.userId, except: null });
    expect((await one.call('GET', '/api/session')).status).toBe(401);
    expect((await other.call('GET', '/api/session')).status).toBe(200);
  });

  it('cause a live update only when at least one session was ended', async () => {
    const one = await newEditor();
    let published = 0;
    const unsubscribe = server.database.onChanges((changes) => {
      published += changes.filter(({ kind }) => kind === 'sessions').length;
    });
    await store.deleteSessionByToken(server.database, { tokenHash: Buffer.from('unknown') });
    await store.deleteSessions(server.database, { userId: uuidv7(), except: null });
    expect(published).toBe(0);
    await store.deleteSessions(server.database, { userId: one.userId, except: null });
    expect(published).toBe(1);
    unsubscribe();
  });

  it('record their own last use, at most once a minute', async () => {
    const [one, other] = [await newEditor(), await newEditor()];
    for (const { userId } of [one, other]) await seenAgo(userId, 300);
    await one.call('GET', '/api/session');
    expect(await secondsSinceSeen(one.userId)).toBeLessThan(300);
    expect(await secondsSinceSeen(other.userId)).toBeGreaterThanOrEqual(300);
    // The recorded last use is not older than a minute, so this use is not recorded.
    await owner.query(`update sessions set last_seen_at = now() + interval '1 h' where user_id = $1`, [
      one.userId,
    ]);
    await one.call('GET', '/api/session');
    expect(await secondsSinceSeen(one.userId)).toBeLessThan(0);
  });

  it.each([
    [1800, 59, false],
    [1800, 60, false],
    [1800, 61, true],
    [40, 9, false],
    [40, 11, true],
  ])('with an idle time of %d s and a last use %d s ago record the use: %s', async (idle, ago, untouched) => {
    const { token, hash } = createToken();
    const { userId } = await newEditor();
    await owner.query('update sessions set token_hash = $2 where user_id = $1', [userId, hash]);
    const row = await atOneMoment(async (transaction) => {
      await transaction.query(
        {
          name: 'test.seen_ago',
          text: 'update sessions set last_seen_at = now() - make_interval(secs => $2) where token_hash = $1',
        } as Parameters<Transaction['query']>[0],
        [hashKey(token), ago],
      );
      return store.findSession(transaction, hash, idle);
    });
    expect(row?.untouched).toBe(untouched);
  });

  it('of a disabled user are refused even when their rows exist', async () => {
    const { userId, call } = await newEditor();
    const { rows } = await owner.query('select session_id from sessions where user_id = $1', [userId]);
    const ids = rows.map((row) => row.session_id as string);
    expect([...(await readOpenSessions(server.database, LIMITS, ids))]).toEqual([[ids[0], 'editor']]);
    await owner.query('update users set disabled_at = now() where user_id = $1', [userId]);
    expect((await call('GET', '/api/session')).status).toBe(401);
    expect([...(await readOpenSessions(server.database, LIMITS, ids))]).toEqual([]);
  });

  it('are listed by last use, latest first', async () => {
    const { userId, email, password, call } = await newEditor();
    for (let n = 0; n < 2; n++)
      await createBrowser(server.url).call('POST', '/api/session', { email, password });
    const { rows } = await owner.query('select session_id from sessions where user_id = $1 order by 1', [
      userId,
    ]);
    const ids = rows.map((row) => row.session_id as string);
    for (const [index, seconds] of [300, 200, 600].entries()) {
      await owner.query(
        'update sessions set last_seen_at = now() - make_interval(secs => $2) where session_id = $1',
        [ids[index], seconds],
      );
    }
    const { objects } = (await call('GET', '/api/sessions')).body;
    // The request that lists the sessions has just used the current session, so that session comes first.
    const current = objects.find((one: { current: boolean }) => one.current).session_id;
    const rest = [ids[1], ids[0], ids[2]].filter((id) => id !== current);
    expect(objects.map((one: { session_id: string }) => one.session_id)).toEqual([current, ...rest]);
  });

  it('get a new token when they are rotated, and only the other sessions of the same user end', async () => {
    const [one, other] = [await newEditor(), await newEditor()];
    const { email, password } = one;
    const browser = createBrowser(server.url);
    await browser.call('POST', '/api/session', { email, password });
    const before = browser.cookie!.split('=')[1]!;
    const person = (await authenticateSession(server.database, LIMITS, before))!;
    expect(person).not.toHaveProperty('account');
    const rotated = await rotateSession(server.database, person);
    expect(rotated).toEqual({
      token: expect.any(String),
      sessionId: person.sessionId,
      endsAt: person.endsAt,
    });
    const opens = async (token: string) =>
      (await authenticateSession(server.database, LIMITS, token))?.sessionId;
    expect(await opens(rotated.token)).toBe(person.sessionId);
    expect(await opens(before)).toBeUndefined();
    expect((await one.call('GET', '/api/session')).status).toBe(401);
    expect((await other.call('GET', '/api/session')).status).toBe(200);
    await store.deleteSessions(server.database, { userId: person.userId, except: null });
    await expect(rotateSession(server.database, person)).rejects.toMatchObject({ code: 'not_signed_in' });
  });

  it('include the account when the user is a customer', async () => {
    const { email, password, account } = await createPerson(server, { role: 'customer' });
    const browser = createBrowser(server.url);
    await browser.call('POST', '/api/session', { email, password });
    const token = browser.cookie!.split('=')[1]!;
    const person = await authenticateSession(server.database, LIMITS, token);
    expect(person?.account?.username).toBe(account!.username);
  });
});

describe('sign-in attempts', () => {
  const MARKS = `select mark, attempts, extract(epoch from closed_until - last_at)::float8 as closed from sign_ins`;
  const plant = async (values: { attempts?: number; lastAt?: string; closedUntil?: string } = {}) => {
    const mark = randomBytes(32);
    await owner.query(
      `insert into sign_ins (mark, attempts, last_at, closed_until)
       values ($1, $2, now() + $3::interval, now() + $4::interval)`,
      [mark, values.attempts ?? 1, values.lastAt ?? '0', values.closedUntil ?? '0'],
    );
    return mark;
  };
  const kept = async (mark: Buffer) =>
    (await owner.query(`${MARKS} where mark = $1`, [mark])).rows[0] as
      | { attempts: number; closed: number }
      | undefined;

  it('are decremented and deleted only for the user and address that are passed', async () => {
    const [one, other] = [await plant({ attempts: 5 }), await plant({ attempts: 5 })];
    await forgiveAttempt(server.database, one);
    expect([(await kept(one))?.attempts, (await kept(other))?.attempts]).toEqual([4, 5]);
    await store.deleteAttempts(server.database, { mark: one });
    expect([(await kept(one))?.attempts, (await kept(other))?.attempts]).toEqual([undefined, 5]);
    const none = await plant({ attempts: 0 });
    await store.decrementAttempts(server.database, { mark: none });
    expect((await kept(none))?.attempts).toBe(0);
  });

  it('are delayed only by earlier attempts of the same user and address', async () => {
    const limit = { free: 3, mostSeconds: 900 };
    const [long, short] = [await plant({ closedUntil: '2 h' }), await plant({ closedUntil: '1 h' })];
    const seconds = [
      await store.countAttempt(server.database, long, limit),
      await store.countAttempt(server.database, short, limit),
    ];
    expect(seconds[0]).toBeGreaterThan(3600);
    expect(seconds[0]).toBeLessThanOrEqual(7200);
    expect(seconds[1]).toBeLessThanOrEqual(3600);
  });

  it.each([
    ['0 s', undefined],
    ['0.3 s', 1],
    ['1 s', 1],
    ['100.5 s', 101],
  ])('of a user whose block ends in %s are delayed by %s s', async (closed, seconds) => {
    const waits = await atOneMoment(async (transaction) => {
      const mark = randomBytes(32);
      const text = `insert into sign_ins (mark, attempts, closed_until) values ($1, 9, now() + $2::interval)`;
      await transaction.query({ name: 'test.close', text } as Parameters<Transaction['query']>[0], [
        mark,
        closed,
      ]);
      return store.countAttempt(transaction, mark, { free: 3, mostSeconds: 900 });
    });
    expect(waits).toBe(seconds);
  });

  it('are counted, but not delayed, in a transaction that began before the previous attempt', async () => {
    const limit = { free: 3, mostSeconds: 900 };
    const marks = await Promise.all([plant(), plant()]);
    // The `now()` of this transaction is earlier than the attempts that are counted while the transaction is
    // open.
    const waits = await server.database.transaction(async (early) => {
      await early.query({ name: 'test.begin', text: 'select 1' } as Parameters<Transaction['query']>[0], []);
      await store.countAttempt(server.database, marks[0]!, limit);
      await store.decrementAttempts(server.database, { mark: marks[1]! });
      return [
        await store.countAttempt(early, marks[0]!, limit),
        await store.countAttempt(early, marks[1]!, limit),
      ];
    });
    expect(waits).toEqual([undefined, undefined]);
  });

  it('are forgotten one day after the last attempt', async () => {
    const limit = { free: 3, mostSeconds: 900 };
    const [old, late] = [
      await plant({ attempts: 9, lastAt: '-25 h', closedUntil: '-24 h' }),
      await plant({ attempts: 9, lastAt: '-23 h', closedUntil: '-22 h' }),
    ];
    for (const mark of [old, late]) await store.countAttempt(server.database, mark, limit);
    expect(await kept(old)).toMatchObject({ attempts: 1, closed: 0 });
    expect(await kept(late)).toMatchObject({ attempts: 10, closed: 127 });
  });

  it.each([
    ['account', 2, 0],
    ['account', 3, 1],
    ['account', 40, 900],
    ['address', 19, 0],
    ['address', 20, 1],
    ['address', 40, 300],
  ] as const)(
    'of one %s: after %d earlier attempts, a failed attempt blocks the next one for %d s',
    async (which, before, seconds) => {
      await owner.query('delete from sign_ins');
      const email = `guessed-${randomBytes(4).toString('hex')}@example.com`;
      const mark = server.store.vault.mark(
        which === 'account' ? `sign-in 203.0.113.1 ${email}` : 'sign-in 203.0.113.1',
      );
      await owner.query(`insert into sign_ins (mark, attempts) values ($1, $2)`, [mark, before]);
      const { call } = createBrowser(server.url);
      const from = { 'x-forwarded-for': '203.0.113.1' };
      expect((await call('POST', '/api/session', { email, password: 'wrong' }, from)).status).toBe(401);
      expect(await kept(mark)).toMatchObject({ attempts: before + 1, closed: seconds });
    },
  );

  it('are deleted a day after the last attempt, together with ended sessions, by a worker', async () => {
    const [old, live] = [await newEditor(), await newEditor()];
    const gone = await plant({ lastAt: '-25 h', closedUntil: '-24 h' });
    const stay = [
      await plant({ lastAt: '-23 h', closedUntil: '-22 h' }),
      await plant({ lastAt: '-25 h', closedUntil: '1 h' }),
      await plant(),
    ];
    await owner.query(`update sessions set ends_at = now() - interval '1 s' where user_id = $1`, [
      old.userId,
    ]);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const settings = { autoAcceptHours: 0, smtpUrl: undefined };
    const maintenance = startJobMaintenance(server.database, settings, NO_MAILS, createLog('silent'));
    vi.advanceTimersByTime(600_000);
    await maintenance.stop();
    vi.useRealTimers();
    expect(await kept(gone)).toBeUndefined();
    for (const mark of stay) expect(await kept(mark)).toBeDefined();
    const sessions = async (userId: string) =>
      (await owner.query('select 1 from sessions where user_id = $1', [userId])).rows.length;
    expect([await sessions(old.userId), await sessions(live.userId)]).toEqual([0, 1]);
  });
});
