/**
 * The two locks of a data directory. They are SQLite file locks, because the kernel releases a file lock when
 * its holder dies, even after `kill -9`. With a pid file, a dead holder could be mistaken for a living one.
 *
 * - `owner.lock`, exclusive: its holder (the owner) starts and stops the server.
 * - `guests.lock`, shared: held by commands that use the server of the owner (guests). An owner that is a
 *   command locks it exclusively before it stops the server, so that no guest loses its connection.
 *
 * `owner.json` only describes the owner in messages; the lock decides. No other code of this process may open
 * the lock files, because closing any descriptor of a file releases its POSIX locks.
 */
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './errors.ts';
import { giveToOwnerOf, writeAtomically } from './files.ts';
import { findProcess, isAlive, type ProcessRef } from './processes.ts';

export type Role = 'serve' | 'command';

export interface Lock {
  release(): void;
}

interface Owner extends ProcessRef {
  role: Role;
}

/** SQLite's result code for a locked file (https://sqlite.org/rescode.html). */
const SQLITE_BUSY = 5;

const POLL_MS = 25;

/** Takes the owner lock. Returns undefined when another process holds the lock. */
export function tryOwnerLock(dataDir: string, role: Role): Lock | undefined {
  const lock = tryLock(join(dataDir, 'owner.lock'), ['BEGIN EXCLUSIVE']);
  if (lock === undefined) return undefined;
  const path = join(dataDir, 'owner.json');
  try {
    writeAtomically(path, JSON.stringify({ ...findProcess(process.pid)!, role } satisfies Owner));
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

/**
 * Takes the shared lock of a process that uses the owner's server (a guest). Returns undefined while an owner
 * is stopping the server.
 */
export function tryGuestLock(dataDir: string): Lock | undefined {
  // The first read takes the shared lock. The transaction stays open and holds it.
  return tryLock(join(dataDir, 'guests.lock'), ['BEGIN', 'SELECT count(*) FROM sqlite_schema']);
}

/**
 * Waits until all guests have left, and refuses new guests. Returns undefined when a guest remains after `limitMs`.
 */
export async function lockOutGuests(dataDir: string, limitMs: number): Promise<Lock | undefined> {
  const end = performance.now() + limitMs;
  for (;;) {
    const lock = tryLock(join(dataDir, 'guests.lock'), ['BEGIN EXCLUSIVE']);
    if (lock !== undefined || performance.now() > end) return lock;
    await sleep(POLL_MS);
  }
}

/** Returns the living process that is recorded as the owner, or undefined. */
export function currentOwner(dataDir: string): Owner | undefined {
  try {
    const owner = JSON.parse(readFileSync(join(dataDir, 'owner.json'), 'utf8')) as Owner;
    return isAlive(owner) ? owner : undefined;
  } catch {
    // The owner may not have written the file yet. Callers try again.
    return undefined;
  }
}

/**
 * Takes the owner lock for `serve`, and waits while a command holds the lock.
 * @throws EmbeddedPostgresError `in_use` when another `serve` holds the lock, or a command still holds it
 * after `limitMs`
 */
export async function waitForOwnerLock(dataDir: string, limitMs: number): Promise<Lock> {
  const end = performance.now() + limitMs;
  for (;;) {
    const lock = tryOwnerLock(dataDir, 'serve');
    if (lock !== undefined) return lock;
    const owner = currentOwner(dataDir);
    if (owner?.role === 'serve' || performance.now() > end) {
      const who = owner === undefined ? 'Another program' : `Another program (process ${owner.pid})`;
      throw new EmbeddedPostgresError(
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
    throw new EmbeddedPostgresError(
      'data_directory',
      `The lock file ${path} cannot be used: ${(error as Error).message}. ` +
        'The data directory must be writable, on a file system with file locks.',
      { cause: error },
    );
  }
}
