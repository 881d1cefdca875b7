/**
 * `npm run bench -- engines`: words per second through the whole service (HTTP in, database, pipeline, result
 * readable) beside one `apertium` process that translates the same text as one file; the two take turns. Then the
 * same through `apertium-apy`, what one small job costs over the engine's own time, and the memory of a pipeline.
 * There is no figure for two pipelines: a worker has one for each direction and lane, and two workers have two.
 * Flags: `--rounds N` (5), `--probes N` small jobs (100), `--characters N` of the large job (1000000).
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createApertium } from '../packages/engines/src/engines.ts';
import { createAccount, type Program, startProgram } from '../scripts/program.ts';
import { startApy } from './apy.ts';
import { type Figure, type Flags, median, quantile, type Report } from './figures.ts';
import { countWords, englishText } from './text.ts';

const run = promisify(execFile);
const GOAL = 0.9;
const APY_RATE = 3;
const APY_LATENCY = 1 / 3;
const CLIENTS = 8;
/** Asking is work too, and takes its part of the two cores from what is measured. */
const POLL_MILLISECONDS = 100;
/** Of one small job, where asking is a part of what is measured. */
const PROBE_MILLISECONDS = 2;

/** Loads of the same words in pieces of another size. */
const LOADS = [
  { name: 'pages of 500 words', wordsAJob: 500, words: 30_000, goal: GOAL },
  { name: 'messages of 12 words', wordsAJob: 12, words: 12_000, goal: GOAL },
] as const;

export async function benchEngines({ numbers }: Flags): Promise<Report> {
  const rounds = numbers.rounds ?? 5;
  const large = numbers.characters ?? 1_000_000;
  const probes = Array.from({ length: numbers.probes ?? 100 }, (_, index) => smallText(50_000 + index));
  const apy = await startApy().catch((error: Error) => error);
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
      const peer: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const texts: string[] = [];
        for (let made = 0; made < load.words; made += countWords(texts.at(-1)!)) {
          texts.push(englishText(load.wordsAJob, round * 10_000 + texts.length));
        }
        const words = texts.reduce((sum, text) => sum + countWords(text), 0);
        service.push(words / (await translateAll(program, key, texts)));
        raw.push(words / (await translateFile(directory, texts.join('\n'))));
        if (!(apy instanceof Error)) peer.push(words / (await apy.translateAll(texts, CLIENTS)));
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
      if (peer.length === 0) continue;
      const multiple = median(service) / median(peer);
      figures.push({
        name: `translation, ${load.name}, as a multiple of apertium-apy (${median(peer).toFixed(0)} words/s)`,
        value: multiple.toFixed(2),
        goal: `at least ${APY_RATE}`,
        held: multiple >= APY_RATE,
      });
    }
    const text = distinctText(large);
    const words = countWords(text);
    const whole = words / (await translateAll(program, key, [text]));
    const file = words / (await translateFile(directory, text));
    const against = 'one apertium process, the same text as one file';
    figures.push({
      name: `translation, one job of ${text.length} characters`,
      value: whole,
      unit: 'words/s',
      ratio: { value: whole / file, against, atLeast: GOAL },
    });

    const own = await engineAlone(probes);
    const service: number[] = [];
    for (const probe of probes) service.push(await oneJob(program, key, probe));
    for (const share of [0.5, 0.99]) {
      figures.push({
        name: `one job of 12 words, over the engine's own time, p${share * 100}`,
        value: quantile(service, share) - quantile(own, share),
        unit: 'ms',
      });
    }
    if (apy instanceof Error) {
      const value = `not measured (${apy.message})`;
      figures.push({ name: 'apertium-apy', value, goal: 'it is there to be measured', held: false });
    } else {
      const theirs: number[] = [];
      for (const probe of probes) theirs.push((await apy.translateAll([probe], 1)) * 1000);
      const share = median(service) / median(theirs);
      figures.push({
        name: 'one job of 12 words until its result is read, as a share of apertium-apy, p50',
        value: share.toFixed(2),
        goal: `at most ${APY_LATENCY.toFixed(2)}`,
        held: share <= APY_LATENCY,
      });
    }
    figures.push({ name: 'memory of a pipeline', value: pipelineMebibytes(program), unit: 'MiB' });
    return { figures };
  } finally {
    if (!(apy instanceof Error)) await apy.stop();
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

/** Milliseconds from the request of a job until its result was read. */
async function oneJob(program: Program, key: string, text: string): Promise<number> {
  const headers = { authorization: `ApiKey ${key}`, 'content-type': 'application/json' };
  const path = `${program.url}/tapi/v2/mt_translation/`;
  const body = JSON.stringify({ text, source_language: 'en', target_language: 'es' });
  const started = performance.now();
  const made = await fetch(path, { method: 'POST', headers, body });
  const { uid } = (await made.json()) as { uid: string };
  for (;;) {
    const response = await fetch(`${path}${uid}/`, { headers });
    if (((await response.json()) as { status: string }).status === 'completed') break;
    await wait(PROBE_MILLISECONDS);
  }
  return performance.now() - started;
}

/** Milliseconds of each text at the engine, with nothing around it. */
async function engineAlone(texts: readonly string[]): Promise<number[]> {
  const engine = createApertium();
  try {
    const taken: number[] = [];
    for (const text of [texts[0]!, ...texts]) {
      const started = performance.now();
      const segments = [{ id: '1', pieces: [{ text }] }];
      await engine.draft({ from: 'en', to: 'es', lane: 'bulk', segments });
      taken.push(performance.now() - started);
    }
    return taken.slice(1); // the first one waited for the start
  } finally {
    await engine.stop();
  }
}

/** Nothing comes twice: a repeated sentence is translated once, which would flatter one large job. */
function distinctText(characters: number): string {
  const sentences = new Set<string>();
  let length = 0;
  for (let seed = 70_000; length < characters; seed++) {
    for (const sentence of englishText(1_000, seed).split(/(?<=[.?])\s+/)) {
      if (length >= characters || sentences.has(sentence)) continue;
      sentences.add(sentence);
      length += sentence.length + 1;
    }
  }
  return [...sentences].join('\n');
}

/** One sentence of about 12 words. */
function smallText(seed: number): string {
  const sentences = englishText(60, seed).split(/(?<=[.?])\s+/);
  return sentences.find((sentence) => countWords(sentence) >= 10) ?? sentences[0]!;
}

/** What the engine's processes under the program take, shared pages by their share. */
function pipelineMebibytes({ child }: Program): number {
  let kibibytes = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const [, command, parent] = /\((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))!;
      if (Number(parent) !== child.pid || !/^(lt-|lrx-|cg-|apertium)/.test(command!)) continue;
      kibibytes += Number(
        /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/smaps_rollup`, 'utf8'))?.[1] ?? 0,
      );
    } catch {
      // it has ended
    }
  }
  return kibibytes / 1024;
}
