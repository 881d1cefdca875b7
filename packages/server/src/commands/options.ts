/** What the commands share: their options, the settings that follow from them, and the store. */
import { InvalidArgumentError, Option } from 'commander';
import { recordSecretKey } from '../accounts/secret-key.ts';
import { createLog } from '../log.ts';
import { openStore, type SchemaMode, type Store } from '../program.ts';
import { loadSettings, type Settings } from '../settings.ts';

export const json = () => new Option('--json', 'one JSON object on standard output');
export const data = () => new Option('--data <dir>', 'the data directory (DRAGOMAN_DATA)');
export const yes = () =>
  new Option('--yes', 'install the offline engine without asking, where it is missing');
export const environment = () =>
  new Option('--environment <environment>', 'which of the account’s two').choices(['production', 'sandbox']);

/** Options win over the environment, the environment over the settings file. */
export function settingsWith(options: { data?: string; port?: string; host?: string }): Settings {
  return loadSettings({
    ...process.env,
    ...(options.data === undefined ? {} : { DRAGOMAN_DATA: options.data }),
    ...(options.port === undefined ? {} : { DRAGOMAN_PORT: options.port }),
    ...(options.host === undefined ? {} : { DRAGOMAN_HOST: options.host }),
  });
}

/**
 * Opens the store for one command, beside a running server or without one.
 * @param schema `require` for most commands: only `serve`, `migrate`, `restore` and the demo make or change a schema
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

/** The same for a command that seals secrets: the database is used with this process's key from then on. */
export function withVault<T>(options: { data?: string }, work: (store: Store) => Promise<T>): Promise<T> {
  return withStore(options, async (store) => {
    await recordSecretKey(store.database, settingsWith(options), store.vault);
    return work(store);
  });
}

export function cents(written: string): number {
  if (!/^\d{1,12}$/.test(written)) throw new InvalidArgumentError('It must be a whole number of cents.');
  return Number(written);
}

/** An amount to move: not nothing. */
export function amount(written: string): number {
  if (cents(written) === 0) throw new InvalidArgumentError('It must be at least one cent.');
  return Number(written);
}

/** `on` or `off`, as true or false. */
export function onOrOff(written: string): boolean {
  if (written !== 'on' && written !== 'off') throw new InvalidArgumentError('It must be on or off.');
  return written === 'on';
}

/** A day (its first moment in UTC), or a moment with its time zone. */
export function date(written: string): Date {
  const value = new Date(written);
  if (!/^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(written) || Number.isNaN(value.getTime())) {
    throw new InvalidArgumentError('It must be a date such as 2027-01-31 or 2027-01-31T12:00:00Z.');
  }
  return value;
}

/** How long, in whole units. */
export function duration(written: string): number {
  if (!/^\d{1,8}$/.test(written)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(written);
}
