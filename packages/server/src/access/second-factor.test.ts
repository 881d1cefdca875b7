/** Tests of second factors on a running server. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createBrowser,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
} from '../testing/harness.ts';
import { authenticatorOf, setUpSecondFactor } from '../testing/second-factor.ts';
import { linkFor } from './invitations.ts';
import { personNamed } from './people.ts';

let server: TestServer;
let owner: pg.Client;
beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_TRUSTED_PROXIES: '127.0.0.0/8' } });
  owner = await server.connectOwner();
});
afterAll(() => server.stop());

let addresses = 0;
const from = () => ({ 'x-forwarded-for': `10.${++addresses >> 8}.${addresses & 255}.1` });
const signIn = (person: TestPerson, fields: object = {}, headers: object = from()) => {
  const { email, password } = person;
  return createBrowser(server.url).call('POST', '/api/session', { email, password, ...fields }, headers);
};
const codeOf = ({ status, body }: { status: number; body: { error?: { code: string } } }) =>
  body.error === undefined ? status : body.error.code;
const WRONG = 'This is not a code.';
const PATH = '/api/me/second-factor';

describe('setting up a second factor', () => {
  it('needs the password and a code, ends the other sessions, and then sign-in asks for a code', async () => {
    const person = await createPerson(server, { role: 'editor' });
    const elsewhere = createBrowser(server.url);
    await elsewhere.call('POST', '/api/session', { email: person.email, password: person.password }, from());
    const wrong = await person.call('POST', PATH, { current_password: 'no' });
    expect(wrong.body.error.fields).toEqual({ current_password: 'Is not your password.' });
    const begun = await person.call('POST', PATH, { current_password: person.password });
    expect(begun.body.uri).toContain(`secret=${begun.body.secret}&issuer=Dragoman`);
    // The second factor is off until the user has entered a code.
    expect((await person.call('GET', PATH)).body).toEqual({ enabled_at: null, recovery_codes: 0 });
    expect((await signIn(person)).status).toBe(200);
    expect((await person.call('POST', `${PATH}/confirm`, { code: '000 00' })).status).toBe(400);
    const { code } = authenticatorOf(begun.body.secret);
    const confirmed = await person.call('POST', `${PATH}/confirm`, { code: code() });
    expect(confirmed.body.recovery_codes).toHaveLength(10);
    expect((await person.call('GET', PATH)).body).toMatchObject({ recovery_codes: 10 });
    expect((await elsewhere.call('GET', '/api/session')).status).toBe(401);
    expect((await person.call('GET', '/api/me')).body).toMatchObject({ second_factor: true });
    expect(codeOf(await signIn(person))).toBe('second_factor_required');
    expect(codeOf(await signIn(person, { code: code(1), password: WRONG }))).toBe('wrong_sign_in');
    expect((await signIn(person, { code: code(1) })).status).toBe(200);
    for (const path of [PATH, `${PATH}/confirm`]) {
      const again = await person.call('POST', path, { current_password: person.password, code: code(1) });
      expect(codeOf(again)).toBe('conflict');
    }
  });

  it('stores neither the secret nor a recovery code in clear text', async () => {
    const person = await createPerson(server, { role: 'editor' });
    const { body } = await person.call('POST', PATH, { current_password: person.password });
    const app = authenticatorOf(body.secret);
    const confirmed = await person.call('POST', `${PATH}/confirm`, { code: app.code() });
    const [code] = confirmed.body.recovery_codes as string[];
    const rows = await Promise.all(
      ['second_factors', 'recovery_codes', 'audit'].map((table) => owner.query(`select * from ${table}`)),
    );
    const stored = JSON.stringify(rows.map(({ rows }) => rows));
    for (const secret of [body.secret, code!, code!.replace('-', '')]) expect(stored).not.toContain(secret);
    const { rows: sealed } = await owner.query('select sealed from second_factors where user_id = $1', [
      person.userId,
    ]);
    // 20 bytes of secret, 12 of nonce and 16 of tag.
    expect(sealed[0].sealed).toHaveLength(48);
  });
});

describe('a code', () => {
  it('is accepted only once, even in five simultaneous requests, and not after a later code was used', async () => {
    const person = await createPerson(server, { role: 'editor' });
    const { code } = await setUpSecondFactor(server, person);
    const now = code();
    const answers = await Promise.all(Array.from({ length: 5 }, () => signIn(person, { code: now })));
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([200, 400, 400, 400, 400]);
    const refused = answers.find(({ status }) => status === 400)!;
    expect(refused.body.error.fields).toEqual({ code: 'Is not a valid code, or was used before.' });
    expect((await signIn(person, { code: code(1) })).status).toBe(200);
    expect((await signIn(person, { code: now })).status).toBe(400);
  });

  it('is refused after too many wrong codes for one user, counted over all client addresses', async () => {
    const person = await createPerson(server, { role: 'editor' });
    await setUpSecondFactor(server, person);
    const statuses: number[] = [];
    while (!statuses.includes(429)) statuses.push((await signIn(person, { code: '000000' })).status);
    expect(statuses.length).toBeGreaterThan(5);
    expect(new Set(statuses)).toEqual(new Set([400, 429]));
  });

  it('that is missing does not count as a wrong code', async () => {
    const person = await createPerson(server, { role: 'editor' });
    await setUpSecondFactor(server, person);
    const office = from();
    for (let n = 0; n < 6; n++)
      expect(codeOf(await signIn(person, {}, office))).toBe('second_factor_required');
  });

  it('of another user is refused', async () => {
    const [one, other] = [
      await createPerson(server, { role: 'editor' }),
      await createPerson(server, { role: 'editor' }),
    ];
    const [app] = [await setUpSecondFactor(server, one), await setUpSecondFactor(server, other)];
    expect((await signIn(other, { code: app.code() })).status).toBe(400);
    expect((await signIn(other, { code: app.recoveryCodes[0] })).status).toBe(400);
  });
});

describe('a recovery code', () => {
  it('works once, may be typed in capitals and without the hyphen, and is audited', async () => {
    const person = await createPerson(server, { role: 'editor' });
    const { recoveryCodes } = await setUpSecondFactor(server, person);
    const [first, second] = recoveryCodes as [string, string];
    expect((await signIn(person, { code: first })).status).toBe(200);
    expect((await signIn(person, { code: first })).status).toBe(400);
    const typed = ` ${second.replace('-', '').toUpperCase()} `;
    expect((await signIn(person, { code: typed })).status).toBe(200);
    expect((await person.call('GET', PATH)).body.recovery_codes).toBe(8);
    const { rows } = await owner.query(
      `select count(*)::int as n from audit where action = 'person.recovery_code' and subject = $1`,
      [person.email],
    );
    expect(rows[0].n).toBe(2);
  });

  it('stops working when the codes are replaced', async () => {
    const person = await createPerson(server, { role: 'editor' });
    const { code, recoveryCodes } = await setUpSecondFactor(server, person);
    expect((await person.call('POST', `${PATH}/recovery-codes`, { code: 'no' })).status).toBe(400);
    const renewed = await person.call('POST', `${PATH}/recovery-codes`, { code: code() });
    expect((await signIn(person, { code: recoveryCodes[0] })).status).toBe(400);
    expect((await signIn(person, { code: renewed.body.recovery_codes[0] })).status).toBe(200);
  });
});

describe('a reset link', () => {
  it('of a user with a second factor needs a code, and stays valid after a request without a code', async () => {
    const person = await createPerson(server, { role: 'editor' });
    const { code } = await setUpSecondFactor(server, person);
    const { token } = await linkFor(
      server.database,
      'command',
      await personNamed(server.database, person.email),
    );
    const path = `/api/invitations/${token}`;
    const { call } = createBrowser(server.url);
    expect((await call('GET', path)).body.second_factor).toBe(true);
    const password = 'another password of mine';
    expect(codeOf(await call('POST', path, { password }))).toBe('second_factor_required');
    expect((await call('POST', path, { password, code: '000000' })).status).toBe(400);
    expect((await call('POST', path, { password, code: code() })).status).toBe(201);
    expect((await signIn({ ...person, password }, { code: code(1) })).status).toBe(200);
  });
});

describe('turning off a second factor', () => {
  it('needs a code, and ends the other sessions', async () => {
    const person = await createPerson(server, { role: 'editor' });
    const { code } = await setUpSecondFactor(server, person);
    const elsewhere = createBrowser(server.url);
    const { email, password } = person;
    await elsewhere.call('POST', '/api/session', { email, password, code: code() }, from());
    expect((await person.call('POST', `${PATH}/disable`, { code: '1' })).status).toBe(400);
    const off = await person.call('POST', `${PATH}/disable`, { code: code(1) });
    expect(off.body).toEqual({ enabled_at: null, recovery_codes: 0 });
    expect((await elsewhere.call('GET', '/api/session')).status).toBe(401);
    expect((await signIn(person)).status).toBe(200);
    expect(codeOf(await person.call('POST', `${PATH}/disable`, { code: '1' }))).toBe('conflict');
  });

  it('is possible for an operator on behalf of a user who lost the device', async () => {
    const operator = await createPerson(server, { role: 'operator' });
    const person = await createPerson(server, { role: 'editor' });
    await setUpSecondFactor(server, person);
    const path = (id: string) => `/api/console/people/${id}/second-factor/reset`;
    const { people } = (await operator.call('GET', '/api/console/people')).body;
    expect(people).toContainEqual(expect.objectContaining({ user_id: person.userId, second_factor: true }));
    expect((await operator.call('POST', path(person.userId))).body.second_factor).toBe(false);
    expect((await person.call('GET', '/api/session')).status).toBe(401);
    expect((await signIn(person)).status).toBe(200);
    for (const id of [person.userId, operator.userId]) {
      expect(codeOf(await operator.call('POST', path(id)))).toBe('conflict');
    }
  });
});

describe('DRAGOMAN_OPERATOR_SECOND_FACTOR=required', () => {
  it('lets an operator without a second factor only set it up', async () => {
    const operator = await createPerson(server, { role: 'operator' });
    const editor = await createPerson(server, { role: 'editor' });
    await server.restart({ DRAGOMAN_OPERATOR_SECOND_FACTOR: 'required' });
    for (const path of ['/api/console/home', '/api/editing/queue']) {
      const refused = await operator.call('GET', path);
      expect([refused.status, codeOf(refused)]).toEqual([403, 'second_factor_missing']);
    }
    expect((await editor.call('GET', '/api/editing/queue')).status).toBe(200);
    expect((await operator.call('GET', '/api/me')).body.second_factor_missing).toBe(true);
    const { code } = await setUpSecondFactor(server, operator);
    expect((await operator.call('GET', '/api/console/home')).status).toBe(200);
    expect(codeOf(await operator.call('POST', `${PATH}/disable`, { code: code() }))).toBe('conflict');
    await server.restart();
  });
});
