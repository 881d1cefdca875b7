/**
 * The engine scenario: batches of hostile sentences, some not in the source language, go through the translator and
 * the real engine. Meanwhile processes of the engine's pipelines are killed and stopped. Every segment has a unique
 * code, which shows whether a segment was lost or swapped.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { type Piece, type Segment, scan, segments } from '../../packages/documents/src/documents.ts';
import { type ApertiumEngine, createApertium } from '../../packages/engines/src/engines.ts';
import type { Drafted } from '../../packages/server/src/translation/drafts.ts';
import { createTranslator } from '../../packages/server/src/translation/translator.ts';
import { createRandom } from '../harness/random.ts';

export interface Batch {
  asked: Segment[];
  /** The ids of the segments that are not in the source language. */
  foreign: ReadonlySet<string>;
  /** The result of the batch, or undefined if the batch failed. `error` is then the reason. */
  answered: Drafted[] | undefined;
  error?: string;
}

export interface EngineHistory {
  batches: Batch[];
  kills: number;
  stops: number;
}

export interface EngineRunOptions {
  seed: number;
  batches: number;
  /**
   * The number of batches between two faults. A fault kills a process of a pipeline. Every fifth fault stops
   * the process with SIGSTOP instead.
   */
  every: number;
  say(line: string): void;
}

const AT_A_TIME = 8;
const WORDS = ['The', 'house', 'is', 'big', 'and', 'my', 'sister', 'buys', 'bread', 'near', 'river'];
/** Texts that are not in the source language. The service must copy them unchanged; an engine would change them. */
const FOREIGN = [
  'Привет, это довольно длинное предложение на русском языке.',
  '日本語',
  '𝐛𝐨𝐥𝐝 𝐥𝐞𝐭𝐭𝐞𝐫𝐬',
  '🎉🎉🎉🎉🎉🎉 ok',
];
const HOSTILE = [
  '\\',
  '[',
  ']',
  '^x$',
  '/',
  '@',
  '<b>',
  '{',
  '}',
  '~',
  '*',
  '#',
  '\t',
  '\u0001',
  '[@1]',
  ']]][[[',
  '^a/b<n>$',
  '\ud83d\ude42',
  '\u202e',
  '\u00a0',
  '中文',
  'שלום',
  '&amp;',
  '%s',
  '$(id)',
  '`id`',
  "'; drop table jobs; --",
  'é'.repeat(50),
];

export async function runEngines(options: EngineRunOptions): Promise<EngineHistory> {
  const random = createRandom(options.seed);
  const engine = createApertium({ limits: { bulk: { deadlineMs: () => 2_000 } } });
  const translator = createTranslator({
    engines: [engine],
    limitsOf: () => ({ concurrency: 4, perSecond: undefined, centsPerMillion: 0 }),
    engineRoutes: async () => [],
    recall: async () => [],
    inSandbox: () => true,
    observer: { asked() {}, translated() {}, failed() {}, cached() {} },
    cacheBytes: 1024 * 1024,
  });
  const history: EngineHistory = { batches: [], kills: 0, stops: 0 };
  let next = 0;

  async function client(): Promise<void> {
    while (next < options.batches) {
      const number = next++;
      const foreign = new Set<string>();
      const asked = makeBatch(number, foreign);
      const batch: Batch = { asked, foreign, answered: undefined };
      history.batches.push(batch);
      try {
        batch.answered = await translator.draft(asked, {
          account: undefined,
          tier: 'machine',
          brand: undefined,
          environment: 'production',
          from: 'en',
          to: random.below(2) === 0 ? 'es' : 'ca',
          lane: random.below(4) === 0 ? 'interactive' : 'bulk',
          signal: new AbortController().signal,
        });
      } catch (error) {
        batch.error = String(error);
      }
      if (number > 0 && number % options.every === 0) harm(engine, number);
    }
  }

  /** Kills or stops a process of a pipeline, which must notice the fault. */
  function harm(engine: ApertiumEngine, number: number): void {
    const pids = engine.pipelines().flatMap(({ pids }) => pids);
    const pid = pids[random.below(Math.max(1, pids.length))];
    if (pid === undefined) return;
    const stop = (number / options.every) % 5 === 0;
    try {
      process.kill(pid, stop ? 'SIGSTOP' : 'SIGKILL');
    } catch {
      return; // The process ended by itself before the signal.
    }
    if (stop) history.stops++;
    else history.kills++;
    options.say(`batch ${number}: ${stop ? 'stopped' : 'killed'} a stage`);
  }

  function makeBatch(number: number, foreign: Set<string>): Segment[] {
    return Array.from({ length: 1 + random.below(6) }, (_, index) => {
      const id = `${number}.${index}`;
      const mark: Piece = { keep: 1, text: `MARK-${number}-${index}` };
      if (random.below(8) === 0) {
        foreign.add(id);
        // The document scanner recognizes that the text is in another language, so it must not reach the engine.
        const text = FOREIGN[random.below(FOREIGN.length)]!;
        const [found] = segments(scan(text, 'text'), 'en');
        return { ...found!, id, unit: index, pieces: [mark, { text: ' ' }, ...found!.pieces] };
      }
      const words = Array.from({ length: 1 + random.below(12) }, () =>
        random.below(4) === 0 ? HOSTILE[random.below(HOSTILE.length)]! : WORDS[random.below(WORDS.length)]!,
      );
      const pieces: Piece[] = [mark, { text: ` ${words.join(' ')}` }];
      if (random.below(3) === 0) pieces.push({ open: 2 }, { text: ' big house' }, { close: 2 });
      return { id, unit: index, pieces };
    });
  }

  try {
    await Promise.all(Array.from({ length: AT_A_TIME }, client));
    await wait(0);
    return history;
  } finally {
    await translator.stop();
  }
}
