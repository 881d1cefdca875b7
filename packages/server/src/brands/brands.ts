/**
 * Brands: how an account wants its translations to sound. Operators keep them; requests name them; whoever
 * translates reads what they say about the target language.
 */
import type { Term } from '@dragoman/engines';
import type { AccountRef, Caller } from '../account.ts';
import { KEYS_CHANNEL } from '../accounts/accounts.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { fieldError } from '../errors.ts';
import {
  type Brand,
  BrandError,
  type BrandFile,
  type BrandLanguage,
  isExternalId,
  languagesFor,
} from './brand.ts';
import { type BrandChanges, compareBrands, termsDiffer } from './changes.ts';
import * as store from './store.ts';
import { shorten } from './terms.ts';
import type { Tone } from './tones.ts';

export { type Brand, BrandError, type BrandFile, type BrandLanguage } from './brand.ts';

/** What a brand says about translating into one language, in the shape that engines take. */
export interface BrandContext {
  tone?: Tone['name'];
  instructions?: string;
  terms: readonly Term[];
}

const NOTHING: BrandContext = { terms: [] };

/** What was read is believed so long; an operator's change is seen by every process within it. */
const REMEMBER_MILLISECONDS = 2_000;
const REMEMBER_BRANDS = 10_000;
/** Some tens of megabytes. */
const REMEMBER_TERMS = 200_000;
const MAX_BRANDS = 1_000;
/** A refusal names so many brands, and how many more there are. */
const NAMED_BRANDS = 20;

interface Remembered<T> {
  value: T;
  until: number;
}

/** What a process has read of one database. Creating and translating ask the same few things many times a second. */
interface Memory {
  known: Map<string, Remembered<true>>;
  contexts: Map<string, Remembered<Promise<BrandContext>>>;
  terms: number;
}
const memories = new WeakMap<Database, Memory>();

function memoryOf(database: Database): Memory {
  let memory = memories.get(database);
  if (memory === undefined) {
    memory = { known: new Map(), contexts: new Map(), terms: 0 };
    memories.set(database, memory);
  }
  return memory;
}

/** What this process changed it sees at once. A default belongs to what the doorkeepers of all processes remember. */
async function tell(database: Database, defaultChanged: boolean): Promise<void> {
  memories.delete(database);
  if (defaultChanged) await database.notify(KEYS_CHANNEL);
}

/** The brand of a request: the one that it named, or else the account's default. At most one of them is there. */
export interface ResolvedBrand {
  brand: string | undefined;
  defaultBrand: string | undefined;
}

/**
 * Settles the brand of a request. An account without brands costs nothing: its caller says that there is no default.
 * @throws ApiError `invalid_request` when the account has no brand of that name
 */
export async function resolveBrand(
  database: Database,
  caller: Caller,
  named: string | undefined,
): Promise<ResolvedBrand> {
  if (named === undefined) return { brand: undefined, defaultBrand: caller.defaultBrand };
  const { known } = memoryOf(database);
  const memo = `${caller.account.accountId} ${named}`;
  const remembered = known.get(memo);
  if (remembered === undefined || remembered.until <= Date.now()) {
    known.delete(memo);
    // What no brand can be called, megabytes perhaps, is not looked for.
    if (!isExternalId(named) || (await store.findBrand(database, caller.account, named)) === undefined) {
      throw fieldError('brand', await notKnown(database, caller.account, named));
    }
    if (known.size >= REMEMBER_BRANDS) known.clear();
    known.set(memo, { value: true, until: Date.now() + REMEMBER_MILLISECONDS });
  }
  return { brand: named, defaultBrand: undefined };
}

async function notKnown(on: Queryable, account: AccountRef, named: string): Promise<string> {
  const rows = await store.listNames(on, account, NAMED_BRANDS);
  const [first] = rows;
  if (first === undefined) return 'is not known; the account has no brands.';
  const more = first.count - rows.length;
  const names = rows.map(({ external_id }) => external_id).join(', ');
  return `"${shorten(named)}" is not one of ${names}${more > 0 ? ` and ${more} more` : ''}.`;
}

/**
 * What a brand says about translating into a language: of `pt-br`, or else of `pt`, and that as a whole. Nothing where
 * there is no brand, or none any more, or it says nothing about the language. Remembered for two seconds.
 * @param brand the job's brand, or else its default brand
 */
