/** Tests the invitations, passwords and profiles of users on a running server. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBrowser, createPerson, startTestServer, type TestServer } from '../testing/harness.ts';
import { accountNamed } from './accounts.ts';
import { invitePerson, inviteUser, linkFor } from './invitations.ts';
import {
  createPerson as insertPerson,
  listPeople,
  listTeam,
  type NewPerson,
  personNamed,
  setDisabled,
} from './people.ts';

let server: TestServer;
let owner: pg.Client;
beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_TRUSTED_PROXIES: '127.0.0.0/8' } });
  owner = await server.connectOwner();
});
afterAll(() => server.stop());

const PASSWORD = 'a password of mine';
let addresses = 0;
/** Each test uses its own client address, because failed attempts are counted per address. */
const from = () => ({ 'x-forwarded-for': `10.${++addresses >> 8}.${addresses & 255}.1` });
let made = 0;
const someone = (): NewPerson => ({ email: `someone-${++made}@example.com`, role: 'editor' });

describe('an invitation', () => {
  it('shows its user, accepts a name and a password once, and signs the user in', async () => {
    const { username } = await server.createAccount();
    const { ref } = await accountNamed(server.database, username);
    const wanted = { email: 'New.Customer@Example.com', role: 'customer', account: ref } as const;
    const { token } = await invitePerson(server.database, 'command', wanted);
    expect((await personNamed(server.database, wanted.email)).status).toBe('invited');
    const browser = createBrowser(server.url);
    const path = `/api/invitations/${token}`;
    expect((await browser.call('GET', path)).body).toMatchObject({
      purpose: 'invitation',
      email: 'new.customer@example.com',
      role: 'customer',
      account: username,
    });
    const answer = await browser.call('POST', path, { name: ' Nadia ', password: PASSWORD });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ name: 'Nadia', account: username });
    expect((await browser.call('GET', '/api/session')).body.name).toBe('Nadia');
    for (const method of ['GET', 'POST']) {
      const again = await createBrowser(server.url).call(
        method,
        path,
        method === 'POST' ? { password: PASSWORD } : undefined,
      );
      expect([again.status, again.body.error.code]).toEqual([404, 'not_found']);
    }
    expect(await listTeam(server.database, ref)).toMatchObject([{ name: 'Nadia', status: 'active' }]);
  });

  it('stays valid when fields are refused, and the answer names every invalid field', async () => {
    const { token } = await invitePerson(server.database, 'command', someone());
    const { call } = createBrowser(server.url);
    const path = `/api/invitations/${token}`;
    const wrong = await call('POST', path, { name: ' ', password: 'short' });
    expect(Object.keys(wrong.body.error.fields)).toEqual(['name', 'password']);
    expect((await call('POST', path, { password: PASSWORD })).status).toBe(201);
  });

  it('is accepted only once when several requests use it at the same time', async () => {
    const { token } = await invitePerson(server.database, 'command', someone());
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        createBrowser(server.url).call('POST', `/api/invitations/${token}`, { password: PASSWORD }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 404, 404, 404, 404]);
  });

  it('is refused when it has expired or was replaced, or when its user is disabled', async () => {
    const { call } = createBrowser(server.url);
    const status = async (token: string) => (await call('GET', `/api/invitations/${token}`)).status;
    const { user, token } = await invitePerson(server.database, 'command', someone());
    const second = await inviteUser(server.database, 'command', user, 'invitation');
    expect([await status(token), await status(second.token)]).toEqual([404, 200]);
    await setDisabled(server.database, 'command', user, true);
    expect(await status(second.token)).toBe(404);
    const late = await invitePerson(server.database, 'command', someone());
    await owner.query(`update invitations set expires_at = now() where user_id = $1`, [late.user.user_id]);
    expect(await status(late.token)).toBe(404);
    expect(await status('nonsense')).toBe(404);
  });

  it('for a password reset ends all other sessions of the user', async () => {
    const person = await createPerson(server, { role: 'editor' });
    const { token } = await linkFor(
      server.database,
      'command',
      await personNamed(server.database, person.email),
    );
    const browser = createBrowser(server.url);
    const path = `/api/invitations/${token}`;
    expect((await browser.call('GET', path)).body).toMatchObject({ purpose: 'reset', name: person.name });
    const answer = await browser.call('POST', path, { password: PASSWORD });
    expect(answer.body.name).toBe(person.name);
    expect((await person.call('GET', '/api/session')).status).toBe(401);
    const old = { email: person.email, password: person.password };
    expect((await createBrowser(server.url).call('POST', '/api/session', old, from())).status).toBe(401);
  });
});

