/** The customers of a crash run: they create jobs without a pause, and ask again until they are answered. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Credentials } from '../../scripts/program.ts';
import type { Random } from '../random.ts';
import type { Attempted } from './history.ts';

export interface Customers {
  readonly attempted: Attempted[];
  /** How many jobs were acknowledged so far. */
  readonly acknowledged: number;
  /** Resolves when each has been answered or has given up. @throws Error when one was refused */
  stop(): Promise<void>;
}

const CUSTOMERS = 8;
/** An answer that takes longer will not come, or will not be waited for. */
const PATIENCE_MILLISECONDS = 5_000;

const TEXTS = [
  'The house is big.',
  'The children walk to the school every day. Their mother works in the city.',
  'A red car stops in front of the hotel.\n\nNobody gets out.',
  'We want to buy three tickets for the train to Madrid.',
  'The doctor said that the water is cold and clean.',
];

/** @param urls of the api processes; who gets no answer from one asks the next */
export function startCustomers(
  random: Random,
  urls: readonly string[],
  credentials: Credentials,
  callbacks: string,
): Customers {
  const attempted: Attempted[] = [];
  let acknowledged = 0;
  let stopping = false;

  async function customer(name: number): Promise<void> {
    for (let count = 0; !stopping; count++) {
      const human = random.below(2) === 0;
      const own = `job-${name}-${count}`;
      // A fifth leaves the uid to the server: asking again would make another job, so nobody does.
      const assigned = random.below(5) === 0;
      const job: Attempted = {
        name: own,
        ...(assigned ? {} : { uid: own }),
        environment: human ? 'sandbox' : 'production',
        tier: human ? 'human' : 'machine',
        text: TEXTS[random.below(TEXTS.length)]!,
        sentAt: Date.now(),
      };
      attempted.push(job);
      // A tenth of the clients do not come back after a broken answer: their job may exist or not.
      const givesUp = random.below(10) === 0;
      await create(urls, count, credentials, callbacks, job, () => stopping || givesUp || assigned);
      if (job.acknowledged !== undefined) acknowledged++;
    }
  }

  const all = Promise.all(Array.from({ length: CUSTOMERS }, (_, name) => customer(name)));
  all.catch(() => {}); // thrown by stop
  return {
    attempted,
    get acknowledged() {
      return acknowledged;
    },
    async stop() {
      stopping = true;
      await all;
    },
  };
}

/** Asks for a job, again and again until it is acknowledged or `giveUp` says so. */
async function create(
  urls: readonly string[],
  first: number,
  credentials: Credentials,
  callbacks: string,
  job: Attempted,
  giveUp: () => boolean,
): Promise<void> {
  const sandbox = job.environment === 'sandbox';
  const path = `${sandbox ? '/sandbox' : ''}/tapi/v2/${job.tier === 'human' ? '' : 'mt_'}translation/`;
  for (let tried = 0; ; tried++) {
    try {
      const response = await fetch(`${urls[(first + tried) % urls.length]}${path}`, {
        method: 'POST',
        headers: {
          authorization: `ApiKey ${sandbox ? credentials.sandbox_key : credentials.production_key}`,
        },
        body: JSON.stringify({
          uid: job.uid,
          text: job.text,
          source_language: 'en',
          target_language: 'es',
          callback_url: `${callbacks}/${job.name}`,
        }),
        signal: AbortSignal.timeout(PATIENCE_MILLISECONDS),
      });
      const body = (await response.json()) as {
        uid: string;
        order_number?: number;
        price?: number;
        error?: string;
      };
      if (response.status === 201 || response.status === 200) {
        job.acknowledged = {
          at: Date.now(),
          uid: body.uid,
          orderNumber: body.order_number,
          priceCents: body.price ?? 0,
        };
        return;
      }
      if (response.status < 500) throw new Refused(`${response.status} ${body.error}`);
    } catch (error) {
      if (error instanceof Refused) throw error;
    }
    if (giveUp()) return;
    await wait(50);
  }
}

class Refused extends Error {}
