/**
 * The command `dragoman doctor`: checks everything on which the program depends, and says how to repair each
 * fault.
 */
import { lookup } from 'node:dns/promises';
import { statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { EmbeddedPostgresError } from '@dragoman/embedded-postgres';
import { type Engine, findApertium, findModels } from '@dragoman/engines';
import { openVault, readKeyTest, SecretKeyError } from '../access/secret-key.ts';
import { createVault } from '../access/secrets.ts';
import { createLog } from '../base/log.ts';
import { counted } from '../base/text.ts';
import { VERSION } from '../base/version.ts';
import type { Database } from '../database/database.ts';
import { DISTRIBUTED_TABLES, TABLES_OF_ACCOUNTS } from '../database/distribution.ts';
import { NoDatabaseError } from '../database/embedded.ts';
import { explainDatabaseError } from '../database/explain.ts';
import { HAS_CITUS } from '../database/forms.ts';
import { findSchemaDifference, SchemaError } from '../database/migrate.ts';
import { REFERENCE_TABLES } from '../database/reference-tables.ts';
import { measureStandbyLag } from '../database/standby.ts';
import { statement } from '../database/statements.ts';
import { createAddressGuard } from '../deliveries/addresses.ts';
import { listPassedTests, type PassedTests } from '../languages/languages.ts';
import { openStore } from '../roles/program.ts';
import type { Settings } from '../settings/settings.ts';
import {
  apertiumRoot,
  createEngines,
  enginesWithData,
  modelsFolder,
  offerOfModel,
} from '../translation/engines.ts';
import { countReportingWorkers, HEARD_SECONDS, listReportedEngines } from '../translation/report.ts';
import { listEngineRoutes } from '../translation/translator.ts';

export interface DoctorFinding {
  check: string;
  ok: boolean;
  detail: string;
  /** How to repair the fault; absent when the check passed. */
  remedy?: string;
}

const SERVER = statement<{ version: string; now: Date }>(
  'doctor.server',
  `select current_setting('server_version') as version, clock_timestamp() as now`,
);

/**
 * Counts the processes that serve. Each of them has exactly one database connection with this application
 * name, for notifications.
 */
const SERVING = statement<{ count: number }>(
  'doctor.serving',
  `select count(*) as count from pg_stat_activity
    where datname = current_database() and application_name = 'dragoman listener'`,
);

/** The nodes of a cluster, and the tables of accounts that are not distributed over them. */
const DISTRIBUTION = statement<{
  nodes: number;
  inactive: string | null;
  tables: number;
  missing: string | null;
}>(
  'doctor.distribution',
  `select (select count(*) from pg_dist_node) as nodes,
          (select string_agg(nodename || ':' || nodeport, ', ') from pg_dist_node where not isactive) as inactive,
          (select count(*) from (${DISTRIBUTED_TABLES}) d) as tables,
          (select string_agg(name, ', ' order by name) from (
             ${TABLES_OF_ACCOUNTS} union select unnest($1::text[])
             except ${DISTRIBUTED_TABLES}) m) as missing`,
);

const CLOCK_SECONDS = 5;
/** A standby that is further behind than one segment of the WAL counts as one that has stopped following. */
const STANDBY_BYTES = 16 * 2 ** 20;
const FREE_GIBIBYTES = 1;

/**
 * Runs every check. A failed check does not stop the others.
 * @param fresh whether to repeat the self-tests of engines that a worker tested within a day
 */
export async function examineInstallation(settings: Settings, fresh = false): Promise<DoctorFinding[]> {
  const tested: PassedTests[] = [];
  return [
    { check: 'version', ok: true, detail: `Dragoman ${VERSION}, Node ${process.version}` },
    ...(await examineDatabase(settings, fresh ? () => {} : (kept) => void tested.push(...kept))),
    ...(await examineEngines(settings, tested)),
    await examineDisk(settings),
    ...(await examineLocalhost(settings)),
  ];
}

/** @param onTested gets the self-tests that workers recorded, if the database can be read */
async function examineDatabase(
  settings: Settings,
  onTested: (tests: PassedTests[]) => void,
): Promise<DoctorFinding[]> {
  const kind = settings.databaseUrl === undefined ? 'embedded' : 'given';
  try {
    const store = await openStore(settings, 'command', createLog('silent'), 'any');
    try {
      if (store.behind > 0) {
        const detail = `${kind}; the schema is ${counted(store.behind, 'version')} behind`;
        return [{ check: 'database', ok: false, detail, remedy: 'Run: dragoman migrate' }];
      }
      const difference = await findSchemaDifference(store.connection);
      if (difference !== undefined) {
        const detail = `${kind}; the schema is not the one of this version: ${difference} differs`;
        const remedy = 'Undo the change, or restore a backup into a new database: dragoman restore';
        return [{ check: 'database', ok: false, detail, remedy }];
      }
      onTested(await listPassedTests(store.database));
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
          detail: `${seconds.toFixed(1)} s between this machine (${hostname()}) and the database; /readyz of each server reports its own`,
          ...(seconds < CLOCK_SECONDS ? {} : { remedy: 'Set both clocks by NTP.' }),
        },
        ...(await examineDistribution(store.database, settings)),
        ...(await examineStandby(store.database, settings)),
        await examineSecretKey(store.database, settings),
        await examineWorkers(store.database),
        ...(await examineRoutes(store.database)),
      ];
    } finally {
      await store.close();
    }
  } catch (error) {
    return [{ check: 'database', ok: false, ...explain(error as Error, kind) }];
  }
}

