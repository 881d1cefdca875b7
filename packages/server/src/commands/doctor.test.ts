import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { createFake } from '@dragoman/engines/fake';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import { createLog } from '../base/log.ts';
import { VERSION } from '../base/version.ts';
import { publishPairs } from '../languages/languages.ts';
import { type Role, startServer } from '../roles/serve.ts';
import { loadSettings } from '../settings/settings.ts';
import { createTestDatabase, startTestServer, type TestServer, until } from '../testing/harness.ts';
import { dragoman, engineWithoutLanguages, urlOf } from '../testing/programs.ts';
import { type StandbyCluster, startStandbyCluster } from '../testing/standby.ts';
import { setEngineRoute } from '../translation/engine-routes.ts';
import { createEngines } from '../translation/engines.ts';
import { type DoctorFinding, examineLocalhost } from './doctor.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-doctor-'));
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  await server.server.stop();
});
afterAll(async () => {
  await server.drop();
  rmSync(directory, { recursive: true, force: true });
});

async function findingOf(
  check: string,
  connection = server.connection,
  settings: Record<string, string> = {},
): Promise<DoctorFinding | undefined> {
  const { stdout } = await dragoman(['doctor', '--json', '--data', directory], {
    DATABASE_URL: urlOf(connection),
    ...engineWithoutLanguages(directory),
    ...settings,
  });
  return (JSON.parse(stdout).findings as DoctorFinding[]).find((finding) => finding.check === check);
}

const serving = (role: Role) =>
  startServer({
    store: server.store,
    settings: server.settings,
    log: createLog('silent'),
    role,
    engines: () => [createFake()],
  });

