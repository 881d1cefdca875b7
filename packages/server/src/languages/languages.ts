/**
 * Language pairs: what the engines have shown they can do, less what an operator has closed. Workers publish it,
 * operators switch it, the interface reads it.
 */
import type { Database, Queryable } from '../database/database.ts';
import { nameOf } from './names.ts';
import * as store from './store.ts';

export interface Languages {
  /** Every source language offered, for any target or for the one given; sorted. */
  sources(target?: string): Promise<string[]>;
  /** Every target language offered; sorted. */
  targets(): Promise<string[]>;
  /** Every pair offered, once, as the interface shows it; sorted by source and target. */
  pairs(): Promise<LanguagePair[]>;
  /** How many pairs the engines can do, closed or not. */
  count(): Promise<number>;
}

/** A language pair, as the interface shows it. */
export interface LanguagePair {
  lang_pair: { source_language: Language; target_language: Language };
}

export interface Language {
  /** In English. */
  name: string;
  shortname: string;
}

const REMEMBER_MILLISECONDS = 2_000;

/** The pairs in the shapes that they are asked for in. */
interface Known {
  count: number;
  targets: string[];
  /** Source languages by target; under `undefined`, all. */
  sources: Map<string | undefined, string[]>;
  pairs: LanguagePair[];
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
    async pairs() {
      return (await pairs()).pairs;
    },
    async count() {
      return (await pairs()).count;
    },
  };
}

function arrange(rows: readonly store.PairRow[]): Known {
  const able = rows.filter(({ engine }) => engine !== null);
  const offered = able.filter(({ enabled }) => enabled);
  const sorted = (languages: string[]) => [...new Set(languages)].sort();
  const sources = new Map<string | undefined, string[]>();
  for (const [target, ofTarget] of Map.groupBy(offered, (pair) => pair.target_language)) {
    sources.set(target, sorted(ofTarget.map((pair) => pair.source_language)));
  }
  sources.set(undefined, sorted(offered.map((pair) => pair.source_language)));
  const targets = sorted(offered.map((pair) => pair.target_language));
  const once = Map.groupBy(offered, (pair) => `${pair.source_language} ${pair.target_language}`);
  // Each is named once: a service offers 36,000 pairs of 190 languages.
  const named = new Map([...targets, ...sources.get(undefined)!].map((one) => [one, languageOf(one)]));
  const pairs = [...once.values()].map(([pair]) => ({
    lang_pair: {
      source_language: named.get(pair!.source_language)!,
      target_language: named.get(pair!.target_language)!,
    },
  }));
  return { count: able.length, targets, sources, pairs };
}

function languageOf(shortname: string): Language {
  return { name: nameOf(shortname), shortname };
}

/** A pair as the operator sees it: who can do it, and whether it is open. */
export interface KeptPair {
  source_language: string;
  target_language: string;
  enabled: boolean;
  /** None in a pair that is closed and that no engine can do. */
  engines: { engine: string; route: string; hops: number }[];
}

export async function listKeptPairs(on: Queryable): Promise<KeptPair[]> {
  const rows = await store.listPairs(on);
  const once = Map.groupBy(rows, (row) => `${row.source_language} ${row.target_language}`);
  return [...once.values()].map((ofPair) => {
    const { source_language, target_language, enabled } = ofPair[0]!;
    const engines = ofPair.flatMap(({ engine, route, hops }) =>
      engine === null ? [] : [{ engine, route: route!, hops: hops! }],
    );
    return { source_language, target_language, enabled, engines };
  });
}

/**
 * Opens or closes a pair for new jobs, whatever engines can do now or later; jobs that were created are finished.
 * Running servers see it within two seconds.
 */
export function switchPair(on: Queryable, from: string, to: string, enabled: boolean): Promise<void> {
  return store.switchPair(on, from, to, enabled);
}

/** Of an engine, what is needed to learn what it can do. */
export interface TestedEngine {
  readonly name: string;
  version(): Promise<string>;
  /** Self-tests every direction; may take a while. */
  directions(): Promise<{ from: string; to: string; route: string; hops: number; untested?: true }[]>;
}

/** In the place of a version; no engine has it. */
const UNTESTED = 'untested';

/** A self-test is believed for a day, as long as engine and data stay the same. */
const BELIEVED_HOURS = 24;

/**
 * Publishes what an engine offers, in place of what it offered before. Where the same version was tested within
 * the day, by this process or another, that holds: a restart does not wait for 42 self-tests.
 * An engine that can do nothing at all is away rather than empty: what it was seen to do stays until it is withdrawn.
 * What it could not be tested for is published as of no version, so that the next publishing tests it; a test that
 * fails withdraws that at once.
 * @returns whether it was tested now
 */
export async function publishPairs(database: Database, engine: TestedEngine): Promise<boolean> {
  const tested = { name: engine.name, version: await engine.version() };
  if ((await store.seePairs(database, tested, BELIEVED_HOURS)) > 0) return false;
  const pairs = await engine.directions();
  if (pairs.length === 0) {
    await store.removePairs(database, { name: engine.name, version: UNTESTED });
    return true;
  }
  const untested = pairs.some((pair) => pair.untested);
  const published = untested ? { name: engine.name, version: UNTESTED } : tested;
  await database.transaction((transaction) => store.replacePairs(transaction, published, pairs));
  return true;
}

/** Three publishings: a worker that restarts, or misses one, loses nothing. */
const UNSEEN_MINUTES = 30;

/**
 * Withdraws what no worker has published for a while: of an engine that is in nobody's settings any more, or away for
 * long. Workers with other engines leave each other's pairs alone.
 */
export async function withdrawPairs(database: Database): Promise<void> {
  await store.removeUnseenPairs(database, UNSEEN_MINUTES);
}