describe('a user’s own profile', () => {
  it('changes only the fields that the request contains', async () => {
    const { call, name } = await createPerson(server, { role: 'editor' });
    expect((await call('PATCH', '/api/me', { theme: 'dark', locale: 'ar' })).body).toMatchObject({
      theme: 'dark',
      locale: 'ar',
      name,
    });
    expect((await call('PATCH', '/api/me', { locale: null, name: 'Zoë' })).body).toMatchObject({
      theme: 'dark',
      locale: null,
      name: 'Zoë',
    });
    const wrong = await call('PATCH', '/api/me', { theme: 'pink', locale: 'xx', name: '' });
    expect(wrong.status).toBe(400);
    expect(Object.keys(wrong.body.error.fields).toSorted()).toEqual(['locale', 'name', 'theme']);
    // Fields that users cannot change themselves are ignored.
    await call('PATCH', '/api/me', { role: 'operator', email: 'x@example.com', review_share: 0 });
    expect((await call('GET', '/api/me')).body).toMatchObject({ role: 'editor', name: 'Zoë' });
  });

  it('ends all other sessions and replaces the token when the password changes', async () => {
    const { email, password, call } = await createPerson(server, { role: 'editor' });
    const [here, elsewhere] = [createBrowser(server.url), createBrowser(server.url)];
    await here.call('POST', '/api/session', { email, password });
    await elsewhere.call('POST', '/api/session', { email, password });
    const before = here.cookie!;
    const wrong = await call('POST', '/api/me/password', { current_password: 'no', password: email });
    expect(wrong.body.error.fields).toEqual({
      current_password: 'Is not your password.',
      password: 'Must not be your e-mail address.',
    });
    const change = { current_password: password, password: PASSWORD };
    expect((await here.call('POST', '/api/me/password', change)).status).toBe(204);
    expect((await here.call('GET', '/api/session')).status).toBe(200);
    expect((await elsewhere.call('GET', '/api/session')).status).toBe(401);
    const old = await createBrowser(server.url).call('GET', '/api/session', undefined, { cookie: before });
    expect(old.status).toBe(401);
    const { call: fresh } = createBrowser(server.url);
    expect((await fresh('POST', '/api/session', { email, password: PASSWORD })).status).toBe(200);
  });

  it('limits guesses at the current password', async () => {
    const { call } = await createPerson(server, { role: 'editor' });
    const guess = () => call('POST', '/api/me/password', { current_password: 'no', password: PASSWORD });
    for (let n = 0; n < 5; n++) expect((await guess()).status).toBe(400);
    const statuses = [];
    for (let n = 0; n < 8; n++) statuses.push((await guess()).status);
    expect(statuses).toContain(429);
  });
});

describe('creating a user', () => {
  it('fails when another user has the e-mail address in a different letter case', async () => {
    const accepted = { ...someone(), email: 'One@Example.com', password: PASSWORD };
    await insertPerson(server.database, 'command', accepted);
    await expect(
      insertPerson(server.database, 'command', { ...someone(), email: 'one@example.COM' }),
    ).rejects.toThrow('email: This e-mail address is already in use.');
    expect(
      (await listPeople(server.database)).filter(({ email }) => email === 'one@example.com'),
    ).toHaveLength(1);
  });

  it.each<[string, Partial<NewPerson>, RegExp]>([
    ['with an invalid e-mail address', { email: 'nobody' }, /email/],
    ['with a line break in the e-mail address', { email: 'a@b.c\nbcc: d@e.f' }, /email/],
    ['with a link as a name', { name: 'Visit https://evil.example now' }, /^name: /],
    ['with a direction mark in the name', { name: 'Ada\u202e' }, /^name: /],
    ['with a name that is too long', { name: 'x'.repeat(101) }, /name/],
    ['who is a customer without an account', { role: 'customer' }, /account/],
    ['with a common password', { password: 'password1234' }, /password/],
  ])('fails for a user %s', async (_, fields, names) => {
    await expect(insertPerson(server.database, 'command', { ...someone(), ...fields })).rejects.toThrow(
      names,
    );
  });
});
