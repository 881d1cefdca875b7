/**
 * Writes translated units in the encoding of the document. If a translation equals its source, the segment is copied,
 * so that `AT&T`, unusual references and white space stay unchanged.
 */

import { asciiOnly, cleanText, escapeAttribute, escapeMarkup, escapeSection } from '../codes/escapes.ts';
import type { Document, Form, Piece, Unit } from '../model/document.ts';
import type { Format } from '../model/formats.ts';
import { blankEnd, blankStart } from '../model/spaces.ts';
import { keyOf, mergeText, repair } from './repair.ts';
import { isText, type Run, sliceRun, type TextRun } from './runs.ts';
import { applyJoins, type CutSegment, type Joins, segmentUnit } from './segmentation.ts';

export type Translations = ReadonlyMap<string, readonly Piece[]>;

/** Copies a range of the document and applies the changes inside the range. */
export type Copy = (start: number, end: number) => string;

/** Encodes translated text for the document. */
export type Encode = (text: string) => string;

/**
 * The contents of the HTML comments around segments, by segment id. The segment stands between `<!--MARK-->` and
 * `<!--/MARK-->`.
 */
export type Marks = ReadonlyMap<string, string>;

export interface RebuildOptions {
  /** The comments to write around the segments of an HTML document, for a preview. */
  marks?: Marks | undefined;
  joins?: Joins | undefined;
}

/**
 * Returns a unit with its translations, or undefined if the result equals the source.
 *
 * @param marks the comments to write around segments of HTML text; attribute values get none
 * @param joins the joined segments of the document
 */
export function renderUnit(
  document: Document,
  unit: Unit,
  language: string,
  translations: Translations,
  copy: Copy,
  { marks, joins }: RebuildOptions = {},
): string | undefined {
  const { cuts, html, quoting } = segmentUnit(document, unit, language);
  const plain = encoderOf(document, unit, html);
  const encode: Encode = quoting
    ? (text) => plain(text.replace(quoting.marks, `${quoting.prefix}$&`))
    : plain;
  const marked = unit.form === 'html' || unit.form === 'pre' ? marks : undefined;
  const out: string[] = [];
  let position = unit.start;
  let changed = false;
  for (const { id, cut } of applyJoins(document, unit, language, cuts, joins)) {
    const mark = marked?.get(id);
    const pieces = translationOf(cut, translations.get(id), document.format);
    if (!pieces && mark === undefined) continue;
    changed = true;
    const text = pieces ? renderPieces(cut, pieces, encode, copy, document.format) : copy(cut.start, cut.end);
    out.push(copy(position, cut.start), mark === undefined ? text : `<!--${mark}-->${text}<!--/${mark}-->`);
    position = cut.end;
  }
  if (!changed) return undefined;
  out.push(copy(position, unit.end));
  const text = out.join('');
  return unit.quote === '' ? quoted(text) : text;
}

/**
 * Returns the repaired translation of a segment. Returns undefined if there is no translation or it equals the
 * source.
 */
export function translationOf(
  cut: CutSegment,
  given: readonly Piece[] | undefined,
  format: Format,
): Piece[] | undefined {
  if (!given) return undefined;
  // The translation is compared before cleaning, because the source may contain characters that cleaning would
  // remove.
  if (same(cut.pieces, trimEdges(mergeText(given)))) return undefined;
  const clean = mergeText(
    given.map((piece) =>
      'text' in piece && !('keep' in piece) ? { text: cleanText(piece.text, format) } : piece,
    ),
  );
  const repaired = restoreHalves(cut, repair(cut.pieces, clean).pieces);
  const pieces = trimEdges(mergeText(repaired));
  return same(cut.pieces, pieces) ? undefined : pieces;
}

/**
 * Half pairs (codes whose other half is in another sentence) that are outside all pairs in the source are moved out of
 * the pairs of the translation, in the order of the source. Inside a pair, they would break the nesting of the
 * document.
 */
function restoreHalves(cut: CutSegment, pieces: readonly Piece[]): Piece[] {
  const outside = outsideHalves(cut);
  if (outside.length === 0) return [...pieces];
  const keys = new Set(outside.map(keyOf));
  const out: Piece[] = [];
  let waiting: Piece[] = [];
  let depth = 0;
  let next = 0;
  for (const piece of pieces) {
    if (keys.has(keyOf(piece))) {
      const settled = outside[next]!;
      next += 1;
      if (depth > 0) waiting.push(settled);
      else out.push(settled);
      continue;
    }
    out.push(piece);
    if ('open' in piece) depth += 1;
    if ('close' in piece) depth -= 1;
    if (depth === 0 && waiting.length > 0) {
      out.push(...waiting);
      waiting = [];
    }
  }
  return out;
}

