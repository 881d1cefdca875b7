/**
 * Brands: the style of an account's translations. Operators edit brands, requests name them, and translations
 * use the brand's settings for the target language.
 */
import type { Term } from '@dragoman/engines';
import { KEYS_CHANNEL, lockAccount, usernameOf } from '../access/accounts.ts';
import { type Actor, recordAudit } from '../audit/audit.ts';
import type { AccountRef, Caller } from '../base/account.ts';
import { fieldError, notFound } from '../base/errors.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { shorten } from '../http/input.ts';
import {
  type Brand,
  BrandError,
  type BrandFile,
  type BrandLanguage,
  isExternalId,
  languagesFor,
  protectBy,
  voteRule,
} from './brand.ts';
import { type BrandChanges, compareBrands, countChanges, termsDiffer } from './changes.ts';
import { clearBrandSettings } from './document-settings.ts';
import { deleteDraft } from './draft-store.ts';
import * as store from './store.ts';
import type { Tone } from './tones.ts';

export { type Brand, BrandError, type BrandFile, type BrandLanguage } from './brand.ts';

/** The settings of a brand for one target language, in the form that engines expect. */
export interface BrandContext {
  tone?: Tone['name'];
  instructions?: string;
  terms: readonly Term[];
}

const NOTHING: BrandContext = { terms: [] };

/** The lifetime of cached settings. Every process uses a newly published brand within this time. */
const CACHE_MILLISECONDS = 2_000;
const CACHED_BRANDS = 10_000;
/** The maximum number of glossary terms in the cache. This number of terms takes some tens of megabytes. */
const CACHED_TERMS = 200_000;
const MAX_BRANDS = 1_000;
const MAX_NAMED_BRANDS = 20;

interface Cached<T> {
  value: T;
  until: number;
}

/**
 * The brands of one database that this process has cached. Brands are cached because requests and translations read the
 * same brands many times a second.
 */
interface BrandCache {
  known: Map<string, Cached<true>>;
  contexts: Map<string, Cached<Promise<BrandContext>>>;
  terms: number;
}
const caches = new WeakMap<Database, BrandCache>();

function cacheOf(database: Database): BrandCache {
  let cache = caches.get(database);
  if (cache === undefined) {
    cache = { known: new Map(), contexts: new Map(), terms: 0 };
    caches.set(database, cache);
  }
  return cache;
}

/**
 * Clears the brand cache of this process. If the default brand changed, also notifies all processes, because
 * their key caches contain it.
 */
async function notifyChange(database: Database, defaultChanged: boolean): Promise<void> {
  caches.delete(database);
  clearBrandSettings(database);
  if (defaultChanged) await database.notify(KEYS_CHANNEL);
}

/**
 * The brand of a request: either the brand that the request named, or the account's default brand. At most
 * one of the two is defined.
 */
export interface ResolvedBrand {
  brand: string | undefined;
  defaultBrand: string | undefined;
}

/**
 * Finds the brand of a request. Needs no query if the request names no brand.
 * @throws ApiError `invalid_request` if the account has no such brand
 */
export async function resolveBrand(
  database: Database,
  caller: Caller,
  named: string | undefined,
): Promise<ResolvedBrand> {
  if (named === undefined) return { brand: undefined, defaultBrand: caller.defaultBrand };
  const { known } = cacheOf(database);
  const key = `${caller.account.accountId} ${named}`;
  const cached = known.get(key);
  if (cached === undefined || cached.until <= Date.now()) {
    known.delete(key);
    // A value that cannot be an identifier is refused without a query. Such a value may be megabytes long.
    if (
      !isExternalId(named) ||
      (await store.findBrand(database, { account: caller.account, externalId: named })) === undefined
    ) {
      throw fieldError('brand', await notKnown(database, caller.account, named));
    }
    if (known.size >= CACHED_BRANDS) known.clear();
    known.set(key, { value: true, until: Date.now() + CACHE_MILLISECONDS });
  }
  return { brand: named, defaultBrand: undefined };
}

async function notKnown(on: Queryable, account: AccountRef, named: string): Promise<string> {
  const rows = await store.listNames(on, { account, limit: MAX_NAMED_BRANDS });
  const [first] = rows;
  if (first === undefined) return 'is not known; the account has no brands.';
  const more = first.count - rows.length;
  const names = rows.map(({ external_id }) => external_id).join(', ');
  return `"${shorten(named)}" is not one of ${names}${more > 0 ? ` and ${more} more` : ''}.`;
}

