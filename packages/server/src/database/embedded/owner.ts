/**
 * Who may run the server of a data directory. Two locks, both held by SQLite's file locks, because the kernel
 * frees those the moment the holder dies, `kill -9` included; a pid file would have to be guessed about.
 *
 * - `owner.lock`, exclusive: its holder starts and stops the server.
 * - `guests.lock`, shared: commands that use a server another process owns. A command that owns the server
 *   waits for the exclusive side before it stops, so that it does not pull the server from under a guest.
 *
 * `owner.json` beside them only says who the owner is, for sentences and waiting; the lock is the truth.
 * Nothing else in this process may open the lock files: closing any descriptor of a file frees POSIX locks.
 */
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedError } from './errors.ts';
import { giveToOwnerOf, writeWhole } from './files.ts';
import { isAlive, type KnownProcess, known } from './processes.ts';

export type Role = 'serve' | 'command';

export interface Lock {
  release(): void;
}

interface Owner extends KnownProcess {
  role: Role;
}

/** Result codes of SQLite (https://sqlite.org/rescode.html). */
const SQLITE_BUSY = 5;

const POLL_MS = 25;

/** Takes the ownership, or undefined when somebody has it. */
export function tryOwn(dataDir: string, role: Role): Lock | undefined {
  const lock = tryLock(join(dataDir, 'owner.lock'), ['BEGIN EXCLUSIVE']);
  if (lock === undefined) return undefined;
  const path = join(dataDir, 'owner.json');
  try {
    writeWhole(path, JSON.stringify({ ...known(process.pid)!, role } satisfies Owner));
    giveToOwnerOf(dataDir, path);
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    release: () => {
      rmSync(path, { force: true });
      lock.release();
    },
  };
}

/** Registers as a guest, or undefined while an owner is closing. */
export function tryGuest(dataDir: string): Lock | undefined {
  // Reading anything takes the shared lock, and the open transaction keeps it.
  return tryLock(join(dataDir, 'guests.lock'), ['BEGIN', 'SELECT count(*) FROM sqlite_schema']);
}

/**
 * Waits until no guest is left and keeps new ones out; undefined when some are still there after `limitMs`.
 */
export async function closeToGuests(dataDir: string, limitMs: number): Promise<Lock | undefined> {
  const end = performance.now() + limitMs;
  for (;;) {
    const lock = tryLock(join(dataDir, 'guests.lock'), ['BEGIN EXCLUSIVE']);
    if (lock !== undefined || performance.now() > end) return lock;
    await sleep(POLL_MS);
  }
}

/** Who holds the ownership, as far as it has said so and still lives. */
export function currentOwner(dataDir: string): Owner | undefined {
  try {
    const owner = JSON.parse(readFileSync(join(dataDir, 'owner.json'), 'utf8')) as Owner;
    return isAlive(owner) ? owner : undefined;
  } catch {
    // Not written yet; the caller asks again.
    return undefined;
  }
}

/**
 * @throws EmbeddedError `in_use` when another `serve` has it, or a command still does after `limitMs`
 */
export async function ownToServe(dataDir: string, limitMs: number): Promise<Lock> {
  const end = performance.now() + limitMs;
  for (;;) {
    const lock = tryOwn(dataDir, 'serve');
    if (lock !== undefined) return lock;
    const owner = currentOwner(dataDir);
    if (owner?.role === 'serve' || performance.now() > end) {
      const who = owner === undefined ? 'Another program' : `Another program (process ${owner.pid})`;
      throw new EmbeddedError(
        'in_use',
        `${who} is already running on the data directory ${dataDir}. Stop it first, or choose another directory.`,
      );
    }
    await sleep(POLL_MS);
  }
}

function tryLock(path: string, statements: string[]): Lock | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    for (const statement of statements) database.exec(statement);
    const held = database;
    giveToOwnerOf(dirname(path), path);
    return { release: () => held.close() };
  } catch (error) {
    database?.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw new EmbeddedError(
      'data_directory',
      `The lock file ${path} cannot be used: ${(error as Error).message}. ` +
        'The data directory must be writable, on a file system with file locks.',
      { cause: error },
    );
  }
}
