/**
 * What an editor is shown beside a segment: where it stands, what its codes stand for, and what the document asks of
 * its translation. Engines need none of it, so it is not part of a segment.
 */

import { cutCuesAndKeep } from './cues.ts';
import { type Cut, cutAndKeep } from './cut.ts';
import type { Document, Unit } from './document.ts';
import { keyOf } from './repair.ts';
import { isText } from './runs.ts';

export interface Description {
  /** Of the segment, as `segments` gives it for the same document and language. */
  id: string;
  /** Index of the (first) unit. */
  unit: number;
  /** What the document says to translators. */
  notes: readonly string[];
  /** Longest target of the whole unit in characters; only where the unit is one segment. */
  maxLength?: number;
  /** When it is shown, in milliseconds, and over how many cues it runs where it is more than one. */
  time?: { from: number; to: number; cues?: number };
  /** What codes stand for, by `open1`, `close1`, `single2`, `keep3`: the document's own characters, shortened. */
  codes: Record<string, string>;
}

/** Of a code that is longer, a style or a data address, this much is shown. */
const LONGEST_CODE = 200;

const KINDS: Record<string, string> = { o: 'open', c: 'close', s: 'single', k: 'keep' };

/** One for each segment, in their order. */
export function describe(document: Document, language: string): Description[] {
  document.segmentLanguage = language;
  if (document.format === 'srt') {
    return cutCuesAndKeep(document, language).map(({ id, unit, cut, cues }) => {
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
    const { cuts } = cutAndKeep(document, unit, language);
    cuts.forEach((cut, index) => {
      const described = common(document, `${unit.index}.${index}`, unit, cut);
      const whole = cuts.length === 1 && unit.maxLength !== undefined;
      found.push(whole ? { ...described, maxLength: unit.maxLength! } : described);
    });
  }
  return found;
}

function common(document: Document, id: string, unit: Unit, cut: Cut): Description {
  return { id, unit: unit.index, notes: unit.notes ?? [], codes: codesOf(document, cut) };
}

/** The codes of a cut come in the order of its runs. */
function codesOf(document: Document, cut: Cut): Record<string, string> {
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
