/**
 * `npm run bench -- engines`: words per second through the whole service (HTTP in, database, pipeline, result
 * readable) beside one `apertium` process that translates the same text as one file. The two take turns.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createAccount, type Program, startProgram } from '../scripts/program.ts';
import { type Figure, type Flags, median, type Report } from './figures.ts';
import { countWords, englishText } from './text.ts';

const run = promisify(execFile);
const GOAL = 0.9;
const CLIENTS = 8;
/** Asking is work too, and takes its part of the two cores from what is measured. */
const POLL_MILLISECONDS = 100;

/** Loads of the same words in pieces of another size. */
const LOADS = [
  { name: 'pages of 500 words', wordsAJob: 500, words: 30_000, goal: GOAL },
  { name: 'messages of 12 words', wordsAJob: 12, words: 12_000, goal: GOAL },
] as const;

export async function benchEngines({ numbers }: Flags): Promise<Report> {
  const rounds = numbers.rounds ?? 5;
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
  // Without its memory of what was said lately: the texts share some sentences, and the engine is to be measured.
  const program = await startProgram({ directory, environment: { DRAGOMAN_CACHE_MEMORY: '0' } });
  try {
    const { production_key: key } = await createAccount(directory, 'bench');
    await translateAll(program, key, [englishText(2_000, 99)]); // starts the pipeline, and the compiler
    const figures: Figure[] = [];
    for (const load of LOADS) {
      const service: number[] = [];
      const raw: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const texts: string[] = [];
        for (let made = 0; made < load.words; made += countWords(texts.at(-1)!)) {
          texts.push(englishText(load.wordsAJob, round * 10_000 + texts.length));
        }
        const words = texts.reduce((sum, text) => sum + countWords(text), 0);
        service.push(words / (await translateAll(program, key, texts)));
        raw.push(words / (await translateFile(directory, texts.join('\n'))));
        process.stderr.write(
          `${load.name}: ${service.at(-1)!.toFixed(0)} beside ${raw.at(-1)!.toFixed(0)} words/s\n`,
        );
      }
      figures.push({
        name: `translation, ${load.name}`,
        value: median(service),
        unit: 'words/s',
        ratio: {
          value: median(service) / median(raw),
          against: 'one apertium process, the same text as one file',
          ...(load.goal === undefined ? {} : { atLeast: load.goal }),
        },
      });
    }
    return { figures };
  } finally {
    await program.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Seconds from the first request until every result can be read. */
async function translateAll(program: Program, key: string, texts: readonly string[]): Promise<number> {
  const headers = { authorization: `ApiKey ${key}`, 'content-type': 'application/json' };
  const path = `${program.url}/tapi/v2/mt_translation/`;
  const completed = async () => {
    const response = await fetch(`${path}?status=completed&limit=1`, { headers });
    return ((await response.json()) as { meta: { total_count: number } }).meta.total_count;
  };
  const before = await completed();
  const left = [...texts];
  const started = performance.now();
  const client = async () => {
    for (let text = left.pop(); text !== undefined; text = left.pop()) {
      const body = JSON.stringify({ text, source_language: 'en', target_language: 'es' });
      const response = await fetch(path, { method: 'POST', headers, body });
      if (response.status !== 201) throw new Error(`a job was refused: ${await response.text()}`);
      await response.body?.cancel();
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  while ((await completed()) < before + texts.length) await wait(POLL_MILLISECONDS);
  return (performance.now() - started) / 1000;
}

async function translateFile(directory: string, text: string): Promise<number> {
  const source = join(directory, 'source.txt');
  writeFileSync(source, text);
  const started = performance.now();
  await run('apertium', ['eng-spa', source, join(directory, 'target.txt')]);
  return (performance.now() - started) / 1000;
}
