import { type Piece, TRAITS } from '@dragoman/documents/pieces';
import type { Check } from './finding.ts';
import { base } from './language.ts';
import { visible } from './pieces.ts';
import { graphemesOf } from './tokens.ts';

/**
 * The maximum number of characters in a line of a subtitle. `LINES` has lower limits for languages with wide
 * characters.
 */
const LINE = 42;
const LINES: Record<string, number> = { zh: 16, ja: 16, ko: 16 };
/** The maximum number of lines in a cue. */
const CUE_LINES = 2;

/** The maximum number of characters per second. */
const SPEED = 17;
const SPEEDS: Record<string, number> = { en: 20, ar: 20, fa: 20, he: 20, hi: 20, zh: 9, ja: 7, ko: 12 };

/**
 * Reports subtitles that are too wide. The document is divided into lines later, so a text without line
 * breaks must fit the two lines of its cues. If the text has line breaks, each line must fit.
 */
export const lineLength: Check = {
  id: 'line-length',
  severity: 'warning',
  question: 'Do subtitles fit their lines?',
  find({ target, to, format, time }) {
    if (!TRAITS[format].isSubtitles) return [];
    const text = visible(target);
    const most = LINES[base(to)] ?? LINE;
    if (!/[\r\n]/.test(text)) {
      const length = Math.ceil(graphemesOf(text.trim()).length / (CUE_LINES * (time?.cues ?? 1)));
      return length > most ? [{ values: { length, most } }] : [];
    }
    return Array.from(text.matchAll(/[^\r\n]+/g)).flatMap(({ 0: line, index }) => {
      const { length } = graphemesOf(line);
      return length > most
        ? [{ values: { length, most }, range: { start: index, end: index + line.length } }]
        : [];
    });
  },
};

/** In a finding, `speed` and `most` are in characters per second. */
export const readingSpeed: Check = {
  id: 'reading-speed',
  severity: 'warning',
  question: 'Is there enough time to read the subtitle?',
  find({ target, to, format, time }) {
    if (!TRAITS[format].isSubtitles || time === undefined || time.to <= time.from) return [];
    const speed = speedOf(target, time);
    const most = SPEEDS[base(to)] ?? SPEED;
    return speed > most ? [{ values: { speed: Math.ceil(speed), most } }] : [];
  },
};

/**
 * The length and the reading speed of a subtitle, with their maximums. The workbench shows them while an
 * editor writes.
 */
export interface SubtitleFigures {
  seconds: number;
  /** The reading speed in characters per second. */
  speed: number;
  mostSpeed: number;
  /**
   * The number of characters in the longest line. For a text without line breaks, lines of equal length are
   * assumed.
   */
  line: number;
  mostLine: number;
}

export function subtitleFigures(
  target: readonly Piece[],
  to: string,
  time: { from: number; to: number; cues?: number },
): SubtitleFigures {
  const mostLine = LINES[base(to)] ?? LINE;
  const lines = visible(target)
    .split(/[\r\n]+/)
    .map((line) => graphemesOf(line.trim()).length);
  const longest = Math.max(...lines);
  const fits = lines.length > 1 || longest <= mostLine;
  return {
    seconds: (time.to - time.from) / 1000,
    speed: time.to > time.from ? Math.ceil(speedOf(target, time)) : 0,
    mostSpeed: SPEEDS[base(to)] ?? SPEED,
    line: fits ? longest : Math.ceil(longest / (CUE_LINES * (time.cues ?? 1))),
    mostLine,
  };
}

/** Returns the reading speed in characters per second. */
function speedOf(target: readonly Piece[], time: { from: number; to: number }): number {
  const { length } = graphemesOf(visible(target).replace(/\s+/gu, ' ').trim());
  return (length * 1000) / (time.to - time.from);
}
