/** The command line as its users have it: processes, exit statuses, standard output and error. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApertium, findApertium } from '@dragoman/engines';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AccountCredentials } from '../accounts/accounts.ts';
import { createConnection } from '../database/connections.ts';
import type { Database } from '../database/database.ts';
import { replacePairs } from '../languages/store.ts';
import { createLog } from '../log.ts';
import { openStore } from '../program.ts';
import { describeSettings, loadSettings } from '../settings.ts';
import {
  createClient,
  createTestDatabase,
  startReceiver,
  type TestDatabase,
  until,
} from '../testing/harness.ts';
import {
  dragoman,
  dragomanProcess,
  killPrograms,
  type Serving,
  serve,
  start,
  urlOf,
} from '../testing/programs.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const { missing } = await findApertium();
/** In CI the engine must be there, and what needs it fails without. */
const withEngine = describe.skipIf(missing.length > 0 && process.env.CI !== 'true');

const directory = mkdtempSync(join(tmpdir(), 'dragoman-commands-'));
const data = join(directory, 'data');
afterAll(async () => {
  await killPrograms();
  rmSync(directory, { recursive: true, force: true });
});

/** One sentence for a person: one line, no stack. */
const SENTENCE = /^[A-Z][^\n]*\.\n$/;

describe('usage', () => {
  it('help is no error, and names every command', async () => {
    const { status, stdout } = await dragoman(['--help']);
    expect(status).toBe(0);
    for (const command of [
      'serve',
      'migrate',
      'doctor',
      'settings',
      'account',
      'ledger',
      'pair',
      'key',
      'webhook-secret',
      'engine',
      'translate',
    ]) {
      expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
    }
    expect((await dragoman(['account', 'create', '--help'])).status).toBe(0);
  });

  it.each([
    ['no command', []],
    ['a command that there is not', ['sing']],
    ['an option that there is not', ['settings', '--loud']],
    ['an argument too few', ['account', 'create']],
    ['an argument too many', ['settings', 'all']],
    ['a required option left out', ['translate', '--from', 'en']],
    ['a value that is not one of those', ['serve', '--role', 'boss']],
    ['a format that there is not', ['translate', '--from', 'en', '--to', 'es', '--format', 'docx']],
    ['cents that are no number', ['account', 'create', 'acme', '--balance', '1.5']],
  ])('%s ends with 2, and says so on standard error alone', async (_, args) => {
    const { status, stdout, stderr } = await dragoman(args);
    expect(status).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).not.toBe('');
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

describe('settings', () => {
  it('are printed with default and meaning', async () => {
    const { status, stdout, stderr } = await dragoman(['settings']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const { name, default: fallback, meaning } of describeSettings()) {
      expect(stdout).toContain(`${name}${fallback === '' ? '' : `=${fallback}`}\n    ${meaning}\n`);
    }
  });

  it('are one JSON object with --json', async () => {
    const { stdout } = await dragoman(['settings', '--json']);
    expect(JSON.parse(stdout)).toEqual({ settings: describeSettings() });
  });

  it.each([
    [
      'in the environment',
      [],
      { DRAGOMAN_LEASE: '1' },
      'DRAGOMAN_LEASE must be a whole number from 2 to 3600.',
    ],
    ['as an option', ['--port', 'x'], {}, 'DRAGOMAN_PORT must be a whole number from 0 to 65535.'],
    [
      'of another kind',
      [],
      { DATABASE_URL: 'mysql://x' },
      'DATABASE_URL must be an address that begins with postgres://.',
    ],
  ])('with a wrong value %s stop the start with one sentence', async (_, args, own, sentence) => {
    const untouched = join(directory, 'untouched');
    const ended = await dragoman(['serve', '--data', untouched, ...args], own);
    expect(ended).toEqual({ status: 1, stdout: '', stderr: `${sentence}\n` });
    expect(readdirSync(directory)).not.toContain('untouched');
  });

  it('are read from a file, and the environment wins over it', async () => {
    const file = join(directory, 'settings');
    writeFileSync(file, 'DRAGOMAN_LEASE=none\n');
    const wrong = await dragoman(['serve', '--data', data], { DRAGOMAN_SETTINGS: file });
    expect(wrong.stderr).toBe('DRAGOMAN_LEASE must be a whole number from 2 to 3600.\n');
    const own = { DRAGOMAN_SETTINGS: file, DRAGOMAN_LEASE: '30', DRAGOMAN_PORT: 'none' };
    expect((await dragoman(['serve', '--data', data], own)).stderr).toMatch(/^DRAGOMAN_PORT must be /);
    const absent = await dragoman(['serve'], { DRAGOMAN_SETTINGS: join(directory, 'absent') });
    expect(absent.status).toBe(1);
    expect(absent.stderr).toMatch(/^DRAGOMAN_SETTINGS must name a file that can be read/);
  });
});

withEngine('translate', () => {
  const enEs = ['--from', 'en', '--to', 'es', '--data', join(directory, 'translate')];
  const SOURCE = 'The house is big.\r\n\r\nThe table is red.';
  const TARGET = 'La casa es grande.\r\n\r\nLa mesa es roja.';

  it('takes standard input, and gives the translation and nothing else on standard output', async () => {
    const { status, stdout, stderr } = await dragomanProcess(['translate', ...enEs], {}, SOURCE);
    expect({ status, stdout }).toEqual({ status: 0, stdout: TARGET });
    expect(stderr).toMatch(/^2 segments in [\d.]+ s by apertium:eng-spa\n$/);
  });

  it('takes a file, in the format it is told', async () => {
    const file = join(directory, 'page.html');
    writeFileSync(file, '<p>The <b>house</b></p>\n');
    const { status, stdout } = await dragoman(['translate', file, '--format', 'html', ...enEs]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: '<p>La <b>casa</b></p>\n' });
  });

  it('is run by npx, on the Node that the program is made for', async () => {
    const { status, stdout } = await start('npx', ['dragoman', 'translate', ...enEs], {}, SOURCE).ended;
    expect({ status, stdout }).toEqual({ status: 0, stdout: TARGET });
    expect((await start('npx', ['dragoman', 'sing']).ended).status).toBe(2);
  });

  it.each([
    [
      'a language that it does not know',
      ['--from', 'en', '--to', 'tlh'],
      /does not translate from en to tlh/,
    ],
    [
      'a file that is not there',
      [join(directory, 'absent.txt'), '--from', 'en', '--to', 'es'],
      /cannot be read/,
    ],
    [
      'an engine that there is not',
      ['--from', 'en', '--to', 'es', '--engine', 'babel'],
      /no engine named babel/,
    ],
  ])('refuses %s with 1 and a sentence', async (_, args, sentence) => {
    const ended = await dragomanProcess(['translate', ...args, '--data', data], {}, 'The house.');
    expect(ended).toEqual({ status: 1, stdout: '', stderr: expect.stringMatching(sentence) });
    expect(ended.stderr).not.toMatch(/^\s+at /m);
  });

  it('refuses what is not UTF-8, and a file that is not what its format says', async () => {
    const latin1 = join(directory, 'latin1.txt');
    writeFileSync(latin1, Buffer.from('caf\xe9', 'latin1'));
    const bytes = await dragoman(['translate', latin1, ...enEs]);
    expect(bytes).toEqual({ status: 1, stdout: '', stderr: `${latin1} is not UTF-8 text.\n` });
    const xliff = await dragomanProcess(['translate', '--format', 'xliff', ...enEs], {}, '<xliff');
    expect(xliff).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^The XLIFF document is not well-formed XML: [^\n]*\n$/),
    });
  });
});

