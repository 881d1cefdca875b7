/**
 * The stored form of a segment. Codes and protected words (variables, addresses, `notranslate`) are numbered in
 * the order of the source, in two separate sequences. This lets an entry of one document be used in another
 * document. Protected words are matched by number, not by text: two variables may show the same example, and
 * `A` may also be an ordinary word.
 *
 * Entries from files of other tools, and entries stored before protected words had numbers, have their
 * protected words as plain text.
 */
import { createHash } from 'node:crypto';
import { isCorrect, mergeText, type Piece, plainText } from '@dragoman/documents';

export interface StoredPair {
  source: Piece[];
  target: Piece[];
}

export function toStoredForm(source: readonly Piece[], target: readonly Piece[]): StoredPair {
  const numbers = numbersOf(source);
  return { source: numbered(source, numbers), target: numbered(target, numbers) };
}

/**
 * Returns the key of a source: the SHA-256 of its visible text in NFC with its codes. Protected words count
 * as text, so that entries with plain words are found too. `fit` then compares which words are protected.
 */
export function hashOf(source: readonly Piece[]): Buffer {
  const parts: string[] = [];
  let text = '';
  for (const piece of withPlainWords(numbered(source, numbersOf(source)))) {
    if ('text' in piece) {
      text += piece.text;
      continue;
    }
    parts.push(text, codeOf(piece));
    text = '';
  }
  parts.push(text);
  return digestOf(parts);
}

const digestOf = (value: unknown): Buffer =>
  createHash('sha256').update(JSON.stringify(value).normalize('NFC')).digest();

/** Replaces characters by those that look the same to a reader: apostrophes, hyphens, and spaces that do not break. */
const asSeen = (text: string): string =>
  text
    .replaceAll('\u00ad', '')
    .replaceAll(/[’ʼ‘＇]/g, "'")
    .replaceAll(/[‐‑]/g, '-')
    .replaceAll(/[\u00a0\u2007\u202f]/g, ' ');

const mapTexts = (pieces: readonly Piece[], change: (text: string) => string): Piece[] =>
  pieces.map((piece) => ('text' in piece ? { ...piece, text: change(piece.text) } : piece));

export interface EntryKeys {
  /** The key of the source: the same for all sources that look the same. */
  sourceHash: Buffer;
  /** Differs between translations of a source, and between sources that only look the same. */
  targetHash: Buffer;
}

/**
 * Returns the keys under which an entry is stored. Each spelling of a source has entries of its own, so that a
 * correction of one spelling does not renew the entry of another.
 * @param given the source in the form of its document
 * @param stored the entry in its stored form
 * @returns `former` has the keys that earlier versions gave the entry, if they differ
 */
export function entryKeysOf(
  given: readonly Piece[],
  { source, target }: StoredPair,
  tone: string | undefined,
): { keys: EntryKeys; former: EntryKeys | undefined } {
  // Translations that differ only in protected words or tone are separate entries.
  const isTextAlone = tone === undefined && !source.some(isKept) && !target.some(isKept);
  const [own, seen] = [hashOf(given), hashOf(mapTexts(given, asSeen))];
  const former = { sourceHash: own, targetHash: digestOf(isTextAlone ? target : { source, target, tone }) };
  if (own.equals(seen)) return { keys: former, former: undefined };
  const targetHash = isTextAlone ? digestOf({ source: own.toString('hex'), target }) : former.targetHash;
  return { keys: { sourceHash: seen, targetHash }, former };
}

/**
 * Returns the keys under which a source and sources that look the same may be stored. Entries of earlier versions have
 * the key of their exact text, mostly with either typewriter or typographic apostrophes throughout.
 */
export function keysOf(source: readonly Piece[]): [Buffer, ...Buffer[]] {
  const own = hashOf(source);
  const text = plainText(source);
  const seen = asSeen(text);
  const others = [
    ...(seen === text ? [] : [asSeen]),
    ...(seen.includes("'") ? [(one: string) => asSeen(one).replaceAll("'", '’')] : []),
  ];
  return [own, ...others.map((change) => hashOf(mapTexts(source, change))).filter((key) => !key.equals(own))];
}

