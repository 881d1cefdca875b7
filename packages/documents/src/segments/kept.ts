/**
 * Finds segments that are not in the source language. Such segments are copied, never sent to an engine, and not
 * counted. The decision depends only on the document and the source language, because the price is fixed before
 * translation.
 */

import type { Document, Kept, LanguageChange, Unit } from '../model/document.ts';
import { TRAITS } from '../model/formats.ts';
import { countForeignLetters, countLetters, isPlain, primaryLanguage } from '../model/scripts.ts';
import { segmentCues } from './cues.ts';
import { isText } from './runs.ts';
import { type CutSegment, segmentUnit } from './segmentation.ts';

/** The minimum number of letters of the source language in a segment. With fewer, it has no word of that language. */
const LETTERS_OF_A_WORD = 3;
/**
 * A segment is a sentence of the source language if at least one letter in eight belongs to that language: its script is
 * one of the language, and the document does not declare another language there. The rest may be a name or a quotation.
 */
const SHARE_OF_A_SENTENCE = 8;

/** A segment with this many symbols per letter is mostly symbols. A rating (`★★★★★ Good`) has fewer. */
const SYMBOLS_A_LETTER = 3;

/**
 * Returns why a segment is copied instead of translated, or undefined if it is translated.
 *
 * - `symbols`: it has three or more symbols per letter.
 * - `language`: the document declares another language for most of its letters (`lang`, `xml:lang`).
 * - `script`: nearly all its letters are in scripts that the source language does not use, or in text with another
 *   declared language. A sentence with a long foreign name is translated.
 */
export function keptReason(
  document: Pick<Document, 'languages'>,
  { runs }: Pick<CutSegment, 'runs'>,
  language: string,
): Kept | undefined {
  const texts = runs.filter(isText);
  const { languages } = document;
  const declares = declaresOther(languages, runs[0]!.start, runs.at(-1)!.end, language);
  if (!declares && texts.every(({ text }) => isPlain(text, language))) return undefined;
  let letters = 0;
  let declared = 0;
  let foreign = 0;
  let symbols = 0;
  for (const { text, start } of texts) {
    const own = countLetters(text);
    letters += own;
    symbols += text.match(/\p{S}/gu)?.length ?? 0;
    if (declares && declaresOther(languages, start, start, language)) declared += own;
    else foreign += countForeignLetters(text, language) ?? 0;
  }
  if (symbols >= SYMBOLS_A_LETTER * letters) return 'symbols';
  const rest = letters - declared - foreign;
  if (letters === rest || (rest >= LETTERS_OF_A_WORD && SHARE_OF_A_SENTENCE * rest >= letters))
    return undefined;
  return declared > foreign ? 'language' : 'script';
}

/** Returns true if the document declares another language than `language` between two offsets. */
function declaresOther(
  languages: readonly LanguageChange[],
  start: number,
  end: number,
  language: string,
): boolean {
  if (languages.length === 0) return false;
  const own = primaryLanguage(language);
  if (own === undefined) return false;
  let low = 0;
  let high = languages.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (languages[middle]!.from <= start) low = middle + 1;
    else high = middle;
  }
  for (let at = Math.max(0, low - 1); at < languages.length && languages[at]!.from <= end; at += 1) {
    const { language: declared } = languages[at]!;
    if (declared !== undefined && declared !== own) return true;
  }
  return false;
}

/**
 * Returns the parts of units that belong to segments which are not translated, in order, by the index of the unit.
 */
export function keptStretches(document: Document, language: string): Map<number, Stretch[]> {
  const found = new Map<number, Stretch[]>();
  const add = (unit: number, stretch: Stretch) => {
    const list = found.get(unit);
    if (list) list.push(stretch);
    else found.set(unit, [stretch]);
  };
  const suspects = document.units.filter((unit) => unit.translatable && mayKeep(document, unit, language));
  if (TRAITS[document.format].isSubtitles) {
    const wanted = new Set(suspects.map(({ index }) => index));
    if (wanted.size === 0) return found;
    for (const { cut, cues } of segmentCues(document, language, wanted)) {
      if (keptReason(document, cut, language) === undefined) continue;
      for (const [index, { start, end }] of cut.runs.entries()) add(cues[index]!, { start, end });
    }
    return found;
  }
  for (const unit of suspects) {
    for (const cut of segmentUnit(document, unit, language).cuts) {
      if (keptReason(document, cut, language) !== undefined) add(unit.index, cut);
    }
  }
  return found;
}

export interface Stretch {
  start: number;
  end: number;
}

/**
 * Returns false if every segment of a unit is certainly translated, which avoids segmenting most units. A unit with a
 * character reference always needs the full check, because the reference may be any letter.
 */
function mayKeep(document: Document, { start, end }: Unit, language: string): boolean {
  if (declaresOther(document.languages, start, end, language)) return true;
  const text = document.text.slice(start, end);
  return text.includes('&') || !isPlain(text, language);
}
