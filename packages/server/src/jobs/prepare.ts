/** From a request that is well formed to a job that can be made: languages settled, text looked through, price fixed. */
import type { Caller } from '../account.ts';
import { resolveBrand } from '../brands/brands.ts';
import type { Database } from '../database/database.ts';
import type { AddressGuard } from '../deliveries/addresses.ts';
import { fieldError } from '../errors.ts';
import { assignUid } from '../ids.ts';
import type { Languages } from '../languages/languages.ts';
import type { PriceList } from '../ledger/price-list.ts';
import type { Scanner } from '../scanning/scanner.ts';
import type { Settings } from '../settings.ts';
import { type CreateRequest, fingerprint } from './request.ts';
import { firstStatus } from './states.ts';
import type { NewJob, Tier } from './store.ts';

export interface PreparerOptions {
  database: Database;
  languages: Languages;
  prices: PriceList;
  scanner: Scanner;
  guard: AddressGuard;
  settings: Pick<Settings, 'sandboxHoldSeconds' | 'machineHoldSeconds'>;
}

/**
 * Prepares a job, or says what is wrong with the request.
 * @param apart the text is one of many: it is looked through in a process of its own, however small
 * @throws ApiError `invalid_request`, `unavailable`
 */
export type Preparer = (
  caller: Caller,
  tier: Tier,
  request: CreateRequest,
  apart?: boolean,
) => Promise<NewJob>;

export function createPreparer(options: PreparerOptions): Preparer {
  const { settings } = options;
  return async (caller, tier, request, apart = false) => {
    if (request.callbackUrl !== undefined) {
      const checked = options.guard.checkUrl(request.callbackUrl);
      if (!checked.ok) throw fieldError('callback_url', checked.reason);
    }
    const brands = await resolveBrand(options.database, caller, request.brand);
    const { sourceLanguage, words, repeatedWords } = await examine(caller, request, options, apart);
    const pair = { sourceLanguage, targetLanguage: request.targetLanguage };
    const extent = { words, repeatedWords };
    return {
      account: caller.account,
      jobId: '',
      orderNumber: 0,
      environment: caller.environment,
      tier,
      uid: request.uid ?? assignUid(),
      requestHash: fingerprint(tier, request),
      dialect: caller.dialect,
      status: firstStatus(tier),
      sourceLanguage,
      targetLanguage: request.targetLanguage,
      textFormat: request.textFormat,
      tone: request.tone,
      topics: request.topics,
      ...brands,
      callbackUrl: request.callbackUrl,
      words,
      priceCents: await options.prices.priceOf(caller.account, tier, pair, extent),
      holdSeconds: Math.max(
        tier === 'machine' ? settings.machineHoldSeconds : 0,
        caller.environment === 'sandbox' && tier === 'human' ? settings.sandboxHoldSeconds : 0,
      ),
      text: request.text,
      targetText: request.targetText,
      instructions: request.instructions,
      leaseToken: undefined,
    };
  };
}

/** Settles the languages and looks through the text; everything that can be wrong with a document is found here. */
async function examine(
  { account }: Caller,
  request: CreateRequest,
  { languages, prices, scanner }: Pick<PreparerOptions, 'languages' | 'prices' | 'scanner'>,
  apart: boolean,
): Promise<{ sourceLanguage: string; words: number; repeatedWords: number }> {
  const { targetLanguage } = request;
  const targets = await languages.targets();
  if (!targets.includes(targetLanguage)) {
    throw fieldError('target_language', notOffered(targetLanguage, '', targets));
  }
  const offered = await languages.sources(targetLanguage);
  const task = {
    text: request.text,
    format: request.textFormat,
    sourceLanguage: request.sourceLanguage,
    targetLanguage,
    offered,
    suppliedText: request.targetText,
    countRepeats: prices.countsRepeats,
  };
  const examined = await scanner.examine(account, task, { apart });
  if (examined.kind === 'undecided') throw fieldError('source_language', examined.sentence);
  if (examined.kind === 'unsound') throw fieldError(examined.field, examined.sentence);
  if (!offered.includes(examined.sourceLanguage)) {
    const sentence = notOffered(examined.sourceLanguage, ` into ${targetLanguage}`, offered);
    throw fieldError('source_language', sentence);
  }
  return examined;
}

function notOffered(given: string, into: string, offered: readonly string[]): string {
  const name = given.length > 20 ? `${given.slice(0, 20)}…` : given;
  return offered.length === 0
    ? `"${name}"${into} is not offered; no language pair is offered at present.`
    : `"${name}"${into} is not offered; offered${into} are ${offered.join(', ')}.`;
}
