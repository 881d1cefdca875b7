/**
 * Repairs the codes of an engine's reply. Engines lose, duplicate, cross and invent codes. A document needs every
 * code of its source exactly once, with nested pairs. Every change is noted, so that an editor can check the segment.
 */

import type { Piece } from '../model/document.ts';

export type Note = 'code moved' | 'code restored' | 'code removed';

export interface Repaired {
  pieces: Piece[];
  /** The kinds of changes that the repair made, each listed once. Empty if the reply was correct. */
  notes: Note[];
}

/**
 * Returns the reply with every code of the source exactly once and with nested pairs. Text does not change,
 * except that a protected word gets its text from the source. A lost pair is added around the whole text, a
 * lost opening half at the beginning, and a lost closing half at the end. A lost single code or protected
 * word is added at the end, or at the beginning if no word precedes it in the source.
 */
export function repair(source: readonly Piece[], reply: readonly Piece[]): Repaired {
  if (isCorrect(source, reply)) return { pieces: [...reply], notes: [] };
  const notes = new Set<Note>();
  const wanted = new Map(source.flatMap((piece) => (isCode(piece) ? [[keyOf(piece), piece] as const] : [])));
  const once = takeOnce(wanted, reply, notes);
  const complete = restore(source, wanted, once, notes);
  return { pieces: mergeText(nest(complete, notes)), notes: [...notes] };
}

/**
 * Returns true if the reply has every code of the source exactly once, with nested pairs and unchanged protected
 * words.
 */
export function isCorrect(source: readonly Piece[], reply: readonly Piece[]): boolean {
  const wanted = new Map<string, Piece>();
  for (const piece of source) if (isCode(piece)) wanted.set(keyOf(piece), piece);
  const open: number[] = [];
  for (const piece of reply) {
    if (!isCode(piece)) continue;
    const key = keyOf(piece);
    const original = wanted.get(key);
    if (!original || !wanted.delete(key)) return false;
    if ('keep' in piece && piece.text !== (original as { text: string }).text) return false;
    if ('open' in piece) open.push(piece.open);
    if ('close' in piece && open.pop() !== piece.close) return false;
  }
  return wanted.size === 0;
}

const isCode = (piece: Piece): boolean => !('text' in piece) || 'keep' in piece;

/** Returns a key for a code. The halves of a pair have different keys. The key of text is `''`. */
export function keyOf(piece: Piece): string {
  if ('keep' in piece) return `k${piece.keep}`;
  if ('open' in piece) return `o${piece.open}`;
  if ('close' in piece) return `c${piece.close}`;
  if ('single' in piece) return `s${piece.single}`;
  return '';
}

/** Returns the reply's text and the first occurrence of each code of the source. */
function takeOnce(wanted: Map<string, Piece>, reply: readonly Piece[], notes: Set<Note>): Piece[] {
  const seen = new Set<string>();
  const taken: Piece[] = [];
  for (const piece of reply) {
    if (!isCode(piece)) {
      taken.push(piece);
      continue;
    }
    const key = keyOf(piece);
    const original = wanted.get(key);
    if (!original || seen.has(key)) {
      notes.add('code removed');
      // A protected word that is not in the source becomes text.
      if (!original && 'keep' in piece) taken.push({ text: piece.text });
      continue;
    }
    seen.add(key);
    if ('keep' in piece && piece.text !== (original as { text: string }).text) notes.add('code restored');
    taken.push(original);
  }
  return taken;
}

/** Adds the codes of the source that the reply has lost. */
function restore(
  source: readonly Piece[],
  wanted: Map<string, Piece>,
  taken: Piece[],
  notes: Set<Note>,
): Piece[] {
  const present = new Set(taken.filter(isCode).map(keyOf));
  if (present.size === wanted.size) return taken;
  notes.add('code restored');
  const before: Piece[] = [];
  const after: Piece[] = [];
  let sawWord = false;
  source.forEach((piece, index) => {
    if (!isCode(piece)) {
      if ('text' in piece && piece.text.trim() !== '') sawWord = true;
      return;
    }
    if (present.has(keyOf(piece))) {
      if ('keep' in piece) sawWord = true;
      return;
    }
    if ('open' in piece) before.push(piece);
    else if ('close' in piece) after.push(piece);
    else if ('keep' in piece) {
      // A restored protected word gets a space next to it if the source has a space there.
      const left = source[index - 1];
      const right = source[index + 1];
      if (!sawWord) {
        before.push(piece);
        if (right && /^\s/.test(plainPiece(right))) before.push({ text: ' ' });
      } else {
        if (left && /\s$/.test(plainPiece(left))) after.push({ text: ' ' });
        after.push(piece);
      }
      sawWord = true;
    } else (sawWord ? after : before).push(piece);
  });
  return [...before, ...taken, ...after];
}

function plainPiece(piece: Piece): string {
  return 'text' in piece ? piece.text : '';
}

/** Puts the first half of every pair before the second and removes crossings. */
function nest(pieces: readonly Piece[], notes: Set<Note>): Piece[] {
  const out: Piece[] = [];
  const open: number[] = [];
  const opened = new Set<number>();
  const closed = new Set<number>();
  /**
   * The numbers of pairs whose closing half comes first in the reply. Each of their halves then becomes the
   * other: the first opens, the second closes.
   */
  const turned = new Set<number>();
  const close = (number: number) => {
    if (closed.has(number)) return;
    while (open.length > 0) {
      const top = open.pop()!;
      out.push({ close: top });
      closed.add(top);
      if (top === number) return;
      // Pairs that are still open inside this pair end here too. Their own closing halves are skipped later.
      notes.add('code moved');
    }
  };
  for (const piece of pieces) {
    if ('open' in piece) {
      if (turned.has(piece.open)) close(piece.open);
      else {
        opened.add(piece.open);
        open.push(piece.open);
        out.push(piece);
      }
    } else if ('close' in piece) {
      if (opened.has(piece.close)) close(piece.close);
      else {
        notes.add('code moved');
        turned.add(piece.close);
        opened.add(piece.close);
        open.push(piece.close);
        out.push({ open: piece.close });
      }
    } else out.push(piece);
  }
  while (open.length > 0) out.push({ close: open.pop()! });
  return out;
}

/** Merges adjacent pieces of text and removes empty ones. */
export function mergeText(pieces: readonly Piece[]): Piece[] {
  const out: Piece[] = [];
  for (const piece of pieces) {
    if (isCode(piece)) {
      out.push(piece);
      continue;
    }
    const { text } = piece as { text: string };
    if (text === '') continue;
    const last = out.at(-1);
    if (last && !isCode(last)) out[out.length - 1] = { text: (last as { text: string }).text + text };
    else out.push({ text });
  }
  return out;
}

/** Returns the text of pieces, including protected words, without codes. */
export function plainText(pieces: readonly Piece[]): string {
  return pieces.map(plainPiece).join('');
}
