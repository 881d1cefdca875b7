/**
 * Every setting: name, default, check, one sentence. This file is the default, the check and the manual
 * (`npx dragoman settings` prints it). A wrong value stops the start.
 *
 * A setting is read from the environment, else from the file named by `DRAGOMAN_SETTINGS` (lines of
 * `NAME=value`), else its default.
 */
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual, parseEnv } from 'node:util';
import ipaddr from 'ipaddr.js';
import { ENGINE_NAMES } from './translation/names.ts';

/** A setting with a wrong value. The message is one sentence that names the setting. */
export class SettingError extends Error {
  override name = 'SettingError';
}

/** Turns the written value into the typed one; throws an Error whose message completes "must be …". */
type Check<T> = (written: string) => T;

interface Setting<T> {
  name: string;
  /** As it would be written in the environment; empty means "not set". */
  default: string;
  check: Check<T>;
  meaning: string;
}

function setting<T>(name: string, fallback: string, check: Check<T>, meaning: string): Setting<T> {
  return { name, default: fallback, check, meaning };
}

const text: Check<string> = (written) => written;

const optional =
  <T>(check: Check<T>): Check<T | undefined> =>
  (written) =>
    written === '' ? undefined : check(written);

function integer(least: number, most: number): Check<number> {
  return (written) => {
    const value = Number(written);
    if (!/^\d+$/.test(written) || value < least || value > most) {
      throw new Error(`a whole number from ${least} to ${most}`);
    }
    return value;
  };
}

function oneOf<const T extends string>(...accepted: T[]): Check<T> {
  return (written) => {
    const found = accepted.find((value) => value === written);
    if (found === undefined) throw new Error(`one of ${accepted.join(', ')}`);
    return found;
  };
}

const httpUrl: Check<string> = (written) => {
  if (!URL.canParse(written) || !/^https?:$/.test(new URL(written).protocol)) {
    throw new Error('an http or https address');
  }
  return written.replace(/(?<!\/)\/+$/, '');
};

/** Whether PostgreSQL's driver can take it apart. A host in the query leaves the address without one. */
function isReadable(address: string): boolean {
  try {
    decodeURI(address);
  } catch {
    return false;
  }
  return URL.canParse(address.replace('@/', '@localhost/').replaceAll(' ', '%20'));
}

