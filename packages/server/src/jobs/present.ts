/** What a caller sees of a job, in both dialects. Pure. */
import type { Static } from 'typebox';
import type { Dialect } from '../account.ts';
import { encodeForm } from './form.ts';
import type { Job, JobBody, JobCallback, JobCreationBody, JobListItemBody, LegacyJob } from './schemas.ts';
import type { Status } from './states.ts';
import type { JobRow } from './store.ts';

/** The fields of a job that any answer may need. */
export type Shown = Pick<
  JobRow,
  | 'uid'
  | 'order_number'
  | 'tier'
  | 'status'
  | 'source_language'
  | 'target_language'
  | 'text_format'
  | 'tone'
  | 'topics'
  | 'brand'
  | 'callback_url'
  | 'price_cents'
  | 'failure'
> &
  Partial<Pick<JobRow, 'fell_back'>>;

export interface Purse {
  balance: number;
  client: string;
}

/** The states in which a result is shown. */
const WITH_RESULT: readonly Status[] = ['completed', 'accepted', 'rejected'];

export function showsResult(status: Status): boolean {
  return WITH_RESULT.includes(status);
}

/**
 * Returns what a job costs, in cents: 0 where its price was given back, because it failed, was canceled, or was
 * delivered with a machine's draft in place of an editor's text. The ledger still shows what was held.
 */
export function shownPrice(job: Pick<Shown, 'status' | 'price_cents' | 'fell_back'>): number {
  const isFree = job.status === 'failed' || job.status === 'canceled' || job.fell_back === true;
  return isFree ? 0 : job.price_cents;
}

/** The answer to a create; the same in both dialects. */
export function presentCreation(job: Shown, text: string, purse: Purse): JobCreationBody {
  const supplied = {
    ...(job.tone === null ? {} : { tone: job.tone }),
    ...(job.topics === null ? {} : { topics: job.topics }),
    ...(job.brand === null ? {} : { brand: job.brand }),
    ...(job.callback_url === null ? {} : { callback_url: job.callback_url }),
  };
  const common = {
    source_language: job.source_language,
    status: job.status,
    target_language: job.target_language,
    text,
    text_format: job.text_format,
    uid: job.uid,
  };
  return job.tier === 'machine'
    ? { origin: 'api', ...common, ...supplied }
    : { order_number: job.order_number, price: shownPrice(job), ...common, ...supplied, ...purse };
}

/** One job, read by its uid. The result's key is there only when there is a result. */
export function presentDetail(job: Shown, texts: Texts, purse: Purse, dialect: Dialect): JobBody {
  return dialect === 'legacy' ? { ...legacyCore(job, texts), ...purse } : { ...core(job, texts), ...purse };
}

export function presentListItem(job: Shown, dialect: Dialect): JobListItemBody {
  return {
    order_number: job.order_number,
    price: shownPrice(job),
    source_language: job.source_language,
    status: presentStatus(job, dialect),
    target_language: job.target_language,
    text_format: job.text_format,
    uid: job.uid,
  };
}

interface Texts {
  source: string;
  result: string | undefined;
}

function core(job: Shown, texts: Texts): Omit<Static<typeof Job>, keyof Purse> {
  const result = showsResult(job.status) ? texts.result : undefined;
  return {
    ...plain(job, texts),
    ...(result === undefined ? {} : { translated_text: result }),
    ...(job.fell_back === true ? { fallback: 'machine' as const } : {}),
    ...(job.status === 'failed' && job.failure !== null ? { failure: job.failure } : {}),
  };
}

/** Programs that are written for the older dialect are shown no key that they do not know. */
function legacyCore(job: Shown, texts: Texts): Omit<Static<typeof LegacyJob>, keyof Purse> {
  const result = showsResult(job.status) ? texts.result : undefined;
  return {
    ...plain(job, texts),
    status: presentStatus(job, 'legacy'),
    ...(result === undefined ? {} : { translatedText: result }),
  };
}

function plain(job: Shown, texts: Texts) {
  return {
    price: shownPrice(job),
    source_language: job.source_language,
    status: job.status,
    target_language: job.target_language,
    text: texts.source,
    text_format: job.text_format,
    uid: job.uid,
  };
}

function presentStatus(job: Shown, dialect: Dialect): Status | 'deliver_ok' {
  return dialect === 'legacy' && job.tier === 'machine' && job.status === 'completed'
    ? 'deliver_ok'
    : job.status;
}

/** The completion callback: its type, and the bytes that every attempt sends. */
export function presentCallback(
  job: Shown,
  texts: Texts,
  dialect: Dialect,
): { contentType: string; body: Buffer } {
  if (dialect === 'spec') {
    const body: Static<typeof JobCallback> = { order_number: job.order_number, ...core(job, texts) };
    return { contentType: 'application/json', body: Buffer.from(JSON.stringify(body)) };
  }
  const body = encodeForm({
    uid: job.uid,
    status: presentStatus(job, 'legacy'),
    ...(job.tier === 'human'
      ? { order_number: String(job.order_number), price: String(shownPrice(job)) }
      : {}),
    source_language: job.source_language,
    target_language: job.target_language,
    text: texts.source,
    text_format: job.text_format,
    translated_text: texts.result ?? '',
  });
  return { contentType: 'application/x-www-form-urlencoded', body };
}
