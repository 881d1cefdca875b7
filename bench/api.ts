/**
 * `npm run bench -- api` measures how many jobs per second clients can create through HTTP, at 64 connections
 * with durable commits. The service is compared with pgbench, which inserts the same rows into the same
 * PostgreSQL server, one transaction for each job. Service and pgbench run in turn, and their medians are
 * compared.
 *
 * The pgbench script is the fastest possible with one transaction for each job: one prepared statement for all rows,
 * at the number of connections at which pgbench is fastest. Both the service and pgbench spread human jobs over 64
 * accounts, so that pgbench does not wait for the lock of one balance.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Pool } from 'undici';
import { type AccountCredentials, createAccount } from '../packages/server/src/accounts/accounts.ts';
import { createLog } from '../packages/server/src/base/log.ts';
import { createConnection } from '../packages/server/src/database/connections.ts';
import { openStore } from '../packages/server/src/roles/program.ts';
import { loadSettings } from '../packages/server/src/settings/settings.ts';
import { spentBy } from '../scripts/processor.ts';
import { startProgram } from '../scripts/program.ts';
import { type Figure, type Flags, median, quantile, type Report } from './figures.ts';
import { englishText } from './text.ts';
import { pgbench, wrk } from './tools.ts';

const run = promisify(execFile);
const CONNECTIONS = 64;
const ACCOUNTS = 64;
const WORDS = 180; // A text of 180 words has about 1 KB.
const GOAL = 1;
/** The load of an ordinary day, as a share of the maximum rate. */
const EASY_SHARE = 0.1;

type Tier = 'human' | 'machine';

export async function benchApi({ numbers }: Flags): Promise<Report> {
  const seconds = numbers.seconds ?? 5;
  const rounds = numbers.rounds ?? 5;
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
  const tools = { wrk: wrk(), pgbench: pgbench() };
  // The service is first started with a worker, which publishes the language pairs, and then again without
  // one. Only this second process is measured.
  await (await startProgram({ directory })).stop();
  const program = await startProgram({ directory, role: 'api' });
  const store = await openStore(loadSettings({ DRAGOMAN_DATA: directory }), 'command', createLog('silent'));
  const client = createConnection(store.connection);
  await client.connect();
  try {
    const credentials: AccountCredentials[] = [];
    for (let i = 0; i < ACCOUNTS; i++) {
      const fields = {
        email: undefined,
        balanceCents: 0,
        prepaid: false,
        dialect: 'spec',
        chat: false,
      } as const;
      credentials.push(
        await createAccount(store.database, store.vault, 'command', { username: `bench-${i}`, ...fields }),
      );
    }
    const text = englishText(WORDS, 1);
    await client.query(
      `create table bench_accounts as select row_number() over () as n, part, account_id from accounts`,
    );
    const figures: Figure[] = [];
    for (const tier of ['machine', 'human'] as const) {
      const lua = join(directory, `${tier}.lua`);
      writeFileSync(lua, wrkScript(tier, text, credentials));
      const sql = join(directory, `${tier}.sql`);
      writeFileSync(sql, pgbenchScript(tier, text));
      const load = (length: number) => runWrk(tools.wrk, lua, program.url, length);
      const baseline = (clients: number, length: number) =>
        runPgbench(tools.pgbench, sql, store.connection as Record<string, string>, clients, length);
      await load(2); // Two seconds of load before the measurement let V8 compile the hot code.
      const sixteen = await baseline(16, 2);
      const clients = sixteen >= (await baseline(CONNECTIONS, 2)) ? 16 : CONNECTIONS;
      const service: MeasuredLoad[] = [];
      const raw: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const before = spentBy(program);
        const one = await load(seconds);
        const after = spentBy(program);
        const ofJob = (who: 'program' | 'database') =>
          ((after[who] - before[who]) * 1_000_000) / (one.rate * seconds);
        service.push({ ...one, program: ofJob('program'), database: ofJob('database') });
        raw.push(await baseline(clients, seconds));
        process.stderr.write(`${tier}: ${one.rate.toFixed(0)}/s, pgbench ${raw.at(-1)!.toFixed(0)}/s\n`);
      }
      const rate = median(service.map((one) => one.rate));
      const easy = await atRate(program.url, tier, text, credentials, rate * EASY_SHARE, seconds);
      figures.push(...figuresOf(tier, service, { rate: median(raw), clients }, easy));
    }
    return { figures };
  } finally {
    await client.end();
    await store.close();
    await program.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Load {
  /** The number of jobs created per second. */
  rate: number;
  /** The 99th percentile of the response time in milliseconds. */
  p99: number;
}

interface MeasuredLoad extends Load {
  /** The microseconds of processor time per job. */
  program: number;
  database: number;
}

/**
 * Creates jobs through HTTP as fast as possible.
 *
 * @throws Error when the service refused a job
 */
async function runWrk(wrkPath: string, lua: string, url: string, seconds: number): Promise<Load> {
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--latency', '-s', lua, url];
  const { stdout } = await run(wrkPath, args);
  const failed = /Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1];
  if (failed !== undefined) throw new Error(`${failed} creations were refused`);
  return {
    rate: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)![1]),
    p99: toMilliseconds(/99%\s+([\d.]+\w+)/.exec(stdout)![1]!),
  };
}

/**
 * Inserts the same rows with pgbench.
 *
 * @returns transactions per second
 */
async function runPgbench(
  pgbenchPath: string,
  sql: string,
  { host, port, user, database }: Record<string, string>,
  clients: number,
  seconds: number,
): Promise<number> {
  const server = ['-h', host!, '-p', String(port), '-U', user!];
  const load = ['-n', '-M', 'prepared', `-c${clients}`, '-j1', `-T${seconds}`, '-f', sql, database!];
  const { stdout } = await run(pgbenchPath, [...server, ...load]);
  return Number(/tps = ([\d.]+)/.exec(stdout)![1]);
}

