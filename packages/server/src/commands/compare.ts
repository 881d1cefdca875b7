/** The command `dragoman engine compare`: translates the same lines with several engines, and measures the results. */
import { countSegmentWords, type Segment } from '@dragoman/documents';
import { counted } from '../base/text.ts';
import { open } from '../scanning/tasks.ts';
import type { EngineName } from '../settings/engine-names.ts';
import type { Settings } from '../settings/settings.ts';
import { chrf } from '../translation/chrf.ts';
import type { Drafted } from '../translation/drafts.ts';
import { CommandError, printJson, printTable, say } from './output.ts';
import { bareRequest, createBareTranslator, engineNames, readTextFile } from './translate.ts';

export interface CompareOptions {
  references?: string;
  engines?: string;
  json?: boolean;
}

/** One line of the text, which has one reference. */
interface Line {
  source: string;
  segments: Segment[];
}

interface Run {
  engine: EngineName;
  /** The translation of each line, without the segments that failed. */
  texts: string[];
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
  const engines = options.engines === undefined ? settings.engines : engineNames(options.engines);
  const lines = linesOf(await readTextFile(file)).map((source, index): Line => {
    const task = { text: source, format: 'text', sourceLanguage: from, targetLanguage: to } as const;
    // The ids of segments are unique only in one text.
    return { source, segments: open(task).map((one) => ({ ...one, id: `${index}.${one.id}` })) };
  });
  if (lines.length === 0) throw new CommandError(`${file} has no text.`);
  const references =
    options.references === undefined ? undefined : linesOf(await readTextFile(options.references));
  if (references !== undefined && references.length !== lines.length) {
    throw new CommandError(
      `${file} has ${counted(lines.length, 'line')}, but ${options.references} has ${references.length}. Each line needs one reference.`,
    );
  }
  const runs: Run[] = [];
  for (const engine of new Set(engines)) {
    say(`Translating ${counted(lines.length, 'line')} with ${engine} …`);
    runs.push(await run(settings, engine, lines, [from, to]));
  }
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
      `${figure(one.copied)} %`,
      figure(one.words_per_second),
      figure(one.cents, 2),
      Object.entries(one.failed)
        .map(([reason, count]) => `${count} ${reason}`)
        .join(', ') || '0',
    ]),
    'There are no engines.',
  );
}

const linesOf = (text: string): string[] =>
  text
    .split(/\r\n|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

async function run(
  settings: Settings,
  engine: EngineName,
  lines: readonly Line[],
  [from, to]: [from: string, to: string],
): Promise<Run> {
  let cost = 0;
  const translator = createBareTranslator(settings, [engine], {
    translated: (_engine, _words, _characters, cents) => {
      cost += cents;
    },
  });
  try {
    const started = performance.now();
    const request = { ...bareRequest(from, to), lane: 'bulk' as const };
    const drafted = await translator.draft(
      lines.flatMap(({ segments }) => segments),
      request,
    );
    const seconds = (performance.now() - started) / 1_000;
    const found = new Map(drafted.map((one) => [one.segment.id, one]));
    const texts = lines.map(({ segments }) => segments.map(({ id }) => textOf(found.get(id)!)).join(' '));
    const failed: Run['failed'] = {};
    for (const one of drafted) {
      if (one.status === 'failed') failed[one.reason] = (failed[one.reason] ?? 0) + 1;
    }
    return { engine, texts, seconds, cents: cost, failed };
  } finally {
    await translator.stop();
  }
}

const textOf = (drafted: Drafted): string =>
  drafted.status === 'failed'
    ? ''
    : drafted.pieces.map((piece) => ('text' in piece ? piece.text : '')).join('');

/** Returns the measures of one engine. A failed segment counts as an empty translation. */
function measure(
  { engine, texts, seconds, cents, failed }: Run,
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
    copied: copiedShare(lines, texts),
    words_per_second: words / seconds,
    cents,
    failed,
  };
}

/** Matches words that an engine should translate: names have capitals, and short words may be the same. */
const WORDS = /(?<!\p{L})\p{Ll}{4,}(?!\p{L})/gu;

/** Returns how many percent of the words of the source are also in the translation, such as unknown words. */
function copiedShare(lines: readonly Line[], texts: readonly string[]): number {
  let [all, copied] = [0, 0];
  for (const [index, { source }] of lines.entries()) {
    const made = new Set(texts[index]!.match(WORDS));
    const words = source.match(WORDS) ?? [];
    all += words.length;
    copied += words.filter((word) => made.has(word)).length;
  }
  return (100 * copied) / Math.max(1, all);
}