withEngine('one data directory', () => {
  let serving: Serving;
  const here = ['--data', data];
  let credentials: AccountCredentials;

  beforeAll(async () => {
    const first = await dragomanProcess(['migrate', ...here]);
    expect(first).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Applied 0001_foundation\b.*\.\n$/),
    });
    const store = await openStore(loadSettings({ DRAGOMAN_DATA: data }), 'command', createLog('silent'));
    await believe(store.database);
    await store.close();
    serving = await serve(here);
    await serving.answers('/readyz');
  });

  it('is made by the first command that needs it, and is up to date from then on', async () => {
    expect((await dragoman(['migrate', ...here])).stdout).toBe('The schema is up to date.\n');
    expect(JSON.parse((await dragoman(['migrate', '--json', ...here])).stdout)).toEqual({ applied: [] });
  });

  it('gives an account beside the running server, whose keys open its doors at once', async () => {
    const { status, stdout } = await dragomanProcess([
      'account',
      'create',
      'acme',
      '--balance',
      '500',
      '--json',
      ...here,
    ]);
    expect(status).toBe(0);
    credentials = JSON.parse(stdout);
    expect(credentials).toEqual({
      username: 'acme',
      production_key: expect.stringMatching(/^acme:dgm_live_\w/),
      sandbox_key: expect.stringMatching(/^acme:dgm_test_\w/),
      webhook_secret_production: expect.stringMatching(/^whsec_/),
      webhook_secret_sandbox: expect.stringMatching(/^whsec_/),
    });
    const production = createClient(serving.url, credentials.production_key);
    const body = { uid: 'first', text: 'The house is big.', source_language: 'en', target_language: 'es' };
    expect(await production('POST', '/tapi/v2/translation/', body)).toMatchObject({
      status: 201,
      body: { price: 12, balance: 488, client: 'acme' },
    });
    const astray = createClient(serving.url, credentials.sandbox_key);
    expect((await astray('GET', '/tapi/v2/translation/')).status).toBe(401);
  });

  it('refuses an account that there is, and a name that cannot be one', async () => {
    for (const name of ['acme', 'a:b']) {
      const ended = await dragomanProcess(['account', 'create', name, '--json', ...here]);
      expect(ended).toMatchObject({ status: 1, stdout: '' });
      expect(ended.stderr).toMatch(name === 'acme' ? /already an account named acme/ : /^A username is /);
    }
  });

  it('shows an account’s keys to a person once, with a word about it on standard error', async () => {
    const { status, stdout, stderr } = await dragoman([
      'account',
      'create',
      'beta',
      '--dialect',
      'legacy',
      ...here,
    ]);
    expect(status).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(5);
    expect(stdout).toMatch(/^production_key +beta:dgm_live_/m);
    expect(stderr).toBe('Keys and secrets are not shown again.\n');
  });

  it('has a sound ledger', async () => {
    const { status, stdout } = await dragoman(['ledger', 'verify', '--json', ...here]);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, accounts: expect.any(Number), discrepancies: [] });
    expect((await dragoman(['ledger', 'verify', ...here])).stdout).toMatch(/The ledger is sound\.\n$/);
  });

  it('is examined by the doctor, check by check', async () => {
    const { status, stdout } = await dragoman(['doctor', '--json', ...here]);
    const { ok, findings } = JSON.parse(stdout);
    expect(findings.map(({ check }: { check: string }) => check)).toEqual([
      'version',
      'database',
      'clock',
      'secret key',
      'workers',
      'engine',
      'pairs',
      'disk',
    ]);
    expect(findings.filter((one: { ok: boolean }) => !one.ok)).toEqual([]);
    expect({ status, ok }).toEqual({ status: 0, ok: true });
  });

  it.each(['all', 'api', 'worker'])('has one server: a second, in the role %s, is refused', async (role) => {
    const second = await serve([...here, '--role', role]);
    const { status, stderr } = await second.ended;
    expect(status).toBe(1);
    expect(stderr).toContain(
      `is already running on the data directory ${data}. Stop it first, or choose another`,
    );
    expect(stderr).toMatch(SENTENCE);
    expect((await fetch(`${serving.url}/readyz`)).status).toBe(200);
  });

  it('is left in order by SIGTERM, whatever the moment, and serves again at once', async () => {
    expect(await serving.terminate()).toBe(0);
    for (const path of ['/healthz', '/readyz']) {
      serving = await serve(here);
      await serving.answers(path);
      expect(await serving.terminate()).toBe(0);
      const lines = serving.output.stderr.split('\n').filter((line) => line !== '');
      // As root, as in a container, the start warns of it.
      expect(lines.filter((line) => !line.includes('running as root'))).toEqual([]);
    }
    const verified = await dragoman(['ledger', 'verify', '--json', ...here]);
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true });
  });
});

