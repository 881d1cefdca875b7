/**
 * Checks that commands neither create a database nor migrate one, and that they name the missing setting or
 * migration.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConnection } from '../database/connections.ts';
import { program } from '../main.ts';
import { createTestDatabase, type TestDatabase } from '../testing/harness.ts';
import {
  dragoman,
  dragomanProcess,
  engineWithoutLanguages,
  killPrograms,
  start,
  urlOf,
} from '../testing/programs.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-harmless-'));
const file = join(directory, 'a.json');
writeFileSync(file, '{"id":"shop"}');
afterAll(async () => {
  await killPrograms();
  rmSync(directory, { recursive: true, force: true });
});

/** The commands that these tests leave out: they create a database or use none. */
const APART = [
  'serve',
  'demo',
  'migrate',
  'restore',
  'settings',
  'engine compare',
  'engine install',
  'translate',
  'mcp',
  'doctor',
  'backup',
  'model list',
  'model mirror',
  'model pull',
  'model seal',
];
/** Values for the arguments of commands. They are valid enough to reach the database. */
const WORDS: Record<string, string> = {
  engines: 'apertium',
  file,
  cents: '1',
  '--cents': '1',
  '--tier': 'human',
  '--environment': 'sandbox',
  '--after': '30d',
  '--confirm': 'x',
  '--role': 'operator',
};
function leaves(command: Command, path: string[] = []): { name: string; args: string[] }[] {
  if (command.commands.length > 0) {
    return command.commands.flatMap((one) => leaves(one, [...path, one.name()]));
  }
  const required = command.registeredArguments.filter(({ required }) => required);
  const mandatory = command.options.filter((option) => option.mandatory && option.defaultValue === undefined);
  const name = path.join(' ');
  return [
    {
      name,
      args: [
        ...path,
        ...required.map((argument) => WORDS[argument.name()] ?? 'xx'),
        ...mandatory.flatMap(({ long, required }) =>
          [long!, WORDS[long!] ?? 'en'].slice(0, required ? 2 : 1),
        ),
      ],
    },
  ];
}
const COMMANDS = leaves(program).filter(({ name }) => !APART.includes(name));
const PASSWORD = 'A long enough passphrase 7';

const run = (args: string[], own: Record<string, string>) =>
  args.includes('--password-stdin') ? dragomanProcess(args, own, `${PASSWORD}\n`) : dragoman(args, own);

describe('without a database', () => {
  const nowhere = join(directory, 'nowhere');
  const sentence = `There is no data in ${nowhere}. Is DRAGOMAN_DATA set?\n`;

  it.each([...COMMANDS, { name: 'backup', args: ['backup', join(directory, 'new.backup')] }])(
    '$name creates no database and names the setting for the data directory',
    async ({ args }) => {
      const ended = await run(args, { DRAGOMAN_DATA: nowhere });
      expect(ended).toEqual({ status: 1, stdout: '', stderr: sentence });
      expect(existsSync(nowhere)).toBe(false);
    },
  );

  it('doctor creates no database and names the setting for the data directory', async () => {
    const own = { DRAGOMAN_DATA: nowhere, ...engineWithoutLanguages(directory) };
    const { status, stdout } = await dragoman(['doctor', '--json'], own);
    expect(status).toBe(1);
    expect(JSON.parse(stdout).findings).toContainEqual(
      expect.objectContaining({ check: 'database', ok: false, detail: sentence.trim() }),
    );
    expect(existsSync(nowhere)).toBe(false);
  });
});

describe('with an older schema', () => {
  let database: TestDatabase;
  let own: Record<string, string>;
  const applied = async () => {
    const client = createConnection(database.connection);
    await client.connect();
    try {
      return (await client.query('select count(*)::int as count from migrations')).rows[0].count as number;
    } finally {
      await client.end();
    }
  };
  let before: number;
  beforeAll(async () => {
    database = await createTestDatabase();
    own = { DATABASE_URL: urlOf(database.connection), DRAGOMAN_DATA: join(directory, 'older') };
    const client = createConnection(database.connection);
    await client.connect();
    await client.query('delete from migrations');
    await client.end();
    before = await applied();
  });
  afterAll(() => database.drop());

  it.each(COMMANDS)('$name changes nothing and tells the operator to migrate', async ({ args }) => {
    const ended = await run(args, own);
    expect(ended).toMatchObject({ status: 1, stdout: '' });
    expect(ended.stderr).toMatch(/^The schema is \d+ versions? behind: run dragoman migrate\.\n$/);
    expect(await applied()).toBe(before);
  });

  it('doctor changes nothing and tells the operator to migrate', async () => {
    const { status, stdout } = await dragoman(['doctor', '--json'], {
      ...own,
      ...engineWithoutLanguages(directory),
    });
    expect(status).toBe(1);
    expect(JSON.parse(stdout).findings).toContainEqual({
      check: 'database',
      ok: false,
      detail: expect.stringMatching(/^given; the schema is \d+ versions? behind$/),
      remedy: 'Run: dragoman migrate',
    });
    expect(await applied()).toBe(before);
  });

  it('backup does not change the schema', async () => {
    const target = join(directory, 'older.backup');
    const ended = await dragoman(['backup', target], own);
    expect(ended).toMatchObject({ status: 0, stderr: expect.stringMatching(/\d+ versions? behind/) });
    expect(existsSync(target)).toBe(true);
    expect(await applied()).toBe(before);
  });
});

describe('dragoman', () => {
  it.each([['--version'], ['-V'], ['serve', '--version']])(
    'prints its version for %s %s',
    async (...args) => {
      const { status, stdout, stderr } = await dragoman(args.filter((one) => one !== undefined));
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    },
  );

  it.each(['stdout', 'stderr'] as const)(
    'exits without an error message when the program that reads its %s has ended',
    async (stream) => {
      const args = stream === 'stdout' ? ['settings'] : ['sing'];
      const main = new URL('../../bin/dragoman.js', import.meta.url).pathname;
      const reading = start(process.execPath, [main, ...args]);
      reading.child[stream]!.destroy();
      const { status, stderr } = await reading.ended;
      expect({ status, stderr }).toEqual({ status: stream === 'stdout' ? 0 : 2, stderr: '' });
    },
  );
});
