/** `dragoman translate`: a file or standard input through the engine, without a server or a database. */
import { readFileSync } from 'node:fs';
import type { Format } from '@dragoman/documents';
import { assemble, open } from '../scanning/tasks.ts';
import type { Settings } from '../settings.ts';
import { draftSegments, draftsOf } from '../translation/translate.ts';
import { createEngine, ensureEngine } from './engine.ts';
import { CommandError, say } from './output.ts';

export interface TranslateOptions {
  from: string;
  to: string;
  format: Format;
  engine: string;
  yes: boolean;
}

/** @throws CommandError when a segment could not be translated; standard output stays empty then */
export async function translate(settings: Settings, file: string, options: TranslateOptions): Promise<void> {
  if (options.engine !== 'apertium') {
    throw new CommandError(`There is no engine named ${options.engine}; there is apertium.`);
  }
  await ensureEngine(settings, options.yes);
  const text = readText(file);
  const engine = createEngine(settings);
  try {
    const { format, from: sourceLanguage, to: targetLanguage } = options;
    const task = { text, format, sourceLanguage, targetLanguage };
    const segments = open(task);
    const started = performance.now();
    const drafted = await draftSegments(segments, {
      engine,
      from: options.from,
      to: options.to,
      lane: 'live',
      signal: new AbortController().signal,
    });
    const failed = drafted.filter((one) => one.status === 'failed');
    if (failed.length > 0) {
      const reasons = [...new Set(failed.map(({ reason }) => reason))].join(', ');
      throw new CommandError(
        reasons === 'unsupported'
          ? `${engine.name} does not translate from ${options.from} to ${options.to}.`
          : `${failed.length} of ${drafted.length} segments could not be translated: ${reasons}.`,
      );
    }
    process.stdout.write(assemble({ ...task, drafts: draftsOf(drafted) }));
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const routes = new Set(drafted.flatMap((one) => (one.status === 'translated' ? [one.route] : [])));
    say(`${drafted.length} segments in ${seconds} s by ${[...routes].join(', ') || engine.name}`);
  } finally {
    await engine.stop();
  }
}

function readText(file: string): string {
  try {
    const bytes = readFileSync(file === '-' ? 0 : file);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new CommandError(
      error instanceof TypeError
        ? `${file} is not UTF-8 text.`
        : `${file} cannot be read: ${(error as Error).message}`,
    );
  }
}
