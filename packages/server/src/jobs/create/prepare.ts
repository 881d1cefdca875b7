/**
 * Turns a valid request into a job to insert: determines the languages, checks the text and calculates the
 * price.
 */
import type { Caller } from '../../base/account.ts';
import { ApiError, fieldError, joinFieldErrors, type Reason, reason } from '../../base/errors.ts';
import { assignUid } from '../../base/ids.ts';
import { type SandboxTrigger, sandboxTriggerOf } from '../../base/text.ts';
import { type ResolvedBrand, readContext, resolveBrand } from '../../brands/brands.ts';
import { settingsOfBrand, storeDocumentSettings } from '../../brands/document-settings.ts';
import type { Database } from '../../database/database.ts';
import type { AddressGuard } from '../../deliveries/addresses.ts';
import { type Languages, sayNotOffered } from '../../languages/languages.ts';
import type { JobPrice, PriceList, WordCounts } from '../../ledger/price-list.ts';
import { hasMemory } from '../../memory/memory.ts';
import type { DocumentSettings, Scanner } from '../../scanning/scanner.ts';
import type { Settings } from '../../settings/settings.ts';
import type { NewJob } from '../insert-store.ts';
import { listRecentLanguages } from '../list/list-store.ts';
import { firstJobStatus } from '../states.ts';
import type { JobTier } from '../store.ts';
import {
  type ComparisonBudget,
  countMatches,
  createComparisonBudget,
  usesFuzzyMatches,
  usesMemory,
} from './matches.ts';
import { type CreateRequest, fingerprint, type NamedFields } from './request.ts';

export interface JobPreparerOptions {
  database: Database;
  languages: Languages;
  prices: PriceList;
  scanner: Scanner;
  guard: AddressGuard;
  settings: Pick<Settings, 'sandboxHoldSeconds' | 'machineHoldSeconds'>;
}

/** How the text of a request is examined. */
interface Reading {
  /** True to scan even a small text in a scanner process, because it is one of many texts. */
  apart: boolean;
  /** What the request may still compare with similar entries of the memory. */
  budget: ComparisonBudget;
  /** True if the job is drafted from a translation that exists, and not from the memory. */
  hasDraft: boolean;
}

/**
 * Prepares a job. @param reading by default not apart, with a new budget and without a draft
 * @throws ApiError `invalid_request`, `unavailable`
 */
export type JobPreparer = (
  caller: Caller,
  tier: JobTier,
  request: CreateRequest,
  reading?: Partial<Reading>,
) => Promise<NewJob>;

export function createJobPreparer(options: JobPreparerOptions): JobPreparer {
  const { settings } = options;
  return async (caller, tier, request, reading) => {
    const checked = await check(caller, [tier], request, options, reading);
    const { brands, sourceLanguage, words, priceOf, documentSettings } = checked;
    const price = await priceOf(tier);
    return {
      account: caller.account,
      jobId: '',
      orderNumber: 0,
      environment: caller.environment,
      tier,
      uid: request.uid ?? assignUid(),
      requestHash: fingerprint(tier, request),
      dialect: caller.dialect,
      status: firstJobStatus(tier),
      sourceLanguage,
      targetLanguage: request.targetLanguage,
      textFormat: request.textFormat,
      tone: request.tone,
      topics: request.topics,
      ...brands,
      documentSettings: await storeDocumentSettings(options.database, caller.account, documentSettings),
      callbackUrl: request.callbackUrl,
      words,
      priceCents: price.cents,
      limitedKey: caller.dailyCents === undefined ? undefined : caller.keyId,
      centsPerWord: price.centsPerWord,
      discounts: price.discounts.length === 0 ? undefined : price.discounts,
      holdSeconds: Math.max(
        tier === 'machine' ? settings.machineHoldSeconds : 0,
        caller.environment === 'sandbox' && tier === 'human' ? settings.sandboxHoldSeconds : 0,
        holdByTrigger(sandboxTriggerOf(caller.environment, request.text)),
      ),
      text: request.text,
      targetText: request.targetText,
      instructions: request.instructions,
      leaseToken: undefined,
    };
  };
}

/** What a job would cost in each tier. */
export interface Quote {
  sourceLanguage: string;
  words: number;
  /** See `WordCounts`. */
  counted: number | undefined;
  price: Record<JobTier, JobPrice>;
}

/**
 * Checks a request like a create and calculates the prices. The text is examined once for both tiers.
 * @throws ApiError `invalid_request`, `unavailable`
 */
export async function quoteJob(
  caller: Caller,
  request: CreateRequest,
  options: JobPreparerOptions,
): Promise<Quote> {
  const tiers: JobTier[] = ['human', 'machine'];
  const { sourceLanguage, words, counted, priceOf } = await check(caller, tiers, request, options);
  return {
    sourceLanguage,
    words,
    counted,
    price: { human: await priceOf('human'), machine: await priceOf('machine') },
  };
}

