/**
 * Carries translations over to another division of the same document. A newer version of the program may divide a text
 * into other segments, or protect other words, than the version that an editor began to translate with.
 */

import { protectedRanges } from '../codes/codes.ts';
import { scanText } from '../formats/text.ts';
import type { Piece, Segment } from '../model/document.ts';
import { keyOf } from './repair.ts';
import { segmentUnit } from './segmentation.ts';

/** A segment as it was when its translation was made. */
export interface FormerSegment {
  id: string;
  /** For joined segments, the source of all of them. */
  source: readonly Piece[];
  target: readonly Piece[] | undefined;
  /** The number of segments that an editor joined. */
  count: number;
}

/**
 * Returns the translations by the segments of this version, or undefined if the document is divided as it was. A segment
 * that became several ones is divided where its translation has the same number of parts; otherwise the first one gets the
 * whole translation and the others none, so that no word of an editor is lost or delivered twice. Segments that became one
 * are joined.
 * @param now the segments of this version
 * @param former the segments in the order of the document
 * @param target the target language
 */
export function carryOver(
  now: readonly Segment[],
  former: readonly FormerSegment[],
  target: string,
): Map<string, Piece[]> | undefined {
  if (isUnchanged(now, former)) return undefined;
  const found = new Map<string, Piece[]>();
  const left = new Set(former);
  const [before, after] = [
    former.map(({ source }) => letters(source)),
    now.map(({ pieces }) => letters(pieces)),
  ];
  for (const { from, to, first, last } of beads(before, after)) {
    const some = former.slice(from, to);
    const wanted = now.slice(first, last);
    if (some.some(({ target: own }) => own === undefined)) continue;
    const codes = wanted.flatMap(({ pieces }) => pieces);
    const texts = some.map(({ source, target: own }) => renumbered(source, codes, own!));
    const whole = texts.flatMap((text, at): Piece[] => (at === 0 ? text : [{ text: ' ' }, ...text]));
    const parts = wanted.length === 1 ? [whole] : divided(whole, wanted.length, target);
    for (const [at, { id }] of wanted.entries()) found.set(id, parts[at]!);
    for (const one of some) left.delete(one);
  }
  // The last resort is the place: a text in a doubtful place is better than a lost one.
  for (const { id, source, target: own } of left) {
    const same = now.find((segment) => segment.id === id);
    if (own && same && !found.has(id)) found.set(id, renumbered(source, same.pieces, own));
  }
  return found;
}

function isUnchanged(now: readonly Segment[], former: readonly FormerSegment[]): boolean {
  let next = 0;
  for (const { id, source, count } of former) {
    const own = now.slice(next, next + count);
    next += count;
    if (own.length < count || own[0]!.id !== id) return false;
    const isSame =
      count === 1
        ? equal(own[0]!.pieces, source)
        : letters(own.flatMap(({ pieces }) => pieces)) === letters(source);
    if (!isSame) return false;
  }
  return next === now.length;
}

const equal = (a: readonly Piece[], b: readonly Piece[]): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The letters and digits of a segment, with those of its protected words, without those of tags that divide texts now. */
function letters(pieces: readonly Piece[]): string {
  const text = pieces.map((piece) => ('text' in piece ? piece.text : ' ')).join('');
  let out = '';
  let position = 0;
  for (const { from, to, code } of protectedRanges(text)) {
    if (code?.kind !== 'gap') continue;
    out += text.slice(position, from);
    position = to;
  }
  return (out + text.slice(position)).replace(/[^\p{L}\p{N}]+/gu, '');
}

interface Bead {
  from: number;
  to: number;
  first: number;
  last: number;
}

/** How far the next segment with the same letters is searched after one that has no counterpart. */
const REACH = 50;

/** Pairs the segments of two divisions that have the same letters: one and one, one and several, several and one. */
function* beads(former: readonly string[], now: readonly string[]): Generator<Bead> {
  let [from, first] = [0, 0];
  while (from < former.length && first < now.length) {
    let [to, last] = [from + 1, first + 1];
    let [before, after] = [former[from]!, now[first]!];
    while (before !== after) {
      if (before.startsWith(after) && last < now.length) after += now[last++]!;
      else if (after.startsWith(before) && to < former.length) before += former[to++]!;
      else break;
    }
    if (before === after) {
      yield { from, to, first, last };
      [from, first] = [to, last];
      continue;
    }
    // One side has a segment that the other lacks, such as a piece of code that is protected now.
    const next = now.slice(first, first + REACH).indexOf(former[from]!);
    if (next > 0) first += next;
    else from += 1;
  }
}

/**
 * Returns a translation with the numbers that the codes have now. Words that were text and are protected now become
 * codes.
 */
function renumbered(was: readonly Piece[], is: readonly Piece[], text: readonly Piece[]): Piece[] {
  const left = is.filter((piece) => keyOf(piece) !== '');
  const codes = new Map<string, Piece>();
  for (const piece of was) {
    if (keyOf(piece) === '') continue;
    const at = left.findIndex((one) => kindOf(one) === kindOf(piece));
    if (at >= 0) codes.set(keyOf(piece), left.splice(at, 1)[0]!);
  }
  const words = left.filter((piece) => 'keep' in piece && piece.text !== '');
  return text.flatMap((piece): Piece[] => {
    if (keyOf(piece) !== '') {
      const code = codes.get(keyOf(piece));
      return code === undefined ? ('keep' in piece ? [{ text: piece.text }] : []) : [code];
    }
    const out: Piece[] = [];
    let rest = (piece as { text: string }).text;
    for (;;) {
      const places = words.map((word) => ({ word, at: rest.indexOf((word as { text: string }).text) }));
      const first = places.filter(({ at }) => at >= 0).sort((a, b) => a.at - b.at)[0];
      if (first === undefined) break;
      if (first.at > 0) out.push({ text: rest.slice(0, first.at) });
      out.push(words.splice(words.indexOf(first.word), 1)[0]!);
      rest = rest.slice(first.at + (first.word as { text: string }).text.length);
    }
    return rest === '' ? out : [...out, { text: rest }];
  });
}

const kindOf = (piece: Piece): string =>
  'keep' in piece ? `keep ${piece.text}` : 'single' in piece ? 'single' : 'open' in piece ? 'open' : 'close';

/** Divides a translation into parts as its own text is divided, or leaves it whole in the first part. */
function divided(pieces: Piece[], count: number, language: string): Piece[][] {
  const texts = pieces.filter((piece): piece is { text: string } => keyOf(piece) === '');
  if (texts.length === pieces.length) {
    const document = scanText(texts.map(({ text }) => text).join(''));
    const own = document.units.flatMap((unit) => segmentUnit(document, unit, language).cuts);
    if (own.length === count) return own.map((cut) => cut.pieces);
  }
  return Array.from({ length: count }, (_, at) => (at === 0 ? pieces : []));
}
