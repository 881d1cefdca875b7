/** Pure functions on the pieces of a segment: text and codes. */
import type { Piece as DocumentPiece } from '@dragoman/documents/pieces';
import type { Issue } from '../../api/generated.ts';

/** A piece of a document, or a place where an editor has split the segment, counted from 1. */
export type Piece = DocumentPiece | { cut: number };

/** The editor moves and keeps a cut like a code, although the document has none. */
export type CodeKind = 'open' | 'close' | 'single' | 'keep' | 'cut';

/**
 * A code of a segment. `text` is the visible text of a protected word (kind `keep`); other codes have an
 * empty text.
 */
export interface Code {
  kind: CodeKind;
  number: number;
  text: string;
}

/** The words of a text that an issue marks. */
export type Range = NonNullable<Issue['range']>;

/** How a code is shown: the text of its chip, what it stands for (`title`), and its accessible name (`label`). */
export interface CodeDescription {
  name: string;
  title: string;
  label: string;
}

/** Returns the code of a piece, undefined for text. */
export function codeOf(piece: Piece): Code | undefined {
  if ('keep' in piece) return { kind: 'keep', number: piece.keep, text: piece.text };
  if ('open' in piece) return { kind: 'open', number: piece.open, text: '' };
  if ('close' in piece) return { kind: 'close', number: piece.close, text: '' };
  if ('single' in piece) return { kind: 'single', number: piece.single, text: '' };
  if ('cut' in piece) return { kind: 'cut', number: piece.cut, text: '' };
  return undefined;
}

export function pieceOf(code: Code): Piece {
  switch (code.kind) {
    case 'open':
      return { open: code.number };
    case 'close':
      return { close: code.number };
    case 'single':
      return { single: code.number };
    case 'cut':
      return { cut: code.number };
    case 'keep':
      return { keep: code.number, text: code.text };
  }
}

/**
 * Returns the identity of a code. It includes the text of a protected word, because another segment may use
 * the same number.
 */
export function keyOf(code: Code): string {
  return `${code.kind} ${code.number} ${code.text}`;
}

const numberings = new WeakMap<readonly Piece[], ReadonlyMap<string, number>>();

/**
 * Returns a code with the number that the page shows. A document numbers all codes of a paragraph together. The page
 * counts the tags and the protected words of a segment separately, from 1 in the order of the source, so that the
 * numbers have no gaps. The two halves of a pair keep the same number.
 *
 * @param source the source of the code's segment
 */
export function shownCode(code: Code, source: readonly Piece[]): Code {
  let numbering = numberings.get(source);
  if (!numbering) {
    numbering = numberingOf(source);
    numberings.set(source, numbering);
  }
  return { ...code, number: numbering.get(countedAs(code)) ?? code.number };
}

/** Returns the shown number of each code of a source. */
function numberingOf(source: readonly Piece[]): Map<string, number> {
  const numbering = new Map<string, number>();
  const next = { keep: 1, tag: 1 };
  for (const code of codesOf(source)) {
    const counted = countedAs(code);
    if (code.kind === 'cut' || numbering.has(counted)) continue;
    const kind = code.kind === 'keep' ? 'keep' : 'tag';
    numbering.set(counted, next[kind]);
    next[kind] += 1;
  }
  return numbering;
}

/** Returns the same text only for the two halves of a pair, which therefore get one number. */
const countedAs = ({ kind, number }: Code): string =>
  `${kind === 'open' || kind === 'close' ? 'pair' : kind} ${number}`;

/** Returns the text of a code's chip. @param code with the number that the page shows (`shownCode`) */
export function labelOf(code: Code): string {
  switch (code.kind) {
    case 'open':
      return `${code.number}`;
    case 'close':
      return `/${code.number}`;
    case 'single':
      return `${code.number}/`;
    case 'keep':
      return code.text === '' ? `${code.number}` : code.text;
    case 'cut':
      return `|${code.number}`;
  }
}

/**
 * Returns the runs of at least two neighbouring tags. A protected word is part of the text and ends a run, and so does a
 * cut.
 *
 * @param isNext returns true if nothing is between an item and the following one
 */
