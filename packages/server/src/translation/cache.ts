/**
 * A cache of engine translations in the memory of this process, limited by bytes. The least recently used entries are
 * evicted first. The account is part of every key, so a fast answer does not reveal what another customer translated.
 */
import { createHash } from 'node:crypto';
import type { Piece } from '@dragoman/documents';
import type { Confidence } from '@dragoman/engines';

export interface CachedDraft {
  pieces: Piece[];
  route: string;
  notes: string[];
  confidence?: Confidence | undefined;
}

export interface DraftCache {
  get(key: string): CachedDraft | undefined;
  set(key: string, value: CachedDraft): void;
  readonly bytes: number;
}

/** Estimated bytes of an entry in addition to its texts: objects, map slot and key. */
const ENTRY_BYTES = 300;

export function createDraftCache(maxBytes: number): DraftCache {
  const entries = new Map<string, { value: CachedDraft; bytes: number }>();
  let bytes = 0;
  return {
    get bytes() {
      return bytes;
    },
    get(key) {
      const found = entries.get(key);
      if (found === undefined) return undefined;
      entries.delete(key);
      entries.set(key, found);
      return found.value;
    },
    set(key, value) {
      const size = sizeOf(value);
      if (size > maxBytes) return;
      const before = entries.get(key);
      if (before !== undefined) {
        bytes -= before.bytes;
        entries.delete(key);
      }
      entries.set(key, { value, bytes: size });
      bytes += size;
      for (const [oldest, { bytes: freed }] of entries) {
        if (bytes <= maxBytes) break;
        entries.delete(oldest);
        bytes -= freed;
      }
    },
  };
}

function sizeOf({ pieces, notes }: CachedDraft): number {
  const texts = pieces.reduce((sum, piece) => sum + 40 + ('text' in piece ? piece.text.length * 2 : 0), 0);
  return ENTRY_BYTES + texts + notes.reduce((sum, note) => sum + note.length * 2, 0);
}

/**
 * Hashes several parts to one key. JSON separates the parts, so `['a', 'b']` and `['ab', '']` have different
 * keys.
 */
export function cacheKeyOf(parts: readonly string[]): string {
  return createHash('sha1').update(JSON.stringify(parts)).digest('base64');
}
