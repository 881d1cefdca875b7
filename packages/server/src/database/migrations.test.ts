/** Tests that a database of other migrations is refused, and that the applied migrations do not change. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../testing/harness.ts';
import { dragoman, engineWithoutLanguages, urlOf } from '../testing/programs.ts';
import { migrate } from './migrate.ts';
import { readMigrations } from './migrations.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-migrations-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Adds a line for each new migration, and never changes one. */
const FROZEN = {
  '0001_schema': 'eb5bf3205c80b1e6736a9858a862eee3ec2092989d63885f03687a1fbf3ac0d8',
  '0002_untranslated': '962e82740fc92cbe2f81042fd796b78e46ce3c51c23ded446ad13caa67c8946e',
  '0003_unconfirmed_users': '09d901abab7d771d3d59771d27b4e8939cd1921d63d0b696fe7e5ceb143660f6',
  '0004_kept_promises': 'a9545dbb38fe912c9b17a333b95eb14f7d5ca4147f1e63dfa530157882a64dc1',
  '0005_document_settings': 'c9adad6910f3a6b10e12692589c39f87e4ce868da91eccb1ea3959b3bc109f90',
  '0006_daily_limits': 'd5e754f8afa64f7b0615d7185b60d332c48c082fac9f759b07f3e8f9d6b3b316',
  '0007_confirmed_lessons': '2ff51667399caf465715408bf41a5a07b8286aeb67e39f1905350ca2bbe6fc49',
  '0008_lessons_of_entries': '0fbf72514e6cd539c65198c3e322ea82fbbeaa701407f24262b1b7c2fa681af3',
  '0009_claims_without_limit': 'ca9d5b08d31ca2ebfe086de5b0bf285cfe584e38645d7ed838fc6ef5be7b72ba',
  '0010_vtt': '4ca1f2a141d4ad162ccb50f31c526e013653efdbaae4f835a3c59c65ed1e1797',
};

it('no migration changes after it was applied anywhere: add a new one instead', () => {
  expect(Object.fromEntries(readMigrations().map(({ name, hash }) => [name, hash]))).toEqual(FROZEN);
});

let database: TestDatabase;
afterEach(() => database?.drop());

/** Creates a migrated database, and runs SQL on it as its owner. */
async function changed(...statements: string[]): Promise<TestDatabase> {
  database = await createTestDatabase();
  const owner = await database.connectOwner();
  for (const sql of statements) await owner.query(sql);
  return database;
}

const NO_HASHES = 'alter table migrations drop column hash';
const hashesOf = async ({ connectOwner }: TestDatabase) =>
  (await (await connectOwner()).query('select name, hash from migrations order by number')).rows;
const applied = Object.entries(FROZEN).map(([name, hash]) => ({ name, hash }));

it('migrate records the hash of each migration', async () => {
  expect(await hashesOf(await changed())).toEqual(applied);
});

it('migrate records the hashes of a database that was made before hashes were recorded', async () => {
  const old = await changed(
    NO_HASHES,
    'create index of_an_operator on jobs (words)',
    'create table own (id integer)',
  );
  expect(await migrate(old.connection)).toEqual([]);
  expect(await hashesOf(old)).toEqual(applied);
  const { rows } = await (await old.connectOwner()).query(
    `select from pg_namespace where nspname ~ 'replay'`,
  );
  expect(rows).toEqual([]);
});

/** Databases that another text of a migration has made, and what the refusal says. */
const OTHERS: [string, string[], string][] = [
  ['another hash', [`update migrations set hash = repeat('0', 64) where number = 2`], '0002_untranslated'],
  ...(
    [
      ['a missing column', 'alter table jobs drop column tone', 'column tone of jobs'],
      ['an additional column', 'alter table jobs add column told timestamptz', 'column told of jobs'],
      [
        'a column of another type',
        'alter table breakers alter failures type bigint',
        'column failures of breakers',
      ],
      ['a missing table', 'drop table task_skips', 'column account_id of task_skips'],
      [
        'an additional constraint',
        'alter table jobs add constraint few check (words < 9)',
        'constraint few of jobs',
      ],
      ['a missing index', 'drop index accounts_to_erase', 'index accounts_to_erase of accounts'],
      ['a missing right', 'revoke delete on keys from dragoman_app', 'privilege of keys'],
      [
        'another function',
        `create or replace function forget_account(wanted_part smallint, wanted_account uuid) returns void
         language sql as 'select'`,
        'function forget_account(smallint,uuid)',
      ],
    ] as const
  ).map(([name, sql, what]): [string, string[], string] => [`no hashes and ${name}`, [NO_HASHES, sql], what]),
];

describe('a database of another text of the migrations is refused with the remedy', () => {
  const sentence = (what: string) =>
    `This database was made by another text of the migrations (${what} differs): back it up with the program that ` +
    'made it, and restore the backup into a new database with this program.\n';

  it.each(OTHERS)('with %s', async (_, statements, what) => {
    const other = await changed(...statements);
    await expect(migrate(other.connection)).rejects.toThrow(sentence(what).trim());
  });

  it.each([OTHERS[0]!, OTHERS[1]!])('with %s, by every command', async (_, statements, what) => {
    const own = { DATABASE_URL: urlOf((await changed(...statements)).connection) };
    const file = join(directory, 'made.backup');
    if (what === '0002_untranslated') await writeBackup(file);
    for (const command of [['migrate'], ['serve'], ['user', 'list'], ['restore', file]]) {
      const ended = await dragoman([...command, '--data', directory], own);
      expect(ended, command[0]!).toEqual({ status: 1, stdout: '', stderr: sentence(what) });
    }
    const doctor = await dragoman(['doctor', '--json', '--data', directory], {
      ...own,
      ...engineWithoutLanguages(directory),
    });
    const { findings } = JSON.parse(doctor.stdout);
    const [detail, remedy] = sentence(what).trim().split(': ');
    expect(findings.find(({ check }: { check: string }) => check === 'database')).toEqual({
      check: 'database',
      ok: false,
      detail,
      remedy: `B${remedy!.slice(1)}`,
    });
  });

  async function writeBackup(file: string): Promise<void> {
    const source = await createTestDatabase();
    const backup = await dragoman(['backup', file, '--data', directory], {
      DATABASE_URL: urlOf(source.connection),
    });
    expect(backup.status).toBe(0);
    await source.drop();
  }
});

it('doctor names what was changed in the schema after the migrations', async () => {
  const { connection } = await changed('alter table edits rename column revision to version');
  const { stdout } = await dragoman(['doctor', '--json', '--data', directory], {
    DATABASE_URL: urlOf(connection),
    ...engineWithoutLanguages(directory),
  });
  const { findings } = JSON.parse(stdout);
  expect(findings.find(({ check }: { check: string }) => check === 'database')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('column revision of edits differs'),
  });
});
