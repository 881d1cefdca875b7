/**
 * A run of the sandbox's hold: jobs are created, the program is killed with -9 while they are held, and in a second
 * run its clock jumps by an hour, forth and back. The receiver's own clock says when each job was delivered.
 */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { faketime } from '../../bench/tools.ts';
import { createAccount, startProgram } from '../../scripts/program.ts';
import { startBeside } from '../beside.ts';
import { createRandom } from '../random.ts';

export interface HoldOptions {
  directory: string;
  jobs: number;
  holdSeconds: number;
  /** Kills of the program, spread over the run. */
  kills: number;
  /** Jumps of its wall clock, an hour forth and back in turn. */
  jumps: number;
  seed: number;
  say(line: string): void;
}

export interface HoldHistory {
  holdMilliseconds: number;
  /** When each acknowledged job was sent and answered, and every delivery of it. */
  jobs: { uid: string; sentAt: number; answeredAt: number; deliveries: { id: string; at: number }[] }[];
  kills: number;
  jumps: number;
}

const AT_A_TIME = 8;
/** After the hold, for the last delivery: a lease, which a killed worker leaves behind, and room. */
const SETTLE_MILLISECONDS = 90_000;
const HOUR_SECONDS = 3600;
/** Node writes the same date on all answers of a second: beside customers, a jump is seen after one at the most. */
const CLOCK_MILLISECONDS = 5_000;

export async function runHold(options: HoldOptions): Promise<HoldHistory> {
  const { directory, holdSeconds, say } = options;
  const random = createRandom(options.seed);
  const jobs = new Map<string, HoldHistory['jobs'][0]>();
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => {
      const id = String(request.headers['webhook-id']);
      jobs.get((request.url ?? '').slice(1))?.deliveries.push({ id, at: performance.now() });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const callbacks = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const clock = options.jumps === 0 ? undefined : createClock(directory);
  const environment = {
    DRAGOMAN_SANDBOX_HOLD: String(holdSeconds),
    DRAGOMAN_LEASE: '5',
    DRAGOMAN_LOG_LEVEL: 'silent',
    ...clock?.environment,
  };
  let program = await startProgram({ directory, environment });
  const { port, url } = program;
  const { sandbox_key } = await createAccount(directory, 'hold');

  const trouble = startBeside();

  async function create(): Promise<void> {
    for (;;) {
      if (jobs.size >= options.jobs) return;
      const uid = `hold-${jobs.size}`;
      const job = { uid, sentAt: performance.now(), answeredAt: Number.NaN, deliveries: [] };
      jobs.set(uid, job);
      const body = JSON.stringify({
        uid,
        text: 'The house is big.',
        source_language: 'en',
        target_language: 'es',
        callback_url: `${callbacks}/${uid}`,
      });
      while (Number.isNaN(job.answeredAt)) {
        const headers = { authorization: `ApiKey ${sandbox_key}` };
        const path = `${url}/sandbox/tapi/v2/translation/`;
        const answer = await fetch(path, { method: 'POST', headers, body }).catch(() => undefined);
        await answer?.arrayBuffer().catch(() => undefined);
        if (answer?.ok) job.answeredAt = performance.now();
        else await wait(50);
        trouble.check();
      }
    }
  }

  const cause = async () => {
    const pause = (holdSeconds * 1000) / (options.kills + options.jumps + 1);
    for (let n = 1; n <= options.kills; n++) {
      await wait(pause / 2 + random.below(pause));
      await program.kill();
      program = await startProgram({ directory, port, environment });
      say(`kill ${n} of ${options.kills}`);
    }
    for (let n = 1; n <= options.jumps; n++) {
      await wait(pause / 2 + random.below(pause));
      const seconds = n % 2 === 1 ? (n % 4 === 1 ? HOUR_SECONDS : -HOUR_SECONDS) : 0;
      clock!.set(seconds);
      await clockIs(url, seconds);
      say(`jump ${n} of ${options.jumps}`);
    }
    clock?.set(0);
  };
  trouble.add(cause());
  await Promise.all(Array.from({ length: AT_A_TIME }, create));
  await trouble.done();
  const until = performance.now() + holdSeconds * 1000 + SETTLE_MILLISECONDS;
  const left = () => [...jobs.values()].filter(({ deliveries }) => deliveries.length === 0).length;
  while (left() > 0 && performance.now() < until) await wait(50);
  await program.stop();
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
  const { kills, jumps } = options;
  return { holdMilliseconds: holdSeconds * 1000, jobs: [...jobs.values()], kills, jumps };
}

/** A run whose clock did not jump would show nothing. @throws Error when it did not */
async function clockIs(url: string, seconds: number): Promise<void> {
  const until = performance.now() + CLOCK_MILLISECONDS;
  for (;;) {
    const { headers } = await fetch(`${url}/healthz`);
    const off = (Date.parse(headers.get('date') ?? '') - Date.now()) / 1000;
    if (Math.abs(off - seconds) < 60) return;
    if (performance.now() > until) throw new Error(`the clock is off by ${off} s, not ${seconds}`);
    await wait(100);
  }
}

/** A wall clock for the program and its database that can be set, in seconds from the true one; timers go on. */
function createClock(directory: string) {
  const file = join(directory, 'clock');
  const set = (seconds: number) => writeFileSync(file, `${seconds >= 0 ? '+' : ''}${seconds}`);
  set(0);
  return {
    set,
    environment: {
      LD_PRELOAD: faketime(),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
  };
}
