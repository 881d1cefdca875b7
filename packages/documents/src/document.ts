/**
 * The one shape of every format: a text is scanned once, with offsets, into units; units are cut into
 * segments; translations are spliced back at those offsets. What is not spliced is the caller's own
 * characters.
 */

export type Format = 'text' | 'html' | 'srt' | 'xliff';

/**
 * A stretch of a segment: text to translate, or an opaque code. Code numbers are local to a unit.
 *
 * - `open`/`close`: the two halves of a paired code. Must stay nested.
 * - `single`: a standalone code, between words.
 * - `keep`: a protected word (variable, URL, `notranslate` element); `text` is what a reader sees there.
 */
export type Piece =
  | { text: string }
  | { open: number }
  | { close: number }
  | { single: number }
  | { keep: number; text: string };

/**
 * How the characters of a unit are written in the document, which decides how they are read and written back.
 *
 * - `text`: as they are. `srt`: as they are, but for character references where the cue uses them.
 * - `html`, `pre`: HTML text, white space collapsed or kept. `attribute`: an HTML attribute value.
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
 * A stretch of a unit that is not text to translate, found by the scanner. Offsets are UTF-16 indexes into the
 * document's text. `gap` is a code that is also a border between sentences (a line break, the space between two
 * `mrk` segments); no segment ever holds one. The two halves of a pair share `number`.
 */
export interface Code {
  kind: 'open' | 'close' | 'single' | 'keep' | 'gap';
  number: number;
  start: number;
  end: number;
  /** What a reader sees there; only for `keep`. */
  text?: string;
  /** A half that is whole by itself (`bpt`, `ept`, Angular's `x`): unlike a tag, it may stand anywhere. */
  tied?: true;
}

/** A translatable run of a document: a line, a paragraph, an attribute value, a cue, a trans-unit. */
export interface Unit {
  /** Position in `Document.units`. Units are told apart by position, never by an id in the document. */
  index: number;
  form: Form;
  start: number;
  end: number;
  /** Ordered by offset, never overlapping. Empty in subtitles, whose codes are found when needed. */
  codes: readonly Code[];
  /** Of an attribute value: the quotation mark around it, or nothing. */
  quote?: '"' | "'" | '';
  /** False: never sent to an engine (`translate="no"`, an approved target, an empty cue). */
  translatable: boolean;
  /** True: the document brings its own segments (XLIFF `seg-source`), so sentences are not looked for. */
  segmented?: true;
  /** The document's own name for the unit (XLIFF `resname` or `id`). Not unique. */
  name?: string;
  /** What the document says to translators about the unit. */
  notes?: readonly string[];
  /** Longest target in characters, where the document sets one (XLIFF `maxwidth` with `size-unit="char"`). */
  maxLength?: number;
  /** XLIFF: where the target goes. Absent in units that live inside a code of another unit (`sub`). */
  target?: Target;
  /** SRT: when the cue is shown, in milliseconds. */
  time?: { from: number; to: number };
}

/** XLIFF: what becomes of the `target` of a trans-unit. */
export type Target =
  | {
      action: 'insert';
      at: number;
      /** Line break and indent. */
      lead: string;
      /** Element name, with the prefix of the source. */
      name: string;
      /** Write `xml:lang`, because the source has it: as the file names its target, else (`''`) as the job does. */
      lang?: string;
      /** Attribute `xml:space` as the source has it, or nothing. */
      space: string;
      /** Around the unit, inside the element: CDATA brackets, white space. */
      before: string;
      after: string;
    }
  /** Write over `start`…`end`, from the start tag to the end tag. */
  | { action: 'replace'; start: number; end: number; before: string; after: string; hadText: boolean }
  /** The target stays as it is. */
  | { action: 'leave' };

/** Characters that always change in the result, whatever the translation: the content of a `notranslate` element. */
export interface Patch {
  start: number;
  end: number;
  /** Ready to write. */
  text: string;
}

/** From an offset on, the language that the document declares below its root; undefined: none. */
export interface LanguageChange {
  from: number;
  /** As `primaryLanguage` gives it. */
  language: string | undefined;
}

/** A scanned text. Plain data: it can be posted between threads. */
export interface Document {
  format: Format;
  text: string;
  units: Unit[];
  /** As the document (XLIFF) or, failing that, the caller of `scan` declares it. */
  sourceLanguage?: string;
  /** The language `segments` was last asked for; `rebuild` has to cut the same way. */
  segmentLanguage?: string;
  /** True when the source language stands in the document itself. */
  declaresLanguage: boolean;
  patches: readonly Patch[];
  /** Where elements declare a language (`lang`, `xml:lang`), in order. */
  languages: readonly LanguageChange[];
  /** XLIFF: every `<![CDATA[…]]>` inside a unit, for copying parts of them. */
  sections: readonly { start: number; end: number }[];
  /** XLIFF: the declared encoding cannot hold every character, so new ones are written as references. */
  asciiOnly: boolean;
  /** XLIFF: trans-units seen, with or without a source. */
  transUnits: number;
}

/** Why a segment is kept: it is not in the source language. See `keptReason`. */
export type Kept = 'language' | 'script' | 'symbols';

/** A sentence of a unit (in SRT, of up to a few neighbouring cues), as engines and editors get it. */
export interface Segment {
  /** Unit index and number within the unit, e.g. `12.0`. Stable for the same text, format and language. */
  id: string;
  /** Index of the (first) unit. */
  unit: number;
  pieces: Piece[];
  /** Not in the source language: it stays as it is, and its words are not counted. */
  kept?: Kept;
}

/** The text cannot be read in its format. `message` is a sentence for the caller; `line` and `column` count from 1. */
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

/** A `DocumentError` at an offset. Lines end as in the format of the web: CRLF, LF or CR. */
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

/** A document with nothing in it yet, for scanners to fill. */
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
