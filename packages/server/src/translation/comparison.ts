/**
 * Compares engines: translates the same lines with each of them, and measures the translations. The command `dragoman
 * engine compare` and the console's page use it.
 */

import { countSegmentWords, plainText, type Segment, scan, segments } from '@dragoman/documents';
import { nextTurn } from '../base/turns.ts';
import { addOverlap, chrf, noOverlap, overlapOf, reversed, sequencesOf } from './chrf.ts';
import type { TranslationRequest, Translator } from './translator.ts';

/** One line of the text to translate. If references are given, each line has one reference translation. */
export interface Line {
  source: string;
  reference?: string;
}

/** A line, by its number from 1, that has only one of source and reference. */
export interface UnmatchedLine {
  number: number;
  lacks: 'source' | 'reference';
}

/** Splits a text and its references into lines, and leaves out lines without text. */
export function readLines(text: string, references: string | undefined): Line[] | UnmatchedLine {
  const sources = linesOf(text);
  if (references === undefined) return [...sources.values()].map((source) => ({ source }));
  const given = linesOf(references);
  const unmatched = [...sources.keys(), ...given.keys()].filter((at) => sources.has(at) !== given.has(at));
  const [number] = unmatched.sort((a, b) => a - b);
  if (number !== undefined) return { number, lacks: given.has(number) ? 'source' : 'reference' };
  return [...sources].map(([at, source]) => ({ source, reference: given.get(at)! }));
}

/** Returns the lines that have text, by their numbers from 1. */
const linesOf = (text: string): Map<number, string> =>
  new Map(
    text
      .split(/\r\n|\n/)
      .map((line, index): [number, string] => [index + 1, line.trim()])
      .filter(([, line]) => line !== ''),
  );

/** The translations of one engine. */
export interface EngineRun {
  /** The translation of each line, without the segments that failed. */
  texts: string[];
  /** Whether all segments of each line were translated. */
  complete: boolean[];
  /** The words of all lines. */
  words: number;
  seconds: number;
  cents: number;
  /** The mean confidence of the segments for which the engine reported one, from 0 to 1; null if there are none. */
  confidence: number | null;
  /** The number of failed segments by reason. */
  failed: Record<string, number>;
}

interface RunRequest {
  engine: string;
  pair: [from: string, to: string];
  signal: AbortSignal;
  /** Called with the number of translated segments and of all segments. */
  progress?(translated: number, of: number): void;
}

/** Translates the lines with one engine, as texts that belong to no account. */
export async function translateLines(
  translator: Translator,
  lines: readonly Line[],
  { engine, pair: [from, to], signal, progress }: RunRequest,
): Promise<EngineRun> {
  const opened: Segment[][] = [];
  for (const [index, { source }] of lines.entries()) {
    const line = segments(scan(source, 'text', { sourceLanguage: from, targetLanguage: to }), from);
    // The ids of segments are unique only in one text.
    opened.push(line.map((one) => ({ ...one, id: `${index}.${one.id}` })));
    await nextTurn(signal);
  }
  const all = opened.flat();
  progress?.(0, all.length);
  let cents = 0;
  const started = performance.now();
  const drafted = await translator.draft(all, {
    ...requestWithoutAccount(from, to),
    engine,
    lane: 'bulk',
    signal,
    progress: (translated) => progress?.(translated, all.length),
    charged(more) {
      cents += more;
    },
  });
  const seconds = Math.max(0.001, (performance.now() - started) / 1_000);
  const made = new Map(
    drafted.flatMap((one) =>
      one.status === 'failed' ? [] : [[one.segment.id, plainText(one.pieces).toWellFormed()]],
    ),
  );
  const failed: EngineRun['failed'] = {};
  for (const one of drafted) {
    if (one.status === 'failed') failed[one.reason] = (failed[one.reason] ?? 0) + 1;
  }
  return {
    texts: opened.map((line) => line.map(({ id }) => made.get(id) ?? '').join(' ')),
    complete: opened.map((line) => line.every(({ id }) => made.has(id))),
    words: all.reduce((sum, { pieces }) => sum + countSegmentWords(pieces, from), 0),
    seconds,
    cents,
    confidence: meanOf(
      drafted.flatMap((one) => (one.status === 'translated' && one.confidence ? one.confidence.mean : [])),
    ),
    failed,
  };
}

