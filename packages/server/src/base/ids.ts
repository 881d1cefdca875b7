/**
 * Identifiers: UUIDv7 for rows (RFC 9562 §5.7) and short random uids for jobs. Also computes the part of an account: a
 * number from 0 to 255. The keys of the account's rows begin with it.
 */
import { randomBytes } from 'node:crypto';

/** The size of the pool of random bytes. One call of `randomBytes` for many ids costs less than a call for each id. */
const POOL_BYTES = 4096;
let pool = Buffer.alloc(0);

function random(bytes: number): Buffer {
  if (pool.length < bytes) pool = randomBytes(POOL_BYTES);
  const drawn = pool.subarray(0, bytes);
  pool = pool.subarray(bytes);
  return drawn;
}

let lastMilliseconds = 0;
let counter = 0;

/**
 * Returns a UUIDv7. Ids of one process sort in the order of their creation (RFC 9562 §6.2, methods 1 and 2):
 * `rand_a` is a counter within the millisecond. When the clock steps back, ids use the latest time until the
 * clock has passed it.
 */
export function uuidv7(now: number = Date.now()): string {
  if (now > lastMilliseconds) {
    lastMilliseconds = now;
    counter = random(2).readUInt16BE() & 0x7ff;
  } else if (++counter > 0xfff) {
    lastMilliseconds++;
    counter = 0;
  }
  return format(lastMilliseconds, counter);
}

function format(milliseconds: number, place: number): string {
  const bytes = random(16);
  bytes.writeUIntBE(milliseconds, 0, 6);
  bytes.writeUInt16BE(0x7000 | place, 6);
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The number of ids that the counter distinguishes within a millisecond. */
const PLACES = 0x1000;

/**
 * Returns a UUIDv7 with this millisecond and counter, for ids whose order the database decides.
 * @param place the value of the counter, 0 to 4095
 */
export function uuidv7Of(milliseconds: number, place: number): string {
  if (!(place >= 0 && place < PLACES)) throw new RangeError('a millisecond has 4096 places');
  return format(milliseconds, place);
}

/** Returns the lowest id of a millisecond. */
export function firstIdOf(milliseconds: number): string {
  const hex = milliseconds.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** Returns whether a text has the format of an id. */
export function isId(written: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(written);
}

/** Returns the creation time of an id, in milliseconds since 1970. */
export function momentOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/**
 * Returns a uid for a job that was created without one: 10 random lower-case hex digits. A constraint of the
 * table refuses duplicates.
 */
export function assignUid(): string {
  return random(5).toString('hex');
}

/**
 * Returns the part of an account: a number from 0 to 255. The keys of the account's rows begin with it. It is the last
 * byte of the account's UUIDv7. That byte is random, so accounts are spread evenly.
 */
export function partOf(accountId: string): number {
  return Number.parseInt(accountId.slice(-2), 16);
}
