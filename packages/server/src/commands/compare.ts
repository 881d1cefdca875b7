/** The command `dragoman engine compare`: translates the same lines with several engines, and measures the results. */
import { countSegmentWords, plainText, type Segment } from '@dragoman/documents';
import { counted } from '../base/text.ts';
import { open } from '../scanning/tasks.ts';
import type { EngineName } from '../settings/engine-names.ts';
import type { Settings } from '../settings/settings.ts';
import { chrf } from '../translation/chrf.ts';
import type { Translator } from '../translation/translator.ts';
import { ensureEngine } from './engine.ts';
import { CommandError, printJson, printTable, say } from './output.ts';
import { bareRequest, createBareTranslator, readTextFile } from './translate.ts';

export interface CompareOptions {
  references?: string;
  engines?: EngineName[];
  json?: boolean;
}

/** One line of the text to translate. If references are given, each line has one reference translation. */
interface Line {
  /** The line number in the file, from 1. */
  number: number;
  source: string;
  segments: Segment[];
}

interface Run {
  engine: EngineName;
  /** The translation of each line, without the segments that failed. */
  texts: string[];
  /** Whether all segments of each line were translated. */
  complete: boolean[];
  seconds: number;
  cents: number;
  /** The number of failed segments by reason. */
  failed: Record<string, number>;
}

/**
 * Translates the lines of a text with each engine, and prints the measures of each engine.
 * @throws CommandError when a file cannot be used, or an engine does not exist
 */
export async function compareEngines(
  settings: Settings,
  [from, to, file]: [from: string, to: string, file: string],
  options: CompareOptions,
): Promise<void> {
  const { engines = settings.engines } = options;
  const lines = linesOf(await readTextFile(file)).map(([number, source]): Line => {
    const task = { text: source, format: 'text', sourceLanguage: from, targetLanguage: to } as const;
    // The ids of segments are unique only in one text.
    return { number, source, segments: open(task).map((one) => ({ ...one, id: `${number}.${one.id}` })) };
  });
  if (lines.length === 0) throw new CommandError(`${file} has no text.`);
  const references =
    options.references === undefined ? undefined : await readReferences(options.references, lines);
  if (engines.includes('apertium')) await ensureEngine(settings, false);
  const runs = await runAll(settings, engines, lines, [from, to]);
  const words = lines
    .flatMap(({ segments }) => segments)
    .reduce((sum, { pieces }) => sum + countSegmentWords(pieces, from), 0);
  const compared = runs.map((one) => measure(one, runs, lines, words, references));
  if (options.json) {
    const texts = lines.map(({ source }, index) => ({
      source,
      reference: references?.[index] ?? null,
      translations: Object.fromEntries(runs.map(({ engine, texts }) => [engine, texts[index]])),
    }));
    return printJson({ source_language: from, target_language: to, words, engines: compared, texts });
  }
  const figure = (value: number | null, digits = 1): string => value?.toFixed(digits) ?? '-';
  printTable(
    ['engine', 'chrF', 'agreement', 'copied', 'words/s', 'cents', 'failed'],
    compared.map((one) => [
      one.engine,
      figure(one.chrf),
      figure(one.agreement),
      one.copied === null ? '-' : `${figure(one.copied)} %`,
      figure(one.words_per_second),
      figure(one.cents, 2),
      Object.entries(one.failed)
        .map(([reason, count]) => `${count} ${reason}`)
        .join(', ') || '0',
    ]),
    'There are no engines.',
  );
}

/** Returns the lines that have text, with their numbers from 1. */
const linesOf = (text: string): [number: number, line: string][] =>
  text
    .split(/\r\n|\n/)
    .map((line, index): [number, string] => [index + 1, line.trim()])
    .filter(([, line]) => line !== '');

