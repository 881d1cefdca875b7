/** People by command, while the server runs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createBrowser, startTestServer, type TestServer } from '../testing/harness.ts';
import { dragoman, dragomanProcess, type Ended, killPrograms, urlOf } from '../testing/programs.ts';

/** Every command is a process of its own, beside others' work. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

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

/** What a command that succeeds says as JSON. */
async function asked(args: string[], input?: string) {
  const { status, stdout, stderr } = await command([...args, '--json'], input);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout);
}

const signIn = (email: string, password = PASSWORD) =>
  createBrowser(server.url).call('POST', '/api/session', { email, password });

it('an editor is made, listed, given other languages, shut out and let in', async () => {
  const email = 'editor@example.com';
  const create = ['user', 'create', email, '--role', 'editor', '--password-stdin', '--name', 'Eva'];
  const made = await asked([...create, '--language', 'en:es', 'de:es', '--review'], `${PASSWORD}\n`);
  const pairs = ['de', 'en'].map((source_language) => ({
    ...{ source_language, target_language: 'es', review: true },
  }));
  expect(made).toMatchObject({ email, name: 'Eva', role: 'editor', status: 'active', languages: pairs });
  expect((await signIn(email)).body.languages).toEqual(pairs);
  const changed = await asked([
    ...['user', 'languages', email, '--language', 'en:fr', '--review-share', '20'],
  ]);
  expect(changed).toMatchObject({ review_share: 20, languages: [{ target_language: 'fr', review: false }] });
  expect((await asked(['user', 'disable', email])).status).toBe('disabled');
  expect((await signIn(email)).status).toBe(401);
  expect((await asked(['user', 'enable', email])).status).toBe('active');
  expect((await signIn(email)).status).toBe(200);
  const list = await command(['user', 'list']);
  expect(list.stdout).toMatch(
    /editor@example\.com\s+editor\s+active\s+Eva\s+en:fr\s+20 % reviewed\s+seen 20/,
  );
  await asked(['user', 'password', email, '--password-stdin'], 'another password of mine');
  expect((await signIn(email, 'another password of mine')).status).toBe(200);
});

it('a customer is invited, and whoever forgot gets a link', async () => {
  const { username } = await server.createAccount();
  const email = 'customer@example.com';
  const invited = await asked(['user', 'invite', email, '--role', 'customer', '--account', username]);
  expect(invited.link).toMatch(/^http:\/\/127\.0\.0\.1:8080\/app\/invitation\/[\w-]{43}$/);
  const accept = (link: string) =>
    createBrowser(server.url).call('POST', `/api/invitations/${link.split('/').at(-1)}`, {
      password: PASSWORD,
    });
  expect((await accept(invited.link)).body).toMatchObject({ account: username, role: 'customer' });
  const reset = await command(['user', 'reset', email]);
  expect(reset.stderr).toMatch(/It opens once, until 20/);
  expect((await accept(reset.stdout.trim())).status).toBe(201);
});

it('what cannot be is refused with a sentence', async () => {
  const create = ['user', 'create', 'x@example.com', '--password-stdin', '--role'];
  const refused = async (args: string[], input?: string) => {
    const { status, stderr } = await command(args, input);
    return [status, stderr.trim()];
  };
  expect(await refused([...create, 'customer'], PASSWORD)).toEqual([
    ...[1, 'A customer belongs to an account (--account), and nobody else does.'],
  ]);
  expect(await refused([...create, 'operator'], 'short')).toEqual([
    ...[1, 'password: Must have at least 10 characters.'],
  ]);
  expect((await refused([...create, 'pope']))[0]).toBe(2);
  expect((await refused([...create, 'editor', '--language', 'en']))[0]).toBe(2);
  expect(await refused(['user', 'disable', 'nobody@example.com'])).toEqual([
    ...[1, 'There is nobody with the e-mail nobody@example.com.'],
  ]);
});
