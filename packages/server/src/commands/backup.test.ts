/**
 * Tests a backup of a running server. The backup is restored into a new data directory, where the service
 * continues.
 */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  API_KEY,
  listBackups,
  SECRET_KEY as OLD_SECRET_KEY,
  TRANSLATION,
} from '../../../../prove/migrate/upgrade.ts';
import { createKeyFile } from '../access/secrets.ts';
import { verifyLedger } from '../ledger/ledger.ts';
import {
  createClient,
  createTestDatabase,
  startTestServer,
  type TestDatabase,
  type TestServer,
  waitForStatus,
} from '../testing/harness.ts';
import {
  DRAGOMAN,
  dragoman,
  dragomanProcess,
  killPrograms,
  markEngineTested,
  serve,
  start,
  urlOf,
} from '../testing/programs.ts';

const MACHINE = '/tapi/v2/mt_translation/';
/** A text with every character that PostgreSQL's COPY format must escape, and with its end-of-data marker. */
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
    await waitForStatus(call, `${MACHINE}${uid}/`);
  }
});
afterAll(async () => {
  await killPrograms();
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

/**
 * The environment of a command: the URL of the database. The command finds only the secret key in the data directory.
 */
const on = (database: TestDatabase) => ({
  DATABASE_URL: urlOf(database.connection),
  DRAGOMAN_SECRET_KEY: '',
});
const own = (name: string) => ['--data', join(directory, name)];

it('a backup contains all data, and a new service works with the restored data', async () => {
  createKeyFile(join(directory, 'old'));
  await markEngineTested(server.database);
  expect(await dragoman(['secret-key', 'replace', '--yes', ...own('old')], on(server))).toMatchObject({
    status: 0,
  });
  const backup = await dragoman(['backup', file, '--json', ...own('old')], on(server));
  expect(backup).toMatchObject({ status: 0, stderr: expect.stringContaining('secret.key') });
  const written = JSON.parse(backup.stdout);
  expect(written.rows).toMatchObject({ accounts: 1, keys: 2, jobs: 2 });

  const restored = await dragoman(['restore', file, '--json', ...own('new')]);
  expect(restored).toMatchObject({ status: 0, stderr: expect.stringMatching(/^Copy the secret\.key .*\n$/) });
  expect(JSON.parse(restored.stdout).rows).toEqual(written.rows);

  // The backup does not contain the secret key, so the new service cannot start yet.
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
  // Order numbers continue after those of the backup and are never reused.
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
  expect(verify).toMatchObject({ status: 0, stdout: expect.stringContaining('The ledger is consistent.') });
});

it.each(['> "$3"', '| cat > "$3"'])('a backup to standard output is complete: %s', async (to) => {
  const piped = join(directory, `piped-${to.length}.backup`);
  const words = [process.execPath, DRAGOMAN, join(directory, 'old'), piped];
  const backup = await start('sh', ['-c', `"$0" "$1" backup - --data "$2" ${to}`, ...words], on(server))
    .ended;
  expect(backup).toMatchObject({ status: 0, stdout: '' });
  expect(backup.stderr).toMatch(/^\d+ rows of \d+ tables\n/);
  const empty = await createTestDatabase();
  const restored = await dragoman(['restore', piped, '--json', ...own('x')], on(empty));
  expect(JSON.parse(restored.stdout).rows).toMatchObject({ accounts: 1, keys: 2, jobs: 2 });
  await empty.drop();
});

it('a backup with data that an older version made is upgraded, and the service works with it', async () => {
  const [old] = listBackups();
  const restored = await dragoman(['restore', old!, '--json', ...own('older')]);
  expect(restored).toMatchObject({ status: 0 });
  expect(JSON.parse(restored.stdout).rows).toMatchObject({ accounts: 1, jobs: 2, messages: 1 });
  const program = await serve([...own('older'), '--role', 'api'], { DRAGOMAN_SECRET_KEY: OLD_SECRET_KEY });
  await program.answers('/readyz');
  const call = createClient(program.url, API_KEY);
  expect((await call('GET', `${MACHINE}machine/`)).body.translated_text).toBe(TRANSLATION);
  const body = { text: 'The house.', source_language: 'en', target_language: 'es' };
  expect((await call('POST', '/tapi/v2/translation/', body)).status).toBe(201);
  expect(await program.terminate()).toBe(0);
});

describe('the database stays empty or unchanged after', () => {
  let empty: TestDatabase;
  beforeAll(async () => {
    empty = await createTestDatabase();
  });
  afterAll(() => empty.drop());

  const restore = (name: string) => dragoman(['restore', join(directory, name), ...own('x')], on(empty));
  const planted = (name: string, bytes: Buffer) => writeFileSync(join(directory, name), bytes);
  const text = () => gunzipSync(readFileSync(file)).toString();

  it.each([
    ['a truncated file', () => readFileSync(file).subarray(0, -200), 'The file is not a complete backup.'],
    ['a file without its end', () => gzipSync(text().slice(0, -60)), 'The file is not a complete backup.'],
    ['a file of another kind', () => Buffer.from('Hello'), 'The file is not a complete backup.'],
    [
      'a file with a missing row',
      () => gzipSync(text().replace(/(\n\{"table":"job_events".*\n).*\n/, '$1')),
      'The rows in the file do not match its summary.',
    ],
    [
      'a file with tables of another program',
      () => gzipSync(text().replace('{"table":"accounts"', '{"table":"pg_authid"')),
      /^pg_authid: /,
    ],
    [
      'a file of a newer version',
      () => gzipSync(text().replace(/"migration":\d+/, '"migration":9999')),
      /run a newer version/,
    ],
  ])('a refused restore of %s', async (name, make, sentence) => {
    planted(`${name}.backup`, make());
    const { status, stdout, stderr } = await restore(`${name}.backup`);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr.trim()).toMatch(sentence);
    const { accounts } = await verifyLedger(empty.database);
    expect(accounts).toBe(0);
  });

  it('a refused restore over existing data and a refused backup over an existing file', async () => {
    const restored = await dragoman(['restore', file, ...own('x')], on(server));
    expect(restored).toMatchObject({ status: 1, stderr: expect.stringContaining('is not empty') });
    const backup = await dragoman(['backup', file, ...own('x')], on(server));
    expect(backup).toMatchObject({ status: 1, stderr: `${file} already exists.\n` });
    const missing = await restore('missing.backup');
    expect(missing).toMatchObject({ status: 1, stderr: expect.stringContaining('There is no') });
  });
});
