/**
 * Language pairs. Workers publish the pairs whose engines passed a self-test. Operators enable and disable
 * pairs. The API offers only enabled pairs.
 */
import { type Actor, recordAudit } from '../audit/audit.ts';
import type { Environment } from '../base/account.ts';
import { ApiError } from '../base/errors.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { nameOf } from './names.ts';
import * as store from './store.ts';

export interface Languages {
  /**
   * Returns the source languages that new jobs and messages may have, sorted. With `target`, only those for this target
   * language. They include those of pairs whose self-test has not ended yet.
   */
  sources(environment: Environment, target?: string): Promise<string[]>;
  /**
   * Returns the target languages that new jobs and messages may have, sorted, as `sources` does.
   * @throws ApiError `unavailable` if no engine has a language pair yet
   */
  targets(environment: Environment): Promise<string[]>;
  /** Returns each language pair once that passed a self-test, sorted by source and target. */
  pairs(environment: Environment): Promise<OfferedPair[]>;
  /** Returns the number of language pairs that passed a self-test, including disabled pairs. */
  count(): Promise<number>;
}

/** A language pair in an answer of the API. */
export interface OfferedPair {
  lang_pair: { source_language: Language; target_language: Language };
}

export interface Language {
  /** The English name. */
  name: string;
  shortname: string;
}

const CACHE_MILLISECONDS = 2_000;

const NO_PAIR_YET = 'No language pair is offered yet; try again.';

/** The offered language pairs of an environment, prepared for the API's answers. */
interface PairLists {
  count: number;
  /** Whether no engine has a pair, not even one that is disabled or is being tested. */
  none: boolean;
  targets: string[];
  /** The source languages by target language. The key `undefined` has the source languages of all pairs. */
  sources: Map<string | undefined, string[]>;
  pairs: OfferedPair[];
}

/**
 * Creates the reader of the offered language pairs. Pairs change rarely, so they are cached for two seconds.
 * @param inSandbox a function that returns whether an engine may translate texts of the sandbox; the sandbox
 * offers only the pairs of such engines
 */
export function createLanguages(
  database: Database,
  inSandbox: (engine: string) => boolean,
  now: () => number = Date.now,
): Languages {
  let cached: Promise<Record<Environment, PairLists>> | undefined;
  let until = 0;

  async function listsOf(environment: Environment): Promise<PairLists> {
    return (await pairs())[environment];
  }

  function pairs(): Promise<Record<Environment, PairLists>> {
    if (cached === undefined || now() >= until) {
      until = now() + CACHE_MILLISECONDS;
      const reading = store.listPairs(database).then(arrangeBoth);
      const forget = () => {
        if (cached === reading) cached = undefined;
      };
      // Until the first pair passes its self-test, the process is not ready, so that its lists are not cached.
      reading.then(({ production }) => production.count === 0 && forget(), forget);
      cached = reading;
    }
    return cached;
  }

  return {
    async sources(environment, target) {
      return (await listsOf(environment)).sources.get(target) ?? [];
    },
    async targets(environment) {
      const { production, [environment]: lists } = await pairs();
      if (production.none) throw new ApiError('unavailable', NO_PAIR_YET, { 'retry-after': '5' });
      return lists.targets;
    },
    async pairs(environment) {
      return (await listsOf(environment)).pairs;
    },
    async count() {
      return (await listsOf('production')).count;
    },
  };

  function arrangeBoth(rows: readonly store.PairRow[]): Record<Environment, PairLists> {
    const ofSandbox = rows.filter(({ engine }) => engine === null || inSandbox(engine));
    const production = arrange(rows);
    return { production, sandbox: ofSandbox.length === rows.length ? production : arrange(ofSandbox) };
  }
}

/**
 * Returns the error text for a language that is not offered. @param into "" or " into es"
 * @param offered the languages that are offered instead, which the text names
 */
export function sayNotOffered(given: string, into: string, offered: readonly string[]): string {
  const name = given.length > 20 ? `${given.slice(0, 20)}…` : given;
  return offered.length === 0
    ? `"${name}"${into} is not offered; no language pair is offered at present.`
    : `"${name}"${into} is not offered; offered${into} are ${offered.join(', ')}.`;
}

function arrange(rows: readonly store.PairRow[]): PairLists {
  const able = rows.filter(({ engine }) => engine !== null);
  const passed = able.filter(({ tested }) => tested);
  const offered = able.filter(({ enabled }) => enabled);
  const sorted = (languages: string[]) => [...new Set(languages)].sort();
  const sources = new Map<string | undefined, string[]>();
  for (const [target, ofTarget] of Map.groupBy(offered, (pair) => pair.target_language)) {
    sources.set(target, sorted(ofTarget.map((pair) => pair.source_language)));
  }
  sources.set(undefined, sorted(offered.map((pair) => pair.source_language)));
  const targets = sorted(offered.map((pair) => pair.target_language));
  const once = Map.groupBy(
    passed.filter(({ enabled }) => enabled),
    (pair) => `${pair.source_language} ${pair.target_language}`,
  );
  // Looks up the name of each language once: a service may offer 36,000 pairs of only 190 languages.
  const named = new Map([...targets, ...sources.get(undefined)!].map((one) => [one, languageOf(one)]));
  const pairs = [...once.values()].map(([pair]) => ({
    lang_pair: {
      source_language: named.get(pair!.source_language)!,
      target_language: named.get(pair!.target_language)!,
    },
  }));
  return { count: passed.length, none: able.length === 0, targets, sources, pairs };
}

