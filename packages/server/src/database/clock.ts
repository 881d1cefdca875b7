/**
 * The clock of the database, which all processes share. Signatures and schedules of deliveries use it, because the clock
 * of one machine may be wrong: receivers refuse a signature that is more than five minutes old or early.
 */
import type { Log } from '../base/log.ts';
import type { Database } from './database.ts';
import { statement } from './statements.ts';

const MEASURE_MILLISECONDS = 10_000;
/** A measurement that took longer is not used, because it is that inexact. */
const SLOW_MILLISECONDS = 2_000;
/** From this difference on, the clock of a process is reported. */
export const WARN_SECONDS = 30;
/** From this difference on, a process is not ready. Receivers of callbacks tolerate as much. */
export const MAX_SECONDS = 300;

const READ_CLOCK = statement<{ now: Date }>('database.clock', 'select clock_timestamp() as now');

export interface DatabaseClock {
  /** Returns the time of the database. Before the first measurement, it is the time of this process. */
  now(): Date;
  /** Returns by how many seconds the clock of this process is ahead of the database's; negative if it is behind. */
  aheadSeconds(): number;
  stop(): void;
}

/** Measures the clock of the database, and again every ten seconds until it is stopped. */
export async function startClock(database: Database, log: Log): Promise<DatabaseClock> {
  const limited = database.limited(MEASURE_MILLISECONDS);
  /** The time of the database at the origin of `performance.now()`, in Unix milliseconds. */
  let origin: number | undefined;
  let isReported = false;

  const now = () => (origin === undefined ? Date.now() : origin + performance.now());
  const aheadSeconds = () => (Date.now() - now()) / 1000;

  async function measure(): Promise<void> {
    const asked = performance.now();
    const rows = await limited.query(READ_CLOCK).catch(() => []); // The database's outage is reported elsewhere.
    const answered = performance.now();
    if (rows.length === 0 || answered - asked > SLOW_MILLISECONDS) return;
    origin = rows[0]!.now.getTime() - (asked + answered) / 2;
    report();
  }

  function report(): void {
    const isOff = Math.abs(aheadSeconds()) > WARN_SECONDS;
    if (isOff !== isReported) {
      const fields = { milliseconds: Math.round(aheadSeconds() * 1000) };
      if (isOff) log.warn(fields, 'the clock of this process differs from the database; set both by NTP');
      else log.info(fields, 'the clock of this process agrees with the database again');
    }
    isReported = isOff;
  }

  await measure();
  const timer = setInterval(() => void measure(), MEASURE_MILLISECONDS).unref();
  return { now: () => new Date(now()), aheadSeconds, stop: () => clearInterval(timer) };
}
