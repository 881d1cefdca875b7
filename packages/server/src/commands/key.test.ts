/** Tests the commands `dragoman key` and `dragoman webhook-secret` while a server is running. */
import { beforeAll, expect, it } from 'vitest';
import { shareCommands } from '../testing/commands.ts';
import { createClient, type TestServer } from '../testing/harness.ts';

const commands = shareCommands();
const { command, runJson } = commands;
let server: TestServer;
let username: string;
beforeAll(async () => {
  ({ server } = commands);
  username = (await server.createAccount()).username;
});

const knock = async (key: string) =>
  (await createClient(server.url, key)('GET', '/tapi/v2/translation/')).status;

it('dragoman key creates a key, lists it without its secret, and replaces and revokes it', async () => {
  const create = ['key', 'create', username, '--environment', 'production', '--name', 'build'];
  const made = await runJson(
    ...create,
    '--read-only',
    '--expires',
    '2999-01-01',
    '--scope',
    'jobs',
    'chat',
    '--daily-cents',
    '500',
  );
  expect(made).toEqual({
    username,
    environment: 'production',
    name: 'build',
    key_id: expect.stringMatching(/^[0-9a-f]{8}$/),
    key: expect.stringMatching(`^${username}:dgm_live_${made.key_id}`),
  });
  expect(await knock(made.key)).toBe(200);

  const rolled = await runJson('key', 'roll', username, made.key_id, '--overlap', '1');
  expect(Date.parse(rolled.previous_ends)).toBeGreaterThan(Date.now());
  expect(await runJson('key', 'revoke', username, made.key_id)).toMatchObject({ key_id: made.key_id });
  expect(await knock(rolled.key)).toBe(200);

  const { keys } = await runJson('key', 'list', username);
  expect(keys.find(({ key_id }: { key_id: string }) => key_id === made.key_id)).toMatchObject({
    name: 'build',
    read_only: true,
    scopes: ['jobs', 'chat'],
    live: false,
  });
  const listed = await command('key', 'list', username);
  expect(listed.stdout).toMatch(
    new RegExp(
      `^${made.key_id}  production +ended +build +spec +read-only +jobs, chat +0 of 500 +2\\S+Z +the operator +2\\S+Z$`,
      'm',
    ),
  );
  expect(listed.stdout).not.toContain('dgm_');
  expect(await command('key', 'revoke', username, made.key_id)).toEqual({
    status: 1,
    stdout: '',
    stderr: `The account has no active key ${made.key_id}.\n`,
  });
});

it('a new key and a new webhook secret are the only output on standard output, with a remark on standard error', async () => {
  const key = await command('key', 'create', username, '--environment', 'sandbox', '--dialect', 'legacy');
  expect(key.stdout).toMatch(new RegExp(`^${username}:dgm_test_\\S+\\n$`));
  expect(key.stderr).toBe('The key is not shown again.\n');
  const secret = await command('webhook-secret', 'roll', username, '--environment', 'sandbox');
  expect(secret).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^whsec_\S+\n$/),
    stderr: 'The secret is not shown again.\n',
  });
  const other = ['webhook-secret', 'roll', username, '--environment', 'sandbox', '--overlap', '0'];
  expect((await runJson(...other)).webhook_secret).toMatch(/^whsec_/);
});

it.each([
  [['key', 'create', 'nobody'], 2, /--environment/],
  [['key', 'create', 'nobody', '--environment', 'sandbox'], 1, /no account named nobody/],
  [['key', 'create', 'x', '--environment', 'sandbox', '--expires', '2020-01-01'], 1, /must end after/],
  [['key', 'create', 'x', '--environment', 'sandbox', '--name', ''], 2, /1 to 100 characters/],
  [
    ['key', 'create', 'x', '--environment', 'sandbox', '--scope', 'moon'],
    2,
    /jobs, machine, chat, deliveries, account/,
  ],
  [['key', 'revoke', 'nobody'], 2, /missing required argument/],
  [['key', 'revoke', 'x', 'y', '--after', 'soon'], 2, /whole number/],
  [['webhook-secret', 'roll', 'nobody', '--environment', 'sandbox'], 1, /no account named nobody/],
] as const)('dragoman refuses the command line %j', async (args, status, sentence) => {
  expect(await command(...args)).toEqual({ status, stdout: '', stderr: expect.stringMatching(sentence) });
});