/**
 * Returns the half pairs (codes whose other half is in another sentence) that are outside all pairs. Halves
 * of crossing pairs are inside other pairs and may move.
 */
function outsideHalves(cut: CutSegment): Piece[] {
  const codes = codesOf(cut);
  let depth = 0;
  return cut.pieces.filter((piece) => {
    if ('open' in piece) depth += 1;
    if ('close' in piece) depth -= 1;
    if (depth > 0 || !('single' in piece)) return false;
    const run = codes.get(keyOf(piece));
    return run !== undefined && !isText(run) && run.code.kind !== 'single';
  });
}

/** Removes white space at both ends. The document's own white space is copied there. */
function trimEdges(pieces: Piece[]): Piece[] {
  const first = pieces[0];
  if (first && 'text' in first && !('keep' in first)) pieces[0] = { text: first.text.trimStart() };
  const last = pieces.at(-1);
  if (last && 'text' in last && !('keep' in last)) pieces[pieces.length - 1] = { text: last.text.trimEnd() };
  return pieces.filter((piece) => !('text' in piece) || 'keep' in piece || piece.text !== '');
}

function same(a: readonly Piece[], b: readonly Piece[]): boolean {
  return (
    a.length === b.length &&
    a.every((piece, index) => {
      const other = b[index]!;
      return (
        keyOf(piece) === keyOf(other) &&
        ('text' in piece ? piece.text : '') === ('text' in other ? other.text : '')
      );
    })
  );
}

/** Returns, for the key of each code of a segment, the range of the document that contains the code. */
export function codesOf(cut: CutSegment): Map<string, Run> {
  const runs = cut.runs.filter((run) => !isText(run));
  const keys = cut.pieces.map(keyOf).filter((key) => key !== '');
  return new Map(keys.map((key, index) => [key, runs[index]!]));
}

/** Characters that turn a preceding `<` into the start of a tag (HTML standard §13.2.5.6). */
const TAG_NAME = /^[A-Za-z/!?]/;

function renderPieces(
  cut: CutSegment,
  pieces: readonly Piece[],
  encode: Encode,
  copy: Copy,
  format: Format,
): string {
  const codes = codesOf(cut);
  const blanks = new Blanks(cut);
  let out = '';
  pieces.forEach((piece, index) => {
    const run = codes.get(keyOf(piece));
    const next = run
      ? copy(run.start, run.end)
      : blanks.write(piece, pieces[index - 1], pieces[index + 1], encode, copy);
    // Copied text may end in a bare `<`. A space keeps the next text from turning it into a tag.
    const apart = format === 'html' && out.endsWith('<') && TAG_NAME.test(next);
    out += apart ? ` ${next}` : next;
  });
  return out;
}

/** A range of white space and control characters in the document, with its decoded text. */
interface Blank {
  text: string;
  start: number;
  end: number;
}

/**
 * The white space next to the codes of a segment. Where a translation has white space in the same position, the
 * document's white space is copied instead, including line breaks, indents and references.
 */
class Blanks {
  /** The white space after a code, by the key of the code. */
  readonly #after = new Map<string, Blank>();
  /** The white space before a code, by the key of the code. */
  readonly #before = new Map<string, Blank>();

  constructor(cut: CutSegment) {
    const keys = cut.pieces.map(keyOf).filter((key) => key !== '');
    let next = 0;
    let before = '';
    let stretch: TextRun[] = [];
    for (const run of cut.runs) {
      if (isText(run)) {
        stretch.push(run);
        continue;
      }
      const key = keys[next]!;
      next += 1;
      if (before !== '') this.#after.set(before, leading(stretch));
      this.#before.set(key, trailing(stretch));
      before = key;
      stretch = [];
    }
    if (before !== '') this.#after.set(before, leading(stretch));
  }

