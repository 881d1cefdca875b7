/** Backup beside a running server, restore into a new data directory, and the service goes on there. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKeyFile } from '../accounts/secrets.ts';
import { verifyLedger } from '../ledger/ledger.ts';
import {
  createClient,
  createTestDatabase,
  startTestServer,
  type TestDatabase,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { dragoman, dragomanProcess, killPrograms, serve, urlOf } from '../testing/programs.ts';

const MACHINE = '/tapi/v2/mt_translation/';
/** All that PostgreSQL's text format has to escape, and what ends its rows. */
const ODD = 'A tab\t, a \\ and \\. and \\N.\r\n\\.\nThe end of 語 and 🏠.';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-backup-'));
const file = join(directory, 'made.backup');
let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_PRICE_MACHINE: '2' } });
  const made = await server.createAccount({ balanceCents: 1000 });
  key = made.production_key;
  const call = createClient(server.url, key);
  for (const [uid, text] of [
    ['plain', 'The house is big.'],
    ['odd', ODD],
  ]) {
    await call('POST', MACHINE, { text, uid, source_language: 'en', target_language: 'es' });
    await until(async () => (await call('GET', `${MACHINE}${uid}/`)).body.status === 'completed');
  }
});
afterAll(async () => {
  await killPrograms();
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** With the key of the data directory alone. */
const on = (database: TestDatabase) => ({
  DATABASE_URL: urlOf(database.connection),
  DRAGOMAN_SECRET_KEY: '',
});
const own = (name: string) => ['--data', join(directory, name)];

it('holds all of it, and a new service goes on from there', async () => {
  createKeyFile(join(directory, 'old'));
  expect(await dragoman(['secret-key', 'replace', ...own('old')], on(server))).toMatchObject({ status: 0 });
  const backup = await dragoman(['backup', file, '--json', ...own('old')], on(server));
  expect(backup).toMatchObject({ status: 0, stderr: expect.stringContaining('secret.key') });
  const written = JSON.parse(backup.stdout);
  expect(written.rows).toMatchObject({ accounts: 1, keys: 2, jobs: 2 });

  const restored = await dragoman(['restore', file, '--json', ...own('new')]);
  expect(restored).toMatchObject({ status: 0, stderr: expect.stringMatching(/^Put the secret\.key .*\n$/) });
  expect(JSON.parse(restored.stdout).rows).toEqual(written.rows);

  // The key that the database is used with is not in the backup: nothing serves without it.
  const keyless = await dragomanProcess(['serve', ...own('new')]);
  expect(keyless).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^The secret key of this database is missing: put its secret\.key into /),
  });
  copyFileSync(join(directory, 'old', 'secret.key'), join(directory, 'new', 'secret.key'));
  const program = await serve(own('new'), { DRAGOMAN_PRICE_MACHINE: '2' });
  await program.answers('/healthz');
  const [before, after] = [createClient(server.url, key), createClient(program.url, key)];
  for (const path of [MACHINE, `${MACHINE}plain/`, `${MACHINE}odd/`]) {
    expect((await after('GET', path)).body, path).toEqual((await before('GET', path)).body);
  }
  expect((await after('GET', `${MACHINE}odd/`)).body.text).toBe(ODD);
  // Order numbers go on; they are never given twice.
  const numbers = (await after('GET', MACHINE)).body.objects.map(
    (job: { order_number: number }) => job.order_number,
  );
  await program.answers('/readyz');
  const next = await after('POST', '/tapi/v2/translation/', {
    text: 'The house.',
    source_language: 'en',
    target_language: 'es',
  });
  expect(next.status).toBe(201);
  expect(next.body.order_number).toBeGreaterThan(Math.max(...numbers));
  expect(await program.terminate()).toBe(0);
  const verify = await dragoman(['ledger', 'verify', ...own('new')]);
  expect(verify).toMatchObject({ status: 0, stdout: expect.stringContaining('The ledger is sound.') });
});

describe('nothing is changed by', () => {
  let empty: TestDatabase;
  beforeAll(async () => {
    empty = await createTestDatabase();
  });
  afterAll(() => empty.drop());

  const restore = (name: string) => dragoman(['restore', join(directory, name), ...own('x')], on(empty));
  const planted = (name: string, bytes: Buffer) => writeFileSync(join(directory, name), bytes);
  const text = () => gunzipSync(readFileSync(file)).toString();

  it.each([
    ['a file that is cut off', () => readFileSync(file).subarray(0, -200), 'The file is not a whole backup.'],
    ['a file that lacks its end', () => gzipSync(text().slice(0, -60)), 'The file is not a whole backup.'],
    ['a file that is none', () => Buffer.from('Hello'), 'The file is not a whole backup.'],
    [
      'a file that lacks a row',
      () => gzipSync(text().replace(/(\n\{"table":"job_events".*\n).*\n/, '$1')),
      'The file does not hold the rows that it says it holds.',
    ],
    [
      'a file of another program’s tables',
      () => gzipSync(text().replace('{"table":"accounts"', '{"table":"pg_authid"')),
      /^pg_authid: /,
    ],
    [
      'a file of a newer version',
      () => gzipSync(text().replace(/"migration":\d+/, '"migration":9999')),
      /run a newer version/,
    ],
  ])('%s', async (name, make, sentence) => {
    planted(`${name}.backup`, make());
    const { status, stdout, stderr } = await restore(`${name}.backup`);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr.trim()).toMatch(sentence);
    const { accounts } = await verifyLedger(empty.database);
    expect(accounts).toBe(0);
  });

  it('a restore over what is there, or a backup over a file', async () => {
    const restored = await dragoman(['restore', file, ...own('x')], on(server));
    expect(restored).toMatchObject({ status: 1, stderr: expect.stringContaining('is not empty') });
    const backup = await dragoman(['backup', file, ...own('x')], on(server));
    expect(backup).toMatchObject({ status: 1, stderr: `${file} is there already.\n` });
    const missing = await restore('missing.backup');
    expect(missing).toMatchObject({ status: 1, stderr: expect.stringContaining('There is no') });
  });
});
