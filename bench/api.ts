/**
 * `npm run bench -- api`: jobs created per second through HTTP, at 64 connections with durable commits, beside
 * pgbench inserting the same rows, one job a transaction, into the same server. The two take turns; the ratio
 * is that of the medians.
 *
 * The baseline is the hardest that one transaction a job allows: one prepared statement for all its rows, on the
 * number of connections at which pgbench is fastest here. Human-tier jobs are spread over 64 accounts on both
 * sides, so that pgbench does not queue for one balance.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Pool } from 'undici';
import { type AccountCredentials, createAccount } from '../packages/server/src/accounts/accounts.ts';
import { createConnection } from '../packages/server/src/database/connections.ts';
import { createLog } from '../packages/server/src/log.ts';
import { openStore } from '../packages/server/src/program.ts';
import { loadSettings } from '../packages/server/src/settings.ts';
import { startProgram } from '../scripts/program.ts';
import { type Figure, type Flags, median, quantile, type Report } from './figures.ts';
import { englishText } from './text.ts';
import { pgbench, wrk } from './tools.ts';

const run = promisify(execFile);
const CONNECTIONS = 64;
const ACCOUNTS = 64;
const WORDS = 180; // about 1 KB
const GOAL = 1;
/** Of the rate under full load: what a customer feels on an ordinary day. */
const EASY_SHARE = 0.1;

type Tier = 'human' | 'machine';

export async function benchApi({ numbers }: Flags): Promise<Report> {
  const seconds = numbers.seconds ?? 5;
  const rounds = numbers.rounds ?? 5;
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
  const tools = { wrk: wrk(), pgbench: pgbench() };
  // Once with its worker, which finds out what language pairs there are.
  await (await startProgram({ directory })).stop();
  const program = await startProgram({ directory, role: 'api' });
  const store = await openStore(loadSettings({ DRAGOMAN_DATA: directory }), 'command', createLog('silent'));
  const client = createConnection(store.connection);
  await client.connect();
  try {
    const credentials: AccountCredentials[] = [];
    for (let i = 0; i < ACCOUNTS; i++) {
      const fields = { email: undefined, balanceCents: 0, dialect: 'spec', chat: false } as const;
      credentials.push(
        await createAccount(store.database, store.vault, { username: `bench-${i}`, ...fields }),
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
      const load = async (length: number) => {
        const args = ['-t1', `-c${CONNECTIONS}`, `-d${length}s`, '--latency', '-s', lua, program.url];
        const { stdout } = await run(tools.wrk, args);
        const failed = /Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1];
        if (failed !== undefined) throw new Error(`${failed} creations were refused`);
        return {
          rate: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)![1]),
          p99: toMilliseconds(/99%\s+([\d.]+\w+)/.exec(stdout)![1]!),
        };
      };
      const baseline = async (clients: number, length: number) => {
        const { host, port, user, database } = store.connection as Record<string, string>;
        const server = ['-h', host!, '-p', String(port), '-U', user!];
        const args = [
          '-n',
          '-M',
          'prepared',
          `-c${clients}`,
          '-j1',
          `-T${length}`,
          '-f',
          sql,
          database as string,
        ];
        const { stdout } = await run(tools.pgbench, [...server, ...args]);
        return Number(/tps = ([\d.]+)/.exec(stdout)![1]);
      };
      await load(2); // the server's first seconds are its compiler's
      const sixteen = await baseline(16, 2);
      const clients = sixteen >= (await baseline(CONNECTIONS, 2)) ? 16 : CONNECTIONS;
      const service: { rate: number; p99: number }[] = [];
      const raw: number[] = [];
      for (let round = 0; round < rounds; round++) {
        service.push(await load(seconds));
        raw.push(await baseline(clients, seconds));
        process.stderr.write(
          `${tier}: ${service.at(-1)!.rate.toFixed(0)}/s beside ${raw.at(-1)!.toFixed(0)}/s\n`,
        );
      }
      const rate = median(service.map((one) => one.rate));
      const easy = await atRate(program.url, tier, text, credentials, rate * EASY_SHARE, seconds);
      figures.push(
        {
          name: `creations, ${tier} tier, ${CONNECTIONS} connections`,
          value: rate,
          unit: 'jobs/s',
          ratio: {
            value: rate / median(raw),
            against: `pgbench, the same rows, one job a transaction, ${clients} connections`,
            atLeast: GOAL,
          },
        },
        {
          name: `creations, ${tier} tier, p99`,
          value: median(service.map(({ p99 }) => p99)),
          unit: 'ms',
        },
        {
          name: `creations, ${tier} tier, at a tenth of that rate, p50`,
          value: quantile(easy, 0.5),
          unit: 'ms',
        },
        {
          name: `creations, ${tier} tier, at a tenth of that rate, p99`,
          value: quantile(easy, 0.99),
          unit: 'ms',
        },
      );
    }
    return { figures };
  } finally {
    await client.end();
    await store.close();
    await program.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Creations at a steady rate, whatever the answers take: each is timed from the moment that it was due.
 * @returns milliseconds of each
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

/** Every request a new job, the accounts in turn. */
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

/** The rows of one job in one statement and one transaction. */
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
      source_language, target_language, text_format, words, characters, price_cents, due_at)
    select part, account_id, gen_random_uuid(), 'production', '${tier}', substr(md5(random()::text), 1, 10),
      decode(md5(random()::text) || md5(random()::text), 'hex'), 'spec', '${status}', 'en', 'es', 'text',
      ${WORDS}, ${text.length}, ${price}, now() from bench_accounts where n = :n
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
