/** Options, settings and the store, shared by all commands. */
import { Command as AnyCommand, InvalidArgumentError, Option } from 'commander';
import { recordSecretKey } from '../access/secret-key.ts';
import { createLog } from '../base/log.ts';
import { openStore, type SchemaMode, type Store } from '../roles/program.ts';
import { ENGINE_NAMES_TEXT, type EngineName, findEngineName } from '../settings/engine-names.ts';
import { loadSettings, type Settings } from '../settings/settings.ts';

export const json = () => new Option('--json', 'print one JSON object');
export const data = () => new Option('--data <dir>', 'the data directory (DRAGOMAN_DATA)');
/** A command of the program. */
export class Command extends AnyCommand {
  override createCommand(name?: string): Command {
    return new Command(name);
  }

  /** Adds the options of commands that open the store, and can print their result as JSON. */
  onStore(): this {
    return this.addOption(data()).addOption(json());
  }
}

/** The values of these options. */
export interface StoreOptions {
  data?: string;
  json?: boolean;
}

export const yes = () => new Option('--yes', 'install the offline engine without asking');
export const environment = () =>
  new Option('--environment <environment>', 'production or sandbox').choices(['production', 'sandbox']);

/** Loads the settings. Options override the environment, and the environment overrides the settings file. */
export function settingsWith(options: { data?: string; port?: string; host?: string }): Settings {
  return loadSettings({
    ...process.env,
    ...(options.data === undefined ? {} : { DRAGOMAN_DATA: options.data }),
    ...(options.port === undefined ? {} : { DRAGOMAN_PORT: options.port }),
    ...(options.host === undefined ? {} : { DRAGOMAN_HOST: options.host }),
  });
}

/**
 * Opens the store for one command, whether or not a server is running.
 * @param schema `require` for most commands, because only `serve`, `migrate`, `restore` and the demo may
 * create or change the schema
 */
export async function withStore<T>(
  options: { data?: string },
  work: (store: Store) => Promise<T>,
  schema: SchemaMode = 'require',
): Promise<T> {
  const store = await openStore(settingsWith(options), 'command', createLog('error'), schema);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/**
 * Opens the store for a command that encrypts secrets. First records the secret key of this process as the
 * key of the database.
 */
export function withVault<T>(options: { data?: string }, work: (store: Store) => Promise<T>): Promise<T> {
  return withStore(options, async (store) => {
    await recordSecretKey(store.database, settingsWith(options), store.vault);
    return work(store);
  });
}

/** Reads a comma-separated list of engines. */
export function engineNames(written: string): EngineName[] {
  return written.split(',').map((name) => {
    const found = findEngineName(name);
    if (found !== undefined) return found;
    throw new InvalidArgumentError(`There is no engine named ${name.trim()}; there is ${ENGINE_NAMES_TEXT}.`);
  });
}

export function cents(written: string): number {
  if (!/^\d{1,12}$/.test(written)) throw new InvalidArgumentError('It must be a whole number of cents.');
  return Number(written);
}

/** Reads an amount in cents that is above zero. */
export function amount(written: string): number {
  if (cents(written) === 0) throw new InvalidArgumentError('It must be at least one cent.');
  return Number(written);
}

/** Reads `on` or `off` as true or false. */
export function onOrOff(written: string): boolean {
  if (written !== 'on' && written !== 'off') throw new InvalidArgumentError('It must be on or off.');
  return written === 'on';
}

/** Reads a day, which means its first moment in UTC, or a time with its time zone. */
export function date(written: string): Date {
  const value = new Date(written);
  if (!/^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(written) || Number.isNaN(value.getTime())) {
    throw new InvalidArgumentError('It must be a date such as 2027-01-31 or 2027-01-31T12:00:00Z.');
  }
  return value;
}

/** Reads a duration: a whole number, in the unit of its option. */
export function duration(written: string): number {
  if (!/^\d{1,8}$/.test(written)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(written);
}
