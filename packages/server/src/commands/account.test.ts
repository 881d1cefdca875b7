/** Tests the command `dragoman account` while a server is running. */
import { beforeAll, expect, it } from 'vitest';
import { shareCommands } from '../testing/commands.ts';
import { createClient, createPerson, type TestServer, until } from '../testing/harness.ts';

const HUMAN = '/tapi/v2/translation/';
const commands = shareCommands();
const { command, runJson } = commands;
let server: TestServer;
beforeAll(() => {
  ({ server } = commands);
});

const HOUSE = { text: 'The house is big.', source_language: 'en', target_language: 'es' };

const create = (key: string) => createClient(server.url, key)('POST', HUMAN, HOUSE);

it('creating an account gives it no credit in production and unlimited credit in the sandbox', async () => {
  const { production_key, sandbox_key } = await runJson('account', 'create', 'fresh');
  expect(await create(production_key)).toMatchObject({ status: 402 });
  const sandbox = createClient(`${server.url}/sandbox`, sandbox_key);
  expect(await sandbox('POST', HUMAN, HOUSE)).toMatchObject({ status: 201, body: { balance: -12 } });
  const operator = await createPerson(server, { role: 'operator' });
  const made = await operator.call('POST', '/api/console/accounts', { username: 'fresher' });
  expect(made.status).toBe(201);
  expect(await create(made.body.production_key)).toMatchObject({ status: 402 });
  const { production_key: trusted } = await runJson('account', 'create', 'trusted', '--prepaid', 'off');
  expect(await create(trusted)).toMatchObject({ status: 201, body: { balance: -12 } });
});

it('a prepaid account can use its balance, its credit limit and a top-up', async () => {
  const { username, production_key } = await server.createAccount();
  expect((await create(production_key)).body.balance).toBe(-12);
  const owes = await command('account', 'set', username, '--prepaid', 'on');
  expect(owes).toEqual({
    status: 1,
    stdout: '',
    stderr: `${username} owes more than that in production. Top up its balance first.\n`,
  });
  expect(await runJson('account', 'top-up', username, '20', '--memo', 'invoice 7')).toEqual({
    username,
    environment: 'production',
    balance: 8,
  });
  expect((await runJson('account', 'set', username, '--prepaid', 'on')).balances).toEqual([
    { environment: 'production', balance: 8, credit_limit: 0 },
    { environment: 'sandbox', balance: 0, credit_limit: null },
  ]);
  expect(await create(production_key)).toMatchObject({
    status: 402,
    body: { error: 'insufficient balance: needs 12 cents, has 8' },
  });
  await runJson('account', 'set', username, '--credit-limit', '4');
  expect(await create(production_key)).toMatchObject({ status: 201, body: { balance: -4 } });
  expect((await runJson('account', 'set', username, '--prepaid', 'on')).balances[0].credit_limit).toBe(4);
  await runJson('account', 'set', username, '--prepaid', 'off');
  expect(await create(production_key)).toMatchObject({ status: 201, body: { balance: -16 } });
});

it('dragoman account set shows an account and changes its chat subscription', async () => {
  const { username } = await server.createAccount({ email: 'acme@example.com' });
  const { stdout } = await command('account', 'set', username, '--chat', 'on');
  expect(stdout).toBe(
    `${username}, acme@example.com, chat on\n` +
      'production 0 cents, no credit limit\nsandbox    0 cents, no credit limit\n',
  );
  expect(await runJson('account', 'set', username)).toMatchObject({ username, chat: true });
  const limited = await command('account', 'set', username, '--key-requests', '250');
  expect(limited.stdout).toMatch(/^250 requests a second for each key$/m);
  const usual = await runJson('account', 'set', username, '--key-requests', 'default');
  expect(usual).toMatchObject({ key_requests: null });
});

it('dragoman account suspend and resume change the status at once, for requests too', async () => {
  const { username, sandbox_key } = await server.createAccount();
  const read = () => createClient(`${server.url}/sandbox`, sandbox_key)('GET', HUMAN);
  expect((await read()).status).toBe(200);
  expect(await runJson('account', 'suspend', username)).toEqual({ username, status: 'suspended' });
  await until(async () => (await read()).status === 403);
  expect((await command('account', 'list')).stdout).toMatch(new RegExp(`^${username} +suspended `, 'm'));
  expect((await command('account', 'suspend', username)).stdout).toBe(`${username} is suspended.\n`);
  expect((await command('account', 'resume', username)).stdout).toBe(`${username} is active.\n`);
  await until(async () => (await read()).status === 200);
});

it.each([
  [['account', 'suspend', 'nobody'], 1, 'There is no account named nobody.\n'],
  [['account', 'set', 'nobody'], 1, 'There is no account named nobody.\n'],
  [['account', 'top-up', 'nobody', '5'], 1, 'There is no account named nobody.\n'],
  [['account', 'top-up', 'nobody', '0'], 2, /at least one cent/],
  [['account', 'set', 'nobody', '--prepaid', 'yes'], 2, /must be on or off/],
  [['account', 'set', 'nobody', '--key-requests', 'many'], 2, /whole number up to 100000, or "default"/],
  [['account', 'set', 'nobody', '--key-requests', '100001'], 2, /whole number up to 100000/],
  [['account', 'set', 'nobody', '--prepaid', 'off', '--credit-limit', '5'], 1, /only one of the two/],
] as const)('dragoman account refuses the command line %j', async (args, status, sentence) => {
  const ended = await command(...args);
  expect(ended).toEqual({ status, stdout: '', stderr: expect.stringMatching(sentence) });
});
