/** Tests the link that creates the first operator of an installation. */
import { afterAll, beforeEach, expect, it } from 'vitest';
import { statement } from '../database/statements.ts';
import { createBrowser, createPerson, startTestServer, type TestServer } from '../testing/harness.ts';
import { invitePerson, linkForFirstOperator } from './invitations.ts';

let server: TestServer;
beforeEach(async () => {
  await server?.stop();
  server = await startTestServer();
});
afterAll(() => server.stop());

const FIRST = { email: 'First@Example.com', name: 'Olga First', password: 'a password of four words' };

const link = async () => (await linkForFirstOperator(server.database))?.token;
const open = (token: string) => createBrowser(server.url).call('GET', `/api/invitations/${token}`);
const accept = (token: string, body: object = FIRST) =>
  createBrowser(server.url).call('POST', `/api/invitations/${token}`, body);
const hasOperator = async () =>
  (await createBrowser(server.url).call('GET', '/api/sign-in-options')).body.has_operator;

it('the link for the first operator creates an operator who is signed in, and works once', async () => {
  const token = (await link())!;
  expect(await hasOperator()).toBe(false);
  expect((await open(token)).body).toMatchObject({ purpose: 'operator', role: 'operator' });
  const made = await accept(token);
  expect(made.body).toMatchObject({ email: 'first@example.com', name: FIRST.name, role: 'operator' });
  const cookie = made.headers.get('set-cookie')!.split(';')[0]!;
  const home = await createBrowser(server.url).call('GET', '/api/console/home', undefined, { cookie });
  expect(home.status).toBe(200);
  expect(await hasOperator()).toBe(true);
  expect((await open(token)).status).toBe(404);
  expect((await accept(token, { ...FIRST, email: 'second@example.com' })).status).toBe(404);
  const { body } = await createBrowser(server.url).call('GET', '/api/console/audit', undefined, { cookie });
  const entries = body.entries.map(({ action, name }: Record<string, string>) => [action, name]);
  expect(entries.reverse()).toEqual([
    ['person.link', 'dragoman'],
    ['person.made', 'dragoman'],
    ['person.accepted', 'first@example.com'],
  ]);
});

it('a refused form names the wrong fields, creates no user and leaves the link valid', async () => {
  const token = (await link())!;
  const fieldsOf = async (body: object) => {
    const { status, body: refused } = await accept(token, body);
    expect(status).toBe(400);
    return Object.keys(refused.error.fields).sort();
  };
  expect(await fieldsOf({ password: FIRST.password })).toEqual(['email']);
  expect(await fieldsOf({ ...FIRST, name: ' ', password: 'short' })).toEqual(['name', 'password']);
  const { email } = await createPerson(server, { role: 'editor' });
  expect(await fieldsOf({ ...FIRST, email })).toEqual(['email']);
  expect(await hasOperator()).toBe(false);
  expect((await accept(token)).status).toBe(201);
});

it('a new link ends the previous one, and two simultaneous uses of a link create only one operator', async () => {
  const first = (await link())!;
  const [second, third] = await Promise.all([link(), link()]);
  expect((await open(first)).status).toBe(404);
  const valid = await Promise.all([second!, third!].map(async (token) => (await open(token)).status));
  expect(valid.sort()).toEqual([200, 404]);
  const token = (await link())!;
  const answers = await Promise.all(
    ['one@example.com', 'two@example.com'].map((email) => accept(token, { ...FIRST, email })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 404]);
});

it('the link for the first operator ends when an operator exists, and after a day', async () => {
  const aged = (await link())!;
  await invitePerson(server.database, 'command', { email: 'invited@example.com', role: 'operator' });
  expect((await open(aged)).status).toBe(200);
  const age = statement('test.age_operator_link', 'update invitations set expires_at = now()');
  await server.database.query(age);
  expect((await accept(aged)).status).toBe(404);
  const token = (await link())!;
  const operator = await createPerson(server, { role: 'operator' });
  expect((await open(token)).status).toBe(404);
  expect((await accept(token)).status).toBe(404);
  expect(await link()).toBeUndefined();
  // No link is created if the only operator is disabled. Otherwise a new link could create another operator without an
  // invitation.
  const disable = statement('test.disable', 'update users set disabled_at = now() where user_id = $1');
  await server.database.query(disable, [operator.userId]);
  expect(await link()).toBeUndefined();
  expect(await hasOperator()).toBe(true);
});

it('the database stores no token of the link in clear text', async () => {
  const token = (await link())!;
  const rows = statement<{ row: string }>('test.links', 'select i::text as row from invitations i');
  const [{ row } = { row: '' }, ...more] = await server.database.query(rows);
  expect(more).toEqual([]);
  expect(row).not.toContain(token);
  expect(row).not.toContain(Buffer.from(token).toString('hex'));
});