/** Returns the arithmetic mean; null without numbers. */
const meanOf = (numbers: readonly number[]): number | null =>
  numbers.length === 0 ? null : numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

/** Returns a request that belongs to no account. It uses no engine routes of accounts, no memory and no cache. */
export const requestWithoutAccount = (from: string, to: string): TranslationRequest => ({
  account: undefined,
  tier: 'machine',
  brand: undefined,
  environment: 'production',
  from,
  to,
  lane: 'interactive',
  signal: new AbortController().signal,
});

/** The measures of one engine over all lines. */
export interface EngineMeasures {
  engine: string;
  /** Against the references; null without them. A failed segment counts as an empty translation. */
  chrf: number | null;
  /** The mean chrF against the translations of the other engines; null if there are none. */
  agreement: number | null;
  /**
   * The percentage of the source's words that the translation repeats unchanged. Lines with a failed segment are left
   * out. Null if no other line has such words.
   */
  copied: number | null;
  /** The mean of the engine's own confidences, from 0 to 1; null if it reports none. */
  confidence: number | null;
  words_per_second: number;
  cents: number;
  /** The number of failed segments by reason. */
  failed: Record<string, number>;
}

/** The translation of one line by one engine. */
export interface LineTranslation {
  engine: string;
  text: string;
  complete: boolean;
  chrf: number | null;
  /** The words of the source that the translation repeats unchanged. */
  copied: string[];
}

export interface Comparison {
  engines: EngineMeasures[];
  texts: { source: string; reference: string | null; translations: LineTranslation[] }[];
}

/** Measures the translations. Pauses after each line, so that the event loop can serve other work. */
export async function measureRuns(
  lines: readonly Line[],
  runs: readonly (EngineRun & { engine: string })[],
): Promise<Comparison> {
  const sums = runs.map(() => ({
    reference: noOverlap(),
    others: runs.map(noOverlap),
    copied: 0,
    copiable: 0,
  }));
  const texts: Comparison['texts'] = [];
  for (const [at, { source, reference }] of lines.entries()) {
    const made = runs.map(({ texts: of }) => sequencesOf(of[at]!));
    const wanted = reference === undefined ? undefined : sequencesOf(reference);
    const words = source.match(WORDS) ?? [];
    const translations = runs.map(({ engine, texts: of, complete }, index): LineTranslation => {
      const sum = sums[index]!;
      for (let other = 0; other < index; other += 1) {
        const overlap = overlapOf(made[index]!, made[other]!);
        addOverlap(sum.others[other]!, overlap);
        addOverlap(sums[other]!.others[index]!, reversed(overlap));
      }
      const overlap = wanted && overlapOf(made[index]!, wanted);
      if (overlap !== undefined) addOverlap(sum.reference, overlap);
      const known = new Set(complete[at] ? of[at]!.match(WORDS) : []);
      const copied = words.filter((word) => known.has(word));
      if (complete[at]) sum.copiable += words.length;
      sum.copied += copied.length;
      const text = of[at]!;
      return { engine, text, complete: complete[at]!, chrf: overlap ? chrf(overlap) : null, copied };
    });
    texts.push({ source, reference: reference ?? null, translations });
    await nextTurn();
  }
  const hasReferences = lines.some(({ reference }) => reference !== undefined);
  const engines = runs.map(({ engine, words, seconds, cents, confidence, failed }, index): EngineMeasures => {
    const { reference, others, copied, copiable } = sums[index]!;
    const scores = others.filter((_, other) => other !== index).map(chrf);
    return {
      engine,
      chrf: hasReferences ? chrf(reference) : null,
      agreement: meanOf(scores),
      copied: copiable === 0 ? null : (100 * copied) / copiable,
      confidence,
      words_per_second: words / seconds,
      cents,
      failed,
    };
  });
  return { engines, texts };
}

/**
 * Matches words of four or more lower-case letters. Names, which have capitals, and short words may be the same in both
 * languages.
 */
const WORDS = /(?<!\p{L})\p{Ll}{4,}(?!\p{L})/gu;