export function readContext(
  database: Database,
  account: AccountRef,
  brand: string | null | undefined,
  targetLanguage: string,
): Promise<BrandContext> {
  if (brand === null || brand === undefined) return Promise.resolve(NOTHING);
  const memory = memoryOf(database);
  const memo = `${account.accountId} ${targetLanguage} ${brand}`;
  const remembered = memory.contexts.get(memo);
  if (remembered !== undefined && remembered.until > Date.now()) return remembered.value;
  if (memory.terms >= REMEMBER_TERMS || memory.contexts.size >= REMEMBER_BRANDS) {
    memory.contexts.clear();
    memory.terms = 0;
  }
  const value = lookUpContext(database, account, brand, targetLanguage);
  const entry = { value, until: Date.now() + REMEMBER_MILLISECONDS };
  memory.contexts.set(memo, entry);
  value.then(
    ({ terms }) => {
      memory.terms += terms.length;
    },
    () => {
      if (memory.contexts.get(memo) === entry) memory.contexts.delete(memo);
    },
  );
  return value;
}

async function lookUpContext(
  on: Queryable,
  account: AccountRef,
  brand: string,
  targetLanguage: string,
): Promise<BrandContext> {
  const nearest = await store.findNearest(on, account, brand, languagesFor(targetLanguage));
  if (nearest === undefined) return NOTHING;
  const { tone, instructions, language } = nearest;
  return {
    ...(tone === null ? {} : { tone }),
    ...(instructions === null ? {} : { instructions }),
    terms: (await store.listTerms(on, account, brand, language)).map(toTerm),
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

/** A brand of an account, as a list shows it. */
export interface BrandSummary {
  external_id: string;
  name: string;
  default: boolean;
  changed_at: string;
  /** Counts its publications. */
  version: number;
  languages: { language: string; tone: string | null; instructions: boolean; terms: number }[];
}

/** Every brand of an account, by external identifier. */
export async function listBrands(on: Queryable, account: AccountRef): Promise<BrandSummary[]> {
  const [brands, languages] = [await store.listBrands(on, account), await store.summarise(on, account)];
  const byBrand = Map.groupBy(languages, ({ external_id }) => external_id);
  return brands.map(({ external_id, name, is_default, changed_at, version }) => ({
    external_id,
    name,
    default: is_default,
    changed_at: changed_at.toISOString(),
    version,
    languages: (byBrand.get(external_id) ?? []).map(({ language, tone, instructions, terms }) => ({
      language,
      tone,
      instructions: instructions !== null,
      terms,
    })),
  }));
}

/**
 * A whole brand, and whether it is the account's default.
 * @throws BrandError when the account has no such brand
 */
export async function readBrand(
  on: Queryable,
  account: AccountRef,
  externalId: string,
): Promise<{ brand: Brand; isDefault: boolean; version: number }> {
  const { name, fallback, version } = await requireBrand(on, account, externalId);
  const languages = new Map<string, BrandLanguage>();
  for (const { language, tone, instructions } of await store.listLanguages(on, account, externalId)) {
    const terms = (await store.listTerms(on, account, externalId, language)).map(toTerm);
    languages.set(language, { tone: tone ?? undefined, instructions: instructions ?? undefined, terms });
  }
  const isDefault = (await store.findDefault(on, account)) === externalId;
  const brand = { externalId, name, languages };
  return { brand: fallback === 'machine' ? { ...brand, fallback } : brand, isDefault, version };
}

export async function requireBrand(
  on: Queryable,
  account: AccountRef,
  externalId: string,
): Promise<{ name: string; fallback: 'wait' | 'machine'; version: number }> {
  const found = await store.findBrand(on, account, externalId);
  if (found === undefined) throw new BrandError(`brand: ${await notKnown(on, account, externalId)}`);
  return found;
}

/**
 * Puts a brand in the place of the one with the same external identifier, or makes it, in one transaction: what the
 * file does not say is gone after it. Doing it again changes nothing.
 * @param dryRun only says what would change
 * @throws BrandError when the account has as many brands as it may
 */
export async function saveBrand(
  database: Database,
  account: AccountRef,
  file: BrandFile,
  dryRun: boolean,
): Promise<BrandChanges> {
  return changeBrand(database, account, file.externalId, dryRun, () => file);
}

/**
 * Makes `terms` a brand's glossary for one language, and leaves everything else of the brand as it is.
 * @throws BrandError when the account has no such brand
 */
export async function saveGlossary(
  database: Database,
  account: AccountRef,
  externalId: string,
  { language, terms }: { language: string; terms: readonly Term[] },
  dryRun: boolean,
): Promise<BrandChanges> {
  await requireBrand(database, account, externalId);
  return changeBrand(database, account, externalId, dryRun, (before) => {
    if (before === undefined) throw new BrandError(`brand: "${shorten(externalId)}" was removed just now.`);
    const settings = before.languages.get(language) ?? { tone: undefined, instructions: undefined };
    const languages = new Map(before.languages).set(language, { ...settings, terms });
    return { ...before, languages, default: undefined };
  });
}

/** Thrown to leave a transaction without its changes. */
class Rehearsed extends Error {
  readonly changes: BrandChanges;
  constructor(changes: BrandChanges) {
    super('rehearsed');
    this.changes = changes;
  }
}

/**
 * Puts a brand in the place of the one with the same external identifier, as a part of somebody's transaction; after
 * its commit, `tellOf` is to be called.
 */
export async function replaceBrand(
  transaction: Transaction,
  account: AccountRef,
  externalId: string,
  change: (before: Brand | undefined) => BrandFile,
): Promise<BrandChanges> {
  const made = await store.makeAndLock(transaction, account, { externalId, name: externalId });
  const before = await readBrand(transaction, account, externalId);
  const after = change(made ? undefined : before.brand);
  const isDefault = { before: before.isDefault, after: after.default ?? before.isDefault };
  const changes = compareBrands(made ? undefined : before.brand, after, isDefault);
  await write(transaction, account, after, changes);
  if (made) await refuseTooMany(transaction, account);
  return changes;
}

/** Has this process see what was changed, and all of them another default. */
export function tellOf(database: Database, changes: BrandChanges): Promise<void> {
  return tell(database, changes.default !== 'unchanged');
}

/** A dry run does all of it and rolls back: it says what would happen, refusals of the database included. */
async function changeBrand(
  database: Database,
  account: AccountRef,
  externalId: string,
  dryRun: boolean,
  change: (before: Brand | undefined) => BrandFile,
): Promise<BrandChanges> {
  try {
    const changes = await database.transaction(async (transaction) => {
      const changes = await replaceBrand(transaction, account, externalId, change);
      if (dryRun) throw new Rehearsed(changes);
      return changes;
    });
    await tellOf(database, changes);
    return changes;
  } catch (error) {
    if (error instanceof Rehearsed) return error.changes;
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
    if (settings === undefined) await store.removeLanguage(transaction, account, externalId, language);
    else if (change !== 'unchanged') {
      const { tone = null, instructions = null } = settings;
      await store.keepLanguage(transaction, account, externalId, { language, tone, instructions });
      if (termsDiffer(terms)) {
        await store.replaceTerms(transaction, account, externalId, language, settings.terms.map(toTermRow));
      }
    }
  }
  if (changes.default === 'becomes') await store.setDefault(transaction, account, externalId);
  if (changes.default === 'no longer') await store.setDefault(transaction, account, undefined);
}

async function refuseTooMany(transaction: Transaction, account: AccountRef): Promise<void> {
  const [first] = await store.listNames(transaction, account, 1);
  if ((first?.count ?? 0) > MAX_BRANDS) throw new BrandError(`An account has at most ${MAX_BRANDS} brands.`);
}

/**
 * Removes a brand with all that is in it. Jobs under way that name it are translated without it; where it was the
 * account's default, there is none.
 * @throws BrandError when the account has no such brand
 */
export async function removeBrand(
  database: Database,
  account: AccountRef,
  externalId: string,
): Promise<void> {
  if (!(await store.removeBrand(database, account, externalId))) {
    throw new BrandError(`brand: ${await notKnown(database, account, externalId)}`);
  }
  await tell(database, true);
}

/**
 * Settles which brand is used where a request names none.
 * @param externalId undefined: none
 * @throws BrandError when the account has no such brand
 */
export async function setDefaultBrand(
  database: Database,
  account: AccountRef,
  externalId: string | undefined,
): Promise<void> {
  if (externalId !== undefined) await requireBrand(database, account, externalId);
  await store.setDefault(database, account, externalId);
  await tell(database, true);
}

/** The brand that is used where a request names none. */
export function defaultBrand(on: Queryable, account: AccountRef): Promise<string | undefined> {
  return store.findDefault(on, account);
}
