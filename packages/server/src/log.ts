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

/** No `child`: pino does not ask the allow-list about the fields that a child is given. */
export type Log = Pick<Logger, 'error' | 'warn' | 'info' | 'debug'>;

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
        logMethod(args, method) {
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

/**
 * Name, code and stack frames of an error, without its message: a message may quote what it choked on
 * (`Unexpected token 'x'`, `Key (uid)=(…) already exists`).
 */
function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  // The stack begins with the message, whose lines may look like frames.
  const stack = (error.stack ?? '').replace(error.message, '');
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return {
    error: error.name,
    ...('code' in error && typeof error.code === 'string' ? { code: error.code } : {}),
    stack: frames.map((line) => line.trim()).join(' | '),
  };
}
