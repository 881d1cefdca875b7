/** Language pairs: what the engines have shown they can do. Workers publish it, the interface reads it. */
import type { Database } from '../database/database.ts';
import * as store from './store.ts';

export interface Languages {
  /** Every source language offered, for any target or for the one given; sorted. */
  sources(target?: string): Promise<string[]>;
  /** Every target language offered; sorted. */
  targets(): Promise<string[]>;
  count(): Promise<number>;
}

const REMEMBER_MILLISECONDS = 2_000;

/** The pairs in the shapes that they are asked for in. */
interface Known {
  count: number;
  targets: string[];
  /** Source languages by target; under `undefined`, all. */
  sources: Map<string | undefined, string[]>;
}

/** Pairs change when an engine is installed or closed, not from request to request: they are remembered 2 s. */
export function createLanguages(database: Database, now: () => number = Date.now): Languages {
  let known: Promise<Known> | undefined;
  let until = 0;

  function pairs(): Promise<Known> {
    if (known === undefined || now() >= until) {
      until = now() + REMEMBER_MILLISECONDS;
      const asked = store.listPairs(database).then(arrange);
      asked.catch(() => {
        if (known === asked) known = undefined;
      });
      known = asked;
    }
    return known;
  }

  return {
    async sources(target) {
      return (await pairs()).sources.get(target) ?? [];
    },
    async targets() {
      return (await pairs()).targets;
    },
    async count() {
      return (await pairs()).count;
    },
  };
}

function arrange(pairs: readonly store.PairRow[]): Known {
  const sorted = (languages: string[]) => [...new Set(languages)].sort();
  const sources = new Map<string | undefined, string[]>();
  for (const [target, rows] of Map.groupBy(pairs, (pair) => pair.target_language)) {
    sources.set(target, sorted(rows.map((pair) => pair.source_language)));
  }
  sources.set(undefined, sorted(pairs.map((pair) => pair.source_language)));
  return { count: pairs.length, targets: sorted(pairs.map((pair) => pair.target_language)), sources };
}

/** Of an engine, what is needed to learn what it can do. */
export interface TestedEngine {
  readonly name: string;
  version(): Promise<string>;
  /** Self-tests every direction; may take a while. */
  directions(): Promise<{ from: string; to: string; route: string; hops: number }[]>;
}

/** A self-test is believed for a day, as long as engine and data stay the same. */
const BELIEVED_HOURS = 24;

/**
 * Publishes what an engine offers, in place of what it offered before. Where the same version was tested within
 * the day, by this process or another, that holds: a restart does not wait for 42 self-tests.
 * @returns whether it was tested now
 */
export async function publishPairs(database: Database, engine: TestedEngine): Promise<boolean> {
  const tested = { name: engine.name, version: await engine.version() };
  if ((await store.countTested(database, tested, BELIEVED_HOURS)) > 0) return false;
  const pairs = await engine.directions();
  await database.transaction((transaction) => store.replacePairs(transaction, tested, pairs));
  return true;
}