describe('the doctor', () => {
  const BOTH = ['::1', '127.0.0.1'];
  it.each([
    ['127.0.0.0/8', BOTH, '::1'],
    ['::1/128', BOTH, '127.0.0.1'],
    ['127.0.0.0/8,::1/128', BOTH, undefined],
    ['127.0.0.0/8', ['127.0.0.1'], undefined],
    ['', BOTH, undefined],
  ])('with the allowed networks "%s" and localhost at %j names %s', async (networks, addresses, named) => {
    const allowedNetworks = networks === '' ? [] : networks.split(',');
    const found = await examineLocalhost({ allowedNetworks }, async () =>
      addresses.map((address) => ({ address })),
    );
    expect(found).toEqual(
      named === undefined
        ? []
        : [
            {
              check: 'localhost',
              ok: false,
              detail: `callbacks to localhost are refused: it also resolves to ${named}`,
              remedy: `Add ${named} to DRAGOMAN_ALLOWED_NETWORKS, or remove it from /etc/hosts.`,
            },
          ],
    );
  });

  it('names the setting for the data directory when the directory is missing', async () => {
    const missing = join(directory, 'missing');
    const { status, stdout } = await dragoman(
      ['doctor', '--json', '--data', missing],
      engineWithoutLanguages(directory),
    );
    const findings = JSON.parse(stdout).findings as DoctorFinding[];
    expect(status).toBe(1);
    expect(findings.find(({ check }) => check === 'database')).toMatchObject({
      ok: false,
      detail: `There is no data in ${missing}. Is DRAGOMAN_DATA set?`,
      remedy: 'Set DRAGOMAN_DATA to the data directory, or create the database with: dragoman serve',
    });
    expect(findings.find(({ check }) => check === 'disk')).toMatchObject({
      ok: false,
      detail: `There is no folder ${missing}`,
      remedy: 'Set DRAGOMAN_DATA to the data directory, and check its permissions.',
    });
  });

  it('offers a neural model, also without internet access, when Apertium is the only engine, or when Bergamot has no model', async () => {
    expect(await findingOf('quality')).toEqual({
      check: 'quality',
      ok: true,
      detail:
        'only Apertium; for better translations, install a neural model: dragoman model pull en-es; on a machine without internet access, add --from FOLDER (docs/engines.md#bergamot)',
    });
    expect(await findingOf('pairs of bergamot')).toBeUndefined();
    const { stdout } = await dragoman(['doctor', '--json', '--data', directory], {
      DRAGOMAN_ENGINES: 'bergamot',
    });
    const findings = JSON.parse(stdout).findings as DoctorFinding[];
    expect(findings.map(({ check }) => check)).not.toContain('quality');
    expect(findings.find(({ check }) => check === 'pairs')).toMatchObject({
      ok: false,
      remedy: 'Install a model: dragoman model pull en-es',
    });
  });

  it('does not recommend installing a model when an installed model cannot be used', async () => {
    const folder = join(directory, 'models');
    mkdirSync(join(folder, 'en-es'), { recursive: true });
    const { stdout } = await dragoman(['doctor', '--json', '--data', directory], {
      DRAGOMAN_ENGINES: 'bergamot',
      DRAGOMAN_BERGAMOT_MODELS: folder,
    });
    const findings = JSON.parse(stdout).findings as DoctorFinding[];
    expect(findings.find(({ check }) => check === 'pairs')).toMatchObject({
      ok: false,
      remedy: 'Check the installed models: dragoman model list',
    });
  });

  it('reports the version of the program', async () => {
    expect((await findingOf('version'))?.detail).toContain(`Dragoman ${VERSION}`);
  });

  it('does not require a worker when no process serves the database', async () => {
    const unserved = await createTestDatabase();
    const detail = expect.stringContaining('no process serves');
    expect(await findingOf('workers', unserved.connection)).toMatchObject({ ok: true, detail });
    await unserved.drop();
  });

  it('reports missing workers when an API process serves, and counts the workers that run', async () => {
    const api = await serving('api');
    expect(await findingOf('workers')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('none has reported'),
      remedy: expect.stringContaining('serve --role worker'),
    });
    const worker = await serving('worker');
    await until(async () => (await findingOf('workers'))?.ok);
    await worker.stop();
    await api.stop();
  });

  it('names the engine routes with an engine that no worker has', async () => {
    const { username } = await server.createAccount();
    const { ref } = await accountNamed(server.database, username);
    const route = { source_language: 'en', target_language: '*', tier: '*', brand: null } as const;
    const set = (account_id: string | null, engines: string[]) =>
      server.database.transaction((transaction) =>
        setEngineRoute(transaction, 'command', undefined, { ...route, account_id, engines }),
      );
    await set(null, ['fake']);
    // Without a worker, only the missing worker is a fault.
    expect(await findingOf('engine routes')).toBeUndefined();
    const worker = await serving('worker');
    await until(async () => (await findingOf('engine routes'))?.ok);
    await set(ref.accountId, ['fake', 'llm:gemma']);
    expect(await findingOf('engine routes')).toMatchObject({
      ok: false,
      detail: `no worker has these engines: en>* of ${username}: llm:gemma`,
      remedy: expect.stringContaining('DRAGOMAN_ENGINES'),
    });
    // The command that makes such a route says so too.
    const args = ['route', 'set', 'deepl', '--to', 'de', '--data', directory];
    const made = await dragoman(args, { DATABASE_URL: urlOf(server.connection) });
    expect(made).toMatchObject({
      status: 0,
      stderr: 'No worker has deepl: name them in DRAGOMAN_ENGINES of a worker.\n',
    });
    await worker.stop();
  });
});

