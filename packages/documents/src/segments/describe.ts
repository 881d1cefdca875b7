/**
 * Describes a segment for the workbench: its position, the markup behind its codes, and the document's notes and
 * limits. Engines do not need a description, so it is not part of a segment.
 */

import { textElementOf } from '../codes/html-elements.ts';
import type { Document, TextElement, Unit } from '../model/document.ts';
import { TRAITS } from '../model/formats.ts';
import { segmentAndCacheCues } from './cues.ts';
import { keyOf } from './repair.ts';
import { isText } from './runs.ts';
import { type CutSegment, segmentAndCacheUnit } from './segmentation.ts';

export interface Description {
  /** The id of the segment, as returned by `segments` for the same document and language. */
  id: string;
  /** The index of the segment's unit, or of its first unit if it has several. */
  unit: number;
  /** The kind of the segment, such as a heading. Undefined for running text. */
  element?: TextElement;
  /** The document's notes for translators. */
  notes: readonly string[];
  /** The maximum length of the unit's target in characters. Set only if the unit is a single segment. */
  maxLength?: number;
  /** The display time in milliseconds, and the number of cues if there are several. */
  time?: { from: number; to: number; cues?: number };
  /**
   * Where a subtitle begins a new line: the offsets of the spaces in the plain text of the source, in UTF-16 code units,
   * that stand for a line break or for the border of two cues.
   */
  breaks?: number[];
  /** The markup of each code by its key: `open1`, `close1`, `single2`, `keep3`. Long markup is truncated. */
  codes: Record<string, string>;
}

/** The maximum length of a code in characters. Longer codes, such as styles and `data:` URLs, are truncated. */
const LONGEST_CODE = 200;

const KINDS: Record<string, string> = { o: 'open', c: 'close', s: 'single', k: 'keep' };

/** Returns one description for each segment, in the order of the segments. */
export function describe(document: Document, language: string): Description[] {
  document.segmentLanguage = language;
  if (TRAITS[document.format].isSubtitles) {
    return segmentAndCacheCues(document, language).map(({ id, unit, cut, cues }) => {
      const first = document.units[unit]!;
      const last = document.units[cues.at(-1) ?? unit]!;
      const more = new Set(cues).size;
      const time = first.time &&
        last.time && { from: first.time.from, to: last.time.to, ...(more > 1 ? { cues: more } : {}) };
      const breaks = breaksOf(document, cut);
      return {
        ...common(document, id, first, cut),
        ...(time === undefined ? {} : { time }),
        ...(breaks.length === 0 ? {} : { breaks }),
      };
    });
  }
  const found: Description[] = [];
  for (const unit of document.units) {
    if (!unit.translatable) continue;
    const { cuts } = segmentAndCacheUnit(document, unit, language);
    const wraps = document.format === 'html' ? wrapsOf(document, unit) : [];
    cuts.forEach((cut, index) => {
      const basic = common(document, `${unit.index}.${index}`, unit, cut);
      const element = elementOf(unit, cut, wraps);
      const described = element === undefined ? basic : { ...basic, element };
      const whole = cuts.length === 1 && unit.maxLength !== undefined;
      found.push(whole ? { ...described, maxLength: unit.maxLength! } : described);
    });
  }
  return found;
}

interface Wrap {
  element: TextElement;
  start: number;
  end: number;
}

/** Returns the links and buttons inside a unit. */
function wrapsOf(document: Document, unit: Unit): Wrap[] {
  const open = new Map<number, Wrap>();
  const found: Wrap[] = [];
  for (const { kind, number, start, end } of unit.codes) {
    if (kind === 'open') {
      const [, name = ''] = /^<(a|button)[\s>]/i.exec(document.text.slice(start, start + 8)) ?? [];
      const element = textElementOf(name.toLowerCase());
      if (element !== undefined) open.set(number, { element, start, end });
    }
    const wrap = kind === 'close' ? open.get(number) : undefined;
    if (wrap) found.push({ ...wrap, end });
  }
  return found;
}

/**
 * Returns the kind of a segment: a heading; otherwise the link or button that contains the whole segment; otherwise the
 * kind of its unit.
 */
function elementOf(unit: Unit, cut: CutSegment, wraps: readonly Wrap[]): TextElement | undefined {
  if (unit.element === 'heading') return unit.element;
  const wrap = wraps.find(({ start, end }) => start < cut.start && cut.end < end);
  return wrap?.element ?? unit.element;
}

function common(document: Document, id: string, unit: Unit, cut: CutSegment): Description {
  return { id, unit: unit.index, notes: unit.notes ?? [], codes: codeMarkup(document, cut) };
}

/** Returns the offsets of the spaces that stand for line breaks or for the border of two cues. */
function breaksOf(document: Document, cut: CutSegment): number[] {
  const breaks: number[] = [];
  let offset = 0;
  for (const run of cut.runs) {
    const isBreak =
      isText(run) && run.whole && (run.start === run.end || /[\r\n]/.test(textOf(document, run)));
    if (isBreak && run.text === ' ') breaks.push(offset);
    offset += isText(run) ? run.text.length : (run.code.text?.length ?? 0);
  }
  return breaks;
}

const textOf = (document: Document, { start, end }: { start: number; end: number }): string =>
  document.text.slice(start, end);

/**
 * Returns the markup of a segment's codes by key. The segment's pieces and its runs in the document have
 * their codes in the same order.
 */
export function codeMarkup(document: Document, cut: CutSegment): Record<string, string> {
  const codes: Record<string, string> = {};
  const runs = cut.runs.filter((run) => !isText(run));
  const keys = cut.pieces.map(keyOf).filter((key) => key !== '');
  keys.forEach((key, index) => {
    const run = runs[index];
    if (run === undefined) return;
    const text = document.text.slice(run.start, Math.min(run.end, run.start + LONGEST_CODE)).toWellFormed();
    const more = run.end - run.start > LONGEST_CODE ? '…' : '';
    codes[`${KINDS[key[0]!]}${key.slice(1)}`] = text + more;
  });
  return codes;
}
