/** Whether the program is alive and whether it can do its work. */
import type { Database } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { Languages } from '../languages/languages.ts';
import { HEARD_SECONDS, readWorkers } from '../translation/report.ts';

export interface Readiness {
  ready: boolean;
  /** What was checked: `ok`, or a sentence that says what is wrong. */
  checks: Record<string, string>;
  /** What keeps accepted work waiting, though this process answers; absent where nothing does. */
  warnings?: string[];
}

const PING = statement<{ one: number }>('operations.ping', 'select 1 as one');

/**
 * Ready: the database answers and takes writes, and at least one language pair is offered. A missing worker is only a
 * warning: an api accepts jobs without one, and a balancer that took it away would turn a delay into an outage.
 */
export async function checkReadiness(options: {
  database: Database;
  languages: Languages;
  stopping: boolean;
  /** This process is a worker itself. */
  works: boolean;
}): Promise<Readiness> {
  const checks: Record<string, string> = { server: options.stopping ? 'is stopping' : 'ok' };
  const warnings: string[] = [];
  try {
    await options.database.query(PING);
    checks.database = (await options.database.canWrite()) ? 'ok' : 'has no room to write';
    const pairs = await options.languages.count();
    checks.languages = pairs > 0 ? 'ok' : 'no engine offers a language pair yet';
    if (!options.works && (await readWorkers(options.database)).reporting === 0) {
      warnings.push(`workers: none has reported for ${HEARD_SECONDS} seconds; jobs and deliveries wait`);
    }
  } catch {
    checks.database = 'does not answer';
  }
  const ready = Object.values(checks).every((check) => check === 'ok');
  return { ready, checks, ...(warnings.length === 0 ? {} : { warnings }) };
}
