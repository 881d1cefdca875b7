/**
 * `npm run bench -- lists` measures the response time of one page of a job list. A database with 5 million
 * jobs of 1,000 accounts is compared with one that has 50 thousand jobs of as many accounts; requests to the
 * two databases alternate. The lists belong to an ordinary account and to an account with a fifth of all
 * jobs.
 *
 * Requests are sent through HTTP, one at a time, for some seconds. With only two hundred requests, the 99th
 * percentile would be the time of the second-slowest request, which other work on the machine disturbs.
 * Flags: `--jobs N` (default 5,000,000), `--times N` requests at least (200).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { createAccount } from '../packages/server/src/accounts/accounts.ts';
import { createLog } from '../packages/server/src/base/log.ts';
import { createConnection } from '../packages/server/src/database/connections.ts';
import { openStore } from '../packages/server/src/roles/program.ts';
import { loadSettings } from '../packages/server/src/settings/settings.ts';
import { fillJobs } from '../scripts/fill.ts';
import { startProgram } from '../scripts/program.ts';
import { type Figure, type Flags, quantile, type Report } from './figures.ts';

const ACCOUNTS = 1_000;
const SMALL = 50_000;
const GOAL = 1.5;
/**
 * The duration of the measurement of one query, in both databases together. `MOST_TIMES` is the maximum
 * number of requests in this time.
 */
const ENOUGH_MILLISECONDS = 4_000;
const MOST_TIMES = 2_000;

interface Side {
  /**
   * Requests a page once.
   *
   * @returns the response time in milliseconds
   */
  time(who: Who, query: string): Promise<number>;
  /** Returns the list's cursor at the position after nine tenths of the account's jobs. */
  cursor(who: Who): Promise<string>;
  total(who: Who): number;
  close(): Promise<void>;
}

type Who = 'large account' | 'ordinary account';
const WHO: readonly Who[] = ['large account', 'ordinary account'];

/**
 * The queries, which are the same for both databases. `{deep}` is an offset at nine tenths of the account's jobs,
 * `{cursor}` is the cursor of the same position.
 */
const QUERIES: Record<string, string> = {
  'first page': '',
  'newest first': 'order_by=-created',
  'deep page by offset': 'offset={deep}',
  'deep page by cursor': 'after={cursor}',
  'status, common': 'status=completed',
  'status, rare': 'status=failed',
  'source language': 'source_language=fr',
  'source language in': 'source_language__in=fr,de',
  'target language not in': 'target_language__nin=es,fr',
  'target language not equal': 'target_language__ne=es',
  'status and language, rare': 'status=failed&source_language=de',
  'language that nothing has': 'target_language=xx',
  'uid, exact': 'uid=order-200',
  'uid begins': 'uid__startswith=order-77',
  'uid begins with what nothing has': 'uid__startswith=zzz',
  'uid ends': 'uid__endswith=777',
  'uid contains': 'uid__contains=r-77',
  'uid contains what nothing has': 'uid__contains=zzzz',
  'uid contains two characters': 'uid__contains=77',
  'created since': 'created__gte=2026-10-01T00:00:00Z',
};

export async function benchLists({ numbers }: Flags): Promise<Report> {
  const jobs = numbers.jobs ?? 5_000_000;
  const times = numbers.times ?? 200;
  const small = await open(SMALL);
  try {
    const large = await open(jobs);
    try {
      return { figures: await compare(large, small, times, jobs) };
    } finally {
      await large.close();
    }
  } finally {
    await small.close();
  }
}

async function compare(large: Side, small: Side, times: number, jobs: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, written] of Object.entries(QUERIES)) {
    for (const who of WHO) {
      const sides = await Promise.all(
        [large, small].map(async (side) => {
          const query = written
            .replace('{deep}', String(Math.floor(side.total(who) * 0.9)))
            .replace(
              '{cursor}',
              written.includes('{cursor}') ? encodeURIComponent(await side.cursor(who)) : '',
            );
          return { side, query, took: [] as number[] };
        }),
      );
      // The first ten requests are not measured: they make the query plan and warm the caches.
      let until = 0;
      for (let i = -10; i < times || (i < MOST_TIMES && performance.now() < until); i++) {
        if (i === 0) until = performance.now() + ENOUGH_MILLISECONDS;
        for (const one of sides) {
          const took = await one.side.time(who, one.query);
          if (i >= 0) one.took.push(took);
        }
      }
      const [at, beside] = sides.map(({ took }) => ({ p50: quantile(took, 0.5), p99: quantile(took, 0.99) }));
      const ratio = at!.p99 / beside!.p99;
      const value =
        `p50 ${at!.p50.toFixed(1)} ms, p99 ${at!.p99.toFixed(1)} ms, ` +
        `p99 ${ratio.toFixed(2)} of the same at ${SMALL} (p50 ${(at!.p50 / beside!.p50).toFixed(2)})`;
      figures.push({
        name: `list at ${jobs} jobs, ${who}, ${name}`,
        value,
        goal: `at most ${GOAL}`,
        held: ratio <= GOAL,
      });
      process.stderr.write(`${who}, ${name}: ${value}\n`);
    }
  }
  return figures;
}

/** Starts a server whose database has `jobs` jobs. */
async function open(jobs: number): Promise<Side> {
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-lists-'));
  await (await startProgram({ directory })).stop();
  const program = await startProgram({ directory, role: 'api' });
  const store = await openStore(loadSettings({ DRAGOMAN_DATA: directory }), 'command', createLog('silent'));
  const owner = createConnection(store.connection);
  await owner.connect();
  const keys: string[] = [];
  const fields = { email: undefined, balanceCents: 0, prepaid: false, dialect: 'spec', chat: false } as const;
  for (let n = 0; n < ACCOUNTS; n += 20) {
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        createAccount(store.database, store.vault, 'command', { username: `lists-${n + i}`, ...fields }),
      ),
    );
    keys.push(...made.map(({ production_key }) => production_key));
  }
  await fillJobs(owner, jobs, ACCOUNTS);
  const pool = new Pool(program.url, { connections: 1 });
  const keyOf = (who: Who) => keys[who === 'large account' ? 0 : 1]!;
  const get = async (who: Who, query: string) => {
    const path = `/tapi/v2/translation/?${query}`;
    const { statusCode, body } = await pool.request({
      path,
      method: 'GET',
      headers: { authorization: `ApiKey ${keyOf(who)}` },
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`${path}: ${statusCode} ${text}`);
    return text;
  };
  const totals = Object.fromEntries(
    await Promise.all(
      WHO.map(async (who) => [who, JSON.parse(await get(who, 'limit=1')).meta.total_count] as const),
    ),
  );
  return {
    async time(who, query) {
      const begin = performance.now();
      await get(who, query);
      return performance.now() - begin;
    },
    async cursor(who) {
      const page = JSON.parse(await get(who, `limit=1&offset=${Math.floor(totals[who]! * 0.9)}`));
      return page.objects[0].uid;
    },
    total: (who) => totals[who]!,
    async close() {
      await pool.close();
      await owner.end();
      await store.close();
      await program.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
