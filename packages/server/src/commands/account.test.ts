/** Accounts and their money, as the operator looks after them while the server runs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient, startTestServer, type TestServer } from '../testing/harness.ts';
import { dragoman, type Ended, urlOf } from '../testing/programs.ts';

const HUMAN = '/tapi/v2/translation/';
const directory = mkdtempSync(join(tmpdir(), 'dragoman-account-'));
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

const command = (...args: string[]): Promise<Ended> =>
  dragoman([...args, '--data', directory], { DATABASE_URL: urlOf(server.connection) });

/** What a command that succeeds says as JSON. */
async function asked(...args: string[]) {
  const { status, stdout, stderr } = await command(...args, '--json');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout);
}

const create = (key: string) =>
  createClient(server.url, key)('POST', HUMAN, {
    text: 'The house is big.',
    source_language: 'en',
    target_language: 'es',
  });

it('an account that is made prepaid spends what it has, its credit, and a top-up', async () => {
  const { username, production_key } = await server.createAccount();
  expect((await create(production_key)).body.balance).toBe(-12);
  const owes = await command('account', 'set', username, '--prepaid', 'on');
  expect(owes).toEqual({
    status: 1,
    stdout: '',
    stderr: `${username} owes more than that in production; top it up first.\n`,
  });
  expect(await asked('account', 'top-up', username, '20', '--memo', 'invoice 7')).toEqual({
    username,
    environment: 'production',
    balance: 8,
  });
  expect((await asked('account', 'set', username, '--prepaid', 'on')).balances).toEqual([
    { environment: 'production', balance: 8, credit_limit: 0 },
    { environment: 'sandbox', balance: 0, credit_limit: null },
  ]);
  expect(await create(production_key)).toMatchObject({
    status: 402,
    body: { error: 'insufficient balance: needs 12 cents, has 8' },
  });
  await asked('account', 'set', username, '--credit-limit', '4');
  expect(await create(production_key)).toMatchObject({ status: 201, body: { balance: -4 } });
  expect((await asked('account', 'set', username, '--prepaid', 'on')).balances[0].credit_limit).toBe(4);
  await asked('account', 'set', username, '--prepaid', 'off');
  expect(await create(production_key)).toMatchObject({ status: 201, body: { balance: -16 } });
});

it('an account is shown, and its subscription to chat is changed', async () => {
  const { username } = await server.createAccount({ email: 'acme@example.com' });
  const { stdout } = await command('account', 'set', username, '--chat', 'on');
  expect(stdout).toBe(
    `${username}, acme@example.com, chat on\n` +
      'production 0 cents, may owe without limit\nsandbox    0 cents, may owe without limit\n',
  );
  expect(await asked('account', 'set', username)).toMatchObject({ username, chat: true });
});

it.each([
  [['account', 'set', 'nobody'], 1, 'There is no account named nobody.\n'],
  [['account', 'top-up', 'nobody', '5'], 1, 'There is no account named nobody.\n'],
  [['account', 'top-up', 'nobody', '0'], 2, /at least one cent/],
  [['account', 'set', 'nobody', '--prepaid', 'yes'], 2, /must be on or off/],
  [['account', 'set', 'nobody', '--prepaid', 'off', '--credit-limit', '5'], 1, /one or the other/],
] as const)('%j is refused', async (args, status, sentence) => {
  const ended = await command(...args);
  expect(ended).toEqual({ status, stdout: '', stderr: expect.stringMatching(sentence) });
});
