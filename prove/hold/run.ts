/**
 * The scenario of the hold proof: jobs are created, and the service is killed with SIGKILL during the delay before
 * their delivery. In a second run, the service's clock jumps by an hour, forward and back. The time of a delivery is
 * taken from the receiver's clock.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { faketime } from '../../bench/tools.ts';
import { createAccount } from '../../scripts/program.ts';
import { startBackgroundLoad } from '../harness/background-load.ts';
import { createRandom } from '../harness/random.ts';
import { startReceiver } from '../harness/receiver.ts';
import { sendRequest } from '../harness/requests.ts';
import type { RunOptions } from '../harness/run.ts';
import { startService } from '../harness/service.ts';

export interface HoldOptions extends RunOptions {
  jobs: number;
  holdSeconds: number;
  /** The number of kills of the service, spread over the run. */
  kills: number;
  /** The number of jumps of the service's wall clock: an hour forward, back, an hour back, forward. */
  jumps: number;
}

export interface HoldHistory {
  holdMilliseconds: number;
  /** For each acknowledged job: the times of the request and of the response, and all deliveries. */
  jobs: { uid: string; sentAt: number; answeredAt: number; deliveries: { id: string; at: number }[] }[];
  kills: number;
  jumps: number;
}

const AT_A_TIME = 8;
/**
 * The maximum time from the end of the delay to the last delivery. It includes the rest of a killed worker's lease.
 */
const SETTLE_MILLISECONDS = 90_000;
const HOUR_SECONDS = 3600;
/**
 * The maximum time until a jump shows in the `Date` header. Node.js updates the header once a second, and a busy
 * machine needs longer.
 */
const CLOCK_MILLISECONDS = 5_000;

export async function runHold(options: HoldOptions): Promise<HoldHistory> {
  const { directory, holdSeconds, kills, jumps, say } = options;
  const random = createRandom(options.seed);
  const jobs = new Map<string, HoldHistory['jobs'][0]>();
  const receiver = await startReceiver(({ name, webhookId: id }) =>
    jobs.get(name)?.deliveries.push({ id, at: performance.now() }),
  );
  mkdirSync(directory, { recursive: true });
  const clock = jumps === 0 ? undefined : createClock(directory);
  const service = await startService(directory, {
    DRAGOMAN_SANDBOX_HOLD: String(holdSeconds),
    DRAGOMAN_LEASE: '5',
    DRAGOMAN_LOG_LEVEL: 'silent',
    ...clock?.environment,
  });
  const { sandbox_key: key } = await createAccount(directory, 'hold');
  const faults = startBackgroundLoad();

  async function create(): Promise<void> {
    while (jobs.size < options.jobs) {
      const uid = `hold-${jobs.size}`;
      const job = { uid, sentAt: performance.now(), answeredAt: Number.NaN, deliveries: [] };
      jobs.set(uid, job);
      const body = JSON.stringify({
        uid,
        text: 'The house is big.',
        source_language: 'en',
        target_language: 'es',
        callback_url: `${receiver.url}/${uid}`,
      });
      const url = `${service.url}/sandbox/tapi/v2/translation/`;
      while (Number.isNaN(job.answeredAt)) {
        const { status } = await sendRequest(url, { method: 'POST', key, body });
        if (status >= 200 && status < 300) job.answeredAt = performance.now();
        else await wait(50);
        faults.check();
      }
    }
  }

  async function cause(): Promise<void> {
    const pause = (holdSeconds * 1000) / (kills + jumps + 1);
    for (let n = 1; n <= kills; n++) {
      await wait(pause / 2 + random.below(pause));
      await service.kill();
      await service.start();
      say(`kill ${n} of ${kills}`);
    }
    for (let n = 1; n <= jumps; n++) {
      await wait(pause / 2 + random.below(pause));
      const seconds = n % 2 === 1 ? (n % 4 === 1 ? HOUR_SECONDS : -HOUR_SECONDS) : 0;
      clock!.set(seconds);
      await untilClockIs(service.url, seconds);
      say(`jump ${n} of ${jumps}`);
    }
    clock?.set(0);
  }

  faults.add(cause());
  await Promise.all(Array.from({ length: AT_A_TIME }, create));
  await faults.done();
  const end = performance.now() + holdSeconds * 1000 + SETTLE_MILLISECONDS;
  const isLeft = () => [...jobs.values()].some(({ deliveries }) => deliveries.length === 0);
  while (isLeft() && performance.now() < end) await wait(50);
  await service.stop();
  await receiver.close();
  return { holdMilliseconds: holdSeconds * 1000, jobs: [...jobs.values()], kills, jumps };
}

/**
 * Waits until the service's clock has jumped.
 *
 * @throws Error when the clock does not jump, because such a run would prove nothing
 */
async function untilClockIs(url: string, seconds: number): Promise<void> {
  const end = performance.now() + CLOCK_MILLISECONDS;
  for (;;) {
    const { headers } = await fetch(`${url}/healthz`);
    const off = (Date.parse(headers.get('date') ?? '') - Date.now()) / 1000;
    if (Math.abs(off - seconds) < 60) return;
    if (performance.now() > end) throw new Error(`the clock is off by ${off} s, not ${seconds}`);
    await wait(100);
  }
}

/**
 * Gives the service and PostgreSQL a wall clock that can be set to a number of seconds before or after the
 * true time. Timers are not affected.
 */
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