/** Checks that the tables of a distributed database are distributed, and that its nodes are active. */
async function examineDistribution(
  database: Database,
  { databaseReadUrl }: Settings,
): Promise<DoctorFinding[]> {
  const [citus] = await database.query(HAS_CITUS);
  if (citus === undefined) return [];
  const check = 'nodes';
  const [found] = await database.query(DISTRIBUTION, [REFERENCE_TABLES]);
  const { nodes, inactive, tables, missing } = found!;
  if (missing !== null) {
    const remedy = 'Run: dragoman migrate --distributed';
    return [{ check, ok: false, detail: `not distributed: ${missing}`, remedy }];
  }
  if (inactive !== null) {
    const remedy = 'Start the nodes, and run for each: SELECT citus_activate_node(host, port)';
    return [{ check, ok: false, detail: `not active: ${inactive}`, remedy }];
  }
  if (databaseReadUrl !== undefined) {
    const detail = 'DATABASE_READ_URL does not work with a distributed database';
    return [{ check, ok: false, detail, remedy: 'Remove DATABASE_READ_URL.' }];
  }
  const detail = `Citus ${citus.version}, ${counted(nodes, 'node')}, ${counted(tables, 'table')} distributed or copied`;
  return [{ check, ok: true, detail }];
}

/** Checks that the standby for reads follows the database, and how far it is behind. */
async function examineStandby(
  database: Database,
  { databaseReadUrl: url }: Settings,
): Promise<DoctorFinding[]> {
  if (url === undefined) return [];
  const check = 'standby';
  const remedy =
    'Correct DATABASE_READ_URL, or repair the replication. Until then the primary answers all reads.';
  try {
    const bytes = await measureStandbyLag(url, database);
    if (bytes === undefined)
      return [{ check, ok: false, detail: 'it belongs to another cluster than DATABASE_URL', remedy }];
    const ok = bytes < STANDBY_BYTES;
    return [{ check, ok, detail: `${bytes} bytes behind`, ...(ok ? {} : { remedy }) }];
  } catch (error) {
    return [{ check, ok: false, detail: (error as Error).message, remedy }];
  }
}

function explain(error: Error, kind: 'embedded' | 'given'): Pick<DoctorFinding, 'detail' | 'remedy'> {
  if (error instanceof NoDatabaseError) {
    return {
      detail: error.message,
      remedy: 'Set DRAGOMAN_DATA to the data directory, or create the database with: dragoman serve',
    };
  }
  if (error instanceof SchemaError || error instanceof EmbeddedPostgresError) return splitSentence(error);
  const trouble = explainDatabaseError(error);
  return trouble === undefined
    ? { detail: error.message, remedy: LOGS[kind] }
    : { detail: trouble.problem, remedy: capitalized(trouble.remedy) };
}

const LOGS = {
  embedded: 'See postgres.log in the data directory.',
  given: 'See the log of the PostgreSQL server.',
};

