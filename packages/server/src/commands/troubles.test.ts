/**
 * Checks that mistakes in the settings, the database or the disk print one sentence with the remedy, without
 * a stack.
 */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection as connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EmbeddedPostgres } from '@dragoman/embedded-postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConnection } from '../database/connections.ts';
import { startEmbedded } from '../database/embedded.ts';
import { dragoman, dragomanProcess, engineWithoutLanguages, killPrograms } from '../testing/programs.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-troubles-'));
const file = join(directory, 'file');
const SECRET = 'canary-password';
/** Matches one line: the problem, a colon, the remedy. */
const SENTENCE = /^[A-Z][^\n]*: [^\n]*\.\n$/;
let embedded: EmbeddedPostgres;
let old: Server;

beforeAll(async () => {
  writeFileSync(file, '');
  const dataDir = join(directory, 'postgresql');
  embedded = await startEmbedded({ dataDir, role: 'serve' });
  const owner = createConnection(embedded.connection);
  await owner.connect();
  for (const sql of [
    `create role wrong login password 'another'`,
    'create role plain login',
    'create role maker login createrole',
    'create database plain owner plain',
    'create database strange',
    'create database refused owner maker',
  ]) {
    await owner.query(sql);
  }
  await refuseMigrations();
  const rules = join(dataDir, 'postgres', 'pg_hba.conf');
  const given = readFileSync(rules, 'utf8');
  writeFileSync(rules, 'local all wrong scram-sha-256\n');
  appendFileSync(rules, given);
  await owner.query('select pg_reload_conf()');
  const { rows } = await owner.query(`select current_setting('server_version_num') as version`);
  await owner.end();
  old = await pretendOlder(rows[0].version, '140012');
});
afterAll(async () => {
  await killPrograms();
  old.close();
  await embedded.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Makes statements fail as they do on a Citus cluster whose nodes refuse each other's connections. */
async function refuseMigrations(): Promise<void> {
  const owner = createConnection({ ...embedded.connection, database: 'refused' });
  await owner.connect();
  await owner.query(
    `create function refuse() returns integer language plpgsql as $$ begin
       raise exception 'connection to the remote node dragoman_app@db1:5432 failed' using errcode = '08006';
     end $$`,
  );
  await owner.query(`create view migrations as select refuse() as number, '' as name where refuse() = 1`);
  await owner.query('grant select on migrations to maker');
  await owner.end();
}

/** Starts a proxy to the test's PostgreSQL server that replaces the server's version by an older version. */
async function pretendOlder(version: string, older: string): Promise<Server> {
  const { host, port } = embedded.connection;
  const server = createServer((client) => {
    const upstream = connect(join(host, `.s.PGSQL.${port}`));
    client.pipe(upstream);
    upstream.on('data', (bytes) =>
      client.write(Buffer.from(bytes.toString('latin1').replaceAll(version, older), 'latin1')),
    );
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const urlFor = (user: string, database: string) => {
  const { host, port } = embedded.connection;
  return `postgres://${user}:${SECRET}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
};
const at = (server: Server) =>
  `postgres://${embedded.connection.user}:${SECRET}@127.0.0.1:${(server.address() as { port: number }).port}/plain`;

const given = (url: () => string) => () => ({ DATABASE_URL: url() });

const MISTAKES: [string, () => Record<string, string>, RegExp][] = [
  [
    'nothing that listens at DATABASE_URL',
    given(() => `postgres://u:${SECRET}@127.0.0.1:1/x`),
    /^PostgreSQL cannot be reached \(ECONNREFUSED 127\.0\.0\.1:1\): check DATABASE_URL, and that the server runs\./,
  ],
  [
    'a wrong password',
    given(() => urlFor('wrong', 'plain')),
    /^PostgreSQL refuses \(password authentication failed for user "wrong"\): correct the user name or the password/,
  ],
  [
    'a database that does not exist',
    given(() => urlFor('plain', 'nonono')),
    /^PostgreSQL refuses \(database "nonono" does not exist\): create it with CREATE DATABASE/,
  ],
  [
    'nodes that refuse each other',
    given(() => urlFor('maker', 'refused')),
    /^PostgreSQL refuses \(connection to the remote node dragoman_app@db1:5432 failed\): check that all nodes run/,
  ],
  [
    'a password that is not percent-encoded',
    given(() => `postgres://u:%zz${SECRET}@127.0.0.1:1/x`),
    /^DATABASE_URL must be a URL, with special characters/,
  ],
  ['PostgreSQL 14', given(() => at(old)), /^PostgreSQL 14 is too old: use PostgreSQL 15 or later/],
];

describe('one sentence with the remedy is printed', () => {
  const roles = (): [string, () => Record<string, string>, RegExp][] => [
    [
      // Roles belong to the whole PostgreSQL server, so another test may have created this role already.
      'a user who may not create roles',
      given(() => urlFor('plain', 'plain')),
      /^The database user plain (may not create|is not a member of) the role dragoman_app: .* GRANT dragoman_app TO plain\./,
    ],
    [
      'a user who does not own the database',
      given(() => urlFor('maker', 'strange')),
      /^The database user maker may not change the schema \(.*\): .* ALTER DATABASE strange OWNER TO maker\./,
    ],
    [
      'a data directory that is a file',
      () => ({ DRAGOMAN_DATA: file }),
      /^The data directory .*file is a file: set DRAGOMAN_DATA to a folder that this user can write to\./,
    ],
    [
      'a data directory that cannot be created',
      () => ({ DRAGOMAN_DATA: join(file, 'below') }),
      /^The data directory .*below cannot be created \(E[A-Z]+\): set DRAGOMAN_DATA/,
    ],
  ];

  for (const command of ['serve', 'migrate']) {
    it.each([...MISTAKES, ...roles()])(
      `for %s, by the command ${command}`,
      async (mistake, own, sentence) => {
        // Only one mistake is made in a separate process, to test that the process ends. The others are
        // printed in the same way.
        const run = mistake === MISTAKES[0]![0] ? dragomanProcess : dragoman;
        const ended = await run([command], { DRAGOMAN_DATA: join(directory, 'own'), ...own() });
        expect(ended).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(sentence) });
        if (!ended.stderr.startsWith('DATABASE_URL must be')) expect(ended.stderr).toMatch(SENTENCE);
        expect(ended.stderr).not.toContain(SECRET);
      },
    );
  }

  const placeOf = (own: () => Record<string, string>) => ({
    DRAGOMAN_DATA: join(directory, 'own'),
    ...own(),
  });

  it.each(MISTAKES)('for %s, by the command user list', async (_, own, sentence) => {
    const list = await dragoman(['user', 'list'], placeOf(own));
    expect(list).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(sentence) });
  });

  it.each([MISTAKES[0]!, MISTAKES[3]!])('for %s, by the command doctor', async (_, own, sentence) => {
    const doctor = await dragoman(['doctor', '--json'], {
      ...placeOf(own),
      ...engineWithoutLanguages(directory),
    });
    expect(doctor.status).toBe(1);
    expect(doctor.stdout + doctor.stderr).not.toContain(SECRET);
    if (doctor.stdout === '') return expect(doctor.stderr).toMatch(sentence);
    const { findings } = JSON.parse(doctor.stdout);
    const { detail, remedy } = findings.find(({ check }: { check: string }) => check === 'database');
    const [first] = remedy;
    expect(`${detail}: ${first.toLowerCase()}${remedy.slice(1)}`).toMatch(sentence);
  });

  it('for a backup into a missing folder', async () => {
    const target = join(directory, 'nonexist', 'x');
    const ended = await dragoman(['backup', target], { DATABASE_URL: urlFor('plain', 'plain') });
    expect(ended).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(SENTENCE) });
    expect(ended.stderr).toMatch(/^There is no folder .*nonexist: /);
  });

  it('for a backup of an empty database', async () => {
    const target = join(directory, 'empty.backup');
    const own = { DATABASE_URL: urlFor('plain', 'plain') };
    const ended = await dragoman(['backup', target], own);
    expect(ended).toEqual({
      status: 1,
      stdout: '',
      stderr: 'The database contains no Dragoman data: check DATABASE_URL.\n',
    });
  });
});