/** Checks a request. @param tiers the tiers whose price is needed */
async function check(
  caller: Caller,
  tiers: readonly JobTier[],
  request: CreateRequest,
  options: JobPreparerOptions,
  reading: Partial<Reading> = {},
) {
  const brands = await resolveNames(caller, request, options);
  const free = await Promise.all(tiers.map((tier) => options.prices.isFree(tier)));
  const isPriced = free.includes(false);
  const documentSettings = await settingsOf(options.database, caller, brands, request);
  const { sourceLanguage, counts } = await examine(caller, request, brands, options, {
    documentSettings,
    apart: false,
    budget: createComparisonBudget(),
    hasDraft: request.targetText !== undefined,
    isPriced,
    ...reading,
  });
  const pair = { sourceLanguage, targetLanguage: request.targetLanguage };
  const priceOf = (tier: JobTier) => options.prices.priceOf(caller.account, tier, pair, counts);
  const { words, counted } = counts;
  return { brands, sourceLanguage, words, counted, priceOf, documentSettings };
}

/**
 * @throws ApiError `invalid_request` with a line for each field that names nothing that the caller can use; `unavailable`
 * if only `targetLanguage` may be wrong and no engine has a language pair yet
 */
export async function resolveNames(
  caller: Caller,
  { callbackUrl, brand, targetLanguage }: NamedFields,
  { database, languages, guard }: Pick<JobPreparerOptions, 'database' | 'languages' | 'guard'>,
): Promise<ResolvedBrand> {
  const errors: ApiError[] = [];
  const address = callbackUrl === undefined ? undefined : guard.checkUrl(callbackUrl);
  if (address?.ok === false) errors.push(fieldError('callback_url', address.reason));
  const brands = await resolveBrand(database, caller, brand).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    errors.push(error);
    return { brand: undefined, defaultBrand: undefined };
  });
  if (targetLanguage !== undefined) {
    const targets = await languages.targets(caller.environment).catch((error: unknown) => {
      throw errors.length > 0 && error instanceof ApiError ? joinFieldErrors(errors) : error;
    });
    if (!targets.includes(targetLanguage)) {
      errors.push(fieldError('target_language', notOffered(targetLanguage, '', targets)));
    }
  }
  if (errors.length > 0) throw joinFieldErrors(errors);
  return brands;
}

/** Returns how the text of a request is read. */
async function settingsOf(
  database: Database,
  { account }: Caller,
  { brand, defaultBrand }: ResolvedBrand,
  { retranslate, setLang }: CreateRequest,
): Promise<DocumentSettings> {
  return {
    ...(await settingsOfBrand(database, account, brand ?? defaultBrand)),
    ...(retranslate === undefined ? {} : { retranslate }),
    ...(setLang === undefined ? {} : { setLang }),
  };
}

/** Seconds for which the trigger `wait` delays the delivery of a job. */
const WAIT_SECONDS = 86_400;

/**
 * Returns the delivery delay of a sandbox trigger, in seconds. `fallback` also needs one, because the fallback
 * happens at the end of a delay.
 */
function holdByTrigger(trigger: SandboxTrigger | undefined): number {
  if (trigger === 'wait') return WAIT_SECONDS;
  return trigger === 'fallback' ? 1 : 0;
}

/**
 * Determines the languages, checks the text and counts its words. Reports all errors of a document, not only
 * the first.
 * @param isPriced false if the price is 0 in any case, so that the words need not be counted by match
 */
async function examine(
  caller: Caller,
  request: CreateRequest,
  brands: ResolvedBrand,
  { database, languages, prices, scanner }: JobPreparerOptions,
  reading: Reading & { isPriced: boolean; documentSettings: DocumentSettings },
): Promise<{ sourceLanguage: string; counts: WordCounts }> {
  const { apart, budget, hasDraft, isPriced, documentSettings } = reading;
  const { account } = caller;
  const { targetLanguage } = request;
  const offered = await languages.sources(caller.environment, targetLanguage);
  const searchesMemory =
    isPriced && !hasDraft && usesMemory(prices.shares) && (await hasMemory(database, account));
  const task = {
    text: request.text,
    format: request.textFormat,
    sourceLanguage: request.sourceLanguage,
    targetLanguage,
    settings: documentSettings,
    offered,
    recent: request.sourceLanguage === undefined ? await listRecentLanguages(database, caller) : [],
    suppliedText: request.targetText,
    countRepeats: isPriced && prices.shares.repeat < 100,
    listSegments: searchesMemory,
  };
  const examined = await scanner.examine(account, task, { apart });
  if (examined.kind === 'languageUndetermined') {
    throw fieldError('source_language', reason('language_undetermined', { why: examined.sentence }));
  }
  if (examined.kind === 'invalid') {
    const { field, sentence, fault } = examined;
    throw fieldError(field, fault === undefined ? sentence : reason('document_invalid', fault));
  }
  if (!offered.includes(examined.sourceLanguage)) {
    throw fieldError(
      'source_language',
      notOffered(examined.sourceLanguage, ` into ${targetLanguage}`, offered),
    );
  }
  const { sourceLanguage, words, segments } = examined;
  if (segments === undefined) {
    const counted = searchesMemory && usesFuzzyMatches(prices.shares) ? 0 : undefined;
    return { sourceLanguage, counts: { words, matched: { repeat: examined.repeatedWords }, counted } };
  }
  const brand = brands.brand ?? brands.defaultBrand;
  const tone = request.tone ?? (await readContext(database, account, brand, targetLanguage)).tone;
  const purpose = { from: sourceLanguage, to: targetLanguage, brand, tone };
  const counts = await countMatches(database, account, purpose, { words, segments }, prices.shares, budget);
  return { sourceLanguage, counts };
}

function notOffered(given: string, into: string, offered: readonly string[]): Reason {
  return reason('pair_not_offered', { why: sayNotOffered(given, into, offered) });
}
