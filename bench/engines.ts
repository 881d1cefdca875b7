/**
 * `npm run bench -- engines` measures words per second through the whole service. The service is compared with one
 * `apertium` process, which translates the same text as one file. Service and `apertium` run in turn. The benchmark
 * also measures `apertium-apy`, the service with two pipelines, the time that the service adds to one small job, and
 * the memory of a pipeline.
 *
 * Each rate comes with the processor time per word, which other work on the machine does not change. If
 * `apertium` alone keeps all processors busy, the ratio of the rates cannot exceed the ratio of the processor
 * times. Flags: `--rounds N` (default 3), `--probes N` small jobs (100), `--characters N` of the large job
 * (1000000).
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Pool } from 'undici';
import { createApertium } from '../packages/engines/src/engines.ts';
import { IS_ENGINE, processesUnder, type Spent, spentBy, spentByEnded } from '../scripts/processor.ts';
import { believeEngine, createAccount, type Program, startProgram } from '../scripts/program.ts';
import { privateApertium } from '../scripts/test-tools.ts';
import { startApy } from './apy.ts';
import { type Figure, type Flags, median, quantile, type Report } from './figures.ts';
import { countWords, englishText } from './text.ts';

const run = promisify(execFile);
const GOAL = 0.9;
const APY_RATE = 3;
const APY_LATENCY = 1 / 3;
/** The number of concurrent connections to the service, and to `apertium-apy`. */
const CLIENTS = 32;
/** The polling interval. It is long, because polling takes processor time from the service. */
const POLL_MILLISECONDS = 100;
/** The polling interval for one small job. It is short, because polling is part of the measured time. */
const PROBE_MILLISECONDS = 2;
const AS_ONE_FILE = 'one apertium process, the same text as one file';

/** The measured loads, which differ in the length of the texts to translate. */
const LOADS: readonly Load[] = [
  { name: 'pages of 500 words', words: 30_000, goal: GOAL, text: (seed) => englishText(500, seed) },
  { name: 'messages of 12 words', words: 12_000, goal: GOAL, text: smallText },
  { name: 'paragraphs of 50 words', words: 12_000, goal: undefined, text: (seed) => englishText(12, seed) },
];

interface Load {
  name: string;
  /** The number of words in a round. */
  words: number;
  goal: number | undefined;
  text(seed: number): string;
}

/** A running service and an HTTP client for it. */
interface Service {
  program: Program;
  pool: Pool;
  headers: Record<string, string>;
}

/** The measurements of all rounds of a load: words per second, and microseconds of processor time per word. */
interface Taken {
  one: number[];
  two: number[];
  file: number[];
  peer: number[];
  spent: Spent[];
  /** The processor time of this process, which is the client. */
  asking: number[];
  spentByFile: number[];
}

