/**
 * Logs by an allow-list: a field that is not on it is dropped, so customer text, keys and callback queries
 * cannot reach a log by accident (a list of things to hide always misses the next field).
 */
import { type DestinationStream, type Logger, pino } from 'pino';

const ALLOWED = new Set([
  'account',
  'attempt',
  'attempts',
  'code',
  'count',
  'delivery',
  'detail',
  'direction',
  'environment',
  'host',
  'job',
  'method',
  'milliseconds',
  'name',
  'pid',
  'port',
  'reason',
  'request',
  'role',
  'route',
  'status',
  'version',
]);

/** Errors whose trouble has a line of its own already. */
const told = new WeakSet<object>();

/** Marks an error as logged: what else is said because of it is written at the level `debug`. */
export function markTold(error: unknown): void {
  if (error instanceof Error) told.add(error);
}

/** No `child`: pino does not ask the allow-list about the fields that a child is given. */
export type Log = Pick<Logger, 'error' | 'warn' | 'info' | 'debug'>;

/** Pino's number for the level. */
const DEBUG = 20;

/**
 * @param level one of pino's levels or `silent`
 * @param destination where lines go; standard error by default, since standard output belongs to results
 */
export function createLog(level: string, destination: DestinationStream = pino.destination(2)): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      errorKey: 'error',
      formatters: { level: (label) => ({ level: label }), log: allowed },
      hooks: {
        logMethod(args, method, numeric) {
          const [first] = args as unknown[];
          const error = first instanceof Error ? first : (first as { error?: unknown } | undefined)?.error;
          if (numeric > DEBUG && error instanceof Error && told.has(error)) {
            this.debug(...(args as Parameters<typeof this.debug>));
            return;
          }
          // Without a message of the line's own, pino takes that of the error.
          const bare = args.length === 1 && typeof args[0] === 'object';
          method.apply(this, bare ? [args[0], ''] : args);
        },
      },
    },
    destination,
  );
}

function allowed(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) =>
      key === 'error' ? Object.entries(errorFields(value)) : ALLOWED.has(key) ? [[key, value]] : [],
    ),
  );
}

/** Messages of the database's driver and of Node that are the same for every cause, so they quote nothing. */
const FIXED_MESSAGE =
  /^(?:Connection terminated(?: unexpectedly| due to connection timeout)?|Client has encountered a connection error and is not queryable|timeout exceeded when trying to connect|Query read timeout|socket hang up|The operation was aborted due to timeout|This operation was aborted)$/;
/** Our own errors whose messages speak of settings and of this machine, never of a request. */
const OPERATIONAL = new Set(['CommitUnknown', 'EmbeddedError', 'SecretKeyError', 'SettingError']);
const FRAMES = 6;
/** Where the repository stands; the rest of a frame's path says which file. */
const ROOT = new URL('../../../', import.meta.url).href;

/**
 * Name, code and first stack frames of an error. Its message only where it cannot quote what it choked on, as
 * `Unexpected token 'x'` and `Key (uid)=(…) already exists` do.
 */
function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  // The stack begins with the message, whose lines may look like frames.
  const stack = (error.stack ?? '').replace(error.message, '');
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return {
    // A class that sets no name is told apart by its own.
    error: error.name === 'Error' || error.name === 'error' ? error.constructor.name : error.name,
    ...('code' in error && typeof error.code === 'string' ? { code: error.code } : {}),
    ...(isSafe(error) ? { reason: error.message } : {}),
    stack: frames
      .filter((line) => !line.includes('node:internal'))
      .slice(0, FRAMES)
      .map((line) => line.trim().replace(ROOT, ''))
      .join(' | '),
  };
}

function isSafe(error: Error): boolean {
  return OPERATIONAL.has(error.constructor.name) || FIXED_MESSAGE.test(error.message);
}