describe('a database that is not there', () => {
  it('ends serve with 1; the doctor names it and the engine that is not whole, with what to do', async () => {
    const own = { DATABASE_URL: `postgres://nobody@/nothing?host=${encodeURIComponent(directory)}` };
    const elsewhere = ['--data', join(directory, 'elsewhere')];
    expect((await dragoman(['serve', ...elsewhere], own)).status).toBe(1);
    // And an engine that is hardly there, which also spares this test its self-tests.
    const root = join(directory, 'apertium');
    mkdirSync(join(root, 'usr/bin'), { recursive: true });
    writeFileSync(join(root, 'usr/bin/lt-proc'), '');
    const { status, stdout } = await dragoman(['doctor', '--json', ...elsewhere], {
      ...own,
      DRAGOMAN_APERTIUM_ROOT: root,
    });
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      ok: false,
      findings: [
        expect.objectContaining({ check: 'version' }),
        {
          check: 'database',
          ok: false,
          detail: expect.any(String),
          remedy: 'Check DATABASE_URL, and that the server runs.',
        },
        {
          check: 'engine',
          ok: false,
          detail: expect.stringMatching(/^Apertium: \d+ packages are missing \(apertium, /),
          remedy: 'Run: npx dragoman engine install',
        },
        expect.objectContaining({ check: 'disk' }),
      ],
    });
  });
});