/** Puts the entries with exactly the text of a source before those that only look the same. */
export function exactFirst<Entry extends { source: readonly Piece[] }>(
  source: readonly Piece[],
  entries: readonly Entry[],
): Entry[] {
  const text = plainText(source).normalize('NFC');
  const [exact, others]: [Entry[], Entry[]] = [[], []];
  for (const entry of entries) {
    (plainText(entry.source).normalize('NFC') === text ? exact : others).push(entry);
  }
  return [...exact, ...others];
}

/** Returns a hash of the segments before and after a segment; undefined if the text has only one segment. */
export function contextHashOf(
  previous: readonly Piece[] | undefined,
  next: readonly Piece[] | undefined,
  hash: (source: readonly Piece[]) => Buffer = hashOf,
): Buffer | undefined {
  if (previous === undefined && next === undefined) return undefined;
  const both = [previous, next].map((one) => (one === undefined ? Buffer.alloc(32) : hash(one)));
  return createHash('sha256').update(Buffer.concat(both)).digest().subarray(0, 16);
}

/** The number of characters at the beginning of a text that are searchable. */
const MAX_SEARCHED = 4_000;

/**
 * Returns the searchable form of a text: words in lower-case ASCII. Other letters become their code points in
 * hexadecimal. Otherwise the trigrams would depend on the locale of the database; in the embedded database,
 * other letters would have none.
 */
export function searchable(text: string): string {
  let out = '';
  for (const character of text.slice(0, MAX_SEARCHED).normalize('NFKC').toLowerCase()) {
    if (/[a-z0-9]/.test(character)) out += character;
    else out += /[\p{L}\p{N}\p{M}]/u.test(character) ? character.codePointAt(0)!.toString(16) : ' ';
  }
  return out.replaceAll(/ +/g, ' ').trim();
}

/**
 * Fits a stored target to a source.
 * @returns `pieces` with the code numbers of the source. If `complete`, every code and protected word of the
 * source is where the translator put it; otherwise `pieces` has only the words, without codes
 */
export function fit(source: readonly Piece[], stored: StoredPair): { pieces: Piece[]; complete: boolean } {
  const numbers = numbersOf(source);
  const asked = numbered(source, numbers);
  const isBare = asked.some(isKept) && !stored.source.some(isKept);
  const target = isBare ? bindKept(asked, stored.target) : stored.target;
  if (target !== undefined && isAlike(isBare ? withPlainWords(asked) : asked, stored.source)) {
    const own = new Map<string, number>();
    for (const [key, number] of numbers) own.set(`${key[0]}${number}`, Number(key.slice(1)));
    const words = new Map(asked.flatMap((piece) => ('keep' in piece ? [[piece.keep, piece.text]] : [])));
    const pieces = target
      .map((piece) => ('keep' in piece ? { ...piece, text: words.get(piece.keep) ?? piece.text } : piece))
      .map((piece) => renumber(piece, (kind, number) => own.get(`${kind}${number}`) ?? number));
    if (isCorrect(source, pieces)) return { pieces, complete: true };
  }
  return { pieces: withPlainWords(stored.target.filter((piece) => 'text' in piece)), complete: false };
}

/**
 * Returns true if a translation of one text can be used for the other. Both must have the same codes. If
 * their visible texts are equal, the codes must also be in the same places.
 */
function isAlike(one: readonly Piece[], other: readonly Piece[]): boolean {
  const form = (pieces: readonly Piece[]) => JSON.stringify(pieces).normalize('NFC');
  if (plainText(one).normalize('NFC') === plainText(other).normalize('NFC')) return form(one) === form(other);
  const isCode = (piece: Piece) => !('text' in piece) || isKept(piece);
  return form(one.filter(isCode)) === form(other.filter(isCode));
}

/**
 * Turns plain words of a target back into protected words, if that is unambiguous. Each protected word must
 * have a unique text that occurs once in the source and once in the target as a whole word.
 * @returns undefined if it is ambiguous
 */
