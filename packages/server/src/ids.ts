/** Identifiers: UUIDv7 for rows (RFC 9562 §5.7), short unguessable uids for jobs, and the part of an account. */
import { randomBytes } from 'node:crypto';

/** Random bytes are drawn by the page: a call for each id costs more than all else about it. */
const PAGE_BYTES = 4096;
let page = Buffer.alloc(0);

function random(bytes: number): Buffer {
  if (page.length < bytes) page = randomBytes(PAGE_BYTES);
  const drawn = page.subarray(0, bytes);
  page = page.subarray(bytes);
  return drawn;
}

let lastMilliseconds = 0;
let counter = 0;

/**
 * A UUIDv7. Ids made by one process sort in the order of their making: `rand_a` is a counter within the
 * millisecond, and a clock that steps back is held at its last value (RFC 9562 §6.2, methods 1 and 2).
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

/** Places of ids that `uuidv7Of` makes of one millisecond. */
const PLACES = 0x1000;

/**
 * A UUIDv7 of a given millisecond and place within it: ids sort by both. For ids whose order a database gives.
 * @param place 0 to 4095
 */
export function uuidv7Of(milliseconds: number, place: number): string {
  if (!(place >= 0 && place < PLACES)) throw new RangeError('a millisecond has 4096 places');
  return format(milliseconds, place);
}

/** The first of all ids that can be made from a moment on. */
export function firstIdOf(milliseconds: number): string {
  const hex = milliseconds.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** When an id was made, in milliseconds. */
export function momentOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** A job's assigned uid: 10 lower-case hex digits, unguessable, unique by the table's constraint. */
export function assignUid(): string {
  return random(5).toString('hex');
}

/**
 * The part of an account: 0 to 255, the unit of claiming and of distribution. It is the last byte of the
 * account's UUIDv7, which is random, so that it is even over accounts and can be told from the id alone.
 */
export function partOf(accountId: string): number {
  return Number.parseInt(accountId.slice(-2), 16);
}
