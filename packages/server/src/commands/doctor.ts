/** `dragoman doctor`: looks at everything the program stands on, and says what to do about what is wrong. */
import { statfs } from 'node:fs/promises';
import { findApertium } from '@dragoman/engines';
import { openVault, readKeyMark, SecretKeyError } from '../accounts/secret-key.ts';
import type { Database } from '../database/database.ts';
import { EmbeddedError } from '../database/embedded.ts';
import { explainDatabaseError } from '../database/explain.ts';
import { SchemaError } from '../database/migrate.ts';
import { statement } from '../database/statements.ts';
import { createLog } from '../log.ts';
import { openStore, versions } from '../program.ts';
import type { Settings } from '../settings.ts';
import { apertiumRoot, createEngines } from '../translation/engines.ts';
import { HEARD_SECONDS, readWorkers } from '../translation/report.ts';
import { VERSION } from '../version.ts';

export interface Finding {
  check: string;
  ok: boolean;
  detail: string;
  /** What to do about it; only where something is wrong. */
  remedy?: string;
}

const SERVER = statement<{ version: string; now: Date }>(
  'doctor.server',
  `select current_setting('server_version') as version, clock_timestamp() as now`,
);

/** Every process that serves keeps one connection for notifications, under this name. */
const SERVING = statement<{ count: number }>(
  'doctor.serving',
  `select count(*) as count from pg_stat_activity
    where datname = current_database() and application_name = 'dragoman listener'`,
);

const CLOCK_SECONDS = 5;
const FREE_GIBIBYTES = 1;

/** Runs every check; one that fails does not keep the others from running. */
export async function examineInstallation(settings: Settings): Promise<Finding[]> {
  return [
    { check: 'version', ok: true, detail: `Dragoman ${VERSION}, Node ${process.version}` },
    ...(await examineDatabase(settings)),
    ...(await examineEngines(settings)),
    await examineDisk(settings),
  ];
}

async function examineDatabase(settings: Settings): Promise<Finding[]> {
  const kind = settings.databaseUrl === undefined ? 'embedded' : 'given';
  try {
    const store = await openStore(settings, 'command', createLog('silent'), 'any');
    try {
      if (store.behind > 0) {
        const detail = `${kind}; the schema is ${versions(store.behind)} behind`;
        return [{ check: 'database', ok: false, detail, remedy: 'Run: npx dragoman migrate' }];
      }
      const [server] = await store.database.query(SERVER);
      const seconds = Math.abs(Date.now() - server!.now.getTime()) / 1000;
      return [
        {
          check: 'database',
          ok: true,
          detail: `PostgreSQL ${server!.version}, ${kind}; schema up to date`,
        },
        {
          check: 'clock',
          ok: seconds < CLOCK_SECONDS,
          detail: `${seconds.toFixed(1)} s from the database's`,
          ...(seconds < CLOCK_SECONDS ? {} : { remedy: 'Set both clocks by NTP.' }),
        },
        await examineSecretKey(store.database, settings),
        await examineWorkers(store.database),
      ];
    } finally {
      await store.close();
    }
  } catch (error) {
    return [{ check: 'database', ok: false, ...explain(error as Error) }];
  }
}

function explain(error: Error): Pick<Finding, 'detail' | 'remedy'> {
  if (error instanceof EmbeddedError && error.code === 'no_data') {
    return { detail: error.message, remedy: 'The first start makes it: npx dragoman serve' };
  }
  if (error instanceof SchemaError || error instanceof EmbeddedError) return halves(error);
  const trouble = explainDatabaseError(error);
  return trouble === undefined
    ? { detail: error.message, remedy: 'See postgres.log in the data directory.' }
    : { detail: trouble.problem, remedy: capitalized(trouble.remedy) };
}

