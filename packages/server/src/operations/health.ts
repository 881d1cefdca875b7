/** Whether the program is alive and whether it can do its work. */
import type { Database } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import type { Languages } from '../languages/languages.ts';

export interface Readiness {
  ready: boolean;
  /** What was checked: `ok`, or a sentence that says what is wrong. */
  checks: Record<string, string>;
}

const PING = statement<{ one: number }>('operations.ping', 'select 1 as one');

/** Ready: the database answers and takes writes, and at least one language pair is offered. */
export async function checkReadiness(options: {
  database: Database;
  languages: Languages;
  stopping: boolean;
}): Promise<Readiness> {
  const checks: Record<string, string> = { server: options.stopping ? 'is stopping' : 'ok' };
  try {
    await options.database.query(PING);
    checks.database = (await options.database.canWrite()) ? 'ok' : 'has no room to write';
    const pairs = await options.languages.count();
    checks.languages = pairs > 0 ? 'ok' : 'no engine offers a language pair yet';
  } catch {
    checks.database = 'does not answer';
  }
  return { ready: Object.values(checks).every((check) => check === 'ok'), checks };
}
