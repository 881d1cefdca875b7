/** Tests the command line in separate processes: exit statuses, standard output and standard error. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findApertium } from '@dragoman/engines';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FULL } from '../../../../scripts/full.ts';
import { privateApertium } from '../../../../scripts/test-tools.ts';
import { ROUTES } from '../../../engines/src/apertium/routes.ts';
import type { AccountCredentials } from '../accounts/accounts.ts';
import { createLog } from '../base/log.ts';
import { createConnection } from '../database/connections.ts';
import { openStore } from '../roles/program.ts';
import { describeSettings, loadSettings } from '../settings/settings.ts';
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
  engineWithoutLanguages,
  killPrograms,
  markEngineTested,
  type Serving,
  serve,
  start,
  urlOf,
} from '../testing/programs.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const { missing, modes } = await findApertium(privateApertium());
/**
 * Skips the tests of the offline engine where that engine is not installed. In CI they run and fail without
 * it.
 */
const withEngine = describe.skipIf(missing.length > 0 && process.env.CI !== 'true');

const directory = mkdtempSync(join(tmpdir(), 'dragoman-commands-'));
const data = join(directory, 'data');
afterAll(async () => {
  await killPrograms();
  rmSync(directory, { recursive: true, force: true });
});

/** Matches one sentence on one line, which excludes a stack. */
const SENTENCE = /^[A-Z][^\n]*\.\n$/;

