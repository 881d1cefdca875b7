/** Tests sessions over HTTP: signing in, signing out, and the limits of password guesses. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConnection } from '../database/connections.ts';
import { LOCK_REFERENCE_TABLES } from '../database/forms.ts';
import { createBrowser, createPerson, startTestServer, type TestServer, until } from '../testing/harness.ts';
import { personNamed, setDisabled } from './people.ts';

let server: TestServer;
let owner: pg.Client;
let other: pg.Client;
beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_TRUSTED_PROXIES: '127.0.0.0/8' } });
  owner = await server.connectOwner();
  other = createConnection(server.connection);
  await other.connect();
});
afterAll(async () => {
  await other.end();
  await server.stop();
});

const WRONG = { error: { code: 'wrong_sign_in', message: 'The e-mail address or the password is wrong.' } };
let addresses = 0;
/** Each test uses its own client address, because attempts are counted per address. */
const from = () => ({ 'x-forwarded-for': `10.${++addresses >> 8}.${addresses & 255}.1` });

describe('a session', () => {
  // The statements that an operator's transaction runs after the password check and before the insert of the session.
  // On Citus, it first takes the lock of reference tables, for which a sign-in then waits. PostgreSQL needs no lock.
  it.each([
    ['is disabled', 'update users set disabled_at = now() where user_id = $1'],
    ['is given another password', `update users set password_hash = password_hash || 'x' where user_id = $1`],
  ])('does not start when its user %s at the same time', async (_, change) => {
    const { email, password, userId } = await createPerson(server, { role: 'operator' });
    const browser = createBrowser(server.url);
    await owner.query('begin');
    await owner.query(LOCK_REFERENCE_TABLES.text);
    await owner.query(change, [userId]);
    const asked = browser.call('POST', '/api/session', { email, password }, from());
    const waits = async () => {
      const { rows } = await other.query(
        `select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'
            and query like any(array['with person as%', $1])`,
        [LOCK_REFERENCE_TABLES.text],
      );
      return rows.length > 0;
    };
    let answered = false;
    void asked.then(() => {
      answered = true;
    });
    await until(async () => answered || (await waits()));
    await owner.query('delete from sessions where user_id = $1', [userId]);
    await owner.query('commit');
    expect((await asked).body).toEqual(WRONG);
    await owner.query('update users set disabled_at = null where user_id = $1', [userId]);
    const { rows } = await owner.query('select 1 from sessions where user_id = $1', [userId]);
    expect(rows).toEqual([]);
  });
});

describe('signing in', () => {
  it('sets an HttpOnly same-site cookie and answers with the user', async () => {
    const person = await createPerson(server, { role: 'editor', languages: ['en:es+review', 'en:de'] });
    const browser = createBrowser(server.url);
    const { email, password } = person;
    const answer = await browser.call('POST', '/api/session', { email: ` ${email.toUpperCase()}`, password });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      email,
      name: person.name,
      role: 'editor',
      theme: 'system',
      languages: [
        { source_language: 'en', target_language: 'de', review: false },
        { source_language: 'en', target_language: 'es', review: true },
      ],
    });
    const cookie = answer.headers.getSetCookie()[0]!;
    expect(cookie).toMatch(
      /^__Host-dragoman=[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('content-security-policy')).toMatch(/default-src 'none'/);
    expect((await browser.call('GET', '/api/session')).body.email).toBe(email);
    const { rows } = await owner.query('select token_hash from sessions');
    expect(JSON.stringify(rows)).not.toContain(browser.cookie!.split('=')[1]);
  });

  it('creates a new token and ends the browser’s previous session', async () => {
    const { email, password } = await createPerson(server, { role: 'operator' });
    const browser = createBrowser(server.url);
    await browser.call('POST', '/api/session', { email, password });
    const before = browser.cookie!;
    await browser.call('POST', '/api/session', { email, password });
    expect(browser.cookie).not.toBe(before);
    const old = await createBrowser(server.url).call('GET', '/api/session', undefined, { cookie: before });
    expect(old.status).toBe(401);
    // A token that an attacker set in the victim's browser stays invalid after the victim signs in (session
    // fixation).
    const planted = { cookie: `__Host-dragoman=${'A'.repeat(43)}` };
    const victim = createBrowser(server.url);
    await victim.call('POST', '/api/session', { email, password }, planted);
    expect((await createBrowser(server.url).call('GET', '/api/session', undefined, planted)).status).toBe(
      401,
    );
  });

  it('answers the same for a wrong password and for an unknown, invited or disabled user', async () => {
    const { email, password } = await createPerson(server, { role: 'editor' });
    const invited = await createPerson(server, { role: 'editor' });
    await owner.query('update users set password_hash = null where user_id = $1', [invited.userId]);
    await setDisabled(server.database, 'command', await personNamed(server.database, email), true);
    const { call } = createBrowser(server.url);
    for (const body of [
      { email, password },
      { email, password: 'wrong' },
      { email: 'nobody@example.com', password },
      { email: 'not an e-mail', password },
      { email: invited.email, password: invited.password },
    ]) {
      const answer = await call('POST', '/api/session', body, from());
      expect([answer.status, answer.body]).toEqual([401, WRONG]);
    }
  });

  it('names every missing field', async () => {
    const { call } = createBrowser(server.url);
    for (const [body, fields] of [
      [{}, ['email', 'password']],
      ['null', ['email', 'password']],
      [{ email: 7, password: '' }, ['email', 'password']],
      [[], ['body']],
      ['"text"', ['body']],
    ] as const) {
      const answer = await call('POST', '/api/session', body);
      expect(answer.status).toBe(400);
      expect(Object.keys(answer.body.error.fields)).toEqual(fields);
    }
  });
});

