/**
 * Logs with an allow-list of fields, so that customer texts, keys and callback URLs cannot reach a log by accident. A
 * deny-list would miss new fields.
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

/** Errors whose cause was already logged. */
const logged = new WeakSet<object>();

/** Marks an error as logged. Further lines with it are written at the level `debug`. */
export function markLogged(error: unknown): void {
  if (error instanceof Error) logged.add(error);
}

/** Without `child`, because pino does not apply the allow-list to the fields of a child. */
export type Log = Pick<Logger, 'error' | 'warn' | 'info' | 'debug'>;

/** The number of the level in pino. */
const DEBUG = 20;

/**
 * @param level a level of pino, or `silent`
 * @param destination standard error by default; standard output is for results
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
          // Without a message, pino would log the message of the error.
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

/** Constant messages of the database driver and of Node, which quote nothing. */
const FIXED_MESSAGE =
  /^(?:Connection terminated(?: unexpectedly| due to connection timeout)?|Client has encountered a connection error and is not queryable|timeout exceeded when trying to connect|Query read timeout|socket hang up|The operation was aborted due to timeout|This operation was aborted)$/;
/** Our own errors whose messages are about settings and the machine, never about a request. */
const OPERATIONAL = new Set([
  'CommitUnknown',
  'EmbeddedPostgresError',
  'NoDatabaseError',
  'SecretKeyError',
  'SettingError',
]);
/**
 * SQLSTATE classes about connections, privileges, locks and resources. Their messages name roles, databases and tables,
 * but no values of rows.
 */
const SAFE_SQLSTATE = /^(?:08|25|28|3D|40|53|55|57)[0-9A-Z]{3}$|^42501$/;
const FRAMES = 4;
/** The URL of the repository, which is removed from stack frames. */
const ROOT = new URL('../../../../', import.meta.url).href;

/**
 * Returns name, code and first stack frames of an error. The message is added only if it cannot quote data, as
 * `Unexpected token 'x'` and `Key (uid)=(…) already exists` do.
 */
function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  // The stack starts with the message, whose lines may look like frames.
  const stack = (error.stack ?? '').replace(error.message, '');
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return {
    // Classes that do not set `name` are logged by class name.
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
  // The message of Node contains a path or an address, which may be a customer's.
  return typeof syscall === 'string' ? { reason: `${syscall} ${code}` } : {};
}

/** Only errors of PostgreSQL have both fields; `routine` is a function of its source. */
function fromPostgresql(error: Error): boolean {
  const { severity, routine } = error as { severity?: unknown; routine?: unknown };
  return typeof severity === 'string' && typeof routine === 'string';
}
