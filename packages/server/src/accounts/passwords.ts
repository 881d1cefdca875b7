/**
 * Passwords: argon2id with what OWASP names as the least (19 MiB, two passes, one lane; some 30 ms), two at a time in
 * one process, so that sign-ins cannot take the machine from the interface.
 */
import { argon2 as argon2WithCallback, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { ApiError, type Reason, reason } from '../errors.ts';

const argon2 = promisify(argon2WithCallback);

const COST = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const TAG_BYTES = 32;
const NONCE_BYTES = 16;
const MAX_RUNNING = 2;
/** Some three seconds of work. Who comes later is told to come again. */
const MAX_WAITING = 200;

export const LEAST_PASSWORD = 10;
/** A longer one is refused, not cut. */
export const MOST_PASSWORD = 200;

let running = 0;
const waiting: (() => void)[] = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running < MAX_RUNNING) running++;
  else {
    if (waiting.length >= MAX_WAITING) {
      throw new ApiError('unavailable', 'Too many people sign in at once; please try again.', {
        'retry-after': '2',
      });
    }
    // Whoever ends hands its turn on.
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
  // The same letters however they were typed (NIST SP 800-63B §3.1.1.2).
  const message = Buffer.from(password.normalize('NFKC'));
  return inTurn(() => argon2('argon2id', { message, nonce, tagLength: TAG_BYTES, ...cost }));
}

/** @returns as it is stored, `$argon2id$v=19$m=…,t=…,p=…$salt$hash` */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(NONCE_BYTES);
  return written(nonce, await derive(password, nonce, COST));
}

const unpadded = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');

function written(nonce: Buffer, tag: Buffer): string {
  const { memory, passes, parallelism } = COST;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(nonce)}$${unpadded(tag)}`;
}

/** Compared with where there is no such person, or none who has a password yet: the same work, and never equal. */
const NOBODY = written(randomBytes(NONCE_BYTES), randomBytes(TAG_BYTES));

/** Does the same work whether there is a stored hash or not. */
export async function passwordMatches(password: string, stored: string | undefined): Promise<boolean> {
  const [, memory, passes, parallelism, nonce, tag] =
    /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(stored ?? NOBODY) ?? [];
  if (nonce === undefined || tag === undefined) throw new Error('a stored password cannot be read');
  const expected = Buffer.from(tag, 'base64');
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const derived = await derive(password, Buffer.from(nonce, 'base64'), cost);
  return derived.length === expected.length && timingSafeEqual(derived, expected) && stored !== undefined;
}

/** The beginnings of lists of stolen passwords that are long enough for us. */
const COMMON = new Set(
  (
    '1234567890 0123456789 0987654321 9876543210 12345678910 123456789a 123456789q 1q2w3e4r5t 1q2w3e4r5t6y ' +
    'qwertyuiop qwerty12345 qwerty123456 1qaz2wsx3edc q1w2e3r4t5y6 asdfghjkl1 zaq12wsxcde password12 password123 ' +
    'password1234 password12345 passw0rd123 mypassword letmein123 iloveyou12 iloveyou123 welcome123 welcome1234 ' +
    'administrator admin12345 admin123456 changeme123 football123 baseball123 sunshine123 princess123 superman123 ' +
    'qwertyuiop123 abcdefghij abcdefghijk abc1234567 abcd123456 dragoman123 trustno1trustno1'
  ).split(' '),
);

/** What is wrong with a password that somebody chooses; undefined: nothing. */
export function passwordFault(password: string, email: string): Reason | undefined {
  const characters = [...password].length;
  if (characters < LEAST_PASSWORD) return reason('has_at_least', { least: LEAST_PASSWORD });
  if (characters > MOST_PASSWORD) return reason('has_at_most', { most: MOST_PASSWORD });
  const plain = password.normalize('NFKC').toLowerCase();
  const guessed = COMMON.has(plain) || new Set(plain).size < 4;
  if (guessed) return reason('password_guessed');
  if (plain === email || plain === email.split('@')[0]) return reason('password_is_email');
  return undefined;
}