/** Splits a message of the form "problem: remedy" into these two parts. */
function splitSentence({ message }: Error): { detail: string; remedy: string } {
  const [detail, remedy = LOGS.embedded] = message.split(/(?<=[^.]): (.*)/s);
  return { detail: detail!, remedy: capitalized(remedy) };
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

async function examineSecretKey(database: Database, settings: Settings): Promise<DoctorFinding> {
  const check = 'secret key';
  try {
    const fits = await readKeyTest(database);
    if (fits === undefined && settings.databaseUrl === undefined) {
      return { check, ok: true, detail: 'recorded when a process serves for the first time' };
    }
    openVault(settings, fits);
    const { previousSecretKey } = settings;
    if (previousSecretKey !== undefined && fits?.(createVault(previousSecretKey))) {
      const remedy = 'When all processes have both keys, run: dragoman secret-key rotate';
      return { check, ok: true, detail: 'the database uses DRAGOMAN_SECRET_KEY_PREVIOUS', remedy };
    }
    return { check, ok: true, detail: 'matches the database' };
  } catch (error) {
    if (!(error instanceof SecretKeyError)) throw error;
    const [detail, remedy] = error.message.split(/(?<=[^.]): (.*)/s);
    return { check, ok: false, detail: detail!, remedy: remedy! };
  }
}

/**
 * Checks by the workers' reports in the database whether a worker runs. A missing worker is a fault only if an API
 * process accepts jobs.
 */
async function examineWorkers(database: Database): Promise<DoctorFinding> {
  const check = 'workers';
  const { reporting, last } = await countReportingWorkers(database);
  if (reporting > 0) return { check, ok: true, detail: `${reporting} reported within ${HEARD_SECONDS} s` };
  const none = last === null ? 'none has reported' : `none has reported since ${last.toISOString()}`;
  const [serving] = await database.query(SERVING);
  if (serving!.count === 0) return { check, ok: true, detail: `${none}; no process serves this database` };
  return {
    check,
    ok: false,
    detail: `${none}; jobs and deliveries are waiting`,
    remedy: 'Start one: dragoman serve --role worker, with its own DRAGOMAN_PORT.',
  };
}

/** Names the engine routes with an engine that no worker has. Checks nothing while no worker runs. */
async function examineRoutes(database: Database): Promise<DoctorFinding[]> {
  const reported = await listReportedEngines(database);
  const routes = await listEngineRoutes(database);
  if (reported.length === 0 || routes.length === 0) return [];
  const check = 'engine routes';
  const faults = routes.flatMap(({ source_language, target_language, username, engines }) => {
    const missing = engines.filter((engine) => !reported.includes(engine));
    const of = username === null ? '' : ` of ${username}`;
    return missing.length === 0 ? [] : [`${source_language}>${target_language}${of}: ${missing.join(', ')}`];
  });
  if (faults.length === 0) return [{ check, ok: true, detail: 'workers have all engines that they name' }];
  return [
    {
      check,
      ok: false,
      detail: `no worker has these engines: ${faults.join('; ')}`,
      remedy: 'Name them in DRAGOMAN_ENGINES of a worker, or change the routes: dragoman route set',
    },
  ];
}

async function examineEngines(settings: Settings, tested: readonly PassedTests[]): Promise<DoctorFinding[]> {
  const engines = enginesWithData(settings);
  const apertium = engines.includes('apertium') ? await examineApertium(settings) : [];
  const missing = apertium.some(({ ok }) => !ok) && engines.length === 1;
  const pairs = missing ? [] : await examinePairs({ ...settings, engines }, tested);
  const offer = offerOfModel(settings);
  const quality =
    offer === undefined ? [] : [{ check: 'quality', ok: true, detail: `only Apertium; ${offer}` }];
  return [...apertium, ...pairs, ...quality];
}

async function examineApertium(settings: Settings): Promise<DoctorFinding[]> {
  const found = await findApertium({ root: apertiumRoot(settings) });
  if (found.missing.length > 0) {
    const detail = `Apertium: ${counted(found.missing.length, 'package is', 'packages are')} missing (${found.missing.join(', ')})`;
    return [{ check: 'engine', ok: false, detail, remedy: 'Run: dragoman engine install' }];
  }
  return [{ check: 'engine', ok: true, detail: `Apertium ${found.version ?? ''}, ${found.where}` }];
}

/**
 * Checks the health of each engine and counts the language pairs that passed their self-test. The self-tests of a worker
 * with the same version of the engine are not repeated: those of Apertium take ten seconds of processor time.
 */
async function examinePairs(settings: Settings, tested: readonly PassedTests[]): Promise<DoctorFinding[]> {
  const engines = createEngines(settings);
  try {
    const findings = engines.map(async (engine): Promise<DoctorFinding> => {
      const version = await engine.version();
      const kept = tested.find((one) => one.engine === engine.name && one.version === version);
      const { passed, when } =
        kept === undefined
          ? { passed: await passingPairs(engine), when: '' }
          : { passed: kept.pairs, when: ` ${sayAge(kept.since)}` };
      const { ok: healthy, detail: health } = await engine.health();
      const ok = passed.length > 0 && (healthy || kept === undefined);
      const detail = `${passed.length} passed their self-test${when}: ${ok ? passed.join(' ') : health}`;
      const check = engines.length > 1 ? `pairs of ${engine.name}` : 'pairs';
      return { check, ok, detail, ...(ok ? {} : { remedy: await remedyFor(settings, engine.name) }) };
    });
    return await Promise.all(findings);
  } finally {
    await Promise.all(engines.map((engine) => engine.stop()));
  }
}

/** Tests an engine. Pairs whose self-test got no answer are offered as untested; they do not count as passed. */
async function passingPairs(engine: Engine): Promise<string[]> {
  const directions = (await engine.directions()).filter(({ untested }) => !untested);
  return directions.map(({ from, to }) => `${from}-${to}`);
}

function sayAge(since: Date): string {
  const minutes = Math.max(0, Math.round((Date.now() - since.getTime()) / 60_000));
  return minutes < 90
    ? `${counted(minutes, 'minute')} ago`
    : `${counted(Math.round(minutes / 60), 'hour')} ago`;
}

async function remedyFor(settings: Settings, engine: string): Promise<string> {
  if (engine === 'apertium') return 'Run: dragoman engine install';
  if (engine === 'bergamot') {
    const { models, faults } = await findModels(modelsFolder(settings));
    return models.length + faults.length === 0
      ? 'Install a model: dragoman model pull en-es'
      : 'Check the installed models: dragoman model list';
  }
  return `Check the settings of ${engine}, and that it answers.`;
}

/**
 * Checks that callbacks reach `localhost` if its network is allowed: all addresses of a name must be allowed, and many
 * systems resolve this one to `::1` too.
 */
export async function examineLocalhost(
  { allowedNetworks }: Pick<Settings, 'allowedNetworks'>,
  resolve: (name: string) => Promise<{ address: string }[]> = (name) => lookup(name, { all: true }),
): Promise<DoctorFinding[]> {
  const guard = createAddressGuard({ allowedNetworks });
  const found = await resolve('localhost').catch(() => []);
  const [allowed, refused] = [true, false].map((is) =>
    found.map(({ address }) => address).filter((address) => guard.allows(address) === is),
  );
  if (allowed!.length === 0 || refused!.length === 0) return [];
  const detail = `callbacks to localhost are refused: it also resolves to ${refused!.join(', ')}`;
  const remedy = `Add ${refused!.join(', ')} to DRAGOMAN_ALLOWED_NETWORKS, or remove it from /etc/hosts.`;
  return [{ check: 'localhost', ok: false, detail, remedy }];
}

async function examineDisk(settings: Settings): Promise<DoctorFinding> {
  try {
    const { bavail, bsize } = await statfs(settings.data);
    const gibibytes = (bavail * bsize) / 1024 ** 3;
    const ok = gibibytes >= FREE_GIBIBYTES;
    const detail = `${gibibytes.toFixed(1)} GiB free in ${settings.data}`;
    return {
      check: 'disk',
      ok,
      detail,
      ...(ok ? {} : { remedy: 'Free some space, or move the data directory.' }),
    };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return {
      check: 'disk',
      ok: false,
      detail: code === 'ENOENT' ? `There is no folder ${settings.data}` : message,
      remedy: 'Set DRAGOMAN_DATA to the data directory, and check its permissions.',
    };
  }
}
