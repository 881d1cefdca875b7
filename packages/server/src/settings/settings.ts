/**
 * All settings. Each setting is one entry with its name, default, check and meaning, in `server-settings.ts`,
 * `engine-settings.ts` or `work-settings.ts`. The command `dragoman settings` prints them. An invalid
 * value stops the start.
 *
 * The value of a setting comes from the environment, or else from the file that `DRAGOMAN_SETTINGS` names
 * (lines of `NAME=value`), or else from the default. Both can give `NAME_FILE` instead of a secret `NAME`: the path of a
 * file with the value.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Setting } from './checks.ts';
import { ENGINE_SETTINGS, LLM_SETTINGS } from './engine-settings.ts';
import { SERVER_SETTINGS, SETTINGS_FILE } from './server-settings.ts';
import { describeUnknown, readSecretFile, readSettingsFile, SettingError } from './sources.ts';
import { WORK_SETTINGS } from './work-settings.ts';

export { SettingError } from './sources.ts';

const DEFINITIONS = { ...SERVER_SETTINGS, ...ENGINE_SETTINGS, ...WORK_SETTINGS };

type ValuesOf<Definitions> = {
  -readonly [K in keyof Definitions]: Definitions[K] extends Setting<infer T> ? T : never;
};
export type LanguageModelSettings = ValuesOf<typeof LLM_SETTINGS>;
/**
 * The key of a setting of an engine `llm:NAME` consists of the key of the same setting of `llm`, a colon and the name:
 * `llmUrl:qwen`.
 */
export type Settings = ValuesOf<typeof DEFINITIONS> & {
  [K in keyof LanguageModelSettings as `${K}:${string}`]?: LanguageModelSettings[K];
};

/** Returns the definitions of all settings by key, including those of each engine `llm:NAME` in the list. */
function definitionsFor(engines: readonly string[]): Record<string, Setting<unknown>> {
  const named = engines.flatMap((engine) => {
    const [, name] = /^llm:([a-z][a-z0-9]*)$/.exec(engine) ?? [];
    if (name === undefined) return [];
    return Object.entries<Setting<unknown>>(LLM_SETTINGS).map(([key, one]): [string, Setting<unknown>] => [
      `${key}:${name}`,
      {
        ...one,
        name: one.name.replace('DRAGOMAN_LLM_', `DRAGOMAN_LLM_${name.toUpperCase()}_`),
        meaning: one.meaning.replace('the engine llm', `the engine ${engine}`),
      },
    ]);
  });
  return { ...DEFINITIONS, ...Object.fromEntries(named) };
}

/** Returns the settings of the engine `llm` or `llm:NAME`. */
export function languageModelSettings(settings: Settings, engine: string): LanguageModelSettings {
  const suffix = engine.slice('llm'.length);
  const keys = Object.keys(LLM_SETTINGS);
  const values = keys.map((key) => [key, settings[`${key}${suffix}` as keyof Settings]]);
  return Object.fromEntries(values) as LanguageModelSettings;
}

