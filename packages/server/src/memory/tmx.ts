/**
 * Reads and writes TMX 1.4b, the exchange format of translation memories. Files are streams of entries, so
 * that files of any size need little memory. Inline codes keep their kind and identity, not their content. A
 * protected word (variable, address, `notranslate`) is written as a `ph` of the type `x-kept` with its
 * visible text as content.
 */
import { Limits, type Piece } from '@dragoman/documents';
import { SaxesParser } from 'saxes';

/** The file is not valid TMX. `message` is a sentence with the line. */
export class TmxError extends Error {
  override name = 'TmxError';
}

export interface TmxUnit {
  /** The segments of the unit by language. Language codes are in lower case but otherwise as in the file. */
  variants: { language: string; pieces: Piece[] }[];
  /** The property `x-tone`, which this program writes when it exports files. */
  tone?: string;
  line: number;
}

/** The maximum nesting depth of elements. */
const MAX_DEPTH = 64;
/** The maximum length of a tone's name. */
const MAX_TONE = 100;
/** The maximum length of a segment in UTF-16 code units. */
export const MAX_SEGMENT = 10_000;

/** Reads TMX and yields its units. @throws TmxError at the first line that is not TMX */
export async function* readTmx(chunks: AsyncIterable<string>): AsyncGenerator<TmxUnit> {
  const units: TmxUnit[] = [];
  const parser = new SaxesParser({ xmlns: false, position: true });
  let depth = 0;
  let root = false;
  let unit: TmxUnit | undefined;
  let language: string | undefined;
  let segment: Inline | undefined;
  let tone: string | undefined;
  let numbers = new Map<string, number>();
  /**
   * The nesting depth at which the current inline code began; 0 outside codes. The content of a code is not
   * text.
   */
  let codeDepth = 0;
  const refuse = (reason: string): never => {
    throw new TmxError(`${reason} (line ${parser.line})`);
  };
  parser.on('error', (error) =>
    refuse(`This is not well-formed XML: ${error.message.replace(/^\d+:\d+: /, '')}`),
  );
  parser.on('doctype', (doctype) => {
    if (doctype.includes('[')) refuse('A document type with declarations of its own is not allowed.');
  });
  parser.on('opentag', ({ name, attributes }) => {
    if (++depth > MAX_DEPTH) refuse('The elements are nested too deeply.');
    if (!root && name !== 'tmx') refuse(`The first element is ${name}, not tmx.`);
    root = true;
    if (codeDepth > 0) return;
    if (segment !== undefined) {
      if (segment.open(name, attributes)) codeDepth = depth;
      if (segment.codes() > Limits.codes) refuse(`A segment has more than ${Limits.codes} codes.`);
    } else if (name === 'tu') {
      unit = { variants: [], line: parser.line };
      numbers = new Map();
    } else if (name === 'tuv') {
      language = attributes['xml:lang'] ?? attributes.lang;
      if (language === undefined || language === '') refuse('A tuv has no language.');
    } else if (name === 'seg') segment = createInline(numbers);
    else if (name === 'prop' && attributes.type === 'x-tone') tone = '';
  });
  const text = (given: string) => {
    if (tone !== undefined && tone.length <= MAX_TONE) tone += given;
    if (segment === undefined) return;
    const length = codeDepth > 0 ? segment.code(given) : segment.text(given);
    if (length > MAX_SEGMENT) refuse(`A segment is longer than ${MAX_SEGMENT} characters.`);
  };
  parser.on('text', text);
  parser.on('cdata', text);
  parser.on('closetag', ({ name }) => {
    if (codeDepth === depth) codeDepth = 0;
    else if (codeDepth === 0 && segment !== undefined && name === 'hi') segment.close();
    else if (name === 'seg' && segment !== undefined) {
      if (unit === undefined || language === undefined) refuse('A seg is outside a tuv.');
      unit?.variants.push({ language: language!.toLowerCase(), pieces: segment.pieces() });
      segment = undefined;
    } else if (name === 'prop' && tone !== undefined) {
      if (unit !== undefined) unit.tone = tone;
      tone = undefined;
    } else if (name === 'tu' && unit !== undefined) {
      units.push(unit);
      unit = undefined;
    }
    depth--;
  });
  for await (const chunk of chunks) {
    parser.write(chunk);
    yield* units.splice(0);
  }
  if (!root) refuse('The file is empty.');
  parser.close();
  yield* units.splice(0);
}

interface Inline {
  /** Handles the start of an element. @returns true if the element is a code, whose content is not text */
  open(name: string, attributes: Record<string, string>): boolean;
  close(): void;
  /** Returns the number of codes and protected words so far. */
  codes(): number;
  /** Adds text. @returns the length of the segment so far, in UTF-16 code units */
  text(given: string): number;
  /** Adds the content of a code. Only the content of protected words is stored. @returns like `text` */
  code(given: string): number;
  pieces(): Piece[];
}

/**
 * Collects the pieces of a segment. Codes are numbered in their order in the unit, and corresponding codes
 * have the same number in every language. Codes correspond if they have the same `x` or, without `x`, the
 * same position among the codes of their kind.
 * @param numbers the numbers of the unit's codes
 */