/** The problem and the remedy of a sentence with a colon between them. */
function halves({ message }: Error): { detail: string; remedy: string } {
  const [detail, remedy = 'See postgres.log in the data directory.'] = message.split(/(?<=[^.]): (.*)/s);
  return { detail: detail!, remedy: capitalized(remedy) };
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

async function examineSecretKey(database: Database, settings: Settings): Promise<Finding> {
  const check = 'secret key';
  try {
    const mark = await readKeyMark(database);
    if (mark === undefined && settings.databaseUrl === undefined) {
      return { check, ok: true, detail: 'recorded by the first process that serves' };
    }
    openVault(settings, mark);
    return { check, ok: true, detail: 'the one that the database is used with' };
  } catch (error) {
    if (!(error instanceof SecretKeyError)) throw error;
    const [detail, remedy] = error.message.split(/(?<=[^.]): (.*)/s);
    return { check, ok: false, detail: detail!, remedy: remedy! };
  }
}

/** Something is wrong where a process serves and none works; where nothing serves, nothing is missing yet. */
async function examineWorkers(database: Database): Promise<Finding> {
  const check = 'workers';
  const { reporting, last } = await readWorkers(database);
  if (reporting > 0) return { check, ok: true, detail: `${reporting} reported within ${HEARD_SECONDS} s` };
  const none = last === null ? 'none has reported' : `none has reported since ${last.toISOString()}`;
  const [serving] = await database.query(SERVING);
  if (serving!.count === 0) return { check, ok: true, detail: `${none}; no process serves this database` };
  return {
    check,
    ok: false,
    detail: `${none}; jobs and deliveries wait`,
    remedy: 'Start one: npx dragoman serve --role worker, with a DRAGOMAN_PORT of its own.',
  };
}

async function examineEngines(settings: Settings): Promise<Finding[]> {
  const apertium = settings.engines.includes('apertium') ? await examineApertium(settings) : [];
  const missing = apertium.some(({ ok }) => !ok) && settings.engines.length === 1;
  return missing ? apertium : [...apertium, ...(await examinePairs(settings))];
}

async function examineApertium(settings: Settings): Promise<Finding[]> {
  const found = await findApertium({ root: apertiumRoot(settings) });
  if (found.missing.length > 0) {
    const detail = `Apertium: ${found.missing.length} packages are missing (${found.missing.join(', ')})`;
    return [{ check: 'engine', ok: false, detail, remedy: 'Run: npx dragoman engine install' }];
  }
  return [{ check: 'engine', ok: true, detail: `Apertium ${found.version ?? ''}, ${found.where}` }];
}

/** What each engine of the settings says of itself, and the pairs that passed their self-test. */
async function examinePairs(settings: Settings): Promise<Finding[]> {
  const engines = createEngines(settings);
  try {
    const findings = engines.map(async (engine): Promise<Finding> => {
      const check = engines.length > 1 ? `pairs of ${engine.name}` : 'pairs';
      // Those that the operator declared and that could not be tested are offered, and not well.
      const directions = (await engine.directions()).filter(({ untested }) => !untested);
      const names = directions.map(({ from, to }) => `${from}-${to}`).join(' ');
      const ok = directions.length > 0;
      const { detail: health } = await engine.health();
      const detail = `${directions.length} passed their self-test: ${ok ? names : health}`;
      const remedy =
        engine.name === 'apertium'
          ? 'Run: npx dragoman engine install'
          : `Check the settings of ${engine.name}, and that it answers.`;
      return { check, ok, detail, ...(ok ? {} : { remedy }) };
    });
    return await Promise.all(findings);
  } finally {
    await Promise.all(engines.map((engine) => engine.stop()));
  }
}

async function examineDisk(settings: Settings): Promise<Finding> {
  try {
    const { bavail, bsize } = await statfs(settings.data);
    const gibibytes = (bavail * bsize) / 1024 ** 3;
    const ok = gibibytes >= FREE_GIBIBYTES;
    const detail = `${gibibytes.toFixed(1)} GiB free in ${settings.data}`;
    return { check: 'disk', ok, detail, ...(ok ? {} : { remedy: 'Make room, or move the data directory.' }) };
  } catch (error) {
    return {
      check: 'disk',
      ok: false,
      detail: (error as Error).message,
      remedy: 'Check DRAGOMAN_DATA, and who may write there.',
    };
  }
}
