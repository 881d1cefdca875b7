/**
 * Tests of DATABASE_READ_URL with a real standby. Two API processes share the cluster: the first one also works, and
 * only the second one reads from the standby.
 */
import { createFake } from '@dragoman/engines/fake';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createVault } from '../access/secrets.ts';
import { createAccount } from '../accounts/accounts.ts';
import { createLog } from '../base/log.ts';
import { type Role, type Server, startServer } from '../roles/serve.ts';
import { loadSettings } from '../settings/settings.ts';
import { createClient, createPerson, SECRET_KEY, until } from '../testing/harness.ts';
import { runAsOwner, type StandbyCluster, startStandbyCluster } from '../testing/standby.ts';
import { type Database, openDatabase } from './database.ts';
import { statement } from './statements.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const JOB = { text: 'The house is big.', source_language: 'en', target_language: 'es' };
const TOKEN = 'a token of the metrics';
const LIST = `${MACHINE}?order_by=-created&limit=1`;

describe('a database with a standby for reads', () => {
  let cluster: StandbyCluster;
  let databases: Database[];
  let servers: Server[];
  let writer: ReturnType<typeof createClient>;
  let reader: ReturnType<typeof createClient>;
  const log = createLog('silent');
  const vault = createVault(Buffer.from(SECRET_KEY, 'base64'));
  const counts = () => ({ ...databases[1]!.reads! });
  const newest = async () => (await reader('GET', LIST)).body.objects[0]?.uid;
  /**
   * Repeats a request until the standby answers it. On a busy machine the standby may replay too late for a read, and is
   * then not used for some seconds.
   */
  async function fromStandby<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      const before = counts().standby;
      const answer = await ask();
      if (counts().standby > before) return answer;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async function serve(role: Role, readUrl?: string): Promise<string> {
    const database = openDatabase({ connectionString: cluster.primary.url }, log, 4, readUrl);
    databases.push(database);
    const store = {
      database,
      vault,
      migrated: [],
      behind: 0,
      connection: cluster.primary.connection,
      close: async () => {},
    };
    const settings = loadSettings({
      DRAGOMAN_PORT: '0',
      DRAGOMAN_KEY_REQUESTS: '0',
      DRAGOMAN_METRICS_TOKEN: TOKEN,
    });
    const server = await startServer({ store, settings, role, engines: () => [createFake()], log });
    servers.push(server);
    return server.url;
  }

  beforeAll(async () => {
    cluster = await startStandbyCluster();
  });
  afterAll(() => cluster.stop());
  let accounts = 0;
  let username: string;
  beforeEach(async () => {
    await cluster.renewHosts();
    username = `reader-${++accounts}`;
    databases = [];
    servers = [];
    const urls = [await serve('all'), await serve('api', cluster.standby.url)];
    const { production_key: key } = await createAccount(databases[0]!, vault, 'command', {
      username,
      email: undefined,
      balanceCents: 0,
      prepaid: false,
      chat: false,
      dialect: 'spec',
    });
    [writer, reader] = urls.map((url) => createClient(url, key)) as [typeof writer, typeof reader];
    await until(async () => (await writer('POST', MACHINE, { ...JOB, uid: 'first' })).status === 201);
  });
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await Promise.all(databases.map((database) => database.close()));
  });

  const pauseReplay = () => runAsOwner(cluster.standby.connection, 'select pg_wal_replay_pause()');
  const resumeReplay = () => runAsOwner(cluster.standby.connection, 'select pg_wal_replay_resume()');

  it('answers lists, results and pages of the console from the standby', async () => {
    await until(async () => (await writer('GET', `${MACHINE}first/`)).body.translated_text !== undefined);
    const operator = await createPerson(
      { url: servers[1]!.url, database: databases[1]!, createAccount: () => Promise.reject() },
      { role: 'operator' },
    );
    const job = (await operator.call('GET', '/api/console/jobs')).body.jobs[0].job;
    const pages = ['home', 'jobs', 'accounts', 'audit', 'deliveries', `accounts/${username}`];
    pages.push(`accounts/${username}/jobs/${job}`);
    expect(await fromStandby(newest)).toBe('first');
    const result = await fromStandby(() => reader('GET', `${MACHINE}first/`));
    expect(result.body.translated_text).not.toBe('');
    for (const page of pages) {
      const answer = await fromStandby(() => operator.call('GET', `/api/console/${page}`));
      expect(answer.status, page).toBe(200);
    }
    expect((await fromStandby(() => reader('GET', `${MACHINE}unknown/`))).status).toBe(404);
    const scraped = await fetch(`${servers[1]!.url}/metrics`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(await scraped.text()).toContain(`dragoman_reads_total{result="standby"} ${counts().standby}`);
  });

  it('shows each job at once after another process has acknowledged it', async () => {
    for (let count = 0; count < 100 || counts().standby === 0; count++) {
      const uid = `job-${count}`;
      expect((await writer('POST', MACHINE, { ...JOB, uid })).status).toBe(201);
      expect(await newest()).toBe(uid);
    }
  });

  it('reads from the primary while the standby replays nothing, and from the standby again afterwards', async () => {
    expect(await fromStandby(newest)).toBe('first');
    await pauseReplay();
    await writer('POST', MACHINE, { ...JOB, uid: 'second' });
    const before = counts();
    expect(await newest()).toBe('second');
    expect(counts()).toEqual({ ...before, behind: before.behind + 1 });
    await resumeReplay();
    await until(async () => (await newest()) === 'second' && counts().standby > before.standby);
  });

  it.each(['stopped', 'frozen'])('reads from the primary while the standby is %s', async (how) => {
    expect(await fromStandby(newest)).toBe('first');
    if (how === 'stopped') await cluster.standby.host.fail();
    else cluster.standby.host.freeze();
    const before = counts();
    expect(await newest()).toBe('first');
    expect(counts()).toEqual({ ...before, unavailable: before.unavailable + 1 });
  });

  it('does not use a standby of another timeline, although it has replayed the position', async () => {
    expect(await fromStandby(newest)).toBe('first');
    const setTimeline = (timeline: string) =>
      runAsOwner(cluster.primary.connection, `update timelines set timeline = '${timeline}'`);
    await setTimeline('0000000F');
    const before = counts();
    expect(await newest()).toBe('first');
    expect(counts()).toEqual({ ...before, behind: before.behind + 1 });
    await setTimeline('00000001');
  });

  it('still refuses requests with 503 when the primary is lost', async () => {
    expect(await fromStandby(newest)).toBe('first');
    await cluster.primary.host.fail();
    const { status, headers } = await reader('GET', LIST);
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  });

  it('finds the standby among the servers of the cluster', async () => {
    const url = new URL(cluster.primary.url);
    const both = `${url.protocol}//${url.username}@${url.host},${new URL(cluster.standby.url).host}${url.pathname}`;
    const database = openDatabase({ connectionString: both }, log, 1, both);
    expect((await database.read((on) => on.query(ROLE)))[0]).toEqual({ is_standby: true });
    expect((await database.query(ROLE))[0]).toEqual({ is_standby: false });
    await database.close();
  });

  // The last test, because the standby then follows the primary no longer.
  it('reads from the primary after the standby was promoted', async () => {
    expect(await fromStandby(newest)).toBe('first');
    await runAsOwner(cluster.standby.connection, 'select pg_promote()');
    const before = counts();
    await writer('POST', MACHINE, { ...JOB, uid: 'second' });
    expect(await newest()).toBe('second');
    expect(counts()).toEqual({ ...before, unavailable: before.unavailable + 1 });
  });
});

const ROLE = statement<{ is_standby: boolean }>('standby.role', 'select pg_is_in_recovery() as is_standby');
