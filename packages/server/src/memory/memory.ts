/**
 * Translation memory: what was translated before, whole segments, to the letter. Protected words are compared by what
 * a reader sees, codes by their kind and order, so that a memory from elsewhere serves a document of ours.
 */
import { createHash } from 'node:crypto';
import { isRight, type Piece } from '@dragoman/documents';
import type { AccountRef } from '../account.ts';
import type { Database } from '../database/database.ts';
import { uuidv7 } from '../ids.ts';
import * as store from './store.ts';

export type { MemoryPair } from './store.ts';

/** Hashes of one question to the database. */
const CHUNK = 5_000;
/** Whether an account has a memory at all is remembered so long: most have none, and their jobs need not ask. */
const REMEMBER_MILLISECONDS = 5_000;
const REMEMBER_ACCOUNTS = 10_000;
const known = new WeakMap<Database, Map<string, { has: boolean; until: number }>>();

/**
 * The targets of segments that the account has translated before; undefined for the others.
 * @param sources with codes numbered in the order in which they come; targets come back in these numbers
 */
export async function findExact(
  database: Database,
  account: AccountRef,
  pair: store.MemoryPair,
  sources: readonly (readonly Piece[])[],
): Promise<(Piece[] | undefined)[]> {
  if (!(await hasMemory(database, account))) return sources.map(() => undefined);
  const hashes = sources.map(hashOf);
  const targets = new Map<string, Piece[]>();
  for (let start = 0; start < hashes.length; start += CHUNK) {
    const rows = await store.findTargets(database, account, pair, hashes.slice(start, start + CHUNK));
    for (const { source_hash, target } of rows) targets.set(source_hash.toString('base64'), target);
  }
  return sources.map((source, index) => {
    const target = targets.get(hashes[index]!.toString('base64'));
    return target && adopt(source, target);
  });
}

async function hasMemory(database: Database, account: AccountRef): Promise<boolean> {
  let accounts = known.get(database);
  if (accounts === undefined || accounts.size >= REMEMBER_ACCOUNTS) {
    accounts = new Map();
    known.set(database, accounts);
  }
  const remembered = accounts.get(account.accountId);
  if (remembered !== undefined && performance.now() < remembered.until) return remembered.has;
  const has = await store.hasMemory(database, account);
  accounts.set(account.accountId, { has, until: performance.now() + REMEMBER_MILLISECONDS });
  return has;
}

export interface MemoryEntry {
  source: readonly Piece[];
  target: readonly Piece[];
}

/** Weight of what was brought in, under what an editor confirmed here. */
const IMPORT_WEIGHT = 1;

/** Brings entries in from elsewhere. @returns how many were written: not those that are there with more weight */
export async function importEntries(
  database: Database,
  account: AccountRef,
  pair: store.MemoryPair,
  entries: readonly MemoryEntry[],
): Promise<number> {
  // One statement cannot write the same row twice; of several for one source, the last one counts.
  const unique = new Map(
    entries.map(({ source, target }) => {
      const hash = hashOf(source);
      const entry = { memoryId: uuidv7(), hash, source, target, weight: IMPORT_WEIGHT };
      return [hash.toString('base64'), entry];
    }),
  );
  const written = await store.writeMemory(database, account, pair, 'import', [...unique.values()]);
  known.get(database)?.delete(account.accountId);
  return written;
}

/** A source as it is compared: protected words as their text, neighbouring texts as one, in one Unicode form. */
function hashOf(source: readonly Piece[]): Buffer {
  const parts: string[] = [];
  let text = '';
  for (const piece of source) {
    if ('text' in piece) {
      text += piece.text;
      continue;
    }
    parts.push(
      text,
      'open' in piece ? `o${piece.open}` : 'close' in piece ? `c${piece.close}` : `s${piece.single}`,
    );
    text = '';
  }
  parts.push(text);
  return createHash('sha256').update(JSON.stringify(parts).normalize('NFC')).digest();
}

/** A remembered target for a source: its protected words are found again. Undefined where one is not there. */
function adopt(source: readonly Piece[], target: readonly Piece[]): Piece[] | undefined {
  let pieces = target.map((piece): Piece => ('keep' in piece ? { text: piece.text } : piece));
  for (const kept of source) {
    if (!('keep' in kept)) continue;
    const at = pieces.findIndex(
      (piece) => 'text' in piece && !('keep' in piece) && piece.text.includes(kept.text),
    );
    if (at < 0) return undefined;
    const { text } = pieces[at] as { text: string };
    const start = text.indexOf(kept.text);
    const around = [{ text: text.slice(0, start) }, kept, { text: text.slice(start + kept.text.length) }];
    pieces = pieces.toSpliced(at, 1, ...around.filter((piece) => !('text' in piece) || piece.text !== ''));
  }
  return isRight(source, pieces) ? pieces : undefined;
}
