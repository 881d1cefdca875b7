/**
 * Converts the pieces of a segment to the markup of a translation service and back.
 *
 * There are two notations: tags for services that translate HTML or XML, and markers `⟦n⟧` for language
 * models. Codes are numbered from 1 and looked up in the {@link CodeTable} afterwards, so that a service
 * cannot invent a code.
 *
 * - White space at the edges is not sent.
 * - In tags, each run of spaces, line break or control character is sent as a code, because services collapse
 *   white space and XML does not allow all control characters.
 * - A paired code becomes a pair of tags if both its halves are in the segment and it crosses no other pair.
 *   Every other half is sent as a single code.
 */

import type { Piece } from './engine.ts';

export interface Notation {
  kind: 'tags' | 'markers';
  /**
   * Functions that write the halves of a paired code, a single code and a protected word. `text` is already escaped.
   */
  open(n: number): string;
  close(n: number): string;
  single(n: number): string;
  keep(n: number, text: string): string;
  /** Matches parts of a text that are sent as codes, because the service would change them or cannot handle them. */
  special: RegExp;
  /**
   * Whether the service may repeat a pair of tags around several runs of text. The pair around the longest
   * run is used.
   */
  scatters?: boolean;
  /** Whether texts without codes are sent with escapes too, because the service takes no other texts. */
  alwaysMarked?: boolean;
}

const BLANKS = /[ \p{Cc}\u2028\u2029\ufffe\uffff]+/gu;
const BRACKETS = /[⟦⟧]/gu;
/**
 * Matches what Bergamot gets as codes: blanks, emoji (no vocabulary contains them) and very long words (they take too
 * much time).
 */
const FOREIGN = new RegExp(
  `${BLANKS.source}|[\\p{Extended_Pictographic}\\u{1f1e6}-\\u{1f1ff}][\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\u{1f1e6}-\\u{1f1ff}\\u200d\\ufe0f]*|\\S{200,}`,
  'gu',
);

/**
 * The HTML notation. A protected word has two attributes, because Google reads `translate` and Azure reads `class`.
 * LibreTranslate does not translate the element `code`.
 */
export const HTML: Notation = {
  kind: 'tags',
  open: (n) => `<span id="${n}">`,
  close: () => '</span>',
  single: (n) => `<img id="${n}"/>`,
  keep: (n, text) => `<code id="${n}" translate="no" class="notranslate">${text}</code>`,
  special: BLANKS,
};

/**
 * The HTML notation for Bergamot, which reads `img` as an element without end tag and does not translate
 * `code`. An unclosed tag would abort Bergamot.
 */
export const BERGAMOT: Notation = {
  ...HTML,
  keep: (n, text) => `<code id="${n}">${text}</code>`,
  special: FOREIGN,
  // Bergamot reports its scores only in HTML.
  alwaysMarked: true,
  // Bergamot repeats a tag around every target word that is aligned to a source word inside the tag.
  scatters: true,
};

/** The XML notation for DeepL. The element `k` is listed in the request's `ignore_tags`. */
export const XML: Notation = {
  kind: 'tags',
  open: (n) => `<g id="${n}">`,
  close: () => '</g>',
  single: (n) => `<x id="${n}"/>`,
  keep: (n, text) => `<k id="${n}">${text}</k>`,
  special: BLANKS,
};

export const MARKERS: Notation = {
  kind: 'markers',
  open: (n) => `⟦${n}⟧`,
  close: (n) => `⟦/${n}⟧`,
  single: (n) => `⟦${n}⟧`,
  keep: (n) => `⟦${n}⟧`,
  special: BRACKETS,
};

/** The codes that {@link write} has numbered, for use by {@link read}. */
export interface CodeTable {
  /** The codes of the segment. Code n is at index n − 1. A `blank` is text that was sent as a code. */
  codes: Code[];
  /** White space at the start and the end of the segment, which was not sent. */
  before: string;
  after: string;
  /** Whether the segment is only text. Such text is sent without tags and escapes. */
  plain: boolean;
}

