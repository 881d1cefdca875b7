/**
 * TMX 1.4: the exchange format of translation memories. Read as a stream, entry by entry, so that a memory of
 * gigabytes passes through little memory. Inline codes keep their kind and order, not their content.
 */
import type { Piece } from '@dragoman/documents';
import { SaxesParser } from 'saxes';

/** The file cannot be read as TMX. `message` is a sentence with the line. */
export class TmxError extends Error {
  override name = 'TmxError';
}

export interface TmxUnit {
  /** Languages as the file names them, in lower case, with their segments. */
  variants: { language: string; pieces: Piece[] }[];
  line: number;
}

/** Deeper nesting is no TMX. */
const MAX_DEPTH = 64;
/** Longer segments are no sentences, and no engine's. */
const MAX_SEGMENT = 10_000;

/** @throws TmxError at the first line that is not TMX */
export async function* readTmx(chunks: AsyncIterable<string>): AsyncGenerator<TmxUnit> {
  const units: TmxUnit[] = [];
  const parser = new SaxesParser({ xmlns: false, position: true });
  let depth = 0;
  let root = false;
  let unit: TmxUnit | undefined;
  let language: string | undefined;
  let segment: Inline | undefined;
  /** Depth of an element inside a segment whose content is a code, not text. */
  let codeDepth = 0;
  const refuse = (reason: string): never => {
    throw new TmxError(`${reason} (line ${parser.line})`);
  };
  parser.on('error', (error) =>
    refuse(`This is not well-formed XML: ${error.message.replace(/^\d+:\d+: /, '')}`),
  );
  parser.on('doctype', (doctype) => {
    if (doctype.includes('[')) refuse('A document type with declarations of its own is not read.');
  });
  parser.on('opentag', ({ name, attributes }) => {
    if (++depth > MAX_DEPTH) refuse('The elements are nested too deeply.');
    if (!root && name !== 'tmx') refuse(`The first element is ${name}, not tmx.`);
    root = true;
    if (codeDepth > 0) return;
    if (segment !== undefined) {
      if (segment.open(name, attributes)) codeDepth = depth;
    } else if (name === 'tu') unit = { variants: [], line: parser.line };
    else if (name === 'tuv') {
      language = attributes['xml:lang'] ?? attributes.lang;
      if (language === undefined || language === '') refuse('A tuv has no language.');
    } else if (name === 'seg') segment = createInline();
  });
  const text = (given: string) => {
    if (segment === undefined || codeDepth > 0) return;
    if (segment.text(given) > MAX_SEGMENT) refuse(`A segment is longer than ${MAX_SEGMENT} characters.`);
  };
  parser.on('text', text);
  parser.on('cdata', text);
  parser.on('closetag', ({ name }) => {
    if (codeDepth === depth) codeDepth = 0;
    else if (codeDepth === 0 && segment !== undefined && name === 'hi') segment.close();
    else if (name === 'seg' && segment !== undefined) {
      if (unit === undefined || language === undefined) refuse('A seg stands outside a tuv.');
      unit?.variants.push({ language: language!.toLowerCase(), pieces: segment.pieces() });
      segment = undefined;
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
  /** @returns whether the element is a code, whose content is not text */
  open(name: string, attributes: Record<string, string>): boolean;
  close(): void;
  /** @returns how long the segment is now */
  text(given: string): number;
  pieces(): Piece[];
}

/** Codes of a segment, numbered in the order in which they come; the halves of a pair by their `i`. */
function createInline(): Inline {
  const pieces: Piece[] = [];
  const pairs = new Map<string, number>();
  const highlights: number[] = [];
  let next = 1;
  let length = 0;
  return {
    open(name, attributes) {
      if (name === 'bpt') {
        const number = next++;
        pairs.set(attributes.i ?? '', number);
        pieces.push({ open: number });
      } else if (name === 'ept') {
        const number = pairs.get(attributes.i ?? '');
        pairs.delete(attributes.i ?? '');
        pieces.push(number === undefined ? { single: next++ } : { close: number });
      } else if (name === 'hi') {
        highlights.push(next);
        pieces.push({ open: next++ });
        return false;
      } else pieces.push({ single: next++ });
      return true;
    },
    close() {
      const number = highlights.pop();
      if (number !== undefined) pieces.push({ close: number });
    },
    text(given) {
      const last = pieces.at(-1);
      if (last !== undefined && 'text' in last) pieces[pieces.length - 1] = { text: last.text + given };
      else if (given !== '') pieces.push({ text: given });
      length += given.length;
      return length;
    },
    pieces: () => trim(pieces),
  };
}

/** Without white space at the edges: no segment of ours has any. */
function trim(pieces: Piece[]): Piece[] {
  const [first] = pieces;
  if (first !== undefined && 'text' in first) pieces[0] = { text: first.text.trimStart() };
  const last = pieces.at(-1);
  if (last !== undefined && 'text' in last) pieces[pieces.length - 1] = { text: last.text.trimEnd() };
  return pieces.filter((piece) => !('text' in piece) || piece.text !== '');
}
