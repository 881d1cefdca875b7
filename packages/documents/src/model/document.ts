/**
 * The common data model of all formats. A text is scanned into units with offsets, units are divided into segments,
 * and translations are inserted at the offsets. All other characters are copied unchanged.
 */

import type { Format } from './formats.ts';

/**
 * A part of a segment: text to translate, or an opaque code. Code numbers are local to a unit.
 *
 * - `open`/`close`: the two halves of a paired code, which must stay nested.
 * - `single`: a standalone code between words.
 * - `keep`: a protected word (variable, URL, `notranslate` element). Its `text` is what readers see in its place.
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
 * - `text`: not encoded. `srt`: not encoded, except for character references in cues that use them. `vtt`: as HTML text.
 * - `html`, `pre`: HTML text with collapsed or preserved white space. `attribute`: an HTML attribute value.
 * - `xml`, `xml-kept`: XML text, `xml:space` default or preserve. `cdata`, `cdata-kept`: inside one CDATA section.
 */
export type Form =
  | 'text'
  | 'srt'
  | 'vtt'
  | 'html'
  | 'pre'
  | 'attribute'
  | 'xml'
  | 'xml-kept'
  | 'cdata'
  | 'cdata-kept';

/**
 * A part of a unit that is not translated. Offsets are UTF-16 indexes into the document's text. A `gap` separates
 * sentences (a line break, the space between two `mrk` segments) and is never part of a segment. The two halves of a
 * pair have the same `number`.
 */
export interface Code {
  kind: 'open' | 'close' | 'single' | 'keep' | 'gap';
  number: number;
  start: number;
  end: number;
  /** The text that readers see in place of a code of kind `keep`. */
  text?: string;
  /**
   * True if this half of a pair is a separate element (`bpt`, `ept`, Angular's `x`). Such a half may be anywhere, while
   * a tag must be nested.
   */
  tied?: true;
}

/**
 * The kind of a text in its document. Running text has no kind. `attribute` is the value of an attribute, such as an
 * alternative text.
 */
export type TextElement = 'heading' | 'list_item' | 'table_cell' | 'link' | 'button' | 'attribute';

/** A translatable stretch of a document: a line, a paragraph, an attribute value, a cue or a trans-unit. */
export interface Unit {
  /** The index in `Document.units`. It identifies the unit, because ids in documents are not unique. */
  index: number;
  form: Form;
  start: number;
  end: number;
  /**
   * The unit's codes, ordered by offset, without overlaps. Empty for subtitles, whose codes are found when needed.
   */
  codes: readonly Code[];
  /** The quotation mark around an attribute value, or `''` if there is none. */
  quote?: '"' | "'" | '';
  /** False if the unit is not translated (`translate="no"`, an approved target, an empty cue). */
  translatable: boolean;
  /** True if the document defines the segments (XLIFF `seg-source`). Sentences are then not detected. */
  segmented?: true;
  /** The kind of the unit, such as a heading. Undefined for running text. */
  element?: TextElement;
  /** The name of the unit in the document (XLIFF `resname` or `id`). Names are not unique. */
  name?: string;
  /** The document's notes for translators. */
  notes?: readonly string[];
  /**
   * The maximum length of the target in characters, if the document sets one (XLIFF `maxwidth` with
   * `size-unit="char"`).
   */
  maxLength?: number;
  /** How the target of an XLIFF unit is written. Undefined for units inside a code of another unit (`sub`). */
  target?: Target;
  /** The display time of a cue, in milliseconds. */
  time?: { from: number; to: number };
  /** The settings of a WebVTT cue, such as its position. */
  settings?: string;
}

/** How the `target` element of an XLIFF trans-unit is written. */
export type Target =
  | {
      action: 'insert';
      at: number;
      /** The line break and indent to write before the element. */
      lead: string;
      /** The element name, with the namespace prefix of the source element. */
      name: string;
      /**
       * The value of `xml:lang`: the file's target language, or `''` for the target language of the job. Undefined if
       * the source element has no `xml:lang`.
       */
      lang?: string;
      /** The attribute `xml:space` of the source element, or `''`. */
      space: string;
      /** The text to write inside the element before and after the translation: CDATA brackets or white space. */
      before: string;
      after: string;
    }
  /** Replaces an existing target element. `start` and `end` include its tags. */
  | { action: 'replace'; start: number; end: number; before: string; after: string; hadText: boolean }
  /** Leaves the existing target element unchanged. */
  | { action: 'leave' };

/**
 * A change that does not depend on translations: it replaces the content of an element with the class
 * `notranslate` by the value of its attribute `origval`.
 */
export interface Patch {
  start: number;
  end: number;
  /** The new content, encoded for the document. */
  text: string;
}

/**
 * A place where the declared language of the document's text changes, such as an element with `lang`. The
 * change applies from an offset on. The language of the root element applies to the whole document and is not
 * listed here.
 */
export interface LanguageChange {
  from: number;
  /** The declared language as returned by `primaryLanguage`, or undefined if there is none. */
  language: string | undefined;
}

/** A scanned text. It is plain data that can be posted between threads. */
export interface Document {
  format: Format;
  text: string;
  units: Unit[];
  /**
   * The source language that an XLIFF document declares, or otherwise the source language that the caller of
   * `scan` passed.
   */
  sourceLanguage?: string;
  /** The last language passed to `segments`. `rebuild` needs it to divide the document in the same way. */
  segmentLanguage?: string;
  /** The start tag of an HTML page, if the language of the page is set to that of its translation. */
  root?: { start: number; end: number };
  /** The customer's own patterns, see `patternRanges`. */
  protect?: readonly string[];
  /** True if the document itself declares its source language. */
  declaresLanguage: boolean;
  patches: readonly Patch[];
  /** The language declarations of elements (`lang`, `xml:lang`), in order. */
  languages: readonly LanguageChange[];
  /** The ranges of CDATA sections inside the units of an XLIFF document. */
  sections: readonly { start: number; end: number }[];
  /**
   * True if an XLIFF document's declared encoding lacks some characters. New characters outside ASCII are then
   * written as references.
   */
  asciiOnly: boolean;
  /** The number of trans-units of an XLIFF document, with or without a source. */
  transUnits: number;
}

/**
 * Why a segment is copied instead of translated: how the service recognized that it is not in the source language.
 * See `keptReason`.
 */
export type Kept = 'language' | 'script' | 'symbols';

/** A sentence as engines and editors get it. In SRT, it may span up to four cues. */
export interface Segment {
  /**
   * The unit's index and the number of the segment within the unit, such as `12.0`. The id is stable for the same
   * text, format and language.
   */
  id: string;
  /** The index of the segment's unit, or of its first unit if it has several. */
  unit: number;
  pieces: Piece[];
  /**
   * Present if the segment is not in the source language. Such a segment is copied, and its words are not counted.
   */
  kept?: Kept;
}

/** Thrown when a text cannot be parsed. `message` is for the caller; `line` and `column` start at 1. */
export class DocumentError extends Error {
  /** The message without the place. */
  readonly sentence: string;
  readonly line: number;
  readonly column: number;

  constructor(sentence: string, line: number, column: number) {
    super(`${sentence} (line ${line}, column ${column})`);
    this.name = 'DocumentError';
    this.sentence = sentence;
    this.line = line;
    this.column = column;
  }
}

/** Returns a `DocumentError` with the line and column of an offset. A line ends with CRLF, LF or CR. */
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