export function runsOf<Item extends { code: Code }>(
  items: readonly Item[],
  isNext: (one: Item, next: Item) => boolean,
): Item[][] {
  const runs: Item[][] = [];
  let before: Item | undefined;
  for (const item of items) {
    const isTag = item.code.kind !== 'keep' && item.code.kind !== 'cut';
    if (isTag && before && isNext(before, item)) runs.at(-1)!.push(item);
    else if (isTag) runs.push([item]);
    before = isTag ? item : undefined;
  }
  return runs.filter((run) => run.length > 1);
}

/** Describes a run of tags that is shown as one chip, such as `3–4`. */
export function describeRun(run: readonly CodeDescription[]): CodeDescription {
  const all = (field: keyof CodeDescription, between: string) => run.map((one) => one[field]).join(between);
  return { name: `${run[0]!.name}–${run.at(-1)!.name}`, title: all('title', ' '), label: all('label', ', ') };
}

export function codesOf(pieces: readonly Piece[]): Code[] {
  return pieces.flatMap((piece) => codeOf(piece) ?? []);
}

/** Returns the canonical form: neighbouring texts are joined, empty texts are dropped. */
export function normalize(pieces: readonly Piece[]): Piece[] {
  const normalized: Piece[] = [];
  for (const piece of pieces) {
    const last = normalized.at(-1);
    if (codeOf(piece)) normalized.push(piece);
    else if ('text' in piece && piece.text !== '') {
      if (last && 'text' in last && !codeOf(last))
        normalized[normalized.length - 1] = { text: last.text + piece.text };
      else normalized.push({ text: piece.text });
    }
  }
  return normalized;
}

export function samePieces(one: readonly Piece[] | null, other: readonly Piece[] | null): boolean {
  if (one === other) return true;
  return (
    one !== null && other !== null && JSON.stringify(normalize(one)) === JSON.stringify(normalize(other))
  );
}

/** Returns pieces with line breaks in place of the spaces at some offsets of the visible text. */
export function withBreaks(pieces: readonly Piece[], breaks: readonly number[] = []): readonly Piece[] {
  if (breaks.length === 0) return pieces;
  const places = new Set(breaks);
  let at = 0;
  return pieces.map((piece) => {
    if (!('text' in piece)) return piece;
    const start = at;
    at += piece.text.length;
    if (codeOf(piece)) return piece;
    const text = Array.from({ length: piece.text.length }, (_, index) =>
      places.has(start + index) ? '\n' : piece.text[index],
    );
    return { text: text.join('') };
  });
}

/** Returns the visible text: text and protected words, without other codes. */
export function plainText(pieces: readonly Piece[]): string {
  return pieces.map((piece) => ('text' in piece ? piece.text : '')).join('');
}

/** Returns the pieces of the document, without the cuts. */
export function withoutCuts(pieces: readonly Piece[]): DocumentPiece[] {
  return normalize(pieces.filter((piece) => !('cut' in piece))) as DocumentPiece[];
}

/** Returns true if an editor has split the segment with this source. */
export const isSplit = (source: readonly Piece[]): boolean => source.some((piece) => 'cut' in piece);

/** Returns the parts between the cuts; undefined if these are in another order than in the source. */
export function partsOf(pieces: readonly Piece[]): Piece[][] | undefined {
  const parts: Piece[][] = [[]];
  for (const piece of pieces) {
    if (!('cut' in piece)) parts.at(-1)!.push(piece);
    else if (piece.cut !== parts.length) return undefined;
    else parts.push([]);
  }
  return parts;
}

/**
 * Returns a target with another text in one part, counted from 1. The spaces around the part and the tags that belong
 * there stay. If the cuts are in another order than in the source, the text is added at the end.
 */