/**
 * Returns the settings of a brand for a target language: for `pt-br` all settings of `pt-br` if there are
 * any, otherwise all settings of `pt`. The result is empty without a brand, after the brand was removed, and
 * for other languages. It is cached for two seconds.
 * @param brand the brand of the job, or else the default brand at its creation
 */
export function readContext(
  database: Database,
  account: AccountRef,
  brand: string | null | undefined,
  targetLanguage: string,
): Promise<BrandContext> {
  if (brand === null || brand === undefined) return Promise.resolve(NOTHING);
  const cache = cacheOf(database);
  const key = `${account.accountId} ${targetLanguage} ${brand}`;
  const cached = cache.contexts.get(key);
  if (cached !== undefined && cached.until > Date.now()) return cached.value;
  if (cache.terms >= CACHED_TERMS || cache.contexts.size >= CACHED_BRANDS) {
    cache.contexts.clear();
    cache.terms = 0;
  }
  const value = lookUpContext(database, account, brand, targetLanguage);
  const entry = { value, until: Date.now() + CACHE_MILLISECONDS };
  cache.contexts.set(key, entry);
  value.then(
    ({ terms }) => {
      cache.terms += terms.length;
    },
    () => {
      if (cache.contexts.get(key) === entry) cache.contexts.delete(key);
    },
  );
  return value;
}

/**
 * Returns the tone of a brand for a target language, from the database. Unlike `readContext`, it can be part
 * of a transaction.
 */
export async function findBrandTone(
  on: Queryable,
  account: AccountRef,
  brand: string | null,
  targetLanguage: string,
): Promise<string | undefined> {
  if (brand === null) return undefined;
  const nearest = await store.findNearest(on, {
    account,
    externalId: brand,
    languages: languagesFor(targetLanguage),
  });
  return nearest?.tone ?? undefined;
}

async function lookUpContext(
  on: Queryable,
  account: AccountRef,
  brand: string,
  targetLanguage: string,
): Promise<BrandContext> {
  const nearest = await store.findNearest(on, {
    account,
    externalId: brand,
    languages: languagesFor(targetLanguage),
  });
  if (nearest === undefined) return NOTHING;
  const { tone, instructions, language } = nearest;
  return {
    ...(tone === null ? {} : { tone }),
    ...(instructions === null ? {} : { instructions }),
    terms: (await store.listTerms(on, { account, externalId: brand, language })).map(toTerm),
  };
}

function toTerm({ source, target, case_sensitive, forbidden, do_not_translate, note }: store.TermRow): Term {
  return {
    source,
    target,
    caseSensitive: case_sensitive,
    forbidden,
    doNotTranslate: do_not_translate,
    ...(note === null ? {} : { note }),
  };
}

function toTermRow(term: Term): store.TermRow {
  return {
    source: term.source,
    target: term.target,
    case_sensitive: term.caseSensitive,
    forbidden: term.forbidden,
    do_not_translate: term.doNotTranslate,
    note: term.note ?? null,
  };
}

export interface BrandSummary {
  external_id: string;
  name: string;
  default: boolean;
  changed_at: Date;
  /** The number of times that the brand was published. */
  version: number;
  languages: { language: string; tone: string | null; instructions: boolean; terms: number }[];
}

/** Returns all brands of an account, ordered by external identifier. */
export async function listBrands(on: Queryable, account: AccountRef): Promise<BrandSummary[]> {
  const [brands, languages] = [
    await store.findBrands(on, { account }),
    await store.summarise(on, { account }),
  ];
  const byBrand = Map.groupBy(languages, ({ external_id }) => external_id);
  return brands.map((brand) => ({
    ...brand,
    languages: (byBrand.get(brand.external_id) ?? []).map(({ language, tone, instructions, terms }) => ({
      language,
      tone,
      instructions: instructions !== null,
      terms,
    })),
  }));
}

/** Waits for a brand that a path names. @throws ApiError `not_found` if the account has no such brand */
export function foundBrand<T>(found: Promise<T>): Promise<T> {
  return found.catch((error: unknown) => {
    throw error instanceof BrandError ? notFound() : error;
  });
}

