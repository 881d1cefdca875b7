/**
 * The common data model of all formats: a text is scanned into units with offsets, units are divided into segments,
 * and translations are spliced in at the offsets. All other characters are copied from the text.
 */

export type Format = 'text' | 'html' | 'srt' | 'xliff';

/**
 * A part of a segment: text to translate, or an opaque code. Code numbers are local to a unit.
 *
 * - `open`/`close`: the two halves of a paired code, which must stay nested.
 * - `single`: a standalone code between words.
 * - `keep`: a protected word (variable, URL, `notranslate` element); `text` is what a reader sees there.
 */
export type Piece =
  | { text: string }
  | { open: number }
  | { close: number }
  | { single: number }
  | { keep: number; text: string };

/**
 * How the characters of a unit are encoded in the document.
 *
 * - `text`: not encoded. `srt`: not encoded, except for character references in cues that use them.
 * - `html`, `pre`: HTML text with collapsed or preserved white space. `attribute`: an HTML attribute value.
 * - `xml`, `xml-kept`: XML text, `xml:space` default or preserve. `cdata`, `cdata-kept`: inside one CDATA section.
 */
export type Form =
  | 'text'
  | 'srt'
  | 'html'
  | 'pre'
  | 'attribute'
  | 'xml'
  | 'xml-kept'
  | 'cdata'
  | 'cdata-kept';

/**
 * A part of a unit that is not translated, found by the scanner. Offsets are UTF-16 indexes into the document's text.
 * A `gap` also separates sentences (a line break, the space between two `mrk` segments) and is never in a segment. The
 * two halves of a pair have the same `number`.
 */
export interface Code {
  kind: 'open' | 'close' | 'single' | 'keep' | 'gap';
  number: number;
  start: number;
  end: number;
  /** What a reader sees there; only for `keep`. */
  text?: string;
  /** A half that is an element by itself (`bpt`, `ept`, Angular's `x`). Unlike a tag, it may be anywhere. */
  tied?: true;
}

/** A translatable run of a document: a line, a paragraph, an attribute value, a cue, a trans-unit. */
export interface Unit {
  /** Index in `Document.units`, which identifies the unit. Ids in documents are not unique. */
  index: number;
  form: Form;
  start: number;
  end: number;
  /** Ordered by offset, without overlaps. Empty in subtitles, whose codes are found when needed. */
  codes: readonly Code[];
  /** The quotation mark around an attribute value, or `''`. */
  quote?: '"' | "'" | '';
  /** False if the unit is not translated (`translate="no"`, an approved target, an empty cue). */
  translatable: boolean;
  /** The document defines the segments (XLIFF `seg-source`), so that sentences are not detected. */
  segmented?: true;
  /** Name of the unit in the document (XLIFF `resname` or `id`). Not unique. */
  name?: string;
  /** Notes in the document for translators. */
  notes?: readonly string[];
  /** Longest target in characters, if the document sets one (XLIFF `maxwidth` with `size-unit="char"`). */
  maxLength?: number;
  /** XLIFF: how the target is written. Undefined for units inside a code of another unit (`sub`). */
  target?: Target;
  /** SRT: when the cue is shown, in milliseconds. */
  time?: { from: number; to: number };
}

/** XLIFF: how the `target` of a trans-unit is written. */
export type Target =
  | {
      action: 'insert';
      at: number;
      /** Line break and indent. */
      lead: string;
      /** Element name, with the prefix of the source. */
      name: string;
      /** Value of `xml:lang`, set if the source has it: the file's target language, or `''` for the job's. */
      lang?: string;
      /** Attribute `xml:space` of the source, or `''`. */
      space: string;
      /** Around the unit, inside the element: CDATA brackets, white space. */
      before: string;
      after: string;
    }
  /** Replaces `start`…`end`, from the start tag to the end tag. */
  | { action: 'replace'; start: number; end: number; before: string; after: string; hadText: boolean }
  /** Leaves the target unchanged. */
  | { action: 'leave' };

/** A change that does not depend on translations: the content of a `notranslate` element with an `origval`. */
export interface Patch {
  start: number;
  end: number;
  /** Encoded for the document. */
  text: string;
}

/** The language that the document declares from an offset on, below its root; undefined if none. */
export interface LanguageChange {
  from: number;
  /** As returned by `primaryLanguage`. */
  language: string | undefined;
}

/** A scanned text: plain data that can be posted between threads. */
export interface Document {
  format: Format;
  text: string;
  units: Unit[];
  /** Declared by the document (XLIFF) or, otherwise, by the caller of `scan`. */
  sourceLanguage?: string;
  /** The last language passed to `segments`; `rebuild` must divide the document in the same way. */
  segmentLanguage?: string;
  /** Whether the document itself declares the source language. */
  declaresLanguage: boolean;
  patches: readonly Patch[];
  /** Language declarations of elements (`lang`, `xml:lang`), in order. */
  languages: readonly LanguageChange[];
  /** XLIFF: every `<![CDATA[…]]>` inside a unit, for copying parts of them. */
  sections: readonly { start: number; end: number }[];
  /** XLIFF: the declared encoding does not have every character, so that new ones are written as references. */
  asciiOnly: boolean;
  /** XLIFF: number of trans-units, with or without a source. */
  transUnits: number;
}

/** Why a segment is kept: it is not in the source language. See `keptReason`. */
export type Kept = 'language' | 'script' | 'symbols';

/** A sentence of a unit (in SRT, of up to four cues), as engines and editors get it. */
export interface Segment {
  /** Unit index and number within the unit, such as `12.0`. Stable for the same text, format and language. */
  id: string;
  /** Index of the (first) unit. */
  unit: number;
  pieces: Piece[];
  /** Not in the source language: the segment is copied, and its words are not counted. */
  kept?: Kept;
}

/** The text cannot be parsed. `message` is for the caller; `line` and `column` start at 1. */
export class DocumentError extends Error {
  readonly line: number;
  readonly column: number;

  constructor(sentence: string, line: number, column: number) {
    super(`${sentence} (line ${line}, column ${column})`);
    this.name = 'DocumentError';
    this.line = line;
    this.column = column;
  }
}

/** Returns a `DocumentError` at an offset. Lines end with CRLF, LF or CR. */
export function errorAt(text: string, offset: number, sentence: string): DocumentError {
  const before = text.slice(0, Math.max(0, offset));
  let line = 1;
  let lineStart = 0;
  for (const match of before.matchAll(/\r\n|\r|\n/g)) {
    line += 1;
    lineStart = match.index + match[0].length;
  }
  return new DocumentError(sentence, line, before.length - lineStart + 1);
}

/** Returns an empty document for scanners to fill. */
export function emptyDocument(format: Format, text: string): Document {
  return {
    format,
    text,
    units: [],
    declaresLanguage: false,
    patches: [],
    languages: [],
    sections: [],
    asciiOnly: false,
    transUnits: 0,
  };
}
