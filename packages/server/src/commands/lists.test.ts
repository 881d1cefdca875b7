/** Checks that the lists of all commands have named columns, and print a sentence when they are empty. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { counted } from '../base/text.ts';
import { program } from '../main.ts';
import { createTestDatabase, type TestDatabase } from '../testing/harness.ts';
import { dragoman, urlOf } from '../testing/programs.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-lists-'));
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
  rmSync(directory, { recursive: true, force: true });
});

async function runText(...args: string[]): Promise<string> {
  const own = { DATABASE_URL: urlOf(database.connection), DRAGOMAN_DATA: directory };
  const { status, stdout, stderr } = await dragoman(args, own);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

/** Every command named `list`, and the commands that print a list under another name. */
const LISTS = [
  ...program.commands.flatMap((group: Command) =>
    group.commands
      .filter((one) => one.name() === 'list')
      .map((one) => [group.name(), 'list', ...one.registeredArguments.map(() => 'acme')]),
  ),
  ['ledger', 'statement', 'acme'],
  ['memory', 'search', 'acme'],
];

it('every command that lists rows prints a sentence when there are no rows', async () => {
  expect(LISTS.length).toBeGreaterThan(9);
  expect(await runText('account', 'list')).toBe('There are no accounts.\n');
  await runText('account', 'create', 'acme', '--json');
  for (const args of LISTS.filter(([group]) => group !== 'account' && group !== 'key')) {
    expect(await runText(...args), args.join(' ')).toMatch(/^(opening 0\n)?[A-Za].* (no|empty)\b/);
  }
});

it('every command that lists rows prints the names of the columns', async () => {
  await runText('account', 'top-up', 'acme', '1', '--memo', 'first');
  expect(await runText('account', 'list')).toMatch(
    /^ACCOUNT +STATUS +E-MAIL +CHAT +PRODUCTION +SANDBOX +CREATED\nacme +active +- +off +1 +0 +\S+Z\n$/,
  );
  const keys = await runText('key', 'list', 'acme');
  expect(keys).toMatch(
    /^KEY +ENVIRONMENT +STATE +NAME +DIALECT +ACCESS +SCOPES +CENTS A DAY +ENDS +MADE BY +LAST USED\n/,
  );
  expect(keys).toMatch(/^\w{8} +production +opens .* full +all +no limit +never +the operator +never$/m);
  expect(await runText('ledger', 'statement', 'acme')).toMatch(
    /^opening 0\nAT +CHANGE +BALANCE +KIND +JOB +MEMO\n\S+Z +1 +1 +top_up +- +first\nclosing 1\n$/,
  );
});

it('commands use the singular for a count of one', async () => {
  expect(await runText('ledger', 'verify')).toMatch(/^1 transfer of 1 account, 1 cent in total\n/);
  expect(await runText('account', 'set', 'acme')).toMatch(/^production +1 cent, /m);
  expect([0, 1, 2].map((count) => counted(count, 'entry', 'entries'))).toEqual([
    '0 entries',
    '1 entry',
    '2 entries',
  ]);
});