type Code =
  | { kind: 'pair'; open: number; close: number }
  | { kind: 'single'; piece: Piece }
  | { kind: 'keep'; piece: Piece & { keep: number } }
  | { kind: 'blank'; text: string };

/** Thrown when a reply is not a translation of the segment. */
export class Garbled extends Error {}

/** Replaces NUL and lone surrogates, which JSON and XML cannot carry. */
export function cleanText(text: string): string {
  return text.replaceAll('\0', ' ').toWellFormed();
}

export function hasLetters(pieces: readonly Piece[]): boolean {
  return pieces.some((piece) => 'text' in piece && !('keep' in piece) && /\p{L}/u.test(piece.text));
}

/** Returns the text that readers see, including protected words. */
export function visibleText(pieces: readonly Piece[]): string {
  return pieces.map((piece) => ('text' in piece ? piece.text : '')).join('');
}

/** Writes pieces in the notation of a service. */
export function write(pieces: readonly Piece[], notation: Notation): { text: string; table: CodeTable } {
  const { before, middle, after } = edges(join(pieces));
  const codes: Code[] = [];
  const partner = match(middle);
  const numbers = new Map<number, number>();
  let out = '';
  let plainOut = '';
  middle.forEach((piece, index) => {
    if ('keep' in piece) {
      const n = codes.push({ kind: 'keep', piece });
      out += notation.keep(n, escaped(notation, cleanText(piece.text)));
    } else if ('text' in piece) {
      plainOut += piece.text;
      let from = 0;
      for (const hit of piece.text.matchAll(notation.special)) {
        if (hit[0] === ' ') continue;
        out += escaped(notation, piece.text.slice(from, hit.index));
        out += notation.single(codes.push({ kind: 'blank', text: hit[0] }));
        from = hit.index + hit[0].length;
      }
      out += escaped(notation, piece.text.slice(from));
    } else if (!partner.has(index)) {
      out += notation.single(codes.push({ kind: 'single', piece }));
    } else if ('open' in piece) {
      const n = codes.push({ kind: 'pair', open: piece.open, close: piece.open });
      numbers.set(partner.get(index)!, n);
      out += notation.open(n);
    } else {
      out += notation.close(numbers.get(index)!);
    }
  });
  const plain = codes.length === 0 && notation.alwaysMarked !== true;
  return { text: plain ? plainOut : out, table: { codes, before, after, plain } };
}

/**
 * Reads a reply back into pieces.
 * @throws Garbled when a code is unknown, repeated, crossed or missing
 */
export function read(reply: string, table: CodeTable, notation: Notation): Piece[] {
  const out: Piece[] = [];
  const push = (text: string): void => {
    if (text === '') return;
    const last = out.at(-1);
    if (last !== undefined && 'text' in last && !('keep' in last)) last.text += text;
    else out.push({ text });
  };
  push(table.before);
  const body = cleanText(reply).trim();
  if (table.plain) {
    // A source text with the brackets ⟦ or ⟧ is never `plain`. So the model has invented the brackets in this reply.
    if (notation.kind === 'markers' && /[⟦⟧]/.test(body)) throw new Garbled('a code that was not sent');
    push(body);
  } else if (notation.kind === 'tags') {
    readTags(notation.scatters === true ? longestRuns(body, notation) : body, table, notation, out, push);
  } else readMarkers(body, table, out, push);
  push(table.after);
  return out;
}