function languageOf(shortname: string): Language {
  return { name: nameOf(shortname), shortname };
}

/** A language pair with its engines, as the console shows it. */
export interface PublishedPair {
  source_language: string;
  target_language: string;
  enabled: boolean;
  /** The engines that offer the pair. Empty for a disabled pair that no engine offers. */
  engines: { engine: string; route: string; hops: number }[];
}

/** Lists the language pairs that passed a self-test or that are disabled, each with its engines. */
export async function listPublishedPairs(on: Queryable): Promise<PublishedPair[]> {
  const rows = (await store.listPairs(on)).filter(({ tested, enabled }) => tested || !enabled);
  const once = Map.groupBy(rows, (row) => `${row.source_language} ${row.target_language}`);
  return [...once.values()].map((ofPair) => {
    const { source_language, target_language, enabled } = ofPair[0]!;
    const engines = ofPair.flatMap(({ engine, route, hops, tested }) =>
      engine === null || !tested ? [] : [{ engine, route: route!, hops: hops! }],
    );
    return { source_language, target_language, enabled, engines };
  });
}

/**
 * Enables or disables a language pair for new jobs, independently of the engines. Existing jobs are
 * completed. Running servers apply the change within two seconds.
 */
export async function switchPair(
  transaction: Transaction,
  by: Actor,
  from: string,
  to: string,
  enabled: boolean,
): Promise<void> {
  await store.setPairEnabled(transaction, from, to, enabled);
  await recordAudit(transaction, by, {
    action: enabled ? 'pair.enabled' : 'pair.disabled',
    subject: `${from}>${to}`,
    detail: {},
  });
}

/** The part of an engine that is needed to publish its language pairs. */
export interface TestedEngine {
  readonly name: string;
  version(): Promise<string>;
  /** Returns the language pairs of the engine that pass a self-test. This may take minutes. */
  directions(observer: {
    begun(pairs: readonly TestedPair[]): void;
    passed(pairs: readonly TestedPair[]): void;
  }): Promise<readonly (TestedPair & { untested?: true })[]>;
}

interface TestedPair {
  from: string;
  to: string;
  route: string;
  hops: number;
}

/** The version that is stored for offered pairs whose engine must be tested again. No engine has this version. */
const UNTESTED = 'untested';

/** The hours for which a self-test stays valid for the same version of the engine and its data. */
const VALID_HOURS = 24;

/**
 * Publishes the language pairs of an engine and removes those that it published before. If any process tested
 * the same version within a day, the result is reused, so that a restart does not wait for the self-tests. An
 * engine that reports no pair counts as unreachable, and its published pairs stay until they are withdrawn.
 * Untested pairs are published without a version, so that the next publishing tests them. A failed test
 * withdraws them at once.
 *
 * Each pair is offered as soon as it passes. New jobs may already have a pair that is not tested yet, because the
 * engine tests a pair before it drafts its first text. Only the end of all tests records the version, so that an
 * interrupted publishing is repeated.
 * @returns whether the engine was tested in this call
 */
export async function publishPairs(database: Database, engine: TestedEngine): Promise<boolean> {
  const tested = { name: engine.name, version: await engine.version() };
  if ((await store.seePairs(database, tested, VALID_HOURS)) > 0) return false;
  const unfinished = { name: engine.name, version: UNTESTED };
  // One write after another. A failed write only delays an offer, because the end of the tests writes all pairs.
  let written: Promise<void> = Promise.resolve();
  const write = (change: () => Promise<void>) => {
    written = written.then(change).catch(() => {});
  };
  const pairs = await engine
    .directions({
      begun: (all) => write(() => store.addTestingPairs(database, engine.name, all)),
      passed: (some) => write(() => store.passPairs(database, unfinished, some)),
    })
    .finally(() => written);
  if (pairs.length === 0) {
    await store.removeUntestedPairs(database, unfinished);
    return true;
  }
  const published = pairs.some((pair) => pair.untested) ? unfinished : tested;
  await database.transaction((transaction) => store.replacePairs(transaction, published, pairs));
  return true;
}

/** The language pairs of an engine that passed a self-test which is still valid. */
export interface PassedTests {
  engine: string;
  version: string;
  /** The time of the oldest of the tests. */
  since: Date;
  /** Such as `en-es`, sorted. */
  pairs: string[];
}

/** Lists the valid self-tests of all engines that any worker ran. */
export function listPassedTests(on: Queryable): Promise<PassedTests[]> {
  return store.listTests(on, { hours: VALID_HOURS });
}

/**
 * The time without publishing after which a pair is withdrawn: three publishing intervals. A restart or one
 * missed publishing therefore withdraws no pair.
 */
const UNSEEN_MINUTES = 30;

/**
 * Withdraws pairs that no worker has published for half an hour. Their engine was removed from the settings
 * or is unreachable.
 */
export async function withdrawPairs(database: Database): Promise<void> {
  await store.removeUnseenPairs(database, { minutes: UNSEEN_MINUTES });
}
