/**
 * Tests the alert rules with Prometheus' own `promtool`. For each rule, what it watches for happens to a running server,
 * and the metrics of that server from before and after are the input of the rules. It runs where `promtool` is
 * installed, and always in `npm run test:full`, which installs it.
 */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installPackages } from '@dragoman/engines/debian';
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { FULL } from '../../../../scripts/full.ts';
import { createConnection } from '../database/connections.ts';
import { administer } from '../testing/cluster.ts';
import {
  createClient,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
  waitForStatus,
} from '../testing/harness.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const PRIVATE = join(ROOT, 'node_modules/.cache/prometheus');
const RULES = join(ROOT, 'deploy/alerts.yaml');
const TOKEN = 'for-the-test';
const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
const JOB = { text: 'The house.', source_language: 'en', target_language: 'es' };

const promtool = (): string | undefined =>
  [...process.env.PATH!.split(':'), join(PRIVATE, 'usr/bin')]
    .map((folder) => join(folder, 'promtool'))
    .find((path) => existsSync(path));

let server: TestServer;
let engine: FakeEngine;
let receiver: Receiver;
let owner: pg.Client;
let call: ReturnType<typeof createClient>;

/** Minutes before and after the event. The event is between two scrapes. */
const BEFORE = 60;
const AFTER = 40;

/** A rule, and how to bring about what it watches for. */
interface Situation {
  alert: string;
  /** True if the event goes on: counters rise by as much in each minute. */
  goesOn?: true;
  happens(): Promise<void>;
}

