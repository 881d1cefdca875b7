/**
 * Password hashing with argon2id at OWASP's minimum cost: 19 MiB of memory, two passes, one lane, about 30
 * ms. A process computes at most two hashes at the same time, so that sign-ins leave processor time for the
 * API.
 */
import { argon2 as argon2WithCallback, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { ApiError, type Reason, reason } from '../base/errors.ts';

const argon2 = promisify(argon2WithCallback);

const COST = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const TAG_BYTES = 32;
const NONCE_BYTES = 16;
const MAX_RUNNING = 2;
/**
 * The maximum number of calls that may wait for a hash, about three seconds of work. Further calls are
 * answered with 503.
 */
const MAX_WAITING = 200;

const MIN_LENGTH = 10;
/**
 * The maximum number of characters in a password. Longer passwords are refused and not truncated, because
 * passwords that differ only after the maximum would then be the same.
 */
const MAX_LENGTH = 200;

let running = 0;
const waiting: (() => void)[] = [];

async function withinLimit<T>(work: () => Promise<T>): Promise<T> {
  if (running < MAX_RUNNING) running++;
  else {
    if (waiting.length >= MAX_WAITING) {
      throw new ApiError('unavailable', 'Too many sign-ins at once. Try again in a few seconds.', {
        'retry-after': '2',
      });
    }
    // A finished call hands its slot to the first call in the queue.
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}

interface Cost {
  memory: number;
  passes: number;
  parallelism: number;
}

function derive(password: string, nonce: Buffer, cost: Cost): Promise<Buffer> {
  // NFKC makes equivalent characters hash equally (NIST SP 800-63B §3.1.1.2).
  const message = Buffer.from(password.normalize('NFKC'));
  return withinLimit(() => argon2('argon2id', { message, nonce, tagLength: TAG_BYTES, ...cost }));
}

/** Hashes a password. @returns the hash in its stored form, `$argon2id$v=19$m=…,t=…,p=…$salt$hash` */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(NONCE_BYTES);
  return encode(nonce, await derive(password, nonce, COST));
}

const unpadded = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');

function encode(nonce: Buffer, tag: Buffer): string {
  const { memory, passes, parallelism } = COST;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(nonce)}$${unpadded(tag)}`;
}

/**
 * A hash that no password matches. Passwords of unknown users and of users without a password are compared
 * with it, so that a refusal takes the same time for all users.
 */
const NO_PASSWORD = encode(randomBytes(NONCE_BYTES), randomBytes(TAG_BYTES));

/** Compares a password with a stored hash. Takes the same time when no hash is stored. */
export async function passwordMatches(password: string, stored: string | undefined): Promise<boolean> {
  const [, memory, passes, parallelism, nonce, tag] =
    /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(stored ?? NO_PASSWORD) ?? [];
  if (nonce === undefined || tag === undefined) throw new Error('a stored password hash is malformed');
  const expected = Buffer.from(tag, 'base64');
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const derived = await derive(password, Buffer.from(nonce, 'base64'), cost);
  return derived.length === expected.length && timingSafeEqual(derived, expected) && stored !== undefined;
}

/** The most frequent leaked passwords that have at least `MIN_LENGTH` characters. */
const COMMON = new Set(
  (
    '1234567890 0123456789 0987654321 9876543210 12345678910 123456789a 123456789q 1q2w3e4r5t 1q2w3e4r5t6y ' +
    'qwertyuiop qwerty12345 qwerty123456 1qaz2wsx3edc q1w2e3r4t5y6 asdfghjkl1 zaq12wsxcde password12 password123 ' +
    'password1234 password12345 passw0rd123 mypassword letmein123 iloveyou12 iloveyou123 welcome123 welcome1234 ' +
    'administrator admin12345 admin123456 changeme123 football123 baseball123 sunshine123 princess123 superman123 ' +
    'qwertyuiop123 abcdefghij abcdefghijk abc1234567 abcd123456 dragoman123 trustno1trustno1'
  ).split(' '),
);

/** Returns the reason why a new password is refused, or undefined when it is accepted. */
export function passwordFault(password: string, email: string): Reason | undefined {
  const characters = [...password].length;
  if (characters < MIN_LENGTH) return reason('has_at_least', { least: MIN_LENGTH });
  if (characters > MAX_LENGTH) return reason('has_at_most', { most: MAX_LENGTH });
  const plain = password.normalize('NFKC').toLowerCase();
  const guessed = COMMON.has(plain) || new Set(plain).size < 4;
  if (guessed) return reason('password_guessed');
  if (plain === email || plain === email.split('@')[0]) return reason('password_is_email');
  return undefined;
}