describe('the self-tests that a worker ran', () => {
  let translations = 0;
  let healthy = true;
  const service = createServer(async (request, response) => {
    if (!healthy) return response.writeHead(500).end();
    response.writeHead(200, { 'content-type': 'application/json' });
    if (request.url === '/languages')
      return response.end(JSON.stringify([{ code: 'en', name: 'English', targets: ['en', 'es'] }]));
    translations++;
    const { q } = (await json(request)) as { q: string[] };
    const translatedText = q.map((text) => text.replace('The big house', 'La casa grande'));
    return response.end(JSON.stringify({ translatedText }));
  });
  let settings: Record<string, string>;
  const pairs = async (...options: string[]) => {
    const { stdout } = await dragoman(['doctor', '--json', '--data', directory, ...options], {
      DATABASE_URL: urlOf(server.connection),
      ...settings,
    });
    return (JSON.parse(stdout).findings as DoctorFinding[]).find(({ check }) => check === 'pairs');
  };

  beforeAll(async () => {
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    settings = {
      DRAGOMAN_ENGINES: 'libretranslate',
      DRAGOMAN_LIBRETRANSLATE_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
    };
    const [engine] = createEngines(loadSettings(settings));
    await publishPairs(server.database, engine!);
    await engine!.stop();
    const owner = await server.connectOwner();
    await owner.query(
      `update pairs set checked_at = now() - interval '3 hours' where engine = 'libretranslate'`,
    );
  });
  afterAll(async () => {
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
  });

  it('are shown with their age, and only --fresh or another version of the engine repeats them', async () => {
    const before = translations;
    expect(await pairs()).toEqual({
      check: 'pairs',
      ok: true,
      detail: '1 passed their self-test 3 hours ago: en-es',
    });
    expect(translations).toBe(before);
    const tested = { check: 'pairs', ok: true, detail: '1 passed their self-test: en-es' };
    expect(await pairs('--fresh')).toEqual(tested);
    expect(translations).toBe(before + 1);
    settings.DRAGOMAN_LIBRETRANSLATE_PAIRS = 'en>es';
    expect(await pairs()).toEqual(tested);
    expect(translations).toBe(before + 2);
    delete settings.DRAGOMAN_LIBRETRANSLATE_PAIRS;
  });

  it('do not hide that the engine fails now', async () => {
    healthy = false;
    expect(await pairs()).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/^1 passed their self-test 3 hours ago: libretranslate: .*500/),
      remedy: 'Check the settings of libretranslate, and that it answers.',
    });
  });
});

describe('the doctor of a distributed database', () => {
  it('reports tables that are not distributed, nodes that are not active, and a setting that does not work', async () => {
    const distributed = await createTestDatabase(undefined, true);
    const owner = await distributed.connectOwner();
    // The tables in which Citus records the nodes and the distributed tables.
    await owner.query(
      `create table found_first.pg_dist_node (nodename text, nodeport integer, isactive boolean);
       create table found_first.pg_dist_partition (logicalrelid regclass, partmethod text, repmodel text);
       grant select on all tables in schema found_first to public;
       insert into pg_dist_node values ('db0', 5432, true), ('db1', 5432, true);
       insert into pg_dist_partition
       select oid, 'h', 's' from pg_class
        where relnamespace = 'public'::regnamespace and relkind = 'r' and relname not in ('jobs', 'users')`,
    );
    const finding = (settings = {}) => findingOf('nodes', distributed.connection, settings);
    expect(await finding()).toEqual({
      check: 'nodes',
      ok: false,
      detail: 'not distributed: jobs, users',
      remedy: 'Run: dragoman migrate --distributed',
    });
    await owner.query(`insert into pg_dist_partition values ('jobs', 'h', 's'), ('users', 'n', 't')`);
    expect(await finding()).toMatchObject({
      ok: true,
      detail: expect.stringMatching(/^Citus 0, 2 nodes, \d+ tables distributed or copied$/),
    });
    expect(await finding({ DATABASE_READ_URL: urlOf(distributed.connection) })).toMatchObject({
      ok: false,
      remedy: 'Remove DATABASE_READ_URL.',
    });
    await owner.query(`update pg_dist_node set isactive = false where nodename = 'db1'`);
    expect(await finding()).toMatchObject({ ok: false, detail: 'not active: db1:5432' });
    await distributed.drop();
  });
});

describe('the doctor of a database with a standby', () => {
  let cluster: StandbyCluster;
  beforeAll(async () => {
    cluster = await startStandbyCluster();
  });
  afterAll(() => cluster.stop());

  async function standbyFinding(readUrl: string): Promise<DoctorFinding | undefined> {
    const { stdout } = await dragoman(['doctor', '--json', '--data', directory], {
      DATABASE_URL: cluster.primary.url,
      DATABASE_READ_URL: readUrl,
      ...engineWithoutLanguages(directory),
    });
    return (JSON.parse(stdout).findings as DoctorFinding[]).find(({ check }) => check === 'standby');
  }

  it('says how far the standby is behind', async () => {
    expect(await standbyFinding(cluster.standby.url)).toEqual({
      check: 'standby',
      ok: true,
      detail: expect.stringMatching(/^\d+ bytes behind$/),
    });
  });

  it('reports a server that is not a standby', async () => {
    expect(await standbyFinding(cluster.primary.url)).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/^no host is a standby: .* is not a standby$/),
      remedy: expect.stringMatching(/^Correct DATABASE_READ_URL/),
    });
  });
});
