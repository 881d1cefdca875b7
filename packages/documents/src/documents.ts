/**
 * Text, HTML, SRT and XLIFF 1.2 into segments for translation, and back with no other character changed.
 *
 * `scan` → `segments` → (an engine, an editor; `repair`) → `rebuild`. Everything is a pure function of its arguments.
 */

import { cutCuesAndKeep } from './cues.ts';
import { type Cut, cutAndKeep } from './cut.ts';
import { type Document, DocumentError, errorAt, type Format, type Segment } from './document.ts';
import { scanHtml } from './html.ts';
import { keptReason } from './kept.ts';
import { Limits } from './limits.ts';
import { liftMessages } from './messages.ts';
import { scanSrt } from './srt.ts';
import { scanText } from './text.ts';
import { scanXliff, type XliffOptions } from './xliff.ts';

export { type Aligned, type AlignNote, align, haveSameUnits } from './align.ts';
export { type Description, describe } from './describe.ts';
export type { Document, Format, Kept, Piece, Segment, Unit } from './document.ts';
export { DocumentError } from './document.ts';
export { type Detected, detectLanguage } from './language.ts';
export { Limits } from './limits.ts';
export { rebuild } from './rebuild.ts';
export { isRight, mergeText, type Note, plainText, type Repaired, repair } from './repair.ts';
export { countRepeatedWords, countSegmentWords, countWords } from './words.ts';

export type ScanOptions = XliffOptions;

/**
 * Reads a text in its format. Linear in its length. The result is plain data and can be posted between threads.
 *
 * @param options.sourceLanguage what the caller says the text is in; used where the document itself says nothing.
 * @param options.targetLanguage the job's; an XLIFF that names another one is refused.
 * @throws DocumentError with a sentence, line and column.
 */
export function scan(text: string, format: Format, options: ScanOptions = {}): Document {
  checkCharacters(text);
  const document = scanAs(text, format, options);
  if (document.sourceLanguage === undefined && options.sourceLanguage !== undefined) {
    document.sourceLanguage = options.sourceLanguage;
  }
  if (document.format !== 'srt') liftMessages(document);
  return document;
}

function scanAs(text: string, format: Format, options: ScanOptions): Document {
  switch (format) {
    case 'text':
      return scanText(text);
    case 'html':
      return scanHtml(text);
    case 'srt':
      return scanSrt(text);
    case 'xliff':
      return scanXliff(text, options);
  }
}

/** What neither a database nor UTF-8 could give back unchanged is refused at the door. */
function checkCharacters(text: string): void {
  if (isTooLong(text)) {
    throw new DocumentError(`The text is longer than ${Limits.bytes / 1024 / 1024} MiB.`, 1, 1);
  }
  const nul = text.indexOf('\0');
  if (nul >= 0) throw errorAt(text, nul, 'The text holds the character NUL (U+0000).');
  if (text.isWellFormed()) return;
  const lone = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.exec(text);
  throw errorAt(text, lone?.index ?? 0, 'The text holds half a character (a lone surrogate).');
}

const COUNTED = 256 * 1024;

/**
 * Whether a text has more bytes than a text may have. No character takes more than three a UTF-16 unit, so short texts
 * are not counted, and long ones no further than where the rest cannot be too much: counting takes a fifth of a scan.
 */
function isTooLong(text: string): boolean {
  let room: number = Limits.bytes;
  for (let at = 0; (text.length - at) * 3 > room; ) {
    let to = at + COUNTED;
    if ((text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to += 1; // The halves of a character count together.
    room -= Buffer.byteLength(text.slice(at, to));
    if (room < 0) return true;
    at = to;
  }
  return false;
}

/**
 * The sentences to translate, in order. Units without a letter, protected words, approved targets and the like are
 * not among them; those that are not in the language are, marked as kept. Remembers the language in the document, because `rebuild` has to cut the same way; after a new
 * scan of the same text, give the language to `scan` as `sourceLanguage`, or call `segments` again.
 */
export function segments(document: Document, language: string): Segment[] {
  document.segmentLanguage = language;
  if (document.format === 'srt') {
    return cutCuesAndKeep(document, language).map(({ id, unit, cut }) => segmentOf(id, unit, cut));
  }
  const found: Segment[] = [];
  for (const unit of document.units) {
    if (!unit.translatable) continue;
    cutAndKeep(document, unit, language).cuts.forEach((cut, index) => {
      found.push(segmentOf(`${unit.index}.${index}`, unit.index, cut));
    });
  }
  return found;

  function segmentOf(id: string, unit: number, cut: Cut): Segment {
    const kept = keptReason(document, cut, language);
    const segment = { id, unit, pieces: cut.pieces };
    return kept === undefined ? segment : { ...segment, kept };
  }
}