const databaseUrl: Check<string> = (written) => {
  if (!/^postgres(ql)?:\/\//.test(written)) throw new Error('an address that begins with postgres://');
  if (!isReadable(written)) {
    throw new Error('an address, with special characters of its user name and password percent-encoded');
  }
  return written;
};

const smtpUrl: Check<string> = (written) => {
  if (!/^smtps?:\/\/[^/?#]+\/?$/.test(written) || !URL.canParse(written)) {
    throw new Error('an address that begins with smtp:// or smtps://');
  }
  return written;
};

const secretKey: Check<Buffer> = (written) => {
  const key = Buffer.from(written, 'base64');
  if (key.length !== 32) throw new Error('32 bytes in base64');
  return key;
};

const listOf =
  <T>(check: Check<T>): Check<T[]> =>
  (written) =>
    written === '' ? [] : written.split(',').map((item) => check(item.trim()));

const filledListOf =
  <T>(check: Check<T>): Check<T[]> =>
  (written) =>
    written.split(',').map((item) => check(item.trim()));

const direction: Check<string> = (written) => {
  if (!/^[a-z]{2,3}(-[a-z0-9]+)?>[a-z]{2,3}(-[a-z0-9]+)?$/.test(written)) {
    throw new Error('a comma list of pairs such as en>de,de>en');
  }
  return written;
};

/** `name=number,name=number` */
const numberByName: Check<Record<string, number>> = (written) =>
  Object.fromEntries(
    listOf((item) => {
      const [, name, number] = /^([a-z]+)=(\d+(?:\.\d+)?)$/.exec(item) ?? [];
      if (name === undefined || Number(number) <= 0) {
        throw new Error('a comma list of an engine and a number above zero, such as deepl=5');
      }
      return [name, Number(number)] as const;
    })(written),
  );

const folder: Check<string> = (written) => {
  if (written.trim() === '') throw new Error('the path of a folder');
  return written;
};

const network: Check<string> = (written) => {
  if (!ipaddr.isValidCIDR(written)) throw new Error('a comma list of networks such as 10.0.0.0/8');
  return written;
};

const MEBIBYTE = 1024 * 1024;

const DEFINITIONS = {
  databaseUrl: setting(
    'DATABASE_URL',
    '',
    optional(databaseUrl),
    'PostgreSQL (15 or later) to use. Not set: the program runs its own in the data directory.',
  ),
  data: setting(
    'DRAGOMAN_DATA',
    './data',
    folder,
    'The data directory: embedded database, secret key, offline engine.',
  ),
  host: setting('DRAGOMAN_HOST', '127.0.0.1', text, 'The address that the server listens on.'),
  port: setting('DRAGOMAN_PORT', '8080', integer(0, 65_535), 'The port that the server listens on.'),
  publicUrl: setting(
    'DRAGOMAN_PUBLIC_URL',
    '',
    optional(httpUrl),
    'The address under which customers reach the server. Not set: http://HOST:PORT.',
  ),
  sandboxUrl: setting(
    'DRAGOMAN_SANDBOX_URL',
    '',
    optional(httpUrl),
    'A separate host name or port for the sandbox. Not set: the public address with /sandbox.',
  ),
  sandboxHoldSeconds: setting(
    'DRAGOMAN_SANDBOX_HOLD',
    '120',
    integer(0, 86_400),
    'Seconds, from its creation, that a finished sandbox job is held before it is delivered.',
  ),
  machineHoldSeconds: setting(
    'DRAGOMAN_MT_HOLD',
    '0',
    integer(0, 86_400),
    'Seconds, from its creation, that a finished machine-only job is held, in both environments.',
  ),
  allowedNetworks: setting(
    'DRAGOMAN_ALLOWED_NETWORKS',
    '',
    listOf(network),
    'Networks that callbacks may reach besides public addresses, such as 10.0.0.0/8,127.0.0.0/8.',
  ),
  callbackSchedule: setting(
    'DRAGOMAN_CALLBACK_SCHEDULE',
    '5,30,120,600,1800,3600,7200,14400,28800',
    filledListOf(integer(1, 259_200)),
    'Seconds between the tries of a delivery; the last one repeats until 72 hours have passed.',
  ),
  callbackTimeoutSeconds: setting(
    'DRAGOMAN_CALLBACK_TIMEOUT',
    '15',
    integer(1, 60),
    'Seconds that a receiver has to answer.',
  ),
  callbackBreaker: setting(
    'DRAGOMAN_CALLBACK_BREAKER',
    '30,60,120,300',
    filledListOf(integer(1, 86_400)),
    'Seconds that nothing is sent to a host after five failures in a row, and after each later one; the last repeats.',
  ),
  vendor: setting(
    'DRAGOMAN_VENDOR',
    'dragoman',
    (written) => {
      if (!/^[a-z0-9-]{1,40}$/.test(written))
        throw new Error('1 to 40 lower-case letters, digits or hyphens');
      return written;
    },
    'The vendor part of event types in chat deliveries.',
  ),
  secretKey: setting(
    'DRAGOMAN_SECRET_KEY',
    '',
    optional(secretKey),
    'Encrypts stored secrets: 32 bytes in base64, the same for all processes of one database. Not set: with the embedded database, made once and kept in the data directory.',
  ),
  sessionIdleSeconds: setting(
    'DRAGOMAN_SESSION_IDLE',
    '1800',
    integer(60, 604_800),
    'Seconds after which a person is signed out who does nothing.',
  ),
  sessionSeconds: setting(
    'DRAGOMAN_SESSION',
    '28800',
    integer(60, 2_592_000),
    'Seconds after which a person has to sign in again, whatever they do.',
  ),
  trustedProxies: setting(
    'DRAGOMAN_TRUSTED_PROXIES',
    '',
    listOf(network),
    'Networks of reverse proxies whose X-Forwarded-For tells who signs in, such as 10.0.0.0/8.',
  ),
  smtpUrl: setting(
    'DRAGOMAN_SMTP_URL',
    '',
    optional(smtpUrl),
    'The SMTP server that invitations go through, such as smtp://user:password@mail.example.com. Not set: links are shown, not mailed.',
  ),
  mailFrom: setting('DRAGOMAN_MAIL_FROM', 'Dragoman <dragoman@localhost>', text, 'Who mails come from.'),
  sandboxRequests: setting(
    'DRAGOMAN_SANDBOX_REQUESTS',
    'off',
    oneOf('off', 'operator', 'at-once'),
    'Whether anybody may ask for a sandbox account at /api/sandbox-requests, and who grants it: an operator, or nobody, at once.',
  ),
  logLevel: setting(
    'DRAGOMAN_LOG_LEVEL',
    'info',
    oneOf('silent', 'error', 'warn', 'info', 'debug'),
    'How much is logged. Customer text never is.',
  ),
  maxTextBytes: setting(
    'DRAGOMAN_MAX_TEXT_BYTES',
    String(10 * MEBIBYTE),
    integer(1, 10 * MEBIBYTE),
    'The longest text of one job, in bytes of UTF-8.',
  ),
  maxMessageCharacters: setting(
    'DRAGOMAN_MAX_MESSAGE',
    '20000',
    integer(6_000, 100_000),
    'The longest text of one chat message, in characters.',
  ),
  humanCentsPerWord: setting(
    'DRAGOMAN_PRICE_HUMAN',
    '3',
    integer(0, 100_000),
    'Price of a word, in USD cents, where a human edits and `pair price` has set no other.',
  ),
  machineCentsPerWord: setting(
    'DRAGOMAN_PRICE_MACHINE',
    '0',
    integer(0, 100_000),
    'Price of a word, in USD cents, for machine-only jobs, where `pair price` has set no other.',
  ),
  repeatShare: setting(
    'DRAGOMAN_REPEAT_SHARE',
    '100',
    integer(0, 100),
    'Percent of its price that a word costs in a sentence that stood in the same text before.',
  ),
  engines: setting(
    'DRAGOMAN_ENGINES',
    'apertium',
    filledListOf(oneOf(...ENGINE_NAMES)),
    'The translation engines, in the order in which they are tried where no route says otherwise.',
  ),
  engineConcurrency: setting(
    'DRAGOMAN_ENGINE_CONCURRENCY',
    '',
    numberByName,
    'Requests that a remote engine gets at a time from one worker, such as deepl=4; 4 where none is named.',
  ),
  engineRates: setting(
    'DRAGOMAN_ENGINE_RATES',
    '',
    numberByName,
    'Requests a second that an engine gets from one worker, such as deepl=10; no limit where none is named.',
  ),
  engineCosts: setting(
    'DRAGOMAN_ENGINE_COSTS',
    '',
    numberByName,
    'What a million characters cost, in cents, such as deepl=2500; counted in the metrics.',
  ),
  bergamotModels: setting(
    'DRAGOMAN_BERGAMOT_MODELS',
    '',
    optional(text),
    'A folder with a folder of models for each pair. Not set: bergamot in the data directory.',
  ),
  bergamotMebibytes: setting(
    'DRAGOMAN_BERGAMOT_MEMORY',
    '',
    optional(integer(400, 1_048_576)),
    'Memory, in MiB, that its threads may take together. Not set: a quarter of the machine’s.',
  ),
  deeplUrl: setting(
    'DRAGOMAN_DEEPL_URL',
    'https://api.deepl.com',
    httpUrl,
    'The address of the engine deepl; keys of the free plan have another.',
  ),
  deeplKey: setting('DRAGOMAN_DEEPL_KEY', '', optional(text), 'The key for the engine deepl.'),
  deeplModel: setting('DRAGOMAN_DEEPL_MODEL', '', optional(text), 'Its model. Not set: as it chooses.'),
  deeplPairs: setting(
    'DRAGOMAN_DEEPL_PAIRS',
    '',
    listOf(direction),
    'The pairs that the engine deepl offers, such as en>de,de>en. Not set: all that the service lists.',
  ),
  libretranslateUrl: setting(
    'DRAGOMAN_LIBRETRANSLATE_URL',
    '',
    optional(httpUrl),
    'The address of the engine libretranslate.',
  ),
  libretranslateKey: setting(
    'DRAGOMAN_LIBRETRANSLATE_KEY',
    '',
    optional(text),
    'The key for the engine libretranslate, where it wants one.',
  ),
  libretranslatePairs: setting(
    'DRAGOMAN_LIBRETRANSLATE_PAIRS',
    '',
    listOf(direction),
    'The pairs that the engine libretranslate offers, such as en>de,de>en. Not set: all that the service lists.',
  ),
  googleUrl: setting(
    'DRAGOMAN_GOOGLE_URL',
    'https://translation.googleapis.com',
    httpUrl,
    'The address of the engine google.',
  ),
  googleKey: setting(
    'DRAGOMAN_GOOGLE_KEY',
    '',
    optional(text),
    'The key for the engine google, which is version 2 of the service then.',
  ),
  googleProject: setting(
    'DRAGOMAN_GOOGLE_PROJECT',
    '',
    optional(text),
    'The project for the engine google, which is version 3 of the service then, in place of a key.',
  ),
  googleTokenFile: setting(
    'DRAGOMAN_GOOGLE_TOKEN_FILE',
    '',
    optional(text),
    'A file with the token for that project, read before each call: what makes tokens may write a new one at any time.',
  ),
  googleLocation: setting('DRAGOMAN_GOOGLE_LOCATION', 'global', text, 'The location of that project.'),
  googleGlossary: setting(
    'DRAGOMAN_GOOGLE_GLOSSARY',
    '',
    optional(text),
    'A glossary made at that location, by its name.',
  ),
  googlePairs: setting(
    'DRAGOMAN_GOOGLE_PAIRS',
    '',
    listOf(direction),
    'The pairs that the engine google offers, such as en>de,de>en. Not set: all that the service lists.',
  ),
  azureUrl: setting(
    'DRAGOMAN_AZURE_URL',
    'https://api.cognitive.microsofttranslator.com',
    httpUrl,
    'The address of the engine azure.',
  ),
  azureKey: setting('DRAGOMAN_AZURE_KEY', '', optional(text), 'The key for the engine azure.'),
  azureRegion: setting('DRAGOMAN_AZURE_REGION', '', optional(text), 'The region of its resource, if any.'),
  azurePairs: setting(
    'DRAGOMAN_AZURE_PAIRS',
    '',
    listOf(direction),
    'The pairs that the engine azure offers, such as en>de,de>en. Not set: all that the service lists.',
  ),
  llmUrl: setting(
    'DRAGOMAN_LLM_URL',
    '',
    optional(httpUrl),
    'The address of the engine llm: any server of the chat completions interface, up to its /v1.',
  ),
  llmKey: setting('DRAGOMAN_LLM_KEY', '', optional(text), 'The key for the engine llm, where it wants one.'),
  llmModel: setting('DRAGOMAN_LLM_MODEL', '', optional(text), 'The model of the engine llm.'),
  llmPairs: setting(
    'DRAGOMAN_LLM_PAIRS',
    '',
    listOf(direction),
    'The pairs that the engine llm offers, such as en>de,de>en: it has no list of its own.',
  ),
  cacheMebibytes: setting(
    'DRAGOMAN_CACHE_MEMORY',
    '64',
    integer(0, 65_536),
    'Memory, in MiB, for the latest translations of a worker, so that none is asked for twice.',
  ),
  apertiumRoot: setting(
    'DRAGOMAN_APERTIUM_ROOT',
    '',
    optional(text),
    'A folder that holds a private Apertium. Not set: the system’s, else the one in the data directory.',
  ),
  apertiumMebibytes: setting(
    'DRAGOMAN_APERTIUM_MEMORY',
    '2048',
    integer(256, 1_048_576),
    'Memory, in MiB, that resident Apertium pipelines may take together; idle ones make room.',
  ),
  apertiumPipelines: setting(
    'DRAGOMAN_APERTIUM_PIPELINES',
    '1',
    integer(1, 64),
    'Apertium pipelines that a direction’s jobs may have at a time; those after the first start for much work.',
  ),
  leaseSeconds: setting(
    'DRAGOMAN_LEASE',
    '30',
    integer(2, 3600),
    'Seconds after which the work of a dead worker is taken over by another.',
  ),
  workerJobs: setting(
    'DRAGOMAN_WORKER_JOBS',
    '256',
    integer(1, 10_000),
    'How many jobs one worker has in hand at a time.',
  ),
  workerMessages: setting(
    'DRAGOMAN_WORKER_MESSAGES',
    '64',
    integer(1, 10_000),
    'How many chat messages one worker has in hand at a time, besides its jobs.',
  ),
  senderDeliveries: setting(
    'DRAGOMAN_SENDER_DELIVERIES',
    '256',
    integer(1, 10_000),
    'How many deliveries one worker sends at a time.',
  ),
  maxRequests: setting(
    'DRAGOMAN_MAX_REQUESTS',
    '256',
    integer(1, 100_000),
    'How many requests of the interface one process works on at a time; more are answered 503 at once, with Retry-After.',
  ),
  liveStreams: setting(
    'DRAGOMAN_LIVE_STREAMS',
    '1000',
    integer(0, 100_000),
    'How many open pages one process tells of changes; more, and all of them with 0, look again every half minute.',
  ),
  senderPerHost: setting(
    'DRAGOMAN_SENDER_PER_HOST',
    '8',
    integer(1, 1_000),
    'How many deliveries one worker sends to one host at a time. Accounts share them; a quarter is reserved for accounts that have none under way there.',
  ),
  autoAcceptHours: setting(
    'DRAGOMAN_AUTO_ACCEPT_AFTER',
    '0',
    integer(0, 87_600),
    'Hours after which a delivered job that its customer has said nothing of counts as accepted; 0 is never.',
  ),
  editDeadlineHours: setting(
    'DRAGOMAN_EDIT_DEADLINE',
    '24',
    integer(1, 8760),
    'Hours from a job’s draft to when its editing should be done; some brands have the machine’s result delivered then.',
  ),
  taskWords: setting(
    'DRAGOMAN_TASK_WORDS',
    '300',
    integer(1, 100_000),
    'Words of the source that an editing task has at most.',
  ),
  taskLeaseSeconds: setting(
    'DRAGOMAN_TASK_LEASE',
    '600',
    integer(5, 86_400),
    'Seconds without a sign of an editor after which their task goes back to the queue, with its drafts.',
  ),
  taskMinutes: setting(
    'DRAGOMAN_TASK_MINUTES',
    '5',
    integer(0, 1440),
    'Minutes that an editor has for any task, besides those for its words.',
  ),
  taskWordsPerMinute: setting(
    'DRAGOMAN_TASK_PACE',
    '40',
    integer(1, 10_000),
    'Words for which an editor has a minute more.',
  ),
  editorTasks: setting(
    'DRAGOMAN_EDITOR_TASKS',
    '1',
    integer(1, 100),
    'How many editing tasks one editor has at a time.',
  ),
  editorReviews: setting(
    'DRAGOMAN_EDITOR_REVIEWS',
    '1',
    integer(1, 100),
    'How many reviews one editor has at a time.',
  ),
  claimExpiries: setting(
    'DRAGOMAN_CLAIM_EXPIRIES',
    '3',
    integer(1, 1000),
    'Tasks that an editor may let run out in a day before a pause.',
  ),
  claimPauseMinutes: setting(
    'DRAGOMAN_CLAIM_PAUSE',
    '30',
    integer(1, 1440),
    'Minutes of that pause, in which they claim nothing.',
  ),
  taskReservedHours: setting(
    'DRAGOMAN_TASK_RESERVED',
    '4',
    integer(0, 720),
    'Hours that a task which comes back waits for the editor who had it, before others may take it.',
  ),
  taskSkips: setting(
    'DRAGOMAN_TASK_SKIPS',
    '3',
    integer(1, 1000),
    'Editors who skip a task before an operator has to look at it.',
  ),
  queueShown: setting(
    'DRAGOMAN_QUEUE_SHOWN',
    '10',
    integer(1, 1000),
    'Tasks of one customer that an editor is shown at a time.',
  ),
  metricsToken: setting(
    'DRAGOMAN_METRICS_TOKEN',
    '',
    optional(text),
    'Bearer token that opens /metrics. Not set: there is no /metrics.',
  ),
} as const;

type Definitions = typeof DEFINITIONS;
export type Settings = {
  -readonly [K in keyof Definitions]: Definitions[K] extends Setting<infer T> ? T : never;
};

/** Where people and customers reach the server, without a slash at the end. */
export function publicRoot({ publicUrl, host, port }: Pick<Settings, 'publicUrl' | 'host' | 'port'>): string {
  return publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Name, default and meaning of every setting, in the order of this file. For `dragoman settings` and the docs. */
export function describeSettings(): { name: string; default: string; meaning: string }[] {
  return Object.values(DEFINITIONS).map(({ name, default: fallback, meaning }) => ({
    name,
    default: fallback,
    meaning,
  }));
}

/** Whose value is shown to nobody: what opens something, and addresses that may bring a password. */
const SECRET = /KEY|TOKEN|SECRET|PASSWORD|DATABASE_URL|SMTP/;

export interface ShownSetting {
  name: string;
  /** As it would be written; empty for a secret, and for what is not set. */
  value: string;
  secret: boolean;
  /** It is another than the default. */
  set: boolean;
  default: string;
  meaning: string;
}

/** Every setting with its value, without the secrets. */
export function showSettings(settings: Settings): ShownSetting[] {
  return Object.entries(DEFINITIONS).map(([key, { name, default: fallback, meaning, check }]) => {
    const value = settings[key as keyof Settings];
    const secret = SECRET.test(name);
    const set = !isDeepStrictEqual(value, check(fallback));
    const written = set ? writtenAs(value) : fallback;
    return { name, value: secret ? '' : withoutPassword(written), secret, set, default: fallback, meaning };
  });
}

function writtenAs(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.join(',');
  if (typeof value !== 'object') return String(value);
  return Object.entries(value)
    .map(([name, one]) => `${name}=${one}`)
    .join(',');
}

/** An address may bring a name and a password. */
function withoutPassword(written: string): string {
  return written.replaceAll(/\/\/[^/@\s]*@/g, '//…@');
}

/**
 * Reads and checks all settings.
 * @param environment usually `process.env`
 * @throws SettingError on the first wrong value, or when the settings file cannot be read
 */
export function loadSettings(environment: Record<string, string | undefined>): Settings {
  const file = readSettingsFile(environment.DRAGOMAN_SETTINGS);
  const entries = Object.entries(DEFINITIONS).map(([key, definition]) => {
    const written = environment[definition.name] ?? file[definition.name] ?? definition.default;
    try {
      return [key, definition.check(written)];
    } catch (error) {
      throw new SettingError(`${definition.name} must be ${(error as Error).message}.`);
    }
  });
  return Object.fromEntries(entries) as Settings;
}

function readSettingsFile(path: string | undefined): Record<string, string | undefined> {
  if (path === undefined || path === '') return {};
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new SettingError(
      `DRAGOMAN_SETTINGS must name a file that can be read: ${(error as Error).message}`,
    );
  }
}