/**
 * Reads a brand with all its settings.
 * @throws BrandError if the account has no such brand
 */
export async function readBrand(
  on: Queryable,
  account: AccountRef,
  externalId: string,
): Promise<{ brand: Brand; isDefault: boolean; version: number }> {
  const { name, fallback, votes, protect, version } = await requireBrand(on, account, externalId);
  const languages = new Map<string, BrandLanguage>();
  for (const { language, tone, instructions } of await store.listLanguages(on, { account, externalId })) {
    const terms = (await store.listTerms(on, { account, externalId, language })).map(toTerm);
    languages.set(language, { tone: tone ?? undefined, instructions: instructions ?? undefined, terms });
  }
  const isDefault = (await store.findDefault(on, account)) === externalId;
  const brand = { externalId, name, languages, ...voteRule(votes), ...protectBy(protect) };
  return { brand: fallback === 'machine' ? { ...brand, fallback } : brand, isDefault, version };
}

/** Throws if the account has no such brand. @throws BrandError */
export async function requireBrand(
  on: Queryable,
  account: AccountRef,
  externalId: string,
): Promise<store.FoundBrand> {
  const found = await store.findBrand(on, { account, externalId });
  if (found === undefined) throw new BrandError(`brand: ${await notKnown(on, account, externalId)}`);
  return found;
}

/**
 * Creates a brand, or replaces the brand with the same external identifier, in one transaction. Settings that
 * are not in the file are removed. Saving the same file again changes nothing.
 * @param dryRun whether to return the changes without making them
 * @throws BrandError if the account has the maximum number of brands
 */
export async function saveBrand(
  database: Database,
  by: Actor,
  account: AccountRef,
  file: BrandFile,
  dryRun: boolean,
): Promise<BrandChanges> {
  return changeBrand(database, by, account, file.externalId, dryRun, () => file);
}

/**
 * Replaces the glossary of a brand for one language. Other settings do not change.
 * @throws BrandError if the account has no such brand
 */
export async function saveGlossary(
  database: Database,
  by: Actor,
  account: AccountRef,
  externalId: string,
  { language, terms }: { language: string; terms: readonly Term[] },
  dryRun: boolean,
): Promise<BrandChanges> {
  await requireBrand(database, account, externalId);
  return changeBrand(database, by, account, externalId, dryRun, (before) => {
    if (before === undefined) throw new BrandError(`brand: "${shorten(externalId)}" was removed meanwhile.`);
    const settings = before.languages.get(language) ?? { tone: undefined, instructions: undefined };
    const languages = new Map(before.languages).set(language, { ...settings, terms });
    return { ...before, languages, default: undefined };
  });
}

/** Thrown to roll back the transaction of a dry run. Carries the changes. */
class DryRun extends Error {
  readonly changes: BrandChanges;
  constructor(changes: BrandChanges) {
    super('dry run');
    this.changes = changes;
  }
}

/**
 * Creates or replaces a brand within a transaction, and writes the audit entry if anything changed. The
 * caller must call `notifyBrandChange` after the commit.
 */
export async function replaceBrand(
  transaction: Transaction,
  by: Actor,
  account: AccountRef,
  externalId: string,
  change: (before: Brand | undefined) => BrandFile,
): Promise<BrandChanges> {
  await lockAccount(transaction, account);
  const made = await store.insertAndLock(transaction, account, { externalId, name: externalId });
  const before = await readBrand(transaction, account, externalId);
  const after = change(made ? undefined : before.brand);
  const isDefault = { before: before.isDefault, after: after.default ?? before.isDefault };
  const changes = compareBrands(made ? undefined : before.brand, after, isDefault);
  await write(transaction, account, after, changes);
  if (made) await refuseTooMany(transaction, account);
  if (changes.change !== 'unchanged') {
    const detail = countChanges(changes);
    await recordAudit(transaction, by, { action: 'brand.published', account, subject: externalId, detail });
  }
  return changes;
}

/**
 * Clears the brand cache of this process, and the key caches of all processes if the default brand changed.
 */
export function notifyBrandChange(database: Database, changes: BrandChanges): Promise<void> {
  return notifyChange(database, changes.default !== 'unchanged');
}

/**
 * Changes a brand. A dry run also makes the change and then rolls it back, so that it finds errors of the
 * database.
 */
