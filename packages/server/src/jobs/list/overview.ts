/** Counts jobs by tier, day and hour for the overview pages. */
import type { AccountRef, Environment } from '../../base/account.ts';
import { firstIdOf } from '../../base/ids.ts';
import type { Queryable } from '../../database/database.ts';
import * as store from './console-store.ts';

export {
  countJobsByStatus,
  type HourlyJobs,
  hasJobs,
  listQueuedPairs,
  type QueuedPair,
  type StatusCount,
} from './console-store.ts';

/** Counts an account's jobs since `since`, by environment and tier, with words and charged cents. */
export function countJobsSince(
  on: Queryable,
  account: AccountRef,
  since: Date,
): Promise<store.PeriodCount[]> {
  return store.countJobsSinceId(on, { account, since: firstIdOf(since.getTime()) });
}

const DAY_MILLISECONDS = 86_400_000;

export interface DailyJobs {
  /** The date in ISO 8601, in UTC. */
  day: string;
  jobs: number;
  cents: number;
}

/** Counts an account's jobs on each of the last days, by environment. Days without jobs are included. */
export async function countJobsByDay(
  on: Queryable,
  account: AccountRef,
  days: number,
  now: Date,
): Promise<Record<Environment, DailyJobs[]>> {
  const first = Math.floor(now.getTime() / DAY_MILLISECONDS) - days + 1;
  const rows = await store.listDayRows(on, { account, since: firstIdOf(first * DAY_MILLISECONDS) });
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

const HOUR_MILLISECONDS = 3_600_000;

/** Counts the jobs of all accounts in each of the last hours. Hours without jobs are included. */
export async function countJobsByHour(on: Queryable, hours: number, now: Date): Promise<store.HourlyJobs[]> {
  const first = Math.floor(now.getTime() / HOUR_MILLISECONDS) - hours + 1;
  const rows = await store.listHourRows(on, { since: firstIdOf(first * HOUR_MILLISECONDS) });
  const found = new Map(rows.map((row) => [row.hour.getTime(), row]));
  return Array.from({ length: hours }, (_, index) => {
    const hour = new Date((first + index) * HOUR_MILLISECONDS);
    return found.get(hour.getTime()) ?? { hour, created: 0, words: 0, failed: 0 };
  });
}
