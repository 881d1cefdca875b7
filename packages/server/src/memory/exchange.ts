/** The memory in files: TMX in and out, as streams. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AccountRef } from '../account.ts';
import { TONE_NAMES } from '../brands/tones.ts';
import type { Queryable } from '../database/database.ts';
import { importEntries, type MemoryEntry, type MemoryPair } from './memory.ts';
import * as store from './store.ts';
import { readTmx, type TmxEntry, type TmxUnit, writeTmx } from './tmx.ts';

export { TmxError } from './tmx.ts';

/** Entries that are written at once. */
const BATCH = 1_000;
const PAGE = 500;

export interface ImportCounts {
  /** Units in the file. */
  read: number;
  /** Different entries that were brought in, or would have been. */
  written: number;
  /** Units without the pair. */
  skipped: number;
}

/**
 * Brings a TMX file in. What was brought in before an error stays: the file can be brought in again.
 * @param dry nothing is written: only told
 * @throws TmxError at the first line that is not TMX
 */
export async function importTmx(
  on: Queryable,
  account: AccountRef,
  pair: MemoryPair,
  chunks: AsyncIterable<string>,
  dry = false,
): Promise<ImportCounts> {
  const counts = { read: 0, written: 0, skipped: 0 };
  let batch: MemoryEntry[] = [];
  const flush = async () => {
    if (batch.length === 0) return;
    counts.written += dry ? batch.length : await importEntries(on, account, pair, batch);
    batch = [];
  };
  for await (const unit of readTmx(chunks)) {
    counts.read++;
    const entry = entryOf(unit, pair);
    if (entry === undefined) counts.skipped++;
    else if (batch.push(entry) >= BATCH) await flush();
  }
  await flush();
  return counts;
}

const SLICE_LENGTH = 64 * 1024;

/**
 * Yields a file in slices of 64 Ki characters, one in each turn of the event loop: parsing eight million characters at
 * once keeps every other request waiting for a second.
 */
export async function* inSlices(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += SLICE_LENGTH) {
    yield text.slice(at, at + SLICE_LENGTH);
    await nextTurn();
  }
}

/** `en-US` in the file counts as `en`, where there is no `en` itself. */
function entryOf({ variants, tone: named }: TmxUnit, { from, to }: MemoryPair): MemoryEntry | undefined {
  const find = (wanted: string) =>
    variants.find(({ language }) => language === wanted) ??
    variants.find(({ language }) => language.split(/[-_]/, 1)[0] === wanted);
  const [source, target] = [find(from), find(to)];
  if (source === undefined || target === undefined || source === target) return undefined;
  if (source.pieces.length === 0 || target.pieces.length === 0) return undefined;
  const tone = TONE_NAMES.find((name) => name === named);
  return { source: source.pieces, target: target.pieces, tone };
}

export interface ExportFilter {
  from: string | undefined;
  to: string | undefined;
  /** Undefined: of every brand. */
  brand: string | undefined;
}

/** All that is in use, as TMX; page by page, so that it takes little memory however much it is. */
export function exportTmx(on: Queryable, account: AccountRef, filter: ExportFilter): AsyncGenerator<string> {
  return writeTmx(entriesOf(on, account, filter), filter.from);
}

async function* entriesOf(
  on: Queryable,
  account: AccountRef,
  filter: ExportFilter,
): AsyncGenerator<TmxEntry> {
  let after: string | undefined;
  for (;;) {
    const rows = await store.listPage(on, account, filter, after, PAGE);
    for (const row of rows) {
      yield {
        id: row.memory_id,
        createdAt: row.created_at,
        changedAt: row.changed_at,
        properties: {
          ...(row.brand === '' ? {} : { brand: row.brand }),
          origin: row.origin,
          weight: String(row.weight),
          ...(row.tone === null ? {} : { tone: row.tone }),
        },
        from: row.source_language,
        to: row.target_language,
        source: row.source,
        target: row.target,
      };
    }
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.memory_id;
  }
}