/** Returns the public address of the server, without a final slash. */
export function publicRoot({ publicUrl, host, port }: Pick<Settings, 'publicUrl' | 'host' | 'port'>): string {
  return publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Returns name, default and meaning of every setting. */
export function describeSettings(): { name: string; default: string; meaning: string; secret: boolean }[] {
  return Object.values(DEFINITIONS).map(({ name, default: fallback, meaning }) => ({
    name,
    default: fallback,
    meaning,
    secret: isSecret(name),
  }));
}

/** Matches the settings whose values are never shown: secrets, and URLs that can contain a password. */
const SECRET = /_(?:KEY|KEY_PREVIOUS|TOKEN|SECRET|PASSWORD)$|^DATABASE_|_SMTP_URL$/;

const isSecret = (name: string): boolean => SECRET.test(name);
const fileOf = (name: string): string => `${name}_FILE`;

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
  const definitions = Object.entries(definitionsFor(settings.engines));
  return definitions.map(([key, { name, default: fallback, meaning, check, write = format }]) => {
    const value = settings[key as keyof Settings];
    const secret = isSecret(name);
    const set = !isDeepStrictEqual(value, check(fallback));
    const written = set ? write(value) : fallback;
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

const { name: ENGINES, default: DEFAULT_ENGINES } = ENGINE_SETTINGS.engines;

/**
 * Returns the definitions of all settings, including those of each engine `llm:NAME` that the environment, or else the
 * file, names.
 */
function definitionsIn(
  environment: Variables,
  file: ReadonlyMap<string, string>,
): Record<string, Setting<unknown>> {
  const engines = environment[ENGINES] ?? file.get(ENGINES) ?? DEFAULT_ENGINES;
  return definitionsFor(engines.split(',').map((name) => name.trim()));
}

/** Returns the names that the environment and the settings file may have. */
const namesOf = (definitions: Record<string, Setting<unknown>>): string[] =>
  Object.values(definitions).flatMap(({ name }) => (isSecret(name) ? [name, fileOf(name)] : [name]));

interface Written {
  value: string;
  source: Source;
  /** What gives the value, for messages: `NAME must be`, or `NAME_FILE must name a file that contains`. */
  subject: string;
}

interface Sources {
  definitions: Record<string, Setting<unknown>>;
  /** Returns the written value of a setting. @throws SettingError when the file of a secret cannot be used */
  written(name: string): Written | undefined;
}

function readSources(environment: Variables): Sources {
  const file = readSettingsFile(environment[SETTINGS_FILE], (values) =>
    namesOf(definitionsIn(environment, values)).filter((name) => name !== SETTINGS_FILE),
  );
  const definitions = definitionsIn(environment, file);
  const written: Sources['written'] = (name) =>
    writtenIn((one) => environment[one], 'environment', name) ??
    writtenIn((one) => file.get(one), 'file', name);
  return { definitions, written };
}

/** Reads a setting from one source, or the file that the source names for a secret. */
function writtenIn(
  get: (name: string) => string | undefined,
  source: Source,
  name: string,
): Written | undefined {
  const value = get(name);
  const file = fileOf(name);
  const path = isSecret(name) ? (get(file) ?? '') : '';
  if (path === '') return value === undefined ? undefined : { value, source, subject: `${name} must be` };
  // An empty value is one that is not set: container tools pass variables that nobody set as empty ones.
  if (value !== undefined && value !== '') {
    throw new SettingError(`${name} and ${file} are both set; remove one of them.`);
  }
  return { value: readSecretFile(file, path), source, subject: `${file} must name a file that contains` };
}

/**
 * Reads and checks all settings.
 * @param environment usually `process.env`
 * @throws SettingError for the first invalid value, and when the settings file cannot be read or has an invalid line
 */
export function loadSettings(environment: Variables): Settings {
  const { definitions, written } = readSources(environment);
  const entries = Object.entries(definitions).map(([key, definition]) => {
    const found = written(definition.name);
    try {
      return [key, definition.check(found?.value ?? definition.default)];
    } catch (error) {
      throw new SettingError(
        `${found?.subject ?? `${definition.name} must be`} ${(error as Error).message}.`,
      );
    }
  });
  return Object.fromEntries(entries) as Settings;
}

/**
 * Returns every setting with its value and source. The values of secrets are left out.
 * @throws SettingError for the same reasons as `loadSettings`
 */
export function effectiveSettings(environment: Variables): (ShownSetting & { source: Source })[] {
  const { written } = readSources(environment);
  return showSettings(loadSettings(environment)).map((one) => ({
    ...one,
    source: written(one.name)?.source ?? 'default',
  }));
}

/** Returns a warning for each environment variable whose name looks like that of a setting but is unknown. */
export function warnOfUnknownSettings(environment: Variables): string[] {
  let names = namesOf(DEFINITIONS);
  try {
    names = namesOf(readSources(environment).definitions);
  } catch {
    // The settings file has a fault. The command reports it when it loads the settings after this check.
  }
  const unknown = Object.keys(environment).filter(
    (name) => name.startsWith('DRAGOMAN_') && !names.includes(name),
  );
  return unknown.map((name) => `${name} is ignored: ${describeUnknown(name, names)}.`);
}