async function changeBrand(
  database: Database,
  by: Actor,
  account: AccountRef,
  externalId: string,
  dryRun: boolean,
  change: (before: Brand | undefined) => BrandFile,
): Promise<BrandChanges> {
  try {
    const changes = await database.transaction(async (transaction) => {
      const changes = await replaceBrand(transaction, by, account, externalId, change);
      if (dryRun) throw new DryRun(changes);
      return changes;
    });
    await notifyBrandChange(database, changes);
    return changes;
  } catch (error) {
    if (error instanceof DryRun) return error.changes;
    throw error;
  }
}

async function write(
  transaction: Transaction,
  account: AccountRef,
  after: Brand,
  changes: BrandChanges,
): Promise<void> {
  const { externalId } = after;
  if (changes.change !== 'unchanged') {
    await store.touchBrand(transaction, account, { ...after, made: changes.change === 'added' });
  }
  for (const { language, change, terms } of changes.languages) {
    const settings = after.languages.get(language);
    if (settings === undefined) await store.removeLanguage(transaction, { account, externalId, language });
    else if (change !== 'unchanged') {
      const { tone = null, instructions = null } = settings;
      await store.upsertLanguage(transaction, account, externalId, { language, tone, instructions });
      if (termsDiffer(terms)) {
        await store.replaceTerms(transaction, account, externalId, language, settings.terms.map(toTermRow));
      }
    }
  }
  if (changes.default === 'becomes') await store.setDefault(transaction, { account, externalId });
  if (changes.default === 'no longer') await store.setDefault(transaction, { account, externalId: null });
}

async function refuseTooMany(transaction: Transaction, account: AccountRef): Promise<void> {
  const [first] = await store.listNames(transaction, { account, limit: 1 });
  if ((first?.count ?? 0) > MAX_BRANDS) throw new BrandError(`An account has at most ${MAX_BRANDS} brands.`);
}

/**
 * Removes a brand with its glossaries and its draft. Jobs in progress are then translated without the brand.
 * If the brand was the default of the account, the account has no default afterwards.
 * @throws BrandError if the account has neither such a brand nor a draft of it
 */
export async function removeBrand(
  database: Database,
  by: Actor,
  account: AccountRef,
  externalId: string,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const drafted = await deleteDraft(transaction, { account, externalId });
    // A distributed database lacks the foreign key whose action would do this.
    if ((await store.findDefault(transaction, account)) === externalId)
      await store.setDefault(transaction, { account, externalId: null });
    if (!(await store.deleteBrand(transaction, { account, externalId })) && !drafted) {
      throw new BrandError(`brand: ${await notKnown(transaction, account, externalId)}`);
    }
    await recordAudit(transaction, by, { action: 'brand.removed', account, subject: externalId, detail: {} });
  });
  await notifyChange(database, true);
}

/**
 * Sets the default brand of an account, which applies to requests that name no brand.
 * @param externalId the brand; undefined if the account should have no default brand
 * @throws BrandError if the account has no such brand
 */
export async function setDefaultBrand(
  database: Database,
  by: Actor,
  account: AccountRef,
  externalId: string | undefined,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const before = await store.findDefault(transaction, account);
    await writeDefaultBrand(transaction, account, externalId);
    if (before === externalId) return;
    await recordAudit(transaction, by, {
      action: 'account.changed',
      account,
      subject: await usernameOf(transaction, account),
      detail: { default_brand: externalId ?? null },
    });
  });
  await notifyDefaultBrandChange(database);
}

/**
 * Like `setDefaultBrand`, but within the transaction of an action that writes its own audit entry. The caller
 * must call `notifyDefaultBrandChange` after the commit.
 * @throws BrandError if the account has no such brand
 */
export async function writeDefaultBrand(
  transaction: Transaction,
  account: AccountRef,
  externalId: string | undefined,
): Promise<void> {
  if (externalId !== undefined) await requireBrand(transaction, account, externalId);
  await store.setDefault(transaction, { account, externalId: externalId ?? null });
}

/** Clears the default brands that all processes have cached. */
export function notifyDefaultBrandChange(database: Database): Promise<void> {
  return notifyChange(database, true);
}

/** Returns the default brand of an account, which applies to requests that name no brand. */
export function defaultBrand(on: Queryable, account: AccountRef): Promise<string | undefined> {
  return store.findDefault(on, account);
}