describe('dragoman', () => {
  it('prints help with every command and exits with 0 for --help', async () => {
    const { status, stdout } = await dragoman(['--help']);
    expect(status).toBe(0);
    // The help command is the only one outside the groups, so every other command has a group.
    expect(stdout.slice(stdout.indexOf('\nCommands:'))).toMatch(/^\nCommands:\n {2}help .*\n+$/);
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
    ['an unknown command', ['sing']],
    ['help about an unknown command', ['sing', '--help']],
    ['help about an unknown command of a group', ['account', 'sing', '-h']],
    ['an unknown option', ['settings', '--loud']],
    ['a missing argument', ['account', 'create']],
    ['an additional argument', ['settings', 'all']],
    ['a missing required option', ['translate', '--from', 'en']],
    ['an invalid choice', ['serve', '--role', 'boss']],
    ['an unknown format', ['translate', '--from', 'en', '--to', 'es', '--format', 'docx']],
    ['cents that are no number', ['account', 'create', 'acme', '--balance', '1.5']],
  ])('exits with 2 and prints only on standard error for %s', async (_, args) => {
    const { status, stdout, stderr } = await dragoman(args);
    expect(status).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).not.toBe('');
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

describe('the settings', () => {
  it('are printed with their defaults and meanings', async () => {
    const { status, stdout, stderr } = await dragoman(['settings']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const { name, default: fallback, meaning, secret } of describeSettings()) {
      const file = secret ? ` Or the path of a file with the value: ${name}_FILE.` : '';
      expect(stdout).toContain(`${name}${fallback === '' ? '' : `=${fallback}`}\n    ${meaning}${file}\n`);
    }
  });

  it('are printed as one JSON object with --json', async () => {
    const { stdout } = await dragoman(['settings', '--json']);
    expect(JSON.parse(stdout)).toEqual({ settings: describeSettings() });
  });

  it.each([
    [
      'a value in the environment',
      [],
      { DRAGOMAN_LEASE: '1' },
      'DRAGOMAN_LEASE must be a whole number from 2 to 3600.',
    ],
    ['the value of an option', ['--port', 'x'], {}, 'DRAGOMAN_PORT must be a whole number from 0 to 65535.'],
    ['a URL', [], { DATABASE_URL: 'mysql://x' }, 'DATABASE_URL must be a URL that starts with postgres://.'],
  ])('stop the start with one sentence when %s is invalid', async (_, args, own, sentence) => {
    const untouched = join(directory, 'untouched');
    const ended = await dragoman(['serve', '--data', untouched, ...args], own);
    expect(ended).toEqual({ status: 1, stdout: '', stderr: `${sentence}\n` });
    expect(readdirSync(directory)).not.toContain('untouched');
  });

  it('are read from a file, and the environment overrides the file', async () => {
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

  it.each([
    ['DRAGOMAN_SANBOX_HOLD', ' (did you mean DRAGOMAN_SANDBOX_HOLD?)'],
    ['DRAGOMAN_ALLOWED_NETWORK', ' (did you mean DRAGOMAN_ALLOWED_NETWORKS?)'],
    ['DRAGOMAN_NOTHING_LIKE_IT', ''],
  ])('with the misspelled name %s are ignored with a warning', async (name, hint) => {
    const sentence = `${name} is ignored: there is no setting ${name}${hint}.`;
    const own = { [name]: '5', DRAGOMAN_DATA: join(directory, 'nowhere') };
    expect((await dragoman(['user', 'list'], own)).stderr).toMatch(`${sentence}\nThere is no data in `);
    const { stderr } = await dragoman(['user', 'list', '--json'], own);
    expect(JSON.parse(stderr.replace(`${sentence}\n`, ''))).toEqual({ error: expect.any(String) });
    expect(await dragoman(['settings', '--json'], own)).toMatchObject({ status: 0, stderr: `${sentence}\n` });
  });

  it('with a misspelled name cause a warning in the log of the server', async () => {
    const own = { DRAGOMAN_SANBOX_HOLD: '5', DRAGOMAN_DATA: join('/dev/null', 'none') };
    const { stderr } = await dragomanProcess(['serve'], own);
    // The log is written separately, so its lines may come before or after the error.
    const logged = stderr.split('\n').find((line) => line.startsWith('{'));
    expect(JSON.parse(logged!)).toMatchObject({
      level: 'warn',
      msg: expect.stringMatching(/^DRAGOMAN_SANBOX_HOLD is ignored: .*DRAGOMAN_SANDBOX_HOLD/),
    });
  });

  it.each([
    [
      'an unknown name',
      'DRAGOMAN_SANBOX_HOLD=5',
      ': there is no setting DRAGOMAN_SANBOX_HOLD (did you mean DRAGOMAN_SANDBOX_HOLD?).',
    ],
    ['the name of another program', 'PATH=/bin', ': there is no setting PATH.'],
    ['the name of a file', 'DRAGOMAN_SETTINGS=x', ': there is no setting DRAGOMAN_SETTINGS.'],
    ['a missing value', 'canary secret', ' is not NAME=value.'],
    ['a name of two words', 'canary secret=1', ' is not NAME=value.'],
    ['an unclosed quote', 'DRAGOMAN_HOST="canary', ' is not NAME=value.'],
  ])('are refused when a line of the settings file has %s', async (_, line, sentence) => {
    const file = join(directory, 'lines');
    writeFileSync(file, `# one line of comment\n\nexport DRAGOMAN_PORT=81 # another\n${line}\n`);
    for (const args of [
      ['user', 'list'],
      ['settings', '--effective'],
    ]) {
      const ended = await dragoman(args, { DRAGOMAN_SETTINGS: file });
      expect(ended).toEqual({ status: 1, stdout: '', stderr: `Line 4 of ${file}${sentence}\n` });
    }
  });

  it('are printed with their origins and without secrets', async () => {
    const file = join(directory, 'effective');
    writeFileSync(file, 'DRAGOMAN_SANDBOX_HOLD=77\nDRAGOMAN_METRICS_TOKEN=canary\nDRAGOMAN_PORT=81\n');
    const own = {
      DRAGOMAN_SETTINGS: file,
      DRAGOMAN_PORT: '82',
      DATABASE_URL: 'postgres://u:canary@db/x',
      DRAGOMAN_LLM_URL: 'http://u:canary@llm/v1',
    };
    const { status, stdout, stderr } = await dragoman(['settings', '--effective'], own);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const [name, value, source] of [
      ['DRAGOMAN_SETTINGS', file, 'environment'],
      ['DRAGOMAN_SANDBOX_HOLD', '77', 'file'],
      ['DRAGOMAN_PORT', '82', 'environment'],
      ['DRAGOMAN_LEASE', '30', 'default'],
      ['DRAGOMAN_METRICS_TOKEN', '(hidden)', 'file'],
      ['DATABASE_URL', '(hidden)', 'environment'],
      ['DRAGOMAN_LLM_URL', 'http://…@llm/v1', 'environment'],
    ] as const) {
      const found = stdout.split('\n').find((line) => line.startsWith(`${name}=`));
      expect(found?.split(/\s{2,}/)).toEqual([`${name}=${value}`, source]);
    }
    const asJson = await dragoman(['settings', '--effective', '--json'], own);
    const { settings } = JSON.parse(asJson.stdout);
    expect(settings).toHaveLength(describeSettings().length);
    expect(settings).toContainEqual({ name: 'DRAGOMAN_METRICS_TOKEN', value: null, source: 'file' });
    expect(stdout + asJson.stdout).not.toContain('canary');
  });

  it('are not printed when one of them is invalid', async () => {
    const ended = await dragoman(['settings', '--effective'], { DRAGOMAN_LEASE: '1' });
    expect(ended).toMatchObject({ status: 1, stdout: '' });
  });
});

withEngine('translate', () => {
  const enEs = ['--from', 'en', '--to', 'es', '--data', join(directory, 'translate')];
  const SOURCE = 'The house is big.\r\n\r\nThe table is red.';
  const TARGET = 'La casa es grande.\r\n\r\nLa mesa es roja.';

  it('dragoman translate reads standard input, and prints only the translation on standard output', async () => {
    const { status, stdout, stderr } = await dragomanProcess(['translate', ...enEs], {}, SOURCE);
    expect({ status, stdout }).toEqual({ status: 0, stdout: TARGET });
    expect(stderr).toMatch(/^2 segments in [\d.]+ s by apertium:eng-spa\n$/);
  });

  it('dragoman translate reads a file in the format that the command line names', async () => {
    const file = join(directory, 'page.html');
    writeFileSync(file, '<p>The <b>house</b></p>\n');
    const { status, stdout } = await dragoman(['translate', file, '--format', 'html', ...enEs]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: '<p>La <b>casa</b></p>\n' });
  });

  it('dragoman runs with npx, on the Node version that the program requires', async () => {
    const { status, stdout } = await start('npx', ['dragoman', 'translate', ...enEs], {}, SOURCE).ended;
    expect({ status, stdout }).toEqual({ status: 0, stdout: TARGET });
    expect((await start('npx', ['dragoman', 'sing']).ended).status).toBe(2);
  });

  it.each([
    ['an unknown language', ['--from', 'en', '--to', 'tlh'], /does not translate from en to tlh/],
    ['a missing file', [join(directory, 'absent.txt'), '--from', 'en', '--to', 'es'], /cannot be read/],
  ])('dragoman translate refuses %s with status 1 and a sentence', async (_, args, sentence) => {
    const ended = await dragomanProcess(['translate', ...args, '--data', data], {}, 'The house.');
    expect(ended).toEqual({ status: 1, stdout: '', stderr: expect.stringMatching(sentence) });
    expect(ended.stderr).not.toMatch(/^\s+at /m);
  });

  it('dragoman translate refuses a file that is not UTF-8 or not in its format', async () => {
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
      stdout: expect.stringMatching(/^Applied 0001_schema\b.*\.\n$/),
    });
    const store = await openStore(loadSettings({ DRAGOMAN_DATA: data }), 'command', createLog('silent'));
    await markEngineTested(store.database);
    await store.close();
    serving = await serve(here);
    await serving.answers('/readyz');
  });

  it('a data directory is created by the first command that needs it, and needs no migration after that', async () => {
    expect((await dragoman(['migrate', ...here])).stdout).toBe('The schema is up to date.\n');
    expect(JSON.parse((await dragoman(['migrate', '--json', ...here])).stdout)).toEqual({ applied: [] });
  });

  it('an account that is created while the server is running has keys that the server accepts at once', async () => {
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

  it('dragoman account create refuses an existing and an invalid name', async () => {
    for (const name of ['acme', 'a:b']) {
      const ended = await dragoman(['account', 'create', name, '--json', ...here]);
      expect(ended).toMatchObject({ status: 1, stdout: '' });
      expect(JSON.parse(ended.stderr).error).toMatch(
        name === 'acme' ? /already an account named acme/ : /^A username must have /,
      );
    }
  });

  it('dragoman account create prints the account’s keys once, with a remark on standard error', async () => {
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

  it('dragoman ledger verify reports no fault in the ledger of a running server', async () => {
    const { status, stdout } = await dragoman(['ledger', 'verify', '--json', ...here]);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, accounts: expect.any(Number), discrepancies: [] });
    expect((await dragoman(['ledger', 'verify', ...here])).stdout).toMatch(/The ledger is consistent\.\n$/);
  });

  // With --fresh the doctor tests every language pair of the engine, which takes ten seconds of processor time.
  it('dragoman doctor passes all checks while the server is running', async () => {
    const { status, stdout } = await dragoman(['doctor', '--json', ...(FULL ? ['--fresh'] : []), ...here]);
    const { ok, findings } = JSON.parse(stdout);
    expect(findings.map(({ check }: { check: string }) => check)).toEqual([
      'version',
      'database',
      'clock',
      'secret key',
      'workers',
      'engine',
      'pairs',
      'quality',
      'disk',
    ]);
    expect(findings.filter((one: { ok: boolean }) => !one.ok)).toEqual([]);
    expect({ status, ok }).toEqual({ status: 0, ok: true });
    const installed = Object.entries(ROUTES).filter(([, route]) =>
      route.every((mode) => modes.includes(mode)),
    );
    const wanted = FULL ? installed.map(([direction]) => direction.replace('>', '-')) : ['en-es'];
    const { detail } = findings.find(({ check }: { check: string }) => check === 'pairs');
    expect(
      detail
        .slice(detail.indexOf(': ') + 2)
        .split(' ')
        .sort(),
    ).toEqual(wanted.sort());
  });

  it.each(['all', 'api', 'worker'])(
    'dragoman serve refuses to start a second server with the role %s on one data directory',
    async (role) => {
      // The third role runs in a process of its own, to test that it ends.
      const run = role === 'worker' ? dragomanProcess : dragoman;
      const { status, stderr } = await run(['serve', ...here, '--role', role]);
      expect(status).toBe(1);
      expect(stderr).toContain(
        `is already running on the data directory ${data}. Stop it first, or choose another`,
      );
      expect(stderr).toMatch(SENTENCE);
      expect((await fetch(`${serving.url}/readyz`)).status).toBe(200);
    },
  );

  it('dragoman serve stops cleanly on SIGTERM at any moment, and can start again at once', async () => {
    expect(await serving.terminate()).toBe(0);
    for (const path of ['/healthz', '/readyz']) {
      serving = await serve(here);
      await serving.answers(path);
      expect(await serving.terminate()).toBe(0);
      const lines = serving.output.stderr.split('\n').filter((line) => line !== '');
      // In a container the tests run as root, and the server logs a warning about this when it starts.
      expect(lines.filter((line) => !line.includes('running as root'))).toEqual([]);
    }
    const verified = await dragoman(['ledger', 'verify', '--json', ...here]);
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true });
  });
});

describe('an unreachable database', () => {
  it('makes serve exit with 1, and the doctor names the problem with its remedy', async () => {
    const own = { DATABASE_URL: `postgres://nobody@/nothing?host=${encodeURIComponent(directory)}` };
    const elsewhere = ['--data', join(directory, 'elsewhere')];
    expect((await dragoman(['serve', ...elsewhere], own)).status).toBe(1);
    // The doctor also checks this engine. The engine has no languages and therefore needs no self-tests,
    // which saves time.
    const root = join(directory, 'apertium');
    const { status, stdout } = await dragoman(['doctor', '--json', ...elsewhere], {
      ...own,
      ...engineWithoutLanguages(root),
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
          remedy: 'Run: dragoman engine install',
        },
        expect.objectContaining({ check: 'quality', ok: true }),
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
    await markEngineTested(database.database);
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

  it('api and worker processes share one database, and no job is lost when a worker is killed with SIGKILL', async () => {
    const receiver = await startReceiver();
    // No callback is answered while the first worker lives, so it cannot deliver all of them.
    const killed = Promise.withResolvers<number>();
    receiver.answer(() => killed.promise);
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
    killed.resolve(200);
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