/** Reads the reference of each line. @throws CommandError when a line has no reference, or a reference has no line */
async function readReferences(file: string, lines: readonly Line[]): Promise<string[]> {
  const references = new Map(linesOf(await readTextFile(file)));
  const sources = new Set(lines.map(({ number }) => number));
  const wrong = [...sources.symmetricDifference(references)].sort((a, b) => a - b)[0];
  if (wrong !== undefined) {
    const fault = references.has(wrong)
      ? `has a reference in ${file}, but no text`
      : `has no reference in ${file}`;
    throw new CommandError(
      `Line ${wrong} ${fault}. Each line needs one reference, in the line with the same number.`,
    );
  }
  return [...references.values()];
}

/** Translates the lines with each engine. All engines are created first, so that a wrong setting costs nothing. */
async function runAll(
  settings: Settings,
  engines: readonly EngineName[],
  lines: readonly Line[],
  pair: [from: string, to: string],
): Promise<Run[]> {
  const costs = new Map<string, number>();
  const translators: [EngineName, Translator][] = [];
  const runs: Run[] = [];
  try {
    for (const engine of new Set(engines)) {
      const translator = createBareTranslator(settings, [engine], {
        translated: (_engine, _words, _characters, cents) => {
          costs.set(engine, (costs.get(engine) ?? 0) + cents);
        },
      });
      translators.push([engine, translator]);
    }
    for (const [engine, translator] of translators) {
      say(`Translating ${counted(lines.length, 'line')} with ${engine} …`);
      const measured = await run(translator, lines, pair);
      runs.push({ engine, ...measured, cents: costs.get(engine) ?? 0 });
    }
    return runs;
  } finally {
    await Promise.all(translators.map(([, translator]) => translator.stop()));
  }
}

async function run(
  translator: Translator,
  lines: readonly Line[],
  [from, to]: [from: string, to: string],
): Promise<Omit<Run, 'engine' | 'cents'>> {
  const started = performance.now();
  const request = { ...bareRequest(from, to), lane: 'bulk' as const };
  const drafted = await translator.draft(
    lines.flatMap(({ segments }) => segments),
    request,
  );
  const seconds = (performance.now() - started) / 1_000;
  const made = new Map(
    drafted.flatMap((one) => (one.status === 'failed' ? [] : [[one.segment.id, plainText(one.pieces)]])),
  );
  const texts = lines.map(({ segments }) => segments.map(({ id }) => made.get(id) ?? '').join(' '));
  const complete = lines.map(({ segments }) => segments.every(({ id }) => made.has(id)));
  const failed: Run['failed'] = {};
  for (const one of drafted) {
    if (one.status === 'failed') failed[one.reason] = (failed[one.reason] ?? 0) + 1;
  }
  return { texts, complete, seconds, failed };
}

/** Returns the measures of one engine. For chrF, a failed segment counts as an empty translation. */
function measure(
  { engine, texts, complete, seconds, cents, failed }: Run,
  runs: readonly Run[],
  lines: readonly Line[],
  words: number,
  references: readonly string[] | undefined,
) {
  const others = runs.filter((run) => run.engine !== engine);
  const agreement = others.reduce((sum, other) => sum + chrf(texts, other.texts), 0) / others.length;
  return {
    engine,
    chrf: references === undefined ? null : chrf(texts, references),
    agreement: others.length === 0 ? null : agreement,
    copied: copiedShare(lines, texts, complete),
    words_per_second: words / seconds,
    cents,
    failed,
  };
}

/**
 * Matches words of four or more lower-case letters. Names, which have capitals, and short words may be the same in both
 * languages.
 */
const WORDS = /(?<!\p{L})\p{Ll}{4,}(?!\p{L})/gu;

/**
 * Returns the percentage of the source's words that the translation repeats unchanged, such as words that the engine
 * does not know. Lines with a failed segment are left out. Returns null if no other line has such words.
 */
function copiedShare(
  lines: readonly Line[],
  texts: readonly string[],
  complete: readonly boolean[],
): number | null {
  let [all, copied] = [0, 0];
  for (const [index, { source }] of lines.entries()) {
    if (!complete[index]) continue;
    const made = new Set(texts[index]!.match(WORDS));
    const words = source.match(WORDS) ?? [];
    all += words.length;
    copied += words.filter((word) => made.has(word)).length;
  }
  return all === 0 ? null : (100 * copied) / all;
}