  /**
   * Returns a text piece of the translation in the notation of the document's format.
   * @param left the code before the text; undefined at the start of the segment
   * @param right the code after the text; undefined at the end of the segment
   */
  write(piece: Piece, left: Piece | undefined, right: Piece | undefined, encode: Encode, copy: Copy): string {
    const text = 'text' in piece ? piece.text : '';
    const lead = blankStart(text);
    const after = left && like(lead, this.#after.get(keyOf(left)));
    if (after) {
      const rest = text.slice(lead.length);
      return (
        copy(after.start, after.end) +
        (rest === '' ? '' : this.write({ text: rest }, undefined, right, encode, copy))
      );
    }
    const tail = blankEnd(text);
    const before = right && like(tail, this.#before.get(keyOf(right)));
    if (!before) return encode(text);
    return encode(text.slice(0, text.length - tail.length)) + copy(before.start, before.end);
  }
}

/**
 * Returns the document's white space if it can replace the white space of the translation: both contain a space, or
 * neither does and both consist of control characters.
 */
function like(given: string, blank: Blank | undefined): Blank | undefined {
  if (blank === undefined || given === '' || blank.text === '') return undefined;
  return SPACE.test(given) === SPACE.test(blank.text) ? blank : undefined;
}

/** Matches white space and the line end U+0085 (NEL), which `\s` does not match. */
const SPACE = /[\s\u0085]/;

function leading(runs: readonly TextRun[]): Blank {
  const blank = { text: '', start: runs[0]?.start ?? 0, end: runs[0]?.start ?? 0 };
  for (const run of runs) {
    const part = sliceRun(run, 0, blankStart(run.text).length);
    if (part.text.length > blankStart(run.text).length || part.text === '') break;
    blank.text += part.text;
    blank.end = part.end;
    if (part.text.length < run.text.length) break;
  }
  return blank;
}

function trailing(runs: readonly TextRun[]): Blank {
  const last = runs.at(-1)?.end ?? 0;
  const blank = { text: '', start: last, end: last };
  for (const run of runs.toReversed()) {
    const length = blankEnd(run.text).length;
    const part = sliceRun(run, run.text.length - length, run.text.length);
    if (part.text.length > length || part.text === '') break;
    blank.text = part.text + blank.text;
    blank.start = part.start;
    if (length < run.text.length) break;
  }
  return blank;
}

const encoders: Record<Form, Encode> = {
  text: (text) => text,
  srt: (text) => text,
  vtt: escapeMarkup,
  html: escapeMarkup,
  pre: escapeMarkup,
  attribute: (text) => text,
  xml: escapeMarkup,
  'xml-kept': escapeMarkup,
  cdata: escapeSection,
  'cdata-kept': escapeSection,
};

/** Returns the function that encodes new text for a unit. */
export function encoderOf(document: Document, unit: Unit, html: boolean): Encode {
  const { form } = unit;
  if (form === 'attribute') {
    const quote = unit.quote || '"';
    return nonBreaking(document, unit, (text) => escapeAttribute(text, quote));
  }
  if (form === 'srt') return srtEncoder(document, unit);
  let encode = encoders[form];
  if (form === 'html' || form === 'pre') return nonBreaking(document, unit, encode);
  if (form === 'vtt') return nonBreaking(document, unit, directed(document, unit, encode));
  if (html) {
    // HTML inside XML is escaped for HTML first and then for XML.
    const outer = encode;
    encode = (text) => outer(escapeMarkup(text));
  }
  if (!document.asciiOnly || form.startsWith('cdata')) return encode;
  return (text) => asciiOnly(encode(text));
}

/** Writes U+00A0 as `&nbsp;` if the source of the unit does so. */
function nonBreaking(document: Document, unit: Unit, encode: Encode): Encode {
  if (!/&nbsp;|&#160;|&#xa0;/i.test(document.text.slice(unit.start, unit.end))) return encode;
  return (text) => encode(text).replaceAll('\u00a0', '&nbsp;');
}

/** Writes the marks of direction U+200E and U+200F as `&lrm;` and `&rlm;` if the source of the unit does so. */
function directed(document: Document, unit: Unit, encode: Encode): Encode {
  if (!/&(?:lr|rl)m;/.test(document.text.slice(unit.start, unit.end))) return encode;
  return (text) => encode(text).replaceAll('\u200e', '&lrm;').replaceAll('\u200f', '&rlm;');
}

/**
 * Returns the encoder for a cue of SRT. Such subtitles have no standard escapes, so text is escaped only if the cue has character
 * references.
 */
function srtEncoder(document: Document, unit: Unit): Encode {
  const raw = document.text.slice(unit.start, unit.end);
  const escapes = /&(?:amp|lt|gt);/.test(raw);
  // An arrow in the text could turn its line into a time line, so it is replaced.
  return (text) => (escapes ? escapeMarkup(text) : text).replaceAll(/--(?:>|&gt;)/g, '→');
}

/** Adds quotation marks to an unquoted attribute value that needs them (HTML standard §13.1.2.3). */
function quoted(text: string): string {
  return /[\s"'`=<>]|^$/.test(text) ? `"${text}"` : text;
}
