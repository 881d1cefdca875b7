/**
 * The engine scenario: batches of hostile sentences, some not in the source language, go through the translator and
 * the real engine. Meanwhile faults are injected into its processes or threads. Every segment has a unique code, which
 * shows whether a segment was lost or swapped.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { type Piece, type Segment, scan, segments } from '../../packages/documents/src/documents.ts';
import type { Drafted } from '../../packages/server/src/translation/drafts.ts';
import { createTranslator } from '../../packages/server/src/translation/translator.ts';
import { createRandom } from '../harness/random.ts';
import type { EngineUnderFaults } from './faults.ts';

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
  /** The number of faults by kind. */
  faults: Record<string, number>;
  /** See {@link EngineUnderFaults.isRandom}. */
  isRandom: boolean;
}

export interface EngineRunOptions {
  subject: EngineUnderFaults;
  seed: number;
  batches: number;
  /**
   * The number of batches between two faults. Every fifth fault is the rare one.
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
  const { engine, targets, faults } = options.subject;
  const translator = createTranslator({
    engines: [engine],
    limitsOf: () => ({ concurrency: 4, perSecond: undefined, centsPerMillion: 0 }),
    engineRoutes: async () => [],
    recall: async () => [],
    inSandbox: () => true,
    observer: { asked() {}, translated() {}, failed() {}, cached() {} },
    cacheBytes: 1024 * 1024,
  });
  const history: EngineHistory = {
    batches: [],
    isRandom: options.subject.isRandom,
    faults: Object.fromEntries(faults.map(([word]) => [word, 0])),
  };
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
          to: targets[random.below(2)]!,
          lane: random.below(4) === 0 ? 'interactive' : 'bulk',
          signal: new AbortController().signal,
        });
      } catch (error) {
        batch.error = String(error);
      }
      if (number > 0 && number % options.every === 0) injectFault(number);
    }
  }

  /** Injects a fault into a process or thread of the engine, which must notice it. */
  function injectFault(number: number): void {
    const [word, fault] = faults[(number / options.every) % 5 === 0 ? 1 : 0];
    if (!fault(random)) return;
    history.faults[word]! += 1;
    options.say(`batch ${number}: ${word} a part of ${engine.name}`);
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
    options.subject.clean();
  }
}
