/**
 * Document settings: how the text of a job or message is read, such as the patterns of its brand. They are decided when the
 * job is created, because its words are counted and its segments are numbered by them: a job is edited and delivered
 * with the settings of its creation, whatever its brand says by then.
 *
 * Stored settings never change, so a process keeps those that it has read or written.
 */
import { hash } from 'node:crypto';
import type { AccountRef } from '../base/account.ts';
import type { Database, Queryable } from '../database/database.ts';
import type { DocumentSettings } from '../scanning/scanner.ts';
import * as store from './document-settings-store.ts';

/** The settings of a text that is read without any. */
const NONE: DocumentSettings = {};

/** The lifetime of the cached patterns of a brand, as in `readContext`. */
const CACHE_MILLISECONDS = 2_000;
const MAX_CACHED = 1_000;

interface Cache {
  /** Stored settings, by account and hash. */
  stored: Map<string, DocumentSettings>;
  /** The patterns of brands, by account and brand. */
  brands: Map<string, { settings: Promise<DocumentSettings>; until: number }>;
}
const caches = new WeakMap<Database, Cache>();

function cacheOf(database: Database): Cache {
  let cache = caches.get(database);
  if (cache === undefined) {
    cache = { stored: new Map(), brands: new Map() };
    caches.set(database, cache);
  }
  return cache;
}

function put<T>(map: Map<string, T>, key: string, value: T): void {
  if (map.size >= MAX_CACHED) map.clear();
  map.set(key, value);
}

/** Clears the cached patterns of this process after a brand was published. */
export function clearBrandSettings(database: Database): void {
  caches.get(database)?.brands.clear();
}

/**
 * Returns the settings that a brand gives to new texts: of the first of `brands` that exists and has some. They are cached
 * for two seconds.
 */
export async function settingsOfBrand(
  database: Database,
  account: AccountRef,
  ...brands: (string | null | undefined)[]
): Promise<DocumentSettings> {
  const cache = cacheOf(database).brands;
  for (const brand of brands) {
    if (brand === null || brand === undefined) continue;
    const key = `${account.accountId} ${brand}`;
    let cached = cache.get(key);
    if (cached === undefined || cached.until <= Date.now()) {
      const settings = readBrandSettings(database, account, brand);
      cached = { settings, until: Date.now() + CACHE_MILLISECONDS };
      put(cache, key, cached);
      settings.catch(() => cache.delete(key));
    }
    const settings = await cached.settings;
    if (!isNone(settings)) return settings;
  }
  return NONE;
}

async function readBrandSettings(
  on: Queryable,
  account: AccountRef,
  brand: string,
): Promise<DocumentSettings> {
  const protect = await store.findProtect(on, account, brand);
  return protect.length === 0 ? NONE : { protect };
}

const isNone = (settings: DocumentSettings): boolean => Object.keys(settings).length === 0;

/** Stores the settings of a new job or message, unless they are stored. @returns their hash; undefined without any */
export async function storeDocumentSettings(
  database: Database,
  account: AccountRef,
  settings: DocumentSettings,
): Promise<string | undefined> {
  if (isNone(settings)) return undefined;
  const hashed = hash('sha256', JSON.stringify(Object.entries(settings).sort()), 'hex');
  const { stored } = cacheOf(database);
  const key = `${account.accountId} ${hashed}`;
  if (!stored.has(key)) {
    await store.insertSettings(database, account, hashed, settings);
    put(stored, key, settings);
  }
  return hashed;
}

/** Returns the settings with which a job or message was created. @param hashed the value in its row */
export async function readDocumentSettings(
  database: Database,
  account: AccountRef,
  hashed: string | null,
): Promise<DocumentSettings> {
  if (hashed === null) return NONE;
  const { stored } = cacheOf(database);
  const key = `${account.accountId} ${hashed}`;
  const known = stored.get(key);
  if (known !== undefined) return known;
  const settings = await store.findSettings(database, { account, hash: hashed });
  if (settings === undefined) throw new Error('a text without its document settings');
  put(stored, key, settings);
  return settings;
}
