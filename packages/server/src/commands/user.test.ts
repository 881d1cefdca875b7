/** Tests the command `dragoman user` while a server is running. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createBrowser, SECRET_KEY, startTestServer, type TestServer, until } from '../testing/harness.ts';
import { dragoman, dragomanProcess, type Ended, killPrograms, serve, urlOf } from '../testing/programs.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-user-'));
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(async () => {
  await killPrograms();
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

const PASSWORD = 'a password of four words';
const command = (args: string[], input?: string): Promise<Ended> =>
  input === undefined
    ? dragoman([...args, '--data', directory], { DATABASE_URL: urlOf(server.connection) })
    : dragomanProcess([...args, '--data', directory], { DATABASE_URL: urlOf(server.connection) }, input);

/** Runs a command with `--json` and returns the object that it prints. */
async function runJson(args: string[], input?: string) {
  const { status, stdout, stderr } = await command([...args, '--json'], input);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout);
}

const signIn = (email: string, password = PASSWORD) =>
  createBrowser(server.url).call('POST', '/api/session', { email, password });

it('dragoman user creates an editor, lists users, changes languages, and disables and enables a user', async () => {
  const email = 'editor@example.com';
  const create = ['user', 'create', email, '--role', 'editor', '--password-stdin', '--name', 'Eva'];
  const made = await runJson([...create, '--language', 'en:es', 'de:es', '--review'], `${PASSWORD}\n`);
  const pairs = ['de', 'en'].map((source_language) => ({
    source_language,
    target_language: 'es',
    review: true,
  }));
  expect(made).toMatchObject({ email, name: 'Eva', role: 'editor', status: 'active', languages: pairs });
  expect((await signIn(email)).body.languages).toEqual(pairs);
  const changed = await runJson(['user', 'languages', email, '--language', 'en:fr', '--review-share', '20']);
  expect(changed).toMatchObject({ review_share: 20, languages: [{ target_language: 'fr', review: false }] });
  expect((await runJson(['user', 'disable', email])).status).toBe('disabled');
  expect((await signIn(email)).status).toBe(401);
  expect((await runJson(['user', 'enable', email])).status).toBe('active');
  expect((await signIn(email)).status).toBe(200);
  const list = await command(['user', 'list']);
  expect(list.stdout).toMatch(/editor@example\.com\s+editor\s+active\s+Eva\s+-\s+en:fr\s+20 %\s+20\S+Z\n/);
  await runJson(['user', 'password', email, '--password-stdin'], 'another password of mine');
  expect((await signIn(email, 'another password of mine')).status).toBe(200);
});

it('dragoman user rename gives a user another address, and frees the old one', async () => {
  const create = (email: string) =>
    command(['user', 'create', email, '--role', 'editor', '--password-stdin'], `${PASSWORD}\n`);
  await create('taken@example.com');
  await create('other@example.com');
  const { cookie, call } = createBrowser(server.url);
  expect(cookie).toBeUndefined();
  await call('POST', '/api/session', { email: 'taken@example.com', password: PASSWORD });
  expect((await call('GET', '/api/session')).status).toBe(200);
  const reset = await runJson(['user', 'reset', 'taken@example.com']);

  const renamed = await runJson(['user', 'rename', 'taken@example.com', ' New@Example.com ']);
  expect(renamed).toMatchObject({ email: 'new@example.com', status: 'active' });
  expect((await call('GET', '/api/session')).status).toBe(401);
  const token = new URL(reset.link).pathname.split('/').at(-1);
  expect((await fetch(`${server.url}/api/invitations/${token}`)).status).toBe(404);
  expect([(await signIn('taken@example.com')).status, (await signIn('new@example.com')).status]).toEqual([
    401, 200,
  ]);
  expect((await create('taken@example.com')).status).toBe(0);

  const refused = [
    await command(['user', 'rename', 'other@example.com', 'new@example.com']),
    await command(['user', 'rename', 'other@example.com', 'no address']),
    await command(['user', 'rename', 'nobody@example.com', 'x@example.com']),
  ];
  expect(refused.map(({ status, stdout }) => [status, stdout])).toEqual(Array(3).fill([1, '']));
  expect(refused.map(({ stderr }) => stderr)).toEqual([
    expect.stringContaining('email'),
    expect.stringContaining('email'),
    'There is no user with the e-mail address nobody@example.com.\n',
  ]);
});

it('dragoman user invites a customer and creates a reset link', async () => {
  const { username } = await server.createAccount();
  const email = 'customer@example.com';
  const invited = await runJson(['user', 'invite', email, '--role', 'customer', '--account', username]);
  expect(invited.link).toMatch(/^http:\/\/127\.0\.0\.1:8080\/app\/invitation\/[\w-]{43}$/);
  const accept = (link: string) =>
    createBrowser(server.url).call('POST', `/api/invitations/${link.split('/').at(-1)}`, {
      password: PASSWORD,
    });
  expect((await accept(invited.link)).body).toMatchObject({ account: username, role: 'customer' });
  const reset = await command(['user', 'reset', email]);
  expect(reset.stderr).toMatch(/The link works once, until 20/);
  expect((await accept(reset.stdout.trim())).status).toBe(201);
});

