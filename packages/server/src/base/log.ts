/**
 * Logs with an allow-list of fields, so that customer texts, keys and callback URLs cannot be logged by
 * accident. A deny-list would miss new fields.
 */
import { type DestinationStream, type Logger, pino } from 'pino';

const ALLOWED = new Set(
  `account attempt attempts code count delivery detail direction environment host job key method milliseconds
name pid port reason request role route status username version`.split(/\s/),
);

/** Errors that were already logged with their cause. */
const logged = new WeakSet<object>();

/** Marks an error as logged. Further log lines with this error are written at the level `debug`. */
export function markLogged(error: unknown): void {
  if (error instanceof Error) logged.add(error);
}

/**
 * The log of the program. The type omits `child`, because pino does not apply the allow-list to the fields of
 * a child log.
 */
export type Log = Pick<Logger, 'error' | 'warn' | 'info' | 'debug'>;

/** Pino's number of the level `debug`. */
const DEBUG = 20;

/**
 * Creates a log.
 * @param level a level of pino, or `silent`
 * @param destination the default is standard error, because commands print results on standard output
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
          if (numeric > DEBUG && error instanceof Error && logged.has(error)) {
            this.debug(...(args as Parameters<typeof this.debug>));
            return;
          }
          // Passes an empty message. Without a message, pino would log the message of the error.
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

/** Constant messages of the database driver and of Node. They contain no data. */
const FIXED_MESSAGE =
  /^(?:Connection terminated(?: unexpectedly| due to connection timeout)?|Client has encountered a connection error and is not queryable|timeout exceeded when trying to connect|Query read timeout|socket hang up|The operation was aborted due to timeout|This operation was aborted)$/;
/** Classes of our own errors whose messages describe settings and the machine, never a request. */
const OPERATIONAL = new Set([
  'CommitUnknown',
  'EmbeddedPostgresError',
  'NoDatabaseError',
  'SecretKeyError',
  'SettingError',
]);
/**
 * SQLSTATE classes about connections, privileges, prepared statements, locks, resources, and statements that do not fit the
 * schema. Their messages name roles, databases, tables, columns and pieces of the program's SQL, but no values of rows or
 * parameters.
 */
const SAFE_SQLSTATE = /^(?:08|0A|25|26|28|3D|40|42|53|55|57)[0-9A-Z]{3}$/;
const FRAMES = 4;
/** The URL of the repository, which is removed from stack frames. */
const ROOT = new URL('../../../../', import.meta.url).href;

/**
 * Returns name, code and first stack frames of an error. Adds the message only if it cannot quote data.
 * Messages such as `Unexpected token 'x'` and `Key (uid)=(…) already exists` quote data.
 */
function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  // The stack begins with the message, and lines of the message may look like frames.
  const stack = (error.stack ?? '').replace(error.message, '');
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return {
    // For an error class that does not set `name`, the name of the class is logged.
    error: error.name === 'Error' || error.name === 'error' ? error.constructor.name : error.name,
    ...('code' in error && typeof error.code === 'string' ? { code: error.code } : {}),
    ...reasonOf(error),
    stack: frames
      .filter((line) => !line.includes('node:internal'))
      .slice(0, FRAMES)
      .map((line) => line.trim().replace(ROOT, ''))
      .join(' | '),
  };
}

function reasonOf(error: Error & { code?: unknown; syscall?: unknown }): { reason?: string } {
  const { message, code, syscall } = error;
  if (OPERATIONAL.has(error.constructor.name) || FIXED_MESSAGE.test(message)) return { reason: message };
  if (typeof code !== 'string') return {};
  if (fromPostgresql(error) && SAFE_SQLSTATE.test(code)) return { reason: message };
  // The message of a Node error contains a path or an address, which may belong to a customer.
  return typeof syscall === 'string' ? { reason: `${syscall} ${code}` } : {};
}

/**
 * Returns whether an error is a message of PostgreSQL, or of a pooler before it. Only the driver's class has this name
 * together with a `severity`.
 */
function fromPostgresql(error: Error): boolean {
  const { severity } = error as { severity?: unknown };
  return error.constructor.name === 'DatabaseError' && typeof severity === 'string';
}
