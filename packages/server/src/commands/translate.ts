/** The command `dragoman translate`: translates a file or standard input without a server or database. */
import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import type { Format } from '@dragoman/documents';
import { counted } from '../base/text.ts';
import { countUntranslated } from '../jobs/untranslated.ts';
import { assemble, count, open } from '../scanning/tasks.ts';
import type { EngineName } from '../settings/engine-names.ts';
import type { Settings } from '../settings/settings.ts';
import { requestWithoutAccount } from '../translation/comparison.ts';
import { draftsOf } from '../translation/drafts.ts';
import { createEngines, enginesWithData, limitsOf } from '../translation/engines.ts';
import { createTranslator, type Translator } from '../translation/translator.ts';
import { ensureEngine } from './engine.ts';
import { CommandError, say } from './output.ts';

export interface TranslateOptions {
  from: string;
  to: string;
  format: Format;
  engine?: EngineName[];
  yes: boolean;
}

/**
 * Translates a text and prints it. As in a job, a few segments may keep their source text.
 * @throws CommandError when too many segments could not be translated; nothing is printed then
 */
export async function translate(settings: Settings, file: string, options: TranslateOptions): Promise<void> {
  const { engine: names = enginesWithData(settings) } = options;
  if (names.includes('apertium')) await ensureEngine(settings, options.yes);
  const text = await readTextFile(file);
  const translator = createBareTranslator(settings, names);
  try {
    const { format, from: sourceLanguage, to: targetLanguage } = options;
    const task = { text, format, sourceLanguage, targetLanguage, settings: {} };
    const segments = open(task);
    const started = performance.now();
    const drafted = await translator.draft(segments, requestWithoutAccount(options.from, options.to));
    const failed = drafted.filter((one) => one.status === 'failed');
    if (failed.length > 0) {
      const reasons = [...new Set(failed.map(({ reason }) => reason))].join(', ');
      if (reasons === 'unsupported') {
        const pair = `from ${options.from} to ${options.to}`;
        throw new CommandError(`${names.join(', ')} does not translate ${pair}.`);
      }
      const sentence = `${failed.length} of ${counted(drafted.length, 'segment')} could not be translated: ${reasons}.`;
      const words = count({ text, format, sourceLanguage, settings: {} });
      const job = { words: words.kind === 'counted' ? words.words : 0, source_language: sourceLanguage };
      if (!countUntranslated(drafted, job, settings.maxUntranslated)) throw new CommandError(sentence);
      say(sentence);
    }
    process.stdout.write(assemble({ ...task, drafts: draftsOf(drafted) }));
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const routes = new Set(drafted.flatMap((one) => (one.status === 'translated' ? [one.route] : [])));
    say(
      `${counted(drafted.length, 'segment')} in ${seconds} s by ${[...routes].join(', ') || names.join(', ')}`,
    );
  } finally {
    await translator.stop();
  }
}

/** Creates a translator without a database: it has no engine routes, no translation memory and no cache. */
export function createBareTranslator(settings: Settings, engines: EngineName[]): Translator {
  return createTranslator({
    inSandbox: () => true,
    engines: createEngines({ ...settings, engines }),
    limitsOf: (engine) => limitsOf(settings, engine),
    engineRoutes: async () => [],
    recall: async () => [],
    observer: { asked() {}, translated() {}, failed() {}, cached() {} },
    cacheBytes: 0,
  });
}

export async function readTextFile(file: string): Promise<string> {
  try {
    if (file === '-' && process.stdin.isTTY) say('Type or paste the text, then press Ctrl+D.');
    const bytes = file === '-' ? await buffer(process.stdin) : readFileSync(file);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new CommandError(
      error instanceof TypeError
        ? `${file} is not UTF-8 text.`
        : `${file} cannot be read: ${(error as Error).message}`,
    );
  }
}
