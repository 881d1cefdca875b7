/** Rebuilds documents with their translations. Text without a translation is copied from the document. */

import { asciiOnly, escapeAttribute, escapeMarkup } from '../codes/escapes.ts';
import { pageLanguageEdits } from '../formats/page-language.ts';
import type { Document, Piece, Target, Unit } from '../model/document.ts';
import { TRAITS } from '../model/formats.ts';
import { type Edit, Splicer } from '../model/splice.ts';
import { cueEdits } from './cues.ts';
import { type RebuildOptions, renderUnit, type Translations } from './render.ts';
import { firstSection } from './runs.ts';
import { segmentUnit } from './segmentation.ts';

/**
 * Returns the document with the translations in place of its units, or for XLIFF in `target` elements.
 *
 * A segment is copied exactly, including its character references, if it has no translation or its translation equals
 * the source. In XLIFF every trans-unit with a source gets a `target`; without a translation, the target is a copy of
 * the source. Approved and final targets are not changed. Translations may be raw replies of an engine: their codes
 * are repaired, and they cannot break the format.
 *
 * @param translations by segment id, as returned by `segments` for the same document and language
 * @param options.joins the joined segments; subtitles have none
 */
export function rebuild(
  document: Document,
  translations: ReadonlyMap<string, readonly Piece[]>,
  targetLanguage: string,
  options: RebuildOptions = {},
): string {
  const language = document.segmentLanguage ?? document.sourceLanguage ?? 'und';
  if (TRAITS[document.format].isSubtitles) {
    const edits = cueEdits(document, language, translations, targetLanguage);
    return new Splicer(document.text, edits).slice(0, document.text.length);
  }
  const known = new Set<number>();
  for (const id of translations.keys()) known.add(Number.parseInt(id, 10));
  if (document.format === 'xliff')
    return rebuildXliff(document, language, translations, known, targetLanguage, options);
  const marks = document.format === 'html' ? options.marks : undefined;
  for (const id of marks?.keys() ?? []) known.add(Number.parseInt(id, 10));
  const takes = (unit: Unit) => known.has(unit.index);
  const edits = pageLanguageEdits(document, language, targetLanguage);
  const copy = splice(document, language, translations, takes, { ...options, marks }, edits);
  return copy(0, document.text.length);
}

/** Returns a copy of the document's text with its units translated and its patches applied. */
function splice(
  document: Document,
  language: string,
  translations: Translations,
  takes: (unit: Unit) => boolean,
  options: RebuildOptions,
  more: readonly Edit[] = [],
): (start: number, end: number) => string {
  const edits: Edit[] = document.patches.map(({ start, end, text }) => ({ start, end, write: () => text }));
  edits.push(...more);
  for (const unit of document.units) {
    if (!takes(unit)) continue;
    edits.push({
      start: unit.start,
      end: unit.end,
      write: () =>
        renderUnit(document, unit, language, translations, copy, options) ??
        splicer.slice(unit.start, unit.end),
    });
  }
  const splicer = new Splicer(document.text, edits);
  const copy = (start: number, end: number) => splicer.slice(start, end);
  return copy;
}

function rebuildXliff(
  document: Document,
  language: string,
  translations: Translations,
  known: ReadonlySet<number>,
  targetLanguage: string,
  { joins }: RebuildOptions,
): string {
  // A code can contain a text that is a separate unit. The translations of such units are first inserted into copies of
  // the outer units, and then these copies are inserted into the document.
  const plain = splice(
    document,
    language,
    translations,
    (unit) => unit.target === undefined && known.has(unit.index),
    { joins },
  );
  const copy =
    document.sections.length === 0
      ? plain
      : (start: number, end: number) => copySections(document, start, end, plain);
  const edits: Edit[] = [];
  for (const unit of document.units) {
    const { target } = unit;
    if (!target || target.action === 'leave') continue;
    edits.push({
      start: target.action === 'insert' ? target.at : target.start,
      end: target.action === 'insert' ? target.at : target.end,
      write: () => {
        const rendered = known.has(unit.index)
          ? renderUnit(document, unit, language, translations, copy, { joins })
          : undefined;
        const content = rendered ?? copy(unit.start, unit.end);
        if (rendered === undefined && target.action === 'replace' && target.hadText) {
          // If the source has only numbers or codes, the customer's target stays unchanged and is not
          // replaced with a copy of the source.
          const untouched = content === document.text.slice(unit.start, unit.end);
          if (untouched && segmentUnit(document, unit, language).cuts.length === 0) {
            return document.text.slice(target.start, target.end);
          }
        }
        return writeTarget(document, target, content, targetLanguage);
      },
    });
  }
  return new Splicer(document.text, edits).slice(0, document.text.length);
}

function writeTarget(
  _document: Document,
  target: Exclude<Target, { action: 'leave' }>,
  content: string,
  language: string,
): string {
  if (target.action === 'replace') return target.before + content + target.after;
  const code = escapeAttribute(target.lang || language, '"').replaceAll('<', '&lt;');
  const lang = target.lang === undefined ? '' : ` xml:lang="${code}"`;
  const tag = `<${target.name}${lang}${target.space}>`;
  return `${target.lead}${tag}${target.before}${content}${target.after}</${target.name}>`;
}

/** Copies a range that may begin or end inside a CDATA section. Text outside a complete section is escaped. */
function copySections(
  document: Document,
  start: number,
  end: number,
  plain: (start: number, end: number) => string,
): string {
  let out = '';
  let position = start;
  for (let i = firstSection(document, start); i < document.sections.length; i += 1) {
    const section = document.sections[i]!;
    if (section.start >= end) break;
    if (section.start >= start && section.end <= end) continue;
    if (section.start > position) out += plain(position, section.start);
    const from = Math.max(position, section.start + 9);
    const to = Math.min(end, section.end - 3);
    if (to > from) out += escapeMarkup(plain(from, to));
    position = Math.min(end, section.end);
  }
  if (position < end) out += plain(position, end);
  return document.asciiOnly ? asciiOnlyText(out) : out;
}

/**
 * Replaces characters outside ASCII with references, but not in CDATA and comments, where references are not decoded.
 */
function asciiOnlyText(markup: string): string {
  return markup.includes('<!') || markup.includes('<?') ? markup : asciiOnly(markup);
}