/** Matches `<name id="3">`, `</name>`, `<name id=3 />` and the variants that services return. */
const TAG = /<\s{0,4}(\/?)\s{0,4}(span|img|code|g|x|k)\b([^<>]*?)(\/?)\s{0,4}>/gi;
const ID = /\bid\s*=\s*(?:["'“”]\s*)?(\d{1,6})\b/i;

function readTags(
  body: string,
  table: CodeTable,
  notation: Notation,
  out: Piece[],
  push: (text: string) => void,
): void {
  const names = namesOf(notation);
  const seen = new Set<number>();
  const open: number[] = [];
  let from = 0;
  /** Whether the position is inside a protected word, whose text in the reply is ignored. */
  let skipping = false;
  for (const hit of body.matchAll(TAG)) {
    const [whole, slash, rawName = '', attributes = '', selfClosing] = hit;
    const name = rawName.toLowerCase();
    if (!names.all.has(name)) continue;
    if (!skipping) push(unescaped(body.slice(from, hit.index)));
    from = hit.index + whole.length;
    if (slash !== '') {
      if (name === names.keep) skipping = false;
      else if (name === names.open && !skipping) {
        const n = open.pop();
        if (n === undefined) throw new Garbled('a code closes that is not open');
        const code = table.codes[n - 1];
        if (code?.kind === 'pair') out.push({ close: code.close });
      }
      continue;
    }
    if (skipping) continue;
    const n = Number(ID.exec(attributes)?.[1] ?? 0);
    const code = take(table, n, seen);
    if (code.kind === 'pair' && name === names.open) {
      out.push({ open: code.open });
      if (selfClosing === '') open.push(n);
      else out.push({ close: code.close });
    } else if (code.kind === 'keep' && name === names.keep) {
      out.push(code.piece);
      skipping = selfClosing === '';
    } else if (code.kind === 'single' && name === names.single) out.push(code.piece);
    else if (code.kind === 'blank' && name === names.single) pushBlank(code.text, out, push);
    else throw new Garbled('a code came back as another kind');
  }
  if (skipping || open.length > 0) throw new Garbled('a code stays open');
  push(unescaped(body.slice(from)));
  missing(table, seen);
}

/**
 * If a pair of tags occurs several times, keeps only the pair around the longest run of text. Nesting is
 * preserved.
 */
function longestRuns(body: string, notation: Notation): string {
  const { open: name } = namesOf(notation);
  const stack: { n: number; start: number; tag: string }[] = [];
  const runs = new Map<number, { length: number; tags: [number, string][] }[]>();
  for (const { 0: tag, 1: slash, 2: tagName = '', 3: attributes = '', 4: end, index } of body.matchAll(TAG)) {
    if (tagName.toLowerCase() !== name || end !== '') continue;
    if (slash === '') stack.push({ n: Number(ID.exec(attributes)?.[1] ?? 0), start: index, tag });
    else {
      const top = stack.pop();
      if (top === undefined) return body;
      const tags: [number, string][] = [
        [top.start, top.tag],
        [index, tag],
      ];
      const length = index - top.start;
      runs.set(top.n, [...(runs.get(top.n) ?? []), { length, tags }]);
    }
  }
  const out = [...runs.values()]
    .flatMap((each) => each.sort((a, b) => b.length - a.length).slice(1))
    .flatMap(({ tags }) => tags)
    .sort(([a], [b]) => b - a);
  return out.reduce((text, [at, tag]) => text.slice(0, at) + text.slice(at + tag.length), body);
}

function namesOf(notation: Notation): { open: string; single: string; keep: string; all: Set<string> } {
  const name = (tag: string): string => /^<(\w+)/.exec(tag)![1]!;
  const [open, single, keep] = [name(notation.open(1)), name(notation.single(1)), name(notation.keep(1, ''))];
  return { open, single, keep, all: new Set([open, single, keep]) };
}

const MARKER = /⟦\s*(?:(\/)\s*)?(\d{1,6})\s*⟧/g;

function readMarkers(body: string, table: CodeTable, out: Piece[], push: (text: string) => void): void {
  const seen = new Set<number>();
  const open: number[] = [];
  const text = (part: string): void => {
    if (/[⟦⟧]/.test(part)) throw new Garbled('a marker is mangled');
    push(part);
  };
  let from = 0;
  for (const hit of body.matchAll(MARKER)) {
    text(body.slice(from, hit.index));
    from = hit.index + hit[0].length;
    const n = Number(hit[2]);
    if (hit[1] !== undefined) {
      if (open.pop() !== n) throw new Garbled('a code closes that is not open');
      const code = table.codes[n - 1];
      if (code?.kind === 'pair') out.push({ close: code.close });
      continue;
    }
    const code = take(table, n, seen);
    if (code.kind === 'pair') {
      open.push(n);
      out.push({ open: code.open });
    } else if (code.kind === 'blank') push(code.text);
    else out.push(code.piece);
  }
  text(body.slice(from));
  if (open.length > 0) throw new Garbled('a code stays open');
  missing(table, seen);
}

function take(table: CodeTable, n: number, seen: Set<number>): Code {
  const code = table.codes[n - 1];
  if (code === undefined) throw new Garbled('a code that was not sent');
  if (seen.has(n)) throw new Garbled('a code came back twice');
  seen.add(n);
  return code;
}

function missing(table: CodeTable, seen: ReadonlySet<number>): void {
  const count = table.codes.length - seen.size;
  if (count > 0) throw new Garbled(`${count} of ${table.codes.length} codes did not come back`);
}

/** Adds a blank (markup or white space between words). If it is white space, first removes the spaces that the service inserted before it. */
function pushBlank(blank: string, out: Piece[], push: (text: string) => void): void {
  const last = out.at(-1);
  if (/\s/u.test(blank) && last !== undefined && 'text' in last && !('keep' in last)) {
    last.text = last.text.replace(/(?<! ) +$/, '');
  }
  push(blank);
}

/** Merges adjacent pieces of text, and replaces NUL and lone surrogates. */
function join(pieces: readonly Piece[]): Piece[] {
  const out: Piece[] = [];
  for (const piece of pieces) {
    const last = out.at(-1);
    if ('text' in piece && !('keep' in piece)) {
      if (piece.text === '') continue;
      if (last !== undefined && 'text' in last && !('keep' in last)) last.text += piece.text;
      else out.push({ text: piece.text });
    } else out.push({ ...piece });
  }
  for (const piece of out) if ('text' in piece && !('keep' in piece)) piece.text = cleanText(piece.text);
  return out;
}

function edges(pieces: Piece[]): { before: string; middle: Piece[]; after: string } {
  const middle = [...pieces];
  let before = '';
  let after = '';
  const first = middle[0];
  if (first !== undefined && 'text' in first && !('keep' in first)) {
    const rest = first.text.trimStart();
    before = first.text.slice(0, first.text.length - rest.length);
    middle[0] = { text: rest };
  }
  const last = middle.at(-1);
  if (last !== undefined && 'text' in last && !('keep' in last)) {
    const rest = last.text.trimEnd();
    after = last.text.slice(rest.length);
    middle[middle.length - 1] = { text: rest };
  }
  return {
    before,
    middle: middle.filter((piece) => 'keep' in piece || !('text' in piece) || piece.text !== ''),
    after,
  };
}

/** Maps the index of each half of a nested pair to the index of the other half. */
function match(pieces: readonly Piece[]): Map<number, number> {
  const stack: { code: number; index: number }[] = [];
  const partner = new Map<number, number>();
  pieces.forEach((piece, index) => {
    if ('open' in piece) stack.push({ code: piece.open, index });
    if (!('close' in piece)) return;
    const at = stack.findLastIndex(({ code }) => code === piece.close);
    if (at < 0) return;
    // A pair that was opened inside this pair and is still open either crosses this pair or lacks its second half.
    // Its halves become single codes.
    const { index: start } = stack[at]!;
    stack.length = at;
    partner.set(start, index);
    partner.set(index, start);
  });
  return partner;
}

const escaped = (notation: Notation, text: string): string =>
  notation.kind === 'tags'
    ? text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    : text;

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
};

/** Decodes one level of entities, because `&amp;` in the source was sent as `&amp;amp;`. */
export function unescaped(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
    const point = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff)
      ? String.fromCodePoint(point)
      : whole;
  });
}