withEngine('one database, several processes', () => {
  let database: TestDatabase;
  let own: Record<string, string>;
  let started: Serving[] = [];
  const here = ['--data', join(directory, 'roles')];

  beforeAll(async () => {
    database = await createTestDatabase();
    own = { DATABASE_URL: urlOf(database.connection), DRAGOMAN_LEASE: '2' };
    await believe(database.database);
  });
  afterEach(async () => {
    await Promise.all(started.map((one) => (one.child.exitCode === null ? one.terminate() : undefined)));
    started = [];
  });
  afterAll(() => database.drop());

  async function role(name: string): Promise<Serving> {
    const one = await serve([...here, '--role', name], own);
    started.push(one);
    return one;
  }

  it('share the work by role, and a worker killed with -9 loses nothing', async () => {
    const receiver = await startReceiver();
    const [api, first] = await Promise.all([role('api'), role('worker')]);
    await api.answers('/readyz');
    const { stdout } = await dragoman(['account', 'create', 'acme', '--json', ...here], own);
    const call = createClient(api.url, JSON.parse(stdout).production_key);
    const text = Array.from({ length: 10 }, (_, n) => `The house number ${n} is big.`).join('\n');
    const uids = Array.from({ length: 40 }, (_, n) => `job-${n}`);
    for (const uid of uids) {
      const callback_url = `${receiver.url}/${uid}`;
      const body = { uid, text, callback_url, source_language: 'en', target_language: 'es' };
      expect((await call('POST', MACHINE, body)).status).toBe(201);
    }
    await receiver.next();
    first.child.kill('SIGKILL');
    await first.ended;
    const done = new Set(receiver.received.map(({ path }) => path));
    expect(done.size).toBeLessThan(uids.length);
    expect((await fetch(`${api.url}/readyz`)).status).toBe(200);

    const second = await role('worker');
    for (const uid of uids) await receiver.next(({ path }) => path === `/${uid}`);
    for (const uid of uids) {
      const { body } = await call('GET', `${MACHINE}${uid}/`);
      expect(body.status).toBe('completed');
      expect(body.translated_text).toMatch(/^El número de casa 0 es grande\.\n/);
      const ids = receiver.received
        .filter(({ path }) => path === `/${uid}`)
        .map(({ headers }) => headers['webhook-id']);
      expect(new Set(ids).size).toBe(1);
    }
    const owner = createConnection(database.connection);
    await owner.connect();
    const { rows } = await owner.query('select job_id from job_events group by job_id having count(*) > 1');
    expect(rows).toEqual([]);
    await until(
      async () => (await owner.query(`select from deliveries where status <> 'delivered'`)).rowCount === 0,
    );
    await owner.end();
    const verified = await dragoman(['ledger', 'verify', '--json', ...here], own);
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true });
    expect(await Promise.all([api.terminate(), second.terminate()])).toEqual([0, 0]);
    await receiver.close();
  });
});

/** As if a worker had tested the engine today: the processes of these tests need not. The demo's test does. */
async function believe(database: Database): Promise<void> {
  const engine = createApertium();
  const tested = { name: engine.name, version: await engine.version() };
  const pair = { from: 'en', to: 'es', route: 'apertium:eng-spa', hops: 1 };
  await database.transaction((transaction) => replacePairs(transaction, tested, [pair]));
}
