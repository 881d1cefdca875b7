/** The work of all accounts at a glance, for the console: what waits, what was done in each hour. */
import type { AccountRef, Environment } from '../account.ts';
import type { Queryable } from '../database/database.ts';
import { firstIdOf } from '../ids.ts';
import * as store from './console-store.ts';

export type { StatusCount, WaitingPair } from './console-store.ts';

/** How many jobs an account has in each status. */
export function countByStatus(on: Queryable, account: AccountRef): Promise<store.StatusCount[]> {
  return store.countByStatus(on, account);
}

/** What an account created since a moment, by environment and tier; words, and cents without what was given back. */
export function countSince(on: Queryable, account: AccountRef, since: Date): Promise<store.PeriodCount[]> {
  return store.countSince(on, account, firstIdOf(since.getTime()));
}

const DAY_MILLISECONDS = 86_400_000;

export interface Day {
  /** ISO 8601, in UTC. */
  day: string;
  jobs: number;
  cents: number;
}

/** What an account created on each of the last days in an environment, those without anything too. */
export async function listDays(
  on: Queryable,
  account: AccountRef,
  days: number,
  now: Date,
): Promise<Record<Environment, Day[]>> {
  const first = Math.floor(now.getTime() / DAY_MILLISECONDS) - days + 1;
  const rows = await store.listDays(on, account, firstIdOf(first * DAY_MILLISECONDS));
  const dayOf = (moment: Date) => moment.toISOString().slice(0, 10);
  const found = new Map(rows.map((row) => [`${row.environment} ${dayOf(row.day)}`, row]));
  const all = (environment: Environment) =>
    Array.from({ length: days }, (_, index) => {
      const day = dayOf(new Date((first + index) * DAY_MILLISECONDS));
      const { jobs = 0, cents = 0 } = found.get(`${environment} ${day}`) ?? {};
      return { day, jobs, cents };
    });
  return { production: all('production'), sandbox: all('sandbox') };
}

/** What waits for a machine, by pair; what has waited longest first. */
export function listWaiting(on: Queryable): Promise<store.WaitingPair[]> {
  return store.listWaiting(on);
}

const HOUR_MILLISECONDS = 3_600_000;

export interface Hour {
  hour: string;
  created: number;
  words: number;
  failed: number;
}

/** What was created in each of the last hours, those without anything too. */
export async function listHours(on: Queryable, hours: number, now: Date): Promise<Hour[]> {
  const first = Math.floor(now.getTime() / HOUR_MILLISECONDS) - hours + 1;
  const rows = await store.listHours(on, firstIdOf(first * HOUR_MILLISECONDS));
  const found = new Map(rows.map((row) => [row.hour.toISOString(), row]));
  return Array.from({ length: hours }, (_, index) => {
    const hour = new Date((first + index) * HOUR_MILLISECONDS).toISOString();
    const { created = 0, words = 0, failed = 0 } = found.get(hour) ?? {};
    return { hour, created, words, failed };
  });
}
