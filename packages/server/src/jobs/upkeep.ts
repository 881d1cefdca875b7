/**
 * What is put in order from time to time, by every worker: rows of counts are put together, so that a total is the sum
 * of few, creations of processes that died are ended, idempotency keys that have had their day are forgotten, and jobs that nobody has said anything of are taken
 * for accepted. Nothing depends on when, or on who does it.
 */
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import { findUnfolded, foldCounts, forgetKeys } from './list-store.ts';
import { forgetCreations } from './numbers.ts';
import { acceptUnjudged } from './verdict.ts';

const FOLD_MILLISECONDS = 10_000;
const FORGET_MILLISECONDS = 600_000;
const ACCEPT_MILLISECONDS = 60_000;
/** Rows of an account that are worth putting together; as many as these a total may have to add besides. */
const WORTH_FOLDING = 64;
const ACCOUNTS_A_ROUND = 1000;
const KEY_HOURS = 24;
/** A creation is under way for no longer, unless its process died. */
const CREATION_SECONDS = 60;
const KEYS_A_ROUND = 10_000;

export interface Upkeep {
  /** Begins nothing more; resolves when what is under way is done. */
  stop(): Promise<void>;
}

export interface UpkeepSettings {
  /** Hours after which silence is acceptance; 0 is never. */
  autoAcceptHours: number;
}

export function startUpkeep(database: Database, settings: UpkeepSettings, log: Log): Upkeep {
  let stopping = false;
  const under = new Set<Promise<void>>();

  /** A round that fails is the next one's work. */
  function every(milliseconds: number, round: () => Promise<void>): NodeJS.Timeout {
    let busy = false;
    return setInterval(() => {
      if (busy) return;
      busy = true;
      const done = round()
        .catch((error: unknown) => {
          if (!stopping) log.warn({ error }, 'upkeep of jobs was interrupted');
        })
        .finally(() => {
          busy = false;
          under.delete(done);
        });
      under.add(done);
    }, milliseconds);
  }

  const timers = [
    every(FOLD_MILLISECONDS, () => foldAll(database, WORTH_FOLDING, () => stopping)),
    every(FOLD_MILLISECONDS, () => forgetCreations(database, CREATION_SECONDS)),
    every(FORGET_MILLISECONDS, () => forgetOld(database, () => stopping)),
    every(ACCEPT_MILLISECONDS, () => acceptUnjudged(database, settings.autoAcceptHours, () => stopping)),
  ];
  return {
    async stop() {
      stopping = true;
      for (const timer of timers) clearInterval(timer);
      await Promise.all(under);
    },
  };
}

/** Puts together the counts of every account that has so many rows of them to put together. */
export async function foldAll(database: Database, least: number, ended = () => false): Promise<void> {
  for (const account of await findUnfolded(database, least, ACCOUNTS_A_ROUND)) {
    if (ended()) return;
    await foldCounts(database, account);
  }
}

/** Forgets the keys that are older than a day. */
export async function forgetOld(database: Database, ended = () => false): Promise<void> {
  while (!ended() && (await forgetKeys(database, KEY_HOURS, KEYS_A_ROUND)) === KEYS_A_ROUND);
}