it('dragoman serve prints on a terminal the command that invites the first operator when users sign in with the provider', async () => {
  const own = {
    DATABASE_URL: urlOf(server.connection),
    DRAGOMAN_SECRET_KEY: SECRET_KEY,
    DRAGOMAN_OIDC_ISSUER: 'https://id.example.com',
    DRAGOMAN_OIDC_CLIENT_ID: 'dragoman',
    DRAGOMAN_PASSWORDS: 'emergency@example.com',
  };
  const serving = await serve(['--role', 'api', '--data', directory], own, { terminal: true });
  await until(() => serving.output.stdout.includes('dragoman user invite EMAIL --role operator'));
  expect(serving.output.stdout).not.toContain('/app/invitation/');
  await serving.terminate();
});

it('dragoman serve runs and ends as usual when it cannot write its address', async () => {
  const data = mkdtempSync(join(directory, 'data-'));
  const blocked = join(data, 'address');
  mkdirSync(blocked);
  const own = { DATABASE_URL: urlOf(server.connection), DRAGOMAN_SECRET_KEY: SECRET_KEY };
  const serving = await serve(['--role', 'api', '--data', data], own);
  await until(() => serving.output.stderr.includes('could not write the address'));
  await serving.answers('/readyz');
  expect(await serving.terminate()).toBe(0);
});

it('dragoman serve prints a link for the first operator on a terminal, and no secret into a log', async () => {
  const own = {
    DATABASE_URL: urlOf(server.connection),
    DRAGOMAN_SECRET_KEY: SECRET_KEY,
    DRAGOMAN_LOG_LEVEL: 'info',
  };
  const args = ['--role', 'api', '--data', directory];
  const inLog = await serve(args, own);
  await until(() => inLog.output.stderr.includes('dragoman user invite EMAIL --role operator'));
  expect(await inLog.terminate()).toBe(0);
  expect(inLog.output.stdout).toBe('');
  expect(inLog.output.stderr).not.toContain('/app/invitation/');

  const shown = (text: string) => /http:\/\/\S+\/app\/invitation\/[\w-]{43}/.exec(text)?.[0];
  const start = async () => {
    const serving = await serve(args, own, { terminal: true });
    const link = new URL(await until(() => shown(serving.output.stdout)));
    expect(serving.output.stdout).toContain(`Dragoman is running at ${serving.url}/app/`);
    expect(link.origin).toBe(serving.url);
    return {
      serving,
      path: `/api${link.pathname.slice('/app'.length).replace('invitation', 'invitations')}`,
    };
  };
  const first = await start();
  const second = await start();
  const status = async (path: string) => (await createBrowser(server.url).call('GET', path)).status;
  expect([await status(first.path), await status(second.path)]).toEqual([404, 200]);
  const answer = { email: 'olga@example.com', name: 'Olga', password: PASSWORD };
  expect((await createBrowser(second.serving.url).call('POST', second.path, answer)).status).toBe(201);
  const third = await serve(args, own, { terminal: true });
  await until(() => third.output.stdout.includes(`Dragoman is running at ${third.url}/app/`));
  await third.answers('/readyz');
  expect(shown(third.output.stdout)).toBeUndefined();
  await Promise.all([first.serving, second.serving, third].map((one) => one.terminate()));
});

it('dragoman user prints links to the port on which the server of the data directory listens', async () => {
  const email = 'port@example.com';
  await runJson(['user', 'create', email, '--role', 'operator', '--password-stdin'], `${PASSWORD}\n`);
  const linked = async () => new URL((await command(['user', 'reset', email])).stdout.trim()).origin;
  const serving = await serve(['--role', 'api', '--data', directory], {
    DATABASE_URL: urlOf(server.connection),
    DRAGOMAN_SECRET_KEY: SECRET_KEY,
  });
  await serving.answers('/readyz');
  await until(async () => (await linked()) === serving.url);
  expect(await serving.terminate()).toBe(0);
  expect(await linked()).toBe('http://127.0.0.1:8080');
});

it('dragoman user refuses invalid values with a sentence', async () => {
  const create = ['user', 'create', 'x@example.com', '--password-stdin', '--role'];
  const refused = async (args: string[], input?: string) => {
    const { status, stderr } = await command(args, input);
    return [status, stderr.trim()];
  };
  expect(await refused([...create, 'customer'], PASSWORD)).toEqual([
    1,
    'Give --account for a customer, and only for a customer.',
  ]);
  expect(await refused([...create, 'operator'], 'short')).toEqual([
    1,
    'password: Must have at least 10 characters.',
  ]);
  expect((await refused([...create, 'pope']))[0]).toBe(2);
  expect((await refused([...create, 'editor', '--language', 'en']))[0]).toBe(2);
  expect(await refused(['user', 'disable', 'nobody@example.com'])).toEqual([
    1,
    'There is no user with the e-mail address nobody@example.com.',
  ]);
});