export function withPart(
  target: readonly Piece[],
  source: readonly Piece[],
  part: number,
  text: readonly Piece[],
): Piece[] {
  const parts = partsOf(target);
  const before = parts?.[part - 1];
  if (!parts || !before) return [...target, { text: ' ' }, ...text];
  const shown = plainText(before);
  const lead = shown.slice(0, shown.length - shown.trimStart().length);
  const tail = shown.slice(shown.trimEnd().length);
  const words = complete(text, partsOf(source)?.[part - 1] ?? []);
  parts[part - 1] =
    shown.trim() === '' ? [...words, { text: tail }] : [{ text: lead }, ...words, { text: tail }];
  return normalize(parts.flatMap((one, index) => [...(index > 0 ? [{ cut: index }] : []), ...one]));
}

/** Returns the numbers of pairs that cross, lack a half, or close before they open. */
export function crossed(codes: readonly Code[]): Set<number> {
  const open: number[] = [];
  const wrong = new Set<number>();
  for (const code of codes) {
    if (code.kind === 'open') open.push(code.number);
    if (code.kind !== 'close') continue;
    const at = open.lastIndexOf(code.number);
    if (at === -1) wrong.add(code.number);
    else {
      if (at !== open.length - 1) for (const number of open.slice(at)) wrong.add(number);
      open.splice(at, 1);
    }
  }
  for (const number of open) wrong.add(number);
  return wrong;
}

/**
 * Reorders codes so that pairs nest. It uses only the existing places: a misplaced half of a pair is swapped
 * with the half that belongs there. A half whose other half is missing stays in place.
 */
export function nested(codes: readonly Code[]): Code[] {
  const reordered = [...codes];
  const open: number[] = [];
  const whole = (number: number) =>
    codes.some((code) => code.kind === 'open' && code.number === number) &&
    codes.some((code) => code.kind === 'close' && code.number === number);
  for (let at = 0; at < reordered.length; at += 1) {
    const code = reordered[at]!;
    if ((code.kind !== 'open' && code.kind !== 'close') || !whole(code.number)) continue;
    if (code.kind === 'open') {
      open.push(code.number);
      continue;
    }
    const top = open.at(-1);
    if (top === code.number) open.pop();
    else if (open.includes(code.number)) {
      swap(reordered, at, (other) => other.kind === 'close' && other.number === top);
      open.pop();
    } else {
      swap(reordered, at, (other) => other.kind === 'open' && other.number === code.number);
      open.push(code.number);
    }
  }
  return reordered;
}

function swap(codes: Code[], at: number, wanted: (code: Code) => boolean): void {
  const other = codes.findIndex((code, index) => index > at && wanted(code));
  if (other === -1) return;
  [codes[at], codes[other]] = [codes[other]!, codes[at]!];
}

/**
 * Returns a target with every code of the source exactly once. Missing codes are appended, foreign and
 * doubled codes are removed; a foreign protected word becomes text.
 */
export function complete(target: readonly Piece[], source: readonly Piece[]): Piece[] {
  const wanted = new Map(codesOf(source).map((code) => [keyOf(code), code]));
  const taken: Piece[] = [];
  for (const piece of target) {
    const code = codeOf(piece);
    if (!code) taken.push(piece);
    else if (wanted.delete(keyOf(code))) taken.push(piece);
    else if (code.kind === 'keep') taken.push({ text: code.text });
  }
  for (const code of wanted.values()) taken.push(pieceOf(code));
  return normalize(taken);
}

/** Parses copied pieces. Another page can write the same type, so each piece is checked. */
export function parsePieces(text: string): Piece[] | undefined {
  if (text === '') return undefined;
  try {
    const read = JSON.parse(text) as unknown;
    return Array.isArray(read) && read.every(isPiece) ? read : undefined;
  } catch {
    return undefined;
  }
}

function isPiece(value: unknown): value is Piece {
  if (typeof value !== 'object' || value === null) return false;
  const { text, open, close, single, keep, cut } = value as Record<string, unknown>;
  const number = open ?? close ?? single ?? keep ?? cut;
  if (number === undefined || keep !== undefined) {
    if (typeof text !== 'string') return false;
  }
  return number === undefined || Number.isSafeInteger(number);
}
