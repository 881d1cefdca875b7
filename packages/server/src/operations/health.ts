/** Readiness: checks whether a process can do its work. */
import { MAX_SECONDS, WARN_SECONDS } from '../database/clock.ts';
import type { Database } from '../database/database.ts';
import { statement, statementsNamed } from '../database/statements.ts';
import type { Languages } from '../languages/languages.ts';
import { countReportingWorkers, HEARD_SECONDS } from '../translation/report.ts';

export interface Readiness {
  ready: boolean;
  /** The result of each check: `ok`, or a description of the fault. */
  checks: Record<string, string>;
  /** Faults that delay accepted work although the process is ready. Absent if there are no such faults. */
  warnings?: string[];
}

const PING = statement<{ one: number }>('operations.ping', 'select 1 as one');
/** The statements that create what customers order. They use a large part of the schema. */
const CREATIONS = [
  'jobs.number',
  'jobs.insert',
  'jobs.insert_keys',
  'ledger.hold',
  'chats.insert_messages',
  'deliveries.insert_events',
];
/** The time for the statements. They wait while another transaction changes a table. */
const PREPARE_MILLISECONDS = 1_000;
/** SQLSTATE class 42: the statement does not fit the schema. */
const UNFIT = /^42/;

/**
 * Checks whether the database can be read and written and has the schema for new jobs and messages, and whether at least one language pair is offered.
 * Missing workers are only a warning: an API process can accept jobs without workers. If a load balancer
 * removed the process because of missing workers, a delay would become an outage.
 */
export async function checkReadiness(options: {
  database: Database;
  /** By how many seconds the clock of this process is ahead of the database's. */
  aheadSeconds: number;
  languages: Languages;
  stopping: boolean;
  /** Whether this process is a worker. */
  works: boolean;
}): Promise<Readiness> {
  const checks: Record<string, string> = { server: options.stopping ? 'is stopping' : 'ok' };
  const warnings: string[] = [];
  const { aheadSeconds } = options;
  const difference = `${Math.abs(aheadSeconds).toFixed(1)} s ${aheadSeconds > 0 ? 'ahead of' : 'behind'} the database's`;
  if (Math.abs(aheadSeconds) > MAX_SECONDS) checks.clock = `is ${difference}; set both by NTP`;
  else if (Math.abs(aheadSeconds) > WARN_SECONDS) warnings.push(`clock: ${difference}; set both by NTP`);
  try {
    await options.database.query(PING);
    checks.database = (await options.database.canWrite()) ? 'ok' : 'has no room to write';
    if (await isUnfit(options.database))
      checks.database = 'lacks what this version uses; run dragoman doctor';
    const pairs = await options.languages.count();
    checks.languages = pairs > 0 ? 'ok' : 'no engine offers a language pair yet';
    if (!options.works && (await countReportingWorkers(options.database)).reporting === 0) {
      warnings.push(
        `workers: none has reported for ${HEARD_SECONDS} seconds; jobs and deliveries stay queued`,
      );
    }
  } catch {
    checks.database = 'does not answer';
  }
  const ready = Object.values(checks).every((check) => check === 'ok');
  return { ready, checks, ...(warnings.length === 0 ? {} : { warnings }) };
}

/** Returns whether the schema lacks what creations need. A table that another transaction has locked proves nothing. */
async function isUnfit(database: Database): Promise<boolean> {
  return database
    .limited(PREPARE_MILLISECONDS)
    .prepare(statementsNamed(CREATIONS))
    .then(
      () => false,
      (error: { code?: string }) => UNFIT.test(error.code ?? ''),
    );
}
