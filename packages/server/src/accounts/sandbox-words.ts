/**
 * The daily quota of the sandbox (`DRAGOMAN_SANDBOX_WORDS`): the words that an account can have translated
 * there free of charge. Words are counted by a separate statement before a job or message is inserted. Two
 * concurrent requests therefore cannot use the same remaining words. If a request creates nothing, its words
 * are returned. If it is unknown whether the creation was committed, they stay counted.
 */
import type { AccountRef, Caller } from '../base/account.ts';
import { ApiError } from '../base/errors.ts';
import { type Database, isLockTimeout, isUnavailable, type Queryable } from '../database/database.ts';
import type { Settings } from '../settings/settings.ts';
import * as store from './sandbox-store.ts';

type Quota = Pick<Settings, 'sandboxWords'>;

/**
 * The number of characters for which at least one word is counted. Otherwise a long text without spaces would
 * count as one word.
 */
const CHARACTERS_A_WORD = 50;
const MILLISECONDS_A_DAY = 86_400_000;

/**
 * Returns the words by which a text reduces the quota: its own words, but at least one for each 50 characters (UTF-16
 * units).
 */
export function quotaWords(words: number, text: string): number {
  return Math.max(words, Math.ceil(text.length / CHARACTERS_A_WORD));
}

/** Receives the numbers of words and refusals for the metrics. */
export interface QuotaObserver {
  /** Called with the number of words that a creation used. */
  used(words: number): void;
  /**
   * Called for each request over the quota. A repeated request counts even if it then gets the answer of the
   * earlier request.
   */
  refused(): void;
}

/** The number of words in a request, and the field that contains the text. */
interface RequestedWords {
  words: number;
  field: string;
}

export interface SandboxQuota {
  /**
   * Runs a creation and counts its words against the quota. Production has no quota.
   * @param usedBy a function that returns the number of words that the creation used; the other words are
   * returned to the quota
   * @throws ApiError `sandbox_quota` when the words exceed the rest of today's quota; `too_large` when they
   * exceed the whole quota
   */
  within<T>(
    caller: Caller,
    requested: RequestedWords,
    create: () => Promise<T>,
    usedBy: (created: T) => number | Promise<number>,
  ): Promise<T>;
}

/** Creates the daily quota of words in the sandbox. A quota of 0 means no limit. */
export function createSandboxQuota(
  database: Database,
  { sandboxWords: quota }: Quota,
  observer: QuotaObserver,
): SandboxQuota {
  /** @returns the day for which the words are counted */
  async function count(account: AccountRef, { words, field }: RequestedWords): Promise<string> {
    if (words <= quota) {
      const day = await store.countWords(database, { account, words, quota });
      if (day !== undefined) return day;
    }
    observer.refused();
    throw words > quota
      ? new ApiError('too_large', largerThanQuota(field, words, quota))
      : quotaUsed(words, quota);
  }

  return {
    async within({ account, environment }, requested, create, usedBy) {
      if (environment === 'production' || quota === 0) return create();
      const { words } = requested;
      const day = await count(account, requested);
      let used = 0;
      try {
        const created = await create();
        used = await usedBy(created);
        return created;
      } catch (error) {
        // The commit may have succeeded before the connection broke, so the words stay counted. After a lock timeout,
        // the transaction was rolled back.
        if (isUnavailable(error) && !isLockTimeout(error)) used = words;
        throw error;
      } finally {
        observer.used(used);
        // If returning the words fails, they stay counted and the request still gets its answer.
        if (used < words)
          await store.returnWords(database, { account, words: words - used, day }).catch(() => {});
      }
    },
  };
}

/** Returns true if the creation was refused because of the quota. */
export function isOverQuota(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'sandbox_quota' || error.code === 'too_large');
}

function largerThanQuota(field: string, words: number, quota: number): string {
  return `${field}: counts as ${words} words; the daily quota of a sandbox account is ${quota} words.`;
}

function quotaUsed(words: number, quota: number): ApiError {
  const resetsAt = nextDay();
  const seconds = Math.max(1, Math.ceil((resetsAt.getTime() - Date.now()) / 1000));
  return new ApiError(
    'sandbox_quota',
    `The daily quota of a sandbox account is ${quota} words, and ${words} more would exceed it. ` +
      `The quota resets at ${resetsAt.toISOString()}.`,
    { 'retry-after': String(seconds) },
  );
}

/** Returns the next midnight in UTC. */
function nextDay(): Date {
  return new Date((Math.floor(Date.now() / MILLISECONDS_A_DAY) + 1) * MILLISECONDS_A_DAY);
}

/**
 * Returns the words that an account has used today, and the time of the next reset. Returns null when there
 * is no quota.
 */
export async function readQuota(
  on: Queryable,
  { sandboxWords: limit }: Quota,
  account: AccountRef,
): Promise<{ used: number; limit: number; resets_at: Date } | null> {
  if (limit === 0) return null;
  return { used: await store.wordsToday(on, account), limit, resets_at: nextDay() };
}