export async function benchEngines({ numbers }: Flags): Promise<Report> {
  const rounds = numbers.rounds ?? 3;
  const large = numbers.characters ?? 1_000_000;
  const probes = Array.from({ length: numbers.probes ?? 100 }, (_, index) => smallText(50_000 + index));
  const apy = await startApy().catch((error: Error) => error);
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
  const services: Service[] = [];
  try {
    for (const pipelines of [1, 2]) services.push(await startService(directory, pipelines));
    const [one, two] = services as [Service, Service];
    const figures: Figure[] = [];
    for (const load of LOADS) {
      const taken: Taken = { one: [], two: [], file: [], peer: [], spent: [], asking: [], spentByFile: [] };
      for (let round = 0; round < rounds; round++) {
        const texts: string[] = [];
        for (let made = 0; made < load.words; made += countWords(texts.at(-1)!)) {
          texts.push(load.text(round * 10_000 + texts.length));
        }
        const words = texts.reduce((sum, text) => sum + countWords(text), 0);
        await measure(taken, words, texts, one, two, directory);
        if (!(apy instanceof Error)) taken.peer.push(words / (await apy.translateAll(texts, CLIENTS)));
        const [service, file] = [taken.one.at(-1)!, taken.file.at(-1)!];
        process.stderr.write(`${load.name}: ${service.toFixed(0)} beside ${file.toFixed(0)} words/s\n`);
      }
      figures.push(...figuresOf(load, taken));
    }
    figures.push(...(await measureLargeJob(one, distinctText(large), directory)));

    const own = await engineAlone(probes);
    const service: number[] = [];
    for (const probe of probes) service.push(await oneJob(one, probe));
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
    figures.push({ name: 'memory of a pipeline', value: pipelineMebibytes(one.program), unit: 'MiB' });
    return { figures };
  } finally {
    if (!(apy instanceof Error)) await apy.stop();
    for (const { program, pool } of services) {
      await pool.close();
      await program.stop();
    }
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Starts a service and warms its pipeline and compiler. */
async function startService(directory: string, pipelines: number): Promise<Service> {
  const data = join(directory, String(pipelines));
  // Skips the self-tests of forty-two language pairs, which would delay the start.
  await believeEngine(data);
  const program = await startProgram({
    directory: data,
    environment: {
      // The cache is off, because the texts share some sentences and the engine is to be measured.
      DRAGOMAN_CACHE_MEMORY: '0',
      DRAGOMAN_APERTIUM_PIPELINES: String(pipelines),
    },
  });
  const { production_key: key } = await createAccount(data, 'bench');
  const headers = { authorization: `ApiKey ${key}`, 'content-type': 'application/json' };
  const service = { program, headers, pool: new Pool(program.url, { connections: CLIENTS }) };
  await translateAll(service, [englishText(2_000, 99)]);
  await translateAll(
    service,
    Array.from({ length: 500 }, (_, index) => smallText(90_000 + index)),
  );
  return service;
}

/**
 * Measures one round: the service with one pipeline, `apertium` with the same text as one file, and the service with
 * two pipelines.
 */
async function measure(
  taken: Taken,
  words: number,
  texts: readonly string[],
  one: Service,
  two: Service,
  directory: string,
): Promise<void> {
  const before = spentBy(one.program);
  const asked = process.cpuUsage();
  taken.one.push(words / (await translateAll(one, texts)));
  const asking = process.cpuUsage(asked);
  taken.asking.push((asking.user + asking.system) / words);
  taken.spent.push(spentPerWord(before, spentBy(one.program), words));
  const ended = spentByEnded();
  taken.file.push(words / (await translateFile(directory, texts.join('\n'))));
  taken.spentByFile.push(((spentByEnded() - ended) * 1_000_000) / words);
  taken.two.push(words / (await translateAll(two, texts)));
}

/** Returns the microseconds of processor time per word between two measurements in seconds. */
function spentPerWord(before: Spent, after: Spent, words: number): Spent {
  const ofWord = (who: keyof Spent) => ((after[who] - before[who]) * 1_000_000) / words;
  return { engine: ofWord('engine'), program: ofWord('program'), database: ofWord('database') };
}

/** Measures one large job, and `apertium` with the same text as one file. */
async function measureLargeJob(service: Service, text: string, directory: string): Promise<Figure[]> {
  const words = countWords(text);
  const before = spentBy(service.program);
  const whole = words / (await translateAll(service, [text]));
  const { engine, program, database } = spentPerWord(before, spentBy(service.program), words);
  const ended = spentByEnded();
  const file = words / (await translateFile(directory, text));
  const ofFile = ((spentByEnded() - ended) * 1_000_000) / words;
  const all = engine + program + database;
  const parts = `engine ${engine.toFixed(0)}, program ${program.toFixed(0)}, database ${database.toFixed(0)}`;
  return [
    {
      name: `translation, one job of ${text.length} characters`,
      value: whole,
      unit: 'words/s',
      ratio: { value: whole / file, against: AS_ONE_FILE, atLeast: GOAL },
    },
    {
      name: `processor time of a word, one job of ${text.length} characters (${parts})`,
      value: all,
      unit: 'µs',
      ratio: { value: ofFile / all, against: `the ${ofFile.toFixed(0)} of one file` },
    },
  ];
}

function figuresOf({ name, goal }: Load, taken: Taken): Figure[] {
  const { one, two, file, peer, spent, asking, spentByFile } = taken;
  const [engine, program, database] = (['engine', 'program', 'database'] as const).map((who) =>
    median(spent.map((each) => each[who])),
  ) as [number, number, number];
  const all = engine + program + database + median(asking);
  const parts = `engine ${engine.toFixed(0)}, program ${program.toFixed(0)}, database ${database.toFixed(0)}, asking ${median(asking).toFixed(0)}`;
  const figures: Figure[] = [
    {
      name: `translation, ${name}`,
      value: median(one),
      unit: 'words/s',
      ratio: {
        value: median(one) / median(file),
        against: AS_ONE_FILE,
        ...(goal === undefined ? {} : { atLeast: goal }),
      },
    },
    {
      name: `processor time of a word, ${name} (${parts})`,
      value: all,
      unit: 'µs',
      ratio: {
        value: median(spentByFile) / all,
        against: `the ${median(spentByFile).toFixed(0)} of one file`,
      },
    },
    {
      name: `translation, ${name}, two pipelines`,
      value: median(two),
      unit: 'words/s',
      ratio: { value: median(two) / median(one), against: 'one pipeline, its gain' },
    },
  ];
  if (peer.length === 0) return figures;
  const multiple = median(one) / median(peer);
  const named = `translation, ${name}, as a multiple of apertium-apy (${median(peer).toFixed(0)} words/s)`;
  if (goal === undefined) figures.push({ name: named, value: multiple, unit: 'times' });
  else {
    const held = multiple >= APY_RATE;
    figures.push({ name: named, value: multiple.toFixed(2), goal: `at least ${APY_RATE}`, held });
  }
  return figures;
}

const PATH = '/tapi/v2/mt_translation/';

/** Returns the seconds from the first request until every result can be read. */
async function translateAll({ pool, headers }: Service, texts: readonly string[]): Promise<number> {
  const completed = async () => {
    const { body } = await pool.request({
      path: `${PATH}?status=completed&limit=1`,
      method: 'GET',
      headers,
    });
    return ((await body.json()) as { meta: { total_count: number } }).meta.total_count;
  };
  const before = await completed();
  const left = texts.map((text) => JSON.stringify({ text, source_language: 'en', target_language: 'es' }));
  const started = performance.now();
  const client = async () => {
    for (let body = left.pop(); body !== undefined; body = left.pop()) {
      const response = await pool.request({ path: PATH, method: 'POST', headers, body });
      if (response.statusCode !== 201) throw new Error(`a job was refused: ${await response.body.text()}`);
      await response.body.dump();
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

/** Returns the milliseconds from the creation of a job until its result was read. */
async function oneJob({ pool, headers }: Service, text: string): Promise<number> {
  const body = JSON.stringify({ text, source_language: 'en', target_language: 'es' });
  const started = performance.now();
  const made = await pool.request({ path: PATH, method: 'POST', headers, body });
  const { uid } = (await made.body.json()) as { uid: string };
  for (;;) {
    const response = await pool.request({ path: `${PATH}${uid}/`, method: 'GET', headers });
    if (((await response.body.json()) as { status: string }).status === 'completed') break;
    await wait(PROBE_MILLISECONDS);
  }
  return performance.now() - started;
}

/** Returns the milliseconds that the engine alone takes for each text. */
async function engineAlone(texts: readonly string[]): Promise<number[]> {
  const engine = createApertium(privateApertium());
  try {
    const taken: number[] = [];
    for (const text of [texts[0]!, ...texts]) {
      const started = performance.now();
      const segments = [{ id: '1', pieces: [{ text }] }];
      await engine.draft({ from: 'en', to: 'es', lane: 'bulk', segments });
      taken.push(performance.now() - started);
    }
    return taken.slice(1); // The first measured time is left out, because it includes the start of the engine.
  } finally {
    await engine.stop();
  }
}

/**
 * Returns a text without repeated sentences. A repeated sentence is translated only once, which would favour one
 * large job.
 */
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

/** Returns one sentence of about 12 words. */
function smallText(seed: number): string {
  const sentences = englishText(60, seed).split(/(?<=[.?])\s+/);
  const near = (sentence: string) => Math.abs(countWords(sentence) - 12);
  return sentences.reduce((best, sentence) => (near(sentence) < near(best) ? sentence : best));
}

/**
 * Returns the memory of the engine's processes in MiB. Memory that several processes share is counted proportionally
 * (PSS).
 */
function pipelineMebibytes({ child }: Program): number {
  let kibibytes = 0;
  for (const { pid, command } of processesUnder(child.pid!)) {
    if (!IS_ENGINE.test(command)) continue;
    const memory = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    kibibytes += Number(/^Pss:\s+(\d+)/m.exec(memory)?.[1] ?? 0);
  }
  return kibibytes / 1024;
}
