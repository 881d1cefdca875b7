/**
 * Converts text, HTML, SRT, WebVTT and XLIFF 1.2 to segments for translation and back. Characters outside the translated text
 * never change.
 *
 * The steps are `scan`, `segments`, the translation by an engine or editor, `repair` and `rebuild`. All functions are
 * pure.
 */

import { scanHtml } from './formats/html.ts';
import { scanSrt } from './formats/srt.ts';
import { scanText } from './formats/text.ts';
import { scanVtt } from './formats/vtt.ts';
import { type Document, DocumentError, errorAt, type Segment } from './model/document.ts';
import { type Format, TRAITS } from './model/formats.ts';
import { Limits } from './model/limits.ts';
import { segmentAndCacheCues } from './segments/cues.ts';
import { keptReason } from './segments/kept.ts';
import { liftMessages } from './segments/messages.ts';
import { type CutSegment, segmentAndCacheUnit } from './segments/segmentation.ts';
import { scanXliff, type XliffOptions } from './xliff/xliff.ts';

export { PatternLimits, patternFaults, protectedParts } from './codes/patterns.ts';
export { type Detected, detectLanguage } from './language/language.ts';
export type { Document, Kept, Piece, Segment, Unit } from './model/document.ts';
export { DocumentError } from './model/document.ts';
export { FORMATS, type Format, TRAITS } from './model/formats.ts';
export { Limits } from './model/limits.ts';
export { type Aligned, type AlignNote, align, haveSameUnits } from './segments/align.ts';
export { carryOver, type FormerSegment } from './segments/carry.ts';
export { divide, hasWords, isWhole, lengthOf, likelyPlace, placeAt, trimPart } from './segments/cuts.ts';
export { type Description, describe } from './segments/describe.ts';
export { type Joined, type JoinFault, type JoinPart, join } from './segments/joins.ts';
export { rebuild } from './segments/rebuild.ts';
export { isCorrect, mergeText, type Note, plainText, type Repaired, repair } from './segments/repair.ts';
export { countRepeatedWords, countSegmentWords, countWords, findRepeated } from './segments/words.ts';

export interface ScanOptions extends XliffOptions {
  /** Regular expressions of RE2 without faults (`patternFaults`). What they match is protected. */
  protect?: readonly string[] | undefined;
  /** True if `rebuild` sets the language that an HTML page declares to the target language. */
  setLang?: boolean;
}

/**
 * Parses a text in its format, in linear time. The result is plain data that can be posted between threads.
 *
 * @param options.sourceLanguage language of the text if the document does not declare one
 * @param options.isNew true for the text of a new job: an XLIFF document in another source language, and a line of subtitles
 *   that only looks like a time line, are rejected, too
 * @param options.targetLanguage target language of the job; an XLIFF document with another one is rejected
 * @throws DocumentError with a message, line and column
 */
export function scan(text: string, format: Format, options: ScanOptions = {}): Document {
  checkCharacters(text);
  const document = scanAs(text, format, options);
  if (options.protect !== undefined && options.protect.length > 0) document.protect = options.protect;
  if (document.sourceLanguage === undefined && options.sourceLanguage !== undefined) {
    document.sourceLanguage = options.sourceLanguage;
  }
  if (!TRAITS[format].isSubtitles) liftMessages(document);
  return document;
}

function scanAs(text: string, format: Format, options: ScanOptions): Document {
  switch (format) {
    case 'text':
      return scanText(text);
    case 'html':
      return scanHtml(text, options.setLang);
    case 'srt':
      return scanSrt(text, options.isNew);
    case 'xliff':
      return scanXliff(text, options);
    case 'vtt':
      return scanVtt(text, options.isNew);
  }
}

/** Rejects characters that PostgreSQL or UTF-8 cannot store: NUL and lone surrogates. */
function checkCharacters(text: string): void {
  if (isTooLong(text)) {
    throw new DocumentError(`The text is longer than ${Limits.bytes / 1024 / 1024} MiB.`, 1, 1);
  }
  const nul = text.indexOf('\0');
  if (nul >= 0) throw errorAt(text, nul, 'The text contains the character NUL (U+0000).');
  if (text.isWellFormed()) return;
  const lone = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.exec(text);
  throw errorAt(text, lone?.index ?? 0, 'The text contains half a character (a lone surrogate).');
}

const COUNTED = 256 * 1024;

/**
 * Returns true if a text exceeds the limit in UTF-8 bytes. A UTF-16 code unit has at most three bytes in UTF-8, so
 * counting stops as soon as the rest cannot exceed the limit. Short texts are not counted at all. Without this
 * shortcut, counting would take a fifth of the time of a scan.
 */
function isTooLong(text: string): boolean {
  let remaining: number = Limits.bytes;
  for (let at = 0; (text.length - at) * 3 > remaining; ) {
    let to = at + COUNTED;
    // Both halves of a surrogate pair must be counted in the same step.
    if ((text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to += 1;
    remaining -= Buffer.byteLength(text.slice(at, to));
    if (remaining < 0) return true;
    at = to;
  }
  return false;
}

/**
 * Returns the sentences to translate, in order. Protected words, units without letters, and units with an approved
 * target are left out. Segments that are not in the source language are included, but marked so that they are copied
 * instead of translated.
 *
 * The language is stored in the document, because `rebuild` must divide the document in the same way. After a new
 * scan of the same text, pass the language to `scan` as `sourceLanguage`, or call `segments` again.
 */
export function segments(document: Document, language: string): Segment[] {
  document.segmentLanguage = language;
  if (TRAITS[document.format].isSubtitles) {
    return segmentAndCacheCues(document, language).map(({ id, unit, cut }) => segmentOf(id, unit, cut));
  }
  const found: Segment[] = [];
  for (const unit of document.units) {
    if (!unit.translatable) continue;
    segmentAndCacheUnit(document, unit, language).cuts.forEach((cut, index) => {
      found.push(segmentOf(`${unit.index}.${index}`, unit.index, cut));
    });
  }
  return found;

  function segmentOf(id: string, unit: number, cut: CutSegment): Segment {
    const kept = keptReason(document, cut, language);
    const segment = { id, unit, pieces: cut.pieces };
    return kept === undefined ? segment : { ...segment, kept };
  }
}
