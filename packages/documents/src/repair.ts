/**
 * What an engine made of the codes of a segment, put right. Engines lose codes, double them, let them cross, invent
 * new ones; a document must get every code of its source exactly once, pairs nested. Nothing is lost in silence:
 * every change is noted, so that the segment can be shown to an editor.
 */

import type { Piece } from './document.ts';

export type Note = 'code moved' | 'code restored' | 'code removed';

export interface Repaired {
  pieces: Piece[];
  /** Empty when the reply was right; each note at most once. */
  notes: Note[];
}

/**
 * The reply with every code of the source exactly once and pairs nested. Text is taken as it comes, except inside
 * `keep`, where the source's own text is put back. A lost pair is put round the whole text, a lost half at the end
 * it belongs to, a lost standalone code or kept word at the end (or the beginning, where nothing stood before it).
 */
export function repair(source: readonly Piece[], reply: readonly Piece[]): Repaired {
  if (isRight(source, reply)) return { pieces: [...reply], notes: [] };
  const notes = new Set<Note>();
  const wanted = new Map(source.flatMap((piece) => (isCode(piece) ? [[keyOf(piece), piece] as const] : [])));
  const once = takeOnce(wanted, reply, notes);
  const complete = restore(source, wanted, once, notes);
  return { pieces: mergeText(nest(complete, notes)), notes: [...notes] };
}

/** True when the reply holds every code of the source exactly once, pairs nested, kept words unchanged. */
export function isRight(source: readonly Piece[], reply: readonly Piece[]): boolean {
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

/** One key a code; the halves of a pair have one each. */
export function keyOf(piece: Piece): string {
  if ('keep' in piece) return `k${piece.keep}`;
  if ('open' in piece) return `o${piece.open}`;
  if ('close' in piece) return `c${piece.close}`;
  if ('single' in piece) return `s${piece.single}`;
  return '';
}

/** Text, and the first of each code that the source has. */
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
      // A kept word nobody asked for is still a word the engine wrote.
      if (!original && 'keep' in piece) taken.push({ text: piece.text });
      continue;
    }
    seen.add(key);
    if ('keep' in piece && piece.text !== (original as { text: string }).text) notes.add('code restored');
    taken.push(original);
  }
  return taken;
}

/** Adds what is lost. */
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
      // Words of the reply stay apart from the restored word, as in the source.
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

/** Every open before its close, and no pair across another. */
function nest(pieces: readonly Piece[], notes: Set<Note>): Piece[] {
  const out: Piece[] = [];
  const open: number[] = [];
  const opened = new Set<number>();
  const closed = new Set<number>();
  /** Pairs whose close came before their open: the first half met opens, the second closes. */
  const turned = new Set<number>();
  const close = (number: number) => {
    if (closed.has(number)) return;
    while (open.length > 0) {
      const top = open.pop()!;
      out.push({ close: top });
      closed.add(top);
      if (top === number) return;
      // What is still open inside ends here too; its own close, later, is skipped.
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

/** Neighbouring texts as one, empty ones gone. */
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

/** The words of pieces as a reader sees them, codes left out. */
export function plainText(pieces: readonly Piece[]): string {
  return pieces.map(plainPiece).join('');
}