function createInline(numbers: Map<string, number>): Inline {
  const pieces: Piece[] = [];
  const pairs = new Map<string, number>();
  const highlights: number[] = [];
  const unnamed = new Map<string, number>();
  /** The protected word whose content is being read. */
  let kept: { keep: number; text: string } | undefined;
  let length = 0;
  let codes = 0;
  const numberOf = (kind: string, x: string | undefined) => {
    const place = (unnamed.get(kind) ?? 0) + 1;
    if (x === undefined) unnamed.set(kind, place);
    const key = `${kind} ${x ?? `#${place}`}`;
    const number = numbers.get(key) ?? numbers.size + 1;
    numbers.set(key, number);
    return number;
  };
  return {
    open(name, { i = '', x, type }) {
      kept = undefined;
      codes++;
      if (name === 'bpt') {
        const number = numberOf(name, x);
        pairs.set(i, number);
        pieces.push({ open: number });
      } else if (name === 'ept') {
        const number = pairs.get(i);
        pairs.delete(i);
        pieces.push(number === undefined ? { single: numberOf(name, undefined) } : { close: number });
      } else if (name === 'hi') {
        const number = numberOf(name, x);
        highlights.push(number);
        pieces.push({ open: number });
        return false;
      } else if (name === 'ph' && type === KEPT) {
        kept = { keep: numberOf(KEPT, x), text: '' };
        pieces.push(kept);
      } else pieces.push({ single: numberOf('ph', x) });
      return true;
    },
    close() {
      const number = highlights.pop();
      codes++;
      if (number !== undefined) pieces.push({ close: number });
    },
    text(given) {
      const last = pieces.at(-1);
      if (last !== undefined && isText(last)) pieces[pieces.length - 1] = { text: last.text + given };
      else if (given !== '') pieces.push({ text: given });
      length += given.length;
      return length;
    },
    code(given) {
      if (kept === undefined) return length;
      kept.text += given;
      length += given.length;
      return length;
    },
    codes: () => codes,
    pieces: () => trim(pieces),
  };
}

/** Removes white space at the edges, because stored segments never have any. */
function trim(pieces: Piece[]): Piece[] {
  const [first] = pieces;
  if (first !== undefined && isText(first)) pieces[0] = { text: first.text.trimStart() };
  const last = pieces.at(-1);
  if (last !== undefined && isText(last)) pieces[pieces.length - 1] = { text: last.text.trimEnd() };
  return pieces.filter((piece) => !isText(piece) || piece.text !== '');
}

/** The `type` of a `ph` element that is a protected word. */
const KEPT = 'x-kept';

function isText(piece: Piece): piece is { text: string } {
  return 'text' in piece && !('keep' in piece);
}

export interface TmxEntry {
  id: string;
  createdAt: Date;
  changedAt: Date;
  /** The properties of the unit (`prop` elements), by name. */
  properties: Record<string, string>;
  from: string;
  to: string;
  source: readonly Piece[];
  target: readonly Piece[];
}

/** Writes a memory as TMX. @param from the language of all sources; undefined if there are several */
export async function* writeTmx(
  entries: AsyncIterable<TmxEntry>,
  from: string | undefined,
): AsyncGenerator<string> {
  yield `<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4">
<header creationtool="dragoman" creationtoolversion="1" segtype="sentence" o-tmf="dragoman" adminlang="en" srclang="${quote(from ?? '*all*')}" datatype="plaintext"/>
<body>
`;
  for await (const entry of entries) yield unitOf(entry);
  yield '</body>\n</tmx>\n';
}

function unitOf({ id, createdAt, changedAt, properties, from, to, source, target }: TmxEntry): string {
  const dates = `creationdate="${stamp(createdAt)}" changedate="${stamp(changedAt)}"`;
  const props = Object.entries(properties).map(
    ([name, value]) => `<prop type="x-${quote(name)}">${quote(value)}</prop>\n`,
  );
  const codes = [...source, ...target].reduce((most, piece) => Math.max(most, numberOf(piece)), 0);
  return `<tu tuid="${quote(id)}" srclang="${quote(from)}" ${dates}>
${props.join('')}<tuv xml:lang="${quote(from)}"><seg>${inline(source, codes)}</seg></tuv>
<tuv xml:lang="${quote(to)}"><seg>${inline(target, codes)}</seg></tuv>
</tu>
`;
}

/** Returns the number that identifies a code within its segment; 0 for text and for a protected word. */
function numberOf(piece: Piece): number {
  if ('text' in piece) return 0;
  return 'open' in piece ? piece.open : 'close' in piece ? piece.close : piece.single;
}

/** Formats a date like `20270131T120000Z`. */
function stamp(date: Date): string {
  return date.toISOString().replaceAll(/[-:]|\.\d+/g, '');
}

/**
 * Writes the content of a `seg`. A code whose other half is missing becomes an `it`.
 * @param codes the highest code number of the entry; protected words are numbered after it, because `x` must
 * be unique
 */
function inline(pieces: readonly Piece[], codes: number): string {
  const opened = new Set(pieces.flatMap((piece) => ('open' in piece ? [piece.open] : [])));
  const closed = new Set(pieces.flatMap((piece) => ('close' in piece ? [piece.close] : [])));
  return pieces
    .map((piece) => {
      if ('keep' in piece) return `<ph x="${codes + piece.keep}" type="${KEPT}">${quote(piece.text)}</ph>`;
      if ('text' in piece) return quote(piece.text);
      if ('single' in piece) return `<ph x="${piece.single}"/>`;
      if ('open' in piece) {
        const { open } = piece;
        return closed.has(open) ? `<bpt i="${open}" x="${open}"/>` : `<it pos="begin" x="${open}"/>`;
      }
      const { close } = piece;
      return opened.has(close) ? `<ept i="${close}"/>` : `<it pos="end" x="${close}"/>`;
    })
    .join('');
}

/**
 * Escapes text for XML. Removes characters that XML cannot contain, and escapes CR, which parsers would
 * change.
 */
function quote(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\0-\x08\v\f\x0e-\x1f\ufffe\uffff]/g, '')
    .replaceAll(/[&<>"\r]/g, (character) => ESCAPES[character]!);
}

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
};