function bindKept(source: readonly Piece[], target: readonly Piece[]): Piece[] | undefined {
  const places: { at: number; end: number; word: Piece }[] = [];
  const [sourceText, targetText] = [plainText(source), plainText(target)];
  for (const word of source) {
    if (!isKept(word)) continue;
    const at = onlyPlaceOf(word.text, targetText);
    if (at === undefined || onlyPlaceOf(word.text, sourceText) === undefined) return undefined;
    places.push({ at, end: at + word.text.length, word });
  }
  places.sort((a, b) => a.at - b.at);
  const pieces: Piece[] = [];
  let next = 0;
  let start = 0;
  for (const piece of target) {
    if (!('text' in piece)) {
      pieces.push(piece);
      continue;
    }
    const end = start + piece.text.length;
    let from = start;
    for (; next < places.length && places[next]!.at < end; next++) {
      const place = places[next]!;
      // The text is ambiguous: two protected words overlap, or a code is inside a protected word.
      if (place.at < from || place.end > end) return undefined;
      pieces.push({ text: targetText.slice(from, place.at) }, place.word);
      from = place.end;
    }
    pieces.push({ text: targetText.slice(from, end) });
    start = end;
  }
  return mergeText(pieces);
}

const WORD = '[\\p{L}\\p{N}\\p{M}_]';
/** A character that joins two parts of a word or number: `3.5`, `l'heure`. */
const JOINT = "[.,:/'\u2019-]?";
const STARTS_IN_WORD = new RegExp(`^${WORD}`, 'u');
const ENDS_IN_WORD = new RegExp(`${WORD}$`, 'u');
const GOES_ON_BEFORE = new RegExp(`${WORD}${JOINT}$`, 'u');
const GOES_ON_AFTER = new RegExp(`^${JOINT}${WORD}`, 'u');
/**
 * The number of code units to look at on each side of a word: a joining character and one character, which
 * may be a surrogate pair.
 */
const NEIGHBOUR = 3;

/** Finds a word that occurs exactly once in a text, and not inside another word or number. @returns its index */
function onlyPlaceOf(word: string, text: string): number | undefined {
  const at = text.indexOf(word);
  if (word === '' || at < 0 || text.indexOf(word, at + 1) >= 0) return undefined;
  const end = at + word.length;
  const before = text.slice(Math.max(0, at - NEIGHBOUR), at);
  const after = text.slice(end, end + NEIGHBOUR);
  if (STARTS_IN_WORD.test(word) && GOES_ON_BEFORE.test(before)) return undefined;
  if (ENDS_IN_WORD.test(word) && GOES_ON_AFTER.test(after)) return undefined;
  return /^\p{M}/u.test(after) ? undefined : at;
}

export function isKept(piece: Piece): piece is { keep: number; text: string } {
  return 'keep' in piece;
}

/** Returns a key for a code that is not a protected word. */
function codeOf(piece: Piece): string {
  return 'open' in piece
    ? `o${piece.open}`
    : 'close' in piece
      ? `c${piece.close}`
      : `s${(piece as { single: number }).single}`;
}

/** The kind of a code: a paired code (p), a single code (s), a protected word (k). */
type Kind = 'p' | 's' | 'k';

/**
 * Returns the new numbers of a source's codes by their old ones (`p1`, `s2`, `k3`). Protected words are
 * counted separately, so that the other codes have the same numbers in entries with plain words.
 */
function numbersOf(source: readonly Piece[]): Map<string, number> {
  const numbers = new Map<string, number>();
  let codes = 0;
  let kept = 0;
  for (const piece of source) {
    renumber(piece, (kind, number) => {
      const name = `${kind}${number}`;
      if (!numbers.has(name)) numbers.set(name, kind === 'k' ? ++kept : ++codes);
      return number;
    });
  }
  return numbers;
}

function numbered(pieces: readonly Piece[], numbers: ReadonlyMap<string, number>): Piece[] {
  return mergeText(
    pieces.map((piece) => renumber(piece, (kind, number) => numbers.get(`${kind}${number}`) ?? number)),
  );
}

/** Replaces protected words with plain text. */
function withPlainWords(pieces: readonly Piece[]): Piece[] {
  return mergeText(pieces.map((piece) => (isKept(piece) ? { text: piece.text } : piece)));
}

function renumber(piece: Piece, number: (kind: Kind, given: number) => number): Piece {
  if ('keep' in piece) return { keep: number('k', piece.keep), text: piece.text };
  if ('open' in piece) return { open: number('p', piece.open) };
  if ('close' in piece) return { close: number('p', piece.close) };
  if ('single' in piece) return { single: number('s', piece.single) };
  return piece;
}
