/** Language pairs: what the engines have shown they can do. Workers publish it, the interface reads it. */
import type { Database } from '../database/database.ts';
import * as store from './store.ts';

export interface Languages {
  isOffered(source: string, target: string): Promise<boolean>;
  /** Every source language offered, for any target or for the one given; sorted. */
  sources(target?: string): Promise<string[]>;
  /** Every target language offered; sorted. */
  targets(): Promise<string[]>;
  count(): Promise<number>;
}

const REMEMBER_MILLISECONDS = 2_000;

/** Pairs change when an engine is installed or closed, not from request to request: they are remembered 2 s. */
export function createLanguages(database: Database, now: () => number = Date.now): Languages {
  let known: Promise<store.PairRow[]> | undefined;
  let until = 0;

  function pairs(): Promise<store.PairRow[]> {
    if (known === undefined || now() >= until) {
      until = now() + REMEMBER_MILLISECONDS;
      const asked = store.listPairs(database);
      asked.catch(() => {
        if (known === asked) known = undefined;
      });
      known = asked;
    }
    return known;
  }

  const sorted = (languages: string[]) => [...new Set(languages)].sort();

  return {
    async isOffered(source, target) {
      return (await pairs()).some((p) => p.source_language === source && p.target_language === target);
    },
    async sources(target) {
      const matching = (await pairs()).filter((p) => target === undefined || p.target_language === target);
      return sorted(matching.map((p) => p.source_language));
    },
    async targets() {
      return sorted((await pairs()).map((p) => p.target_language));
    },
    async count() {
      return (await pairs()).length;
    },
  };
}

/** Publishes what one engine offers now, in place of what it offered before. */
export async function publishPairs(
  database: Database,
  engine: string,
  pairs: readonly { from: string; to: string; route: string; hops: number }[],
): Promise<void> {
  await database.transaction((transaction) => store.replacePairs(transaction, engine, pairs));
}