const SITUATIONS: readonly Situation[] = [
  { alert: 'DragomanDown', happens: async () => {} },
  {
    alert: 'DragomanDatabaseDown',
    async happens() {
      const { connection } = inject('cluster');
      const { database } = createConnection(server.connection);
      await administer(connection, `alter database ${database} allow_connections false`);
      const end = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`;
      await administer(connection, end);
      await until(async () => /^dragoman_database_up 0$/m.test(await scrape()));
    },
  },
  {
    alert: 'DragomanNoWorker',
    happens: async () => {
      await until(async () => {
        await owner.query(`update engine_states set seen_at = now() - interval '31 seconds'`);
        return /^dragoman_workers 0$/m.test(await scrape());
      });
    },
  },
  {
    alert: 'DragomanClockDiffers',
    async happens() {
      const now = Date.now;
      vi.spyOn(Date, 'now').mockImplementation(() => now() + 45_000);
    },
  },
  {
    alert: 'DragomanWorkWaits',
    async happens() {
      await owner.query('revoke update on jobs from dragoman_app'); // No worker can claim a job.
      await call('POST', MACHINE, JOB);
      await owner.query(`update jobs set due_at = now() - interval '400 seconds'`);
    },
  },
  {
    alert: 'DragomanErrors',
    goesOn: true,
    async happens() {
      await owner.query('revoke select on balances from dragoman_app');
      expect((await call('GET', '/tapi/v2/account/')).status).toBe(500);
    },
  },
  {
    alert: 'DragomanRefusesLoad',
    goesOn: true,
    async happens() {
      const requests = () => Promise.all(Array.from({ length: 30 }, () => call('POST', MACHINE, JOB)));
      await until(async () => {
        await requests();
        const refused = /^dragoman_requests_shed_total.* (\d+)$/m.exec(await scrape());
        return Number(refused?.[1] ?? 0) >= 10;
      });
    },
  },
  {
    alert: 'DragomanJobsFail',
    async happens() {
      engine.failOn('house', 'too long');
      await end(await order(MACHINE), 'failed');
    },
  },
  {
    alert: 'DragomanEngineOpen',
    async happens() {
      engine.draft = async () => {
        throw new Error('the engine is away');
      };
      for (let turn = 0; turn < 8; turn++) await order(MACHINE);
      await until(async () => /^dragoman_engine_open\{[^}]*\} 1$/m.test(await scrape()));
    },
  },
  {
    alert: 'DragomanDeliveriesDie',
    async happens() {
      receiver.answer(() => 410);
      await order(MACHINE, { callback_url: `${receiver.url}/gone` });
      await until(async () => /status="dead"[^}]*\} 1$/m.test(await scrape()));
    },
  },
  {
    alert: 'DragomanDeliveriesUnsigned',
    async happens() {
      await owner.query(
        `update webhook_secrets set sealed = set_byte(sealed, 20, 255 - get_byte(sealed, 20))`,
      );
      await order(MACHINE, { callback_url: receiver.url });
      await until(async () => /verdict="unsigned"[^}]*\} 1$/m.test(await scrape()));
    },
  },
  {
    alert: 'DragomanTasksWait',
    async happens() {
      await order(HUMAN);
      await until(async () => /^dragoman_tasks\{[^}]*status="open"\} 1$/m.test(await scrape()));
      await owner.query(`update tasks set created_at = now() - interval '5 hours'`);
      await until(async () => /^dragoman_tasks_oldest_seconds\{[^}]*\} 18\d\d\d/m.test(await scrape()));
    },
  },
];

async function scrape(): Promise<string> {
  const answer = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
  return answer.text();
}

async function order(path: string, fields: object = {}): Promise<string> {
  const { status, body } = await call('POST', path, { ...JOB, ...fields });
  expect(status).toBe(201);
  return body.uid;
}

const end = (uid: string, status: string) => waitForStatus(call, `${MACHINE}${uid}/`, status);

/** Returns the samples of an exposition, by their series. A process that does not answer has only `up`. */
function samplesOf(text: string, isUp: boolean): Map<string, number> {
  const samples = new Map([[`up{job="dragoman",instance="one"}`, isUp ? 1 : 0]]);
  if (!isUp) return samples;
  for (const [, name, labels = '', value] of text.matchAll(/^(dragoman_\w+)(?:\{(.*)\})? (\S+)$/gm)) {
    const all = ['job="dragoman"', 'instance="one"', ...(labels === '' ? [] : [labels])];
    samples.set(`${name}{${all.join(',')}}`, Number(value));
  }
  return samples;
}

/** Returns the series of a test of promtool: the values before the event, and those after it. */
function seriesOf(before: Map<string, number>, after: Map<string, number>, goesOn = false) {
  return [...new Set([...before.keys(), ...after.keys()])].map((series) => {
    const [from, to] = [before.get(series), after.get(series)];
    const rises = goesOn && /(?:_total|_count|_sum)\{/.test(series);
    const step = rises && to !== undefined ? to - (from ?? 0) : 0;
    const first = from === undefined ? `_x${BEFORE}` : `${from}+0x${BEFORE - 1}`;
    return { series, values: `${first} ${to === undefined ? `_x${AFTER}` : `${to}+${step}x${AFTER}`}` };
  });
}

/** The alerts that fired within the last minutes. */
const FIRED = `max by (alertname) (max_over_time(ALERTS{alertstate="firing"}[${AFTER / 2}m]))`;

/** Tests the rules on series: nothing fires before the event, and these alerts some time after it. */
async function testRules(series: ReturnType<typeof seriesOf>, alerts: readonly string[]): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-alerts-'));
  const at = (minutes: number, expected: readonly string[]) => ({
    expr: FIRED,
    eval_time: `${minutes}m`,
    exp_samples: expected.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
  });
  const test = {
    rule_files: [RULES],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: series,
        promql_expr_test: [at(BEFORE - 1, []), at(BEFORE + AFTER / 2, alerts)],
      },
    ],
  };
  const path = join(directory, 'test.json');
  writeFileSync(path, JSON.stringify(test));
  try {
    const { stdout } = await promisify(execFile)(promtool()!, ['test', 'rules', path]);
    return stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return stdout + stderr;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

beforeAll(async () => {
  if (!FULL || promtool() !== undefined) return;
  await installPackages(['prometheus'], { root: PRIVATE, private: true });
});

it('each alert rule has a situation in this test', () => {
  const rules = [...readFileSync(RULES, 'utf8').matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  expect(SITUATIONS.map(({ alert }) => alert)).toEqual(rules);
});

describe.runIf(FULL || promtool() !== undefined)('with the metrics of a running server, promtool', () => {
  beforeEach(async () => {
    receiver = await startReceiver();
    server = await startTestServer({
      engine: () => {
        engine = createFake();
        return engine;
      },
      settings: { DRAGOMAN_METRICS_TOKEN: TOKEN, DRAGOMAN_MAX_REQUESTS: '2' },
    });
    owner = await server.connectOwner();
    call = createClient(server.url, (await server.createAccount()).production_key);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    const { connection } = inject('cluster');
    const { database } = createConnection(server.connection);
    await administer(connection, `alter database ${database} allow_connections true`);
    await server.stop();
    await receiver.close();
  });

  it.each(SITUATIONS)('fires $alert for its first event, and nothing else', async (situation) => {
    const { alert, goesOn, happens } = situation;
    const before = samplesOf(await scrape(), true);
    await happens();
    const after = samplesOf(await scrape(), alert !== 'DragomanDown');
    expect(await testRules(seriesOf(before, after, goesOn), [alert])).toContain('SUCCESS');
  });
});

describe.runIf(FULL || promtool() !== undefined)('promtool', () => {
  it('checks the rules', () => {
    const { status, stdout } = spawnSync(promtool()!, ['check', 'rules', RULES], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, expect.stringContaining(`${SITUATIONS.length} rules found`)]);
  });

  it('detects a counter that does not begin at 0 (the planted fault)', async () => {
    const dead = 'dragoman_delivery_seconds_count{environment="production",status="dead"}';
    const up = 'up{job="dragoman",instance="one"}';
    const [none, one] = [new Map([[up, 1]]), new Map([[up, 1]]).set(dead, 1)];
    expect(await testRules(seriesOf(none, one), ['DragomanDeliveriesDie'])).toContain('FAILED');
    const zero = new Map([[up, 1]]).set(dead, 0);
    expect(await testRules(seriesOf(zero, one), ['DragomanDeliveriesDie'])).toContain('SUCCESS');
  });
});
