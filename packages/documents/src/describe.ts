/**
 * What the workbench shows about a segment: its position, the markup behind its codes, and the document's notes and
 * limits. Engines do not need it, so it is not part of a segment.
 */

import { segmentAndCacheCues } from './cues.ts';
import type { Document, Unit } from './document.ts';
import { keyOf } from './repair.ts';
import { isText } from './runs.ts';
import { type CutSegment, segmentAndCacheUnit } from './segmentation.ts';

export interface Description {
  /** Id of the segment, as returned by `segments` for the same document and language. */
  id: string;
  /** Index of the (first) unit. */
  unit: number;
  /** Notes in the document for translators. */
  notes: readonly string[];
  /** Longest target of the unit in characters, if the unit is one segment. */
  maxLength?: number;
  /** Time of display in milliseconds, and the number of cues if there are several. */
  time?: { from: number; to: number; cues?: number };
  /** The document's characters for each code, by `open1`, `close1`, `single2`, `keep3`, truncated. */
  codes: Record<string, string>;
}

/** Longer codes, such as styles and `data:` URLs, are truncated to this length. */
const LONGEST_CODE = 200;

const KINDS: Record<string, string> = { o: 'open', c: 'close', s: 'single', k: 'keep' };

/** Returns one description per segment, in the same order. */
export function describe(document: Document, language: string): Description[] {
  document.segmentLanguage = language;
  if (document.format === 'srt') {
    return segmentAndCacheCues(document, language).map(({ id, unit, cut, cues }) => {
      const first = document.units[unit]!;
      const last = document.units[cues.at(-1) ?? unit]!;
      const more = new Set(cues).size;
      const time = first.time &&
        last.time && { from: first.time.from, to: last.time.to, ...(more > 1 ? { cues: more } : {}) };
      return { ...common(document, id, first, cut), ...(time === undefined ? {} : { time }) };
    });
  }
  const found: Description[] = [];
  for (const unit of document.units) {
    if (!unit.translatable) continue;
    const { cuts } = segmentAndCacheUnit(document, unit, language);
    cuts.forEach((cut, index) => {
      const described = common(document, `${unit.index}.${index}`, unit, cut);
      const whole = cuts.length === 1 && unit.maxLength !== undefined;
      found.push(whole ? { ...described, maxLength: unit.maxLength! } : described);
    });
  }
  return found;
}

function common(document: Document, id: string, unit: Unit, cut: CutSegment): Description {
  return { id, unit: unit.index, notes: unit.notes ?? [], codes: codesOf(document, cut) };
}

/** Codes are in the order of the runs. */
function codesOf(document: Document, cut: CutSegment): Record<string, string> {
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
