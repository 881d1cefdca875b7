/** Tests the command `dragoman ledger` while a server is running. */
import { createFake } from '@dragoman/engines/fake';
import { parse } from 'csv-parse/sync';
import { beforeAll, expect, it } from 'vitest';
import { shareCommands } from '../testing/commands.ts';
import { createClient, type TestServer, waitForStatus } from '../testing/harness.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const commands = shareCommands(['ledger'], {
  engine: () => createFake(),
  settings: { DRAGOMAN_PRICE_MACHINE: '2' },
});
const { command, runJson } = commands;
let server: TestServer;
let username: string;
beforeAll(async () => {
  ({ server } = commands);
  const made = await server.createAccount({ balanceCents: 100 });
  username = made.username;
  const call = createClient(server.url, made.production_key);
  for (const uid of ['@first', '-2']) {
    await call('POST', MACHINE, { text: 'The house.', uid, source_language: 'en', target_language: 'es' });
    await waitForStatus(call, `${MACHINE}${uid}/`);
  }
});

it('dragoman ledger refunds a job, adjusts a balance, and prints a statement that adds up in every format', async () => {
  expect(await runJson('refund', username, '@first', '--memo', 'complaint')).toEqual({
    username,
    environment: 'production',
    uid: '@first',
    cents: 4,
    balance: 96,
  });
  expect(await command('refund', username, '@first', '--memo', 'again')).toEqual({
    status: 1,
    stdout: '',
    stderr: 'The job was already refunded.\n',
  });
  expect((await runJson('adjust', username, '-100', '--memo', '=1+1')).balance).toBe(-4);

  const statement = await runJson('statement', username);
  expect(statement).toMatchObject({ username, environment: 'production', opening: 0, closing: -4 });
  expect(statement.lines.map(({ kind }: { kind: string }) => kind)).toEqual([
    'top_up',
    'hold',
    'capture',
    'hold',
    'capture',
    'refund',
    'adjustment',
  ]);
  expect(statement.lines.at(-2)).toMatchObject({ uid: '@first', memo: 'complaint', amount: 4, change: 4 });

  const { stdout: csv } = await command('statement', username, '--csv');
  // Spreadsheets recognise UTF-8 by the byte order mark.
  expect(csv).toMatch(/^\ufeff/);
  const rows: string[][] = parse(csv, { bom: true });
  const numbers = ['amount', 'change', 'balance', 'discounts', 'opened_words', 'voted_words'];
  expect(rows[0]).toEqual(['at', 'kind', 'uid', 'memo', ...numbers]);
  expect(rows.at(-1)).toEqual(['', 'closing', '', '', '', '', '-4', '', '', '']);
  expect(rows.slice(2, -1).reduce((sum, row) => sum + Number(row[5]), 0)).toBe(-4);
  // In CSV, a customer's uid that looks like a formula gets an apostrophe, so that no spreadsheet executes
  // it.
  expect(new Set(rows.map(([, , uid]) => uid))).toEqual(new Set(['uid', '', "'@first", "'-2"]));
  expect(rows.at(-2)?.[3]).toBe("'=1+1");

  const { stdout } = await command('statement', username, '--until', '2000-01-01');
  expect(stdout).toBe('opening 0\nThere are no transfers in this period.\nclosing 0\n');
  expect((await command('statement', username)).stdout).toMatch(/^\S+Z +4 +96 +refund +@first +complaint$/m);
  expect(await runJson('verify')).toMatchObject({ ok: true });
});

it.each([
  [['refund', 'nobody', 'x', '--memo', 'y'], 1, /no account named nobody/],
  [['refund', 'nobody', 'x'], 2, /--memo/],
  [['adjust', 'nobody', '0', '--memo', 'y'], 2, /other than zero/],
  [['adjust', 'nobody', '1.5', '--memo', 'y'], 2, /whole number of cents/],
  [['statement', 'nobody', '--csv', '--json'], 2, /cannot be used with/],
] as const)('dragoman ledger refuses the command line %j', async (args, status, sentence) => {
  expect(await command(...args)).toEqual({ status, stdout: '', stderr: expect.stringMatching(sentence) });
});