function figuresOf(
  tier: Tier,
  service: readonly MeasuredLoad[],
  baseline: { rate: number; clients: number },
  easy: readonly number[],
): Figure[] {
  const rate = median(service.map((one) => one.rate));
  const [program, database] = (['program', 'database'] as const).map((who) =>
    median(service.map((one) => one[who])),
  );
  const parts = `program ${program!.toFixed(0)}, database ${database!.toFixed(0)}`;
  const creations = `creations, ${tier} tier`;
  return [
    {
      name: `${creations}, ${CONNECTIONS} connections`,
      value: rate,
      unit: 'jobs/s',
      ratio: {
        value: rate / baseline.rate,
        against: `pgbench, the same rows, one job a transaction, ${baseline.clients} connections`,
        atLeast: GOAL,
      },
    },
    {
      name: `processor time of a creation, ${tier} tier (${parts})`,
      value: program! + database!,
      unit: 'µs',
    },
    { name: `${creations}, p99`, value: median(service.map(({ p99 }) => p99)), unit: 'ms' },
    { name: `${creations}, at a tenth of that rate, p50`, value: quantile(easy, 0.5), unit: 'ms' },
    { name: `${creations}, at a tenth of that rate, p99`, value: quantile(easy, 0.99), unit: 'ms' },
  ];
}

/**
 * Creates jobs at a fixed rate, without waiting for the responses.
 *
 * @returns the milliseconds of each creation, from the time at which its request was due
 */
async function atRate(
  url: string,
  tier: Tier,
  text: string,
  credentials: readonly AccountCredentials[],
  perSecond: number,
  seconds: number,
): Promise<number[]> {
  const pool = new Pool(url, { connections: CONNECTIONS });
  const body = JSON.stringify({ text, source_language: 'en', target_language: 'es' });
  const path = `/tapi/v2/${tier === 'human' ? '' : 'mt_'}translation/`;
  const took: number[] = [];
  const begin = performance.now();
  const create = async (number: number) => {
    const due = begin + (number * 1000) / perSecond;
    await wait(Math.max(0, due - performance.now()));
    const { production_key } = credentials[number % credentials.length]!;
    const headers = { authorization: `ApiKey ${production_key}`, 'content-type': 'application/json' };
    const answer = await pool.request({ method: 'POST', path, headers, body });
    await answer.body.text();
    if (answer.statusCode !== 201) throw new Error(`a creation was answered ${answer.statusCode}`);
    took.push(performance.now() - due);
  };
  await Promise.all(Array.from({ length: Math.floor(perSecond * seconds) }, (_, number) => create(number)));
  await pool.close();
  return took;
}

function toMilliseconds(written: string): number {
  const value = Number.parseFloat(written);
  return written.endsWith('us') ? value / 1000 : written.endsWith('ms') ? value : value * 1000;
}

/** Returns a script for wrk in which every request creates a job. The requests use the accounts in turn. */
function wrkScript(tier: Tier, text: string, credentials: readonly AccountCredentials[]): string {
  const body = JSON.stringify({ text, source_language: 'en', target_language: 'es' });
  const keys = credentials.map(({ production_key }) => `  "ApiKey ${production_key}",`).join('\n');
  return `
local keys = {
${keys}
}
local body = [==[${body}]==]
local requests = {}
function init()
  for i, key in ipairs(keys) do
    local headers = { ["Authorization"] = key, ["Content-Type"] = "application/json" }
    requests[i] = wrk.format("POST", "/tapi/v2/${tier === 'human' ? '' : 'mt_'}translation/", headers, body)
  end
end
local turn = 0
function request()
  turn = turn % #requests + 1
  return requests[turn]
end
`;
}

/** Returns a script for pgbench that inserts the rows of one job in one statement and transaction. */
function pgbenchScript(tier: Tier, text: string): string {
  const status = tier === 'human' ? 'new' : 'machine_translate_in_progress';
  const price = tier === 'human' ? WORDS * 3 : 0;
  const quoted = text.replaceAll("'", "''").replaceAll('\n', ' ');
  const money = `,
  hold as (
    insert into transfers (part, account_id, transfer_id, environment, job_id, kind, debit, credit, amount_cents)
    select part, account_id, gen_random_uuid(), 'production', job_id, 'hold', 'available', 'held', ${price} from job)
update balances b set available_cents = available_cents - ${price} from job
 where b.part = job.part and b.account_id = job.account_id and b.environment = 'production';`;
  return `\\set n random(1, ${ACCOUNTS})
with job as (
    insert into jobs (part, account_id, job_id, environment, tier, uid, request_hash, dialect, status,
      source_language, target_language, text_format, words, characters, price_cents, cents_per_word, due_at)
    select part, account_id, gen_random_uuid(), 'production', '${tier}', substr(md5(random()::text), 1, 10),
      decode(md5(random()::text) || md5(random()::text), 'hex'), 'spec', '${status}', 'en', 'es', 'text',
      ${WORDS}, ${text.length}, ${price}, ${price / WORDS}, now() from bench_accounts where n = :n
    returning part, account_id, job_id),
  source as (
    insert into job_texts (part, account_id, job_id, kind, body)
    select part, account_id, job_id, 'source', '${quoted}' from job),
  counted as (
    insert into job_counts (part, account_id, environment, tier, status, source_language, target_language, jobs)
    select part, account_id, 'production', '${tier}', '${status}', 'en', 'es', 1 from job)${
      tier === 'human' ? money : '\nselect from job;'
    }
`;
}