describe('password guesses', () => {
  it('are delayed after three wrong passwords for one user, only from the same address', async () => {
    const { email, password, call } = await createPerson(server, { role: 'editor' });
    const stranger = createBrowser(server.url);
    const here = from();
    const guess = (word: string) => stranger.call('POST', '/api/session', { email, password: word }, here);
    await owner.query('delete from sign_ins');
    const delays: number[] = [];
    for (const word of ['one', 'two', 'three', 'four', 'five', 'six']) {
      expect((await guess(word)).status).toBe(401);
      const { rows } = await owner.query(
        'select max(extract(epoch from closed_until - last_at))::float8 as delay from sign_ins',
      );
      delays.push(rows[0].delay);
      await owner.query('update sign_ins set closed_until = last_at');
    }
    expect(delays).toEqual([0, 0, 0, 1, 3, 7]);
    await guess('seven');
    await owner.query(`update sign_ins set closed_until = now() + interval '1 h' where attempts = 7`);
    const closed = await guess(password);
    expect(closed.status).toBe(429);
    expect(closed.body.error.code).toBe('too_many_attempts');
    expect(closed.body.error.retry_after).toBeGreaterThan(3000);
    expect(closed.headers.get('retry-after')).toBe(String(closed.body.error.retry_after));
    // The user can sign in from another address and use an existing session.
    const body = { email, password };
    expect((await createBrowser(server.url).call('POST', '/api/session', body, from())).status).toBe(200);
    expect((await call('GET', '/api/session')).status).toBe(200);
    // After the delay the user can sign in from the same address, which deletes the counted attempts.
    await owner.query(`update sign_ins set closed_until = now() - interval '1 s'`);
    expect((await guess(password)).status).toBe(200);
    for (const word of ['one', 'two', 'three']) expect((await guess(word)).status).toBe(401);
  });

  it('are counted when a disabled user sends the right password', async () => {
    const { email, password } = await createPerson(server, { role: 'editor' });
    await setDisabled(server.database, 'command', await personNamed(server.database, email), true);
    await owner.query('delete from sign_ins');
    const { call } = createBrowser(server.url);
    const here = from();
    for (let n = 0; n < 3; n++) {
      expect((await call('POST', '/api/session', { email, password }, here)).body).toEqual(WRONG);
    }
    // Each guess counts for two limits: one for the user and the address together, and one for the address alone.
    expect((await owner.query('select attempts from sign_ins')).rows).toEqual([
      { attempts: 3 },
      { attempts: 3 },
    ]);
  });

  it('are mostly refused without a password check when 60 arrive at the same time', async () => {
    const { email } = await createPerson(server, { role: 'editor' });
    const here = from();
    const { call } = createBrowser(server.url);
    const guesses = Array.from({ length: 60 }, (_, n) =>
      call('POST', '/api/session', { email, password: `guess ${n}` }, here),
    );
    const looked = (await Promise.all(guesses)).filter(({ status }) => status === 401);
    expect(looked.length).toBeLessThan(12);
  });

  it('are delayed for an address that tries many users, and successful sign-ins do not count', async () => {
    const { email, password } = await createPerson(server, { role: 'editor' });
    const here = from();
    const { call } = createBrowser(server.url);
    for (let n = 0; n < 30; n++) {
      expect((await call('POST', '/api/session', { email, password }, here)).status).toBe(200);
    }
    const statuses: number[] = [];
    // Each further attempt increases the delay: 1, 3, 7 … 255 s.
    for (let n = 0; n < 28; n++) {
      const body = { email: `guessed-${n}@example.com`, password };
      statuses.push((await call('POST', '/api/session', body, here)).status);
    }
    expect(statuses.slice(0, 20).every((status) => status === 401)).toBe(true);
    expect(statuses).toContain(429);
  });

  // A port changes with each connection. A value without an address counts for the proxy, whatever it is.
  it.each([
    ['an IPv4 address with a port', (n: number) => `203.0.113.42:${50_000 + n}`],
    ['an IPv6 address with a port', (n: number) => `[2001:db8::42]:${50_000 + n}`],
    ['an IPv6 address in quotes', (n: number) => `"[2001:db8:0:1::${n}]"`],
    ['an obfuscated port', (n: number) => `203.0.113.43:_p${n}`],
    ['a chain of proxies with ports', (n: number) => `203.0.113.44:${n + 1}, 127.0.0.2:${n + 1}`],
    ['an obfuscated node', (n: number) => `_hidden${n}`],
    ['words', (n: number) => `client-${n}`],
    ['an address in another notation', (n: number) => `0x7f.${n}, 127.0.0.3`],
    ['a spoofed address before one with a port', (n: number) => `198.51.100.${n}, 203.0.113.45:${n + 1}`],
  ])('are delayed when a proxy sends %s', async (name, forwarded) => {
    const { call } = createBrowser(server.url);
    const body = { email: `${name.replaceAll(' ', '-')}@example.com`, password: 'a wrong password' };
    const statuses: number[] = [];
    for (let n = 0; n < 12; n++) {
      statuses.push((await call('POST', '/api/session', body, { 'x-forwarded-for': forwarded(n) })).status);
    }
    expect(statuses).toContain(429);
  });

  it('count apart for two addresses with ports behind one proxy', async () => {
    const { call } = createBrowser(server.url);
    const body = { email: 'two-offices@example.com', password: 'a wrong password' };
    const attempt = async (node: string) =>
      (await call('POST', '/api/session', body, { 'x-forwarded-for': node })).status;
    for (let n = 0; n < 12; n++) await attempt(`203.0.113.46:${n + 1}`);
    expect(await attempt('203.0.113.47:1')).toBe(401);
    expect(await attempt('[2001:db8:0:2::1]:1')).toBe(401);
  });

  it.each([
    ['a closed IPv4 address', () => '198.51.100.78'],
    ['new /64 networks of a closed /48 network', (n: number) => `2001:db8:c:${n}::1`],
  ])('add no row for each refused attempt from %s', async (_, address) => {
    const { call } = createBrowser(server.url);
    const attempt = async (n: number) => {
      const body = { email: `unknown-${n}@example.com`, password: 'x' };
      return (await call('POST', '/api/session', body, { 'x-forwarded-for': address(n) })).status;
    };
    await attempt(0);
    await owner.query(`update sign_ins set closed_until = now() + interval '1 hour'`);
    const count = async () => (await owner.query('select count(*)::integer as n from sign_ins')).rows[0].n;
    const before = await count();
    for (let n = 1; n <= 20; n++) expect(await attempt(n)).toBe(429);
    expect(await count()).toBe(before);
    await owner.query('update sign_ins set closed_until = last_at');
  });

  it('of one user who is delayed do not delay the others of the network', async () => {
    const { email, password } = await createPerson(server, { role: 'editor' });
    const here = from();
    const { call } = createBrowser(server.url);
    const body = { email: 'stubborn@example.com', password: 'x' };
    for (let n = 0; n < 4; n++) await call('POST', '/api/session', body, here);
    await owner.query(
      `update sign_ins set closed_until = now() + interval '1 hour' where closed_until > last_at`,
    );
    for (let n = 0; n < 40; n++) {
      expect((await call('POST', '/api/session', body, here)).status).toBe(429);
    }
    expect((await call('POST', '/api/session', { email, password }, here)).status).toBe(200);
    await owner.query('update sign_ins set closed_until = last_at');
  });

  it('are stored without the client address and the e-mail address', async () => {
    const { call } = createBrowser(server.url);
    const body = { email: 'remembered@example.com', password: 'x' };
    await call('POST', '/api/session', body, { 'x-forwarded-for': '198.51.100.77' });
    const { rows } = await owner.query('select s.*, mark::text as bytes from sign_ins s');
    expect(JSON.stringify(rows)).not.toMatch(/198\.51|remembered/);
  });
});

