/**
 * All settings. Each setting is one entry with its name, default, check and meaning, in `server-settings.ts`,
 * `engine-settings.ts` or `work-settings.ts`. The command `npx dragoman settings` prints them. An invalid
 * value stops the start.
 *
 * The value of a setting comes from the environment, or else from the file that `DRAGOMAN_SETTINGS` names
 * (lines of `NAME=value`), or else from the default.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Setting } from './checks.ts';
import { ENGINE_SETTINGS } from './engine-settings.ts';
import { SERVER_SETTINGS, SETTINGS_FILE } from './server-settings.ts';
import { describeUnknown, readSettingsFile, SettingError } from './sources.ts';
import { WORK_SETTINGS } from './work-settings.ts';

export { SettingError } from './sources.ts';

const DEFINITIONS = { ...SERVER_SETTINGS, ...ENGINE_SETTINGS, ...WORK_SETTINGS };

type Definitions = typeof DEFINITIONS;
export type Settings = {
  -readonly [K in keyof Definitions]: Definitions[K] extends Setting<infer T> ? T : never;
};

/** Returns the public address of the server, without a final slash. */
export function publicRoot({ publicUrl, host, port }: Pick<Settings, 'publicUrl' | 'host' | 'port'>): string {
  return publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Returns name, default and meaning of every setting. */
export function describeSettings(): { name: string; default: string; meaning: string }[] {
  return Object.values(DEFINITIONS).map(({ name, default: fallback, meaning }) => ({
    name,
    default: fallback,
    meaning,
  }));
}

/** Matches the settings whose values are never shown: secrets, and URLs that can contain a password. */
const SECRET = /KEY|TOKEN|SECRET|PASSWORD|DATABASE_URL|SMTP/;

export interface ShownSetting {
  name: string;
  /**
   * The value as it would be written in the environment. Empty for a secret and for a setting that is not
   * set.
   */
  value: string;
  secret: boolean;
  /** Whether the value differs from the default. */
  set: boolean;
  default: string;
  meaning: string;
}

/** Returns every setting with its value, except the values of secrets. */
export function showSettings(settings: Settings): ShownSetting[] {
  return Object.entries(DEFINITIONS).map(([key, { name, default: fallback, meaning, check }]) => {
    const value = settings[key as keyof Settings];
    const secret = SECRET.test(name);
    const set = !isDeepStrictEqual(value, check(fallback));
    const written = set ? format(value) : fallback;
    return { name, value: secret ? '' : withoutPassword(written), secret, set, default: fallback, meaning };
  });
}

function format(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.join(',');
  if (typeof value !== 'object') return String(value);
  return Object.entries(value)
    .map(([name, one]) => `${name}=${one}`)
    .join(',');
}

/** Removes the user name and the password from URLs. */
function withoutPassword(written: string): string {
  return written.replaceAll(/\/\/[^/@\s]*@/g, '//…@');
}

type Variables = Record<string, string | undefined>;
export type Source = 'environment' | 'file' | 'default';

const NAMES = Object.values(DEFINITIONS).map(({ name }) => name);
const NAMES_IN_FILE = NAMES.filter((name) => name !== SETTINGS_FILE);

/** Returns a function that gives the written value of a setting and the source of that value. */
function readSources(environment: Variables): (name: string) => [string, Source] | undefined {
  const file = readSettingsFile(environment[SETTINGS_FILE], NAMES_IN_FILE);
  return (name) => {
    const given = environment[name];
    if (given !== undefined) return [given, 'environment'];
    const written = file.get(name);
    return written === undefined ? undefined : [written, 'file'];
  };
}

/**
 * Reads and checks all settings.
 * @param environment usually `process.env`
 * @throws SettingError for the first invalid value, and when the settings file cannot be read or has an invalid line
 */
export function loadSettings(environment: Variables): Settings {
  const written = readSources(environment);
  const entries = Object.entries(DEFINITIONS).map(([key, definition]) => {
    const [value] = written(definition.name) ?? [definition.default];
    try {
      return [key, definition.check(value)];
    } catch (error) {
      throw new SettingError(`${definition.name} must be ${(error as Error).message}.`);
    }
  });
  return Object.fromEntries(entries) as Settings;
}

/**
 * Returns every setting with its value and source. The values of secrets are left out.
 * @throws SettingError for the same reasons as `loadSettings`
 */
export function effectiveSettings(environment: Variables): (ShownSetting & { source: Source })[] {
  const written = readSources(environment);
  return showSettings(loadSettings(environment)).map((one) => ({
    ...one,
    source: written(one.name)?.[1] ?? 'default',
  }));
}

/** Returns a warning for each environment variable whose name looks like that of a setting but is unknown. */
export function warnOfUnknownSettings(environment: Variables): string[] {
  const unknown = Object.keys(environment).filter(
    (name) => name.startsWith('DRAGOMAN_') && !NAMES.includes(name),
  );
  return unknown.map((name) => `${name} is ignored: ${describeUnknown(name, NAMES)}.`);
}
