/** Imports and exports the translation memory as TMX, in streams. */
import { type Actor, recordAudit } from '../audit/audit.ts';
import type { AccountRef } from '../base/account.ts';
import { TONE_NAMES } from '../brands/tones.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { importEntries, type MemoryEntry, type MemoryPair } from './memory.ts';
import { listPage } from './search-store.ts';
import { readTmx, type TmxEntry, type TmxUnit, writeTmx } from './tmx.ts';

export { TmxError } from './tmx.ts';

/** The maximum number of entries in one import transaction. */
const BATCH = 1_000;
/** The number of pieces from which a batch has no further entry. */
const BATCH_PIECES = 20_000;
const PAGE = 500;

export interface ImportCounts {
  /** The number of TMX units (`tu` elements) in the file. */
  read: number;
  /** The number of different entries that were imported. In a dry run, the number that an import would write. */
  written: number;
  /** The number of TMX units that lack a text in the source or target language of the import. */
  skipped: number;
}

/**
 * Imports a TMX file. Each transaction writes a batch of entries and an audit entry. Batches before an error
 * stay imported, and the file can be imported again.
 * @param dry true to count the entries without writing them
 * @throws TmxError at the first line that is not TMX
 */
export async function importTmx(
  database: Database,
  by: Actor,
  account: AccountRef,
  pair: MemoryPair,
  chunks: AsyncIterable<string>,
  dry = false,
): Promise<ImportCounts> {
  const counts = { read: 0, written: 0, skipped: 0 };
  let batch: MemoryEntry[] = [];
  let pieces = 0;
  const flush = async () => {
    if (batch.length === 0) return;
    const before = counts.written;
    const writeBatch = async (transaction: Transaction) => {
      const written = await importEntries(transaction, account, pair, batch);
      counts.written = before + written;
      await recordAudit(transaction, by, {
        action: 'memory.imported',
        account,
        subject: `${pair.from}>${pair.to}`,
        detail: { brand: pair.brand ?? null, written },
      });
    };
    if (dry) counts.written += batch.length;
    else await database.transaction(writeBatch);
    batch = [];
    pieces = 0;
  };
  for await (const unit of readTmx(chunks)) {
    counts.read++;
    const entry = entryOf(unit, pair);
    if (entry === undefined) {
      counts.skipped++;
      continue;
    }
    pieces += entry.source.length + entry.target.length;
    if (batch.push(entry) >= BATCH || pieces >= BATCH_PIECES) await flush();
  }
  await flush();
  return counts;
}

/** Returns the memory entry for a TMX unit. `en-US` in the file counts as `en` if the unit has no `en`. */
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
  /** The brand of the exported entries; undefined for all brands. */
  brand: string | undefined;
}

/** Exports the usable entries as TMX, page by page to limit memory. */
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
    const rows = await listPage(on, account, filter, after, PAGE);
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
