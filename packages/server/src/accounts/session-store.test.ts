/** What ends, is touched and is forgotten is one's own: each question beside rows of somebody else. */
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConnection } from '../database/connections.ts';
import type { Transaction } from '../database/database.ts';
import { createBrowser, createPerson, startTestServer, type TestServer } from '../testing/harness.ts';
import { createToken, hashKey } from './secrets.ts';
import * as store from './session-store.ts';
import { forgive, openAmong, recognisePerson, turnSession } from './sessions.ts';

let server: TestServer;
let owner: pg.Client;
beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_TRUSTED_PROXIES: '127.0.0.0/8' } });
  owner = createConnection(server.connection);
  await owner.connect();
});
afterAll(async () => {
  await owner.end();
  await server.stop();
});

const LIMITS = { sessionIdleSeconds: 1800, sessionSeconds: 3600 };
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

/** A transaction in which `now()` stands still, so that what happens on the second is told from what happens beside it. */
async function atOneMoment<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
  return server.database.transaction(work);
}

describe('sessions', () => {
  it('of one person end without those of another', async () => {
    const [one, other] = [await newEditor(), await newEditor()];
    expect((await one.call('DELETE', '/api/sessions')).status).toBe(204);
    expect((await one.call('GET', '/api/session')).status).toBe(200);
    expect((await other.call('GET', '/api/session')).status).toBe(200);
    await store.endSessions(server.database, one.userId);
    expect((await one.call('GET', '/api/session')).status).toBe(401);
    expect((await other.call('GET', '/api/session')).status).toBe(200);
  });

  it('are touched one at a time, and not at every request', async () => {
    const [one, other] = [await newEditor(), await newEditor()];
    for (const { userId } of [one, other]) await seenAgo(userId, 300);
    await one.call('GET', '/api/session');
    expect(await secondsSinceSeen(one.userId)).toBeLessThan(300);
    expect(await secondsSinceSeen(other.userId)).toBeGreaterThanOrEqual(300);
    // Remembered to the minute.
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
  ])('that may idle %d s and were seen %d s ago are to be touched: %s', async (idle, ago, untouched) => {
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

  it('of somebody who is disabled open nothing, even where they are still there', async () => {
    const { userId, call } = await newEditor();
    const { rows } = await owner.query('select session_id from sessions where user_id = $1', [userId]);
    const ids = rows.map((row) => row.session_id as string);
    expect([...(await openAmong(server.database, LIMITS, ids))]).toEqual([[ids[0], 'editor']]);
    await owner.query('update users set disabled_at = now() where user_id = $1', [userId]);
    expect((await call('GET', '/api/session')).status).toBe(401);
    expect([...(await openAmong(server.database, LIMITS, ids))]).toEqual([]);
  });

  it('are listed from the one that was used last', async () => {
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
    // The one that asks was used just now, wherever it stood.
    const current = objects.find((one: { current: boolean }) => one.current).session_id;
    const rest = [ids[1], ids[0], ids[2]].filter((id) => id !== current);
    expect(objects.map((one: { session_id: string }) => one.session_id)).toEqual([current, ...rest]);
  });

  it('turn to a token that opens them, and end the person’s others alone', async () => {
    const [one, other] = [await newEditor(), await newEditor()];
    const { email, password } = one;
    const browser = createBrowser(server.url);
    await browser.call('POST', '/api/session', { email, password });
    const before = browser.cookie!.split('=')[1]!;
    const person = (await recognisePerson(server.database, LIMITS, before))!;
    expect(person).not.toHaveProperty('account');
    const turned = await turnSession(server.database, person);
    expect(turned).toEqual({ token: expect.any(String), sessionId: person.sessionId, endsAt: person.endsAt });
    const opens = async (token: string) => (await recognisePerson(server.database, LIMITS, token))?.sessionId;
    expect(await opens(turned.token)).toBe(person.sessionId);
    expect(await opens(before)).toBeUndefined();
    expect((await one.call('GET', '/api/session')).status).toBe(401);
    expect((await other.call('GET', '/api/session')).status).toBe(200);
    await store.endSessions(server.database, person.userId);
    await expect(turnSession(server.database, person)).rejects.toMatchObject({ code: 'not_signed_in' });
  });

  it('of a customer say whose account it is', async () => {
    const { email, password, account } = await createPerson(server, { role: 'customer' });
    const browser = createBrowser(server.url);
    await browser.call('POST', '/api/session', { email, password });
    const token = browser.cookie!.split('=')[1]!;
    const person = await recognisePerson(server.database, LIMITS, token);
    expect(person?.account?.username).toBe(account!.username);
  });
});

describe('attempts', () => {
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

  it('are forgiven and forgotten for one mark alone', async () => {
    const [one, other] = [await plant({ attempts: 5 }), await plant({ attempts: 5 })];
    await forgive(server.database, one);
    expect([(await kept(one))?.attempts, (await kept(other))?.attempts]).toEqual([4, 5]);
    await store.forgetAttempts(server.database, one);
    expect([(await kept(one))?.attempts, (await kept(other))?.attempts]).toEqual([undefined, 5]);
    const none = await plant({ attempts: 0 });
    await store.forgiveAttempt(server.database, none);
    expect((await kept(none))?.attempts).toBe(0);
  });

  it('wait for their own mark, not for another', async () => {
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
    // On the very moment it is open.
    ['0 s', undefined],
    ['0.3 s', 1],
    ['1 s', 1],
    ['100.5 s', 101],
  ])('where it is closed for %s more, wait for %s s', async (closed, seconds) => {
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

  it('of a day ago count no more, and those of less do', async () => {
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
  ] as const)('at one %s after %d others close it for %d s', async (which, before, seconds) => {
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
  });

  it('and sessions that are over are forgotten when somebody signs in, and nothing else', async () => {
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
    const { email, password } = live;
    const answer = await createBrowser(server.url).call('POST', '/api/session', { email, password });
    expect(answer.status).toBe(200);
    expect(await kept(gone)).toBeUndefined();
    for (const mark of stay) expect(await kept(mark)).toBeDefined();
    const sessions = async (userId: string) =>
      (await owner.query('select 1 from sessions where user_id = $1', [userId])).rows.length;
    expect([await sessions(old.userId), await sessions(live.userId)]).toEqual([0, 2]);
  });
});
