import { createFake } from '@dragoman/engines/fake';
import { beforeAll, expect, it } from 'vitest';
import { shareCommands } from '../testing/commands.ts';
import { createClient, type TestServer, until } from '../testing/harness.ts';

const commands = shareCommands([], { engine: () => createFake() });
const { command, runJson } = commands;
let server: TestServer;
let call: ReturnType<typeof createClient>;
let username: string;
beforeAll(async () => {
  ({ server } = commands);
  const made = await server.createAccount();
  call = createClient(server.url, made.production_key);
  username = made.username;
});

const create = () =>
  call('POST', '/tapi/v2/translation/', {
    text: 'The house.',
    source_language: 'en',
    target_language: 'es',
  });

it('dragoman pair disables and enables a language pair while the server is running', async () => {
  expect((await create()).status).toBe(201);
  expect(await runJson('pair', 'disable', 'en', 'es')).toEqual({
    source_language: 'en',
    target_language: 'es',
    enabled: false,
  });
  await until(async () => (await create()).status === 400);
  const { pairs } = await runJson('pair', 'list');
  expect(pairs).toContainEqual({
    source_language: 'en',
    target_language: 'es',
    enabled: false,
    engines: [expect.objectContaining({ engine: 'fake' })],
  });
  expect((await command('pair', 'list')).stdout).toMatch(/^en +es +no +fake/m);
  expect((await command('pair', 'enable', 'en', 'es')).stdout).toBe('en es is enabled.\n');
  await until(async () => (await create()).status === 201);
});

it('dragoman pair disable prints a remark when no engine serves the pair', async () => {
  expect(await command('pair', 'disable', 'tlh', 'es')).toEqual({
    status: 0,
    stdout: 'tlh es is disabled.\n',
    stderr: 'No engine serves tlh es, so its jobs are refused anyway.\n',
  });
});

it('dragoman pair price sets, lists and ends a price while the server is running', async () => {
  expect((await create()).body.price).toBe(6);
  const set = ['pair', 'price', 'en', 'es', '--tier', 'human', '--account', username];
  const price = {
    source_language: 'en',
    target_language: 'es',
    tier: 'human',
    account: username,
    cents_per_word: 9,
    from: expect.any(String),
    until: '2999-02-01T00:00:00.000Z',
  };
  expect(await runJson(...set, '--cents', '9', '--until', '2999-02-01')).toEqual(price);
  await until(async () => (await create()).body.price === 18);
  const later = ['--from', '2999-01-01T12:00:00+01:00', '--cents', '1'];
  expect((await runJson(...set, ...later)).from).toBe('2999-01-01T11:00:00.000Z');
  expect((await runJson('pair', 'list')).prices).toEqual([
    { ...price, until: '2999-01-01T11:00:00.000Z' },
    { ...price, from: '2999-01-01T11:00:00.000Z', until: null, cents_per_word: 1 },
  ]);
  expect(await command(...set, '--end')).toMatchObject({ status: 0, stdout: 'The price has ended.\n' });
  await until(async () => (await create()).body.price === 6);
  const { prices, shares } = await runJson('pair', 'list');
  expect(prices).toEqual([]);
  expect(shares).toEqual({ context: 30, exact: 50, fuzzy95: 100, fuzzy85: 100, fuzzy75: 100, repeat: 100 });
  expect((await command('pair', 'list')).stdout).toMatch(/^exact +50$/m);
});

it.each([
  [['pair', 'disable', 'en'], 2, /missing required argument/],
  [['pair', 'disable', 'en', 'Spanish!'], 2, /It must be a language/],
  [['pair', 'price', 'en', 'es', '--cents', '3'], 2, /--tier/],
  [['pair', 'price', 'en', 'es', '--tier', 'human', '--cents', '1.5'], 2, /whole number of cents/],
  [['pair', 'price', 'en', 'es', '--tier', 'human', '--cents', '1', '--from', 'soon'], 2, /a date such as/],
  [['pair', 'price', 'en', 'es', '--tier', 'human', '--cents', '1', '--end'], 2, /cannot be used with/],
  [['pair', 'price', 'en', '*', '--tier', 'human', '--cents', '1'], 1, /one pair or for all/],
  [['pair', 'price', 'en', 'es', '--tier', 'human'], 1, /--cents or --end/],
  [['pair', 'price', 'en', 'es', '--tier', 'human', '--end'], 1, /No such price is set/],
  [['pair', 'price', 'en', 'es', '--tier', 'human', '--cents', '1', '--from', '2020-01-01'], 1, /the past/],
  [
    ['pair', 'price', 'en', 'es', '--tier', 'human', '--cents', '1', '--until', '2020-01-01'],
    1,
    /must end after/,
  ],
  [['pair', 'price', '*', '*', '--tier', 'human', '--cents', '1', '--account', 'nobody'], 1, /no account/],
] as const)('dragoman pair refuses the command line %j', async (args, status, sentence) => {
  expect(await command(...args)).toEqual({ status, stdout: '', stderr: expect.stringMatching(sentence) });
});
