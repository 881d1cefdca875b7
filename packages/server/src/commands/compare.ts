/** The command `dragoman engine compare`: translates the same lines with several engines, and prints the measures. */
import { counted } from '../base/text.ts';
import type { EngineName } from '../settings/engine-names.ts';
import type { Settings } from '../settings/settings.ts';
import {
  type EngineRun,
  type Line,
  measureRuns,
  readLines,
  translateLines,
} from '../translation/comparison.ts';
import { enginesWithData } from '../translation/engines.ts';
import { ensureEngine } from './engine.ts';
import { CommandError, printJson, printTable, say } from './output.ts';
import { createBareTranslator, readTextFile } from './translate.ts';

export interface CompareOptions {
  references?: string;
  engines?: EngineName[];
  json?: boolean;
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
  const engines = [...new Set(options.engines ?? enginesWithData(settings))];
  const lines = await readFiles(file, options.references);
  if (engines.includes('apertium')) await ensureEngine(settings, false);
  const runs = await runAll(settings, engines, lines, [from, to]);
  const { engines: measured, texts } = await measureRuns(lines, runs);
  if (options.json) {
    const words = runs[0]?.words ?? 0;
    return printJson({ source_language: from, target_language: to, words, engines: measured, texts });
  }
  const figure = (value: number | null, digits = 1): string => value?.toFixed(digits) ?? '-';
  printTable(
    ['engine', 'chrF', 'agreement', 'copied', 'confidence', 'words/s', 'cents', 'failed'],
    measured.map((one) => [
      one.engine,
      figure(one.chrf),
      figure(one.agreement),
      one.copied === null ? '-' : `${figure(one.copied)} %`,
      one.confidence === null ? '-' : `${figure(100 * one.confidence)} %`,
      figure(one.words_per_second),
      figure(one.cents, 2),
      Object.entries(one.failed)
        .map(([reason, count]) => `${count} ${reason}`)
        .join(', ') || '0',
    ]),
    'There are no engines.',
  );
}

/** Reads the text and its references. @throws CommandError when a line has no reference, or a reference has no line */
async function readFiles(file: string, references: string | undefined): Promise<Line[]> {
  const text = await readTextFile(file);
  const lines = readLines(text, references === undefined ? undefined : await readTextFile(references));
  if (!Array.isArray(lines)) {
    const fault =
      lines.lacks === 'source'
        ? `has a reference in ${references}, but no text`
        : `has no reference in ${references}`;
    throw new CommandError(
      `Line ${lines.number} ${fault}. Each line needs one reference, in the line with the same number.`,
    );
  }
  if (lines.length === 0) throw new CommandError(`${file} has no text.`);
  return lines;
}

/** Translates the lines with each engine. All engines are created first, so that a wrong setting costs nothing. */
async function runAll(
  settings: Settings,
  engines: EngineName[],
  lines: readonly Line[],
  pair: [from: string, to: string],
): Promise<(EngineRun & { engine: string })[]> {
  const translator = createBareTranslator(settings, engines);
  const { signal } = new AbortController();
  const runs: (EngineRun & { engine: string })[] = [];
  try {
    for (const engine of engines) {
      say(`Translating ${counted(lines.length, 'line')} with ${engine} …`);
      runs.push({ engine, ...(await translateLines(translator, lines, { engine, pair, signal })) });
    }
    return runs;
  } finally {
    await translator.stop();
  }
}