describe('a session', () => {
  const age = (userId: string, column: string, seconds: number) =>
    owner.query(`update sessions set ${column} = now() + make_interval(secs => $2) where user_id = $1`, [
      userId,
      seconds,
    ]);

  it('ends after the idle time and after its maximum duration', async () => {
    const idle = await createPerson(server, { role: 'editor' });
    await age(idle.userId, 'last_seen_at', -1790);
    expect((await idle.call('GET', '/api/session')).status).toBe(200);
    // This request counts as a use of the session.
    const { rows } = await owner.query(
      `select last_seen_at > now() - interval '1 minute' as seen from sessions where user_id = $1`,
      [idle.userId],
    );
    expect(rows).toEqual([{ seen: true }]);
    await age(idle.userId, 'last_seen_at', -1801);
    expect((await idle.call('GET', '/api/session')).status).toBe(401);
    const old = await createPerson(server, { role: 'editor' });
    await age(old.userId, 'ends_at', -1);
    expect((await old.call('GET', '/api/sessions')).status).toBe(401);
  });

  it('ends when the user signs out, which invalidates the cookie', async () => {
    const { email, password } = await createPerson(server, { role: 'editor' });
    const browser = createBrowser(server.url);
    await browser.call('POST', '/api/session', { email, password });
    const cookie = browser.cookie!;
    expect((await browser.call('DELETE', '/api/session')).status).toBe(204);
    expect(browser.cookie).toBeUndefined();
    expect((await browser.call('GET', '/api/session', undefined, { cookie })).status).toBe(401);
    expect((await browser.call('DELETE', '/api/session')).status).toBe(204);
  });

  it('is listed with its browser, and can be ended from another session of the same user only', async () => {
    const { email, password, call } = await createPerson(server, { role: 'editor' });
    const phone = createBrowser(server.url);
    const agent = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile Safari/604.1';
    await phone.call('POST', '/api/session', { email, password }, { 'user-agent': agent });
    const { objects } = (await call('GET', '/api/sessions')).body;
    expect(objects.map((one: { current: boolean }) => one.current).toSorted()).toEqual([false, true]);
    const other = objects.find((one: { current: boolean }) => !one.current);
    expect(other.user_agent).toBe('Safari, iPhone');
    const stranger = await createPerson(server, { role: 'operator' });
    for (const id of [other.session_id, 'nonsense', '0193a1f0-5d5c-7c1e-8d4e-6f1f5d1f0a11']) {
      expect((await stranger.call('DELETE', `/api/sessions/${id}`)).status).toBe(404);
    }
    expect((await phone.call('GET', '/api/session')).status).toBe(200);
    expect((await call('DELETE', `/api/sessions/${other.session_id}`)).status).toBe(204);
    expect((await phone.call('GET', '/api/session')).status).toBe(401);
    await phone.call('POST', '/api/session', { email, password });
    expect((await call('DELETE', '/api/sessions')).status).toBe(204);
    expect((await phone.call('GET', '/api/session')).status).toBe(401);
    expect((await call('GET', '/api/session')).status).toBe(200);
  });

  it('ends at once when the user is disabled', async () => {
    const { email, call } = await createPerson(server, { role: 'editor' });
    await setDisabled(server.database, 'command', await personNamed(server.database, email), true);
    expect((await call('GET', '/api/session')).status).toBe(401);
  });
});
