/**
 * Builds the response and callback bodies of jobs, in both API formats (`spec` and `legacy`). The functions
 * are pure.
 */
import type { Static } from 'typebox';
import type { Dialect } from '../base/account.ts';
import type { Discount } from '../ledger/price-list.ts';
import { encodeForm } from './form.ts';
import type { Job, JobBody, JobCallback, JobCreationBody, JobListItemBody, LegacyJob } from './schemas.ts';
import type { JobStatus } from './states.ts';
import type { JobRow } from './store.ts';

/** The columns of a job that response and callback bodies use. */
export type PresentedJob = Pick<
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
  | 'discounts'
  | 'failure'
> &
  Partial<Pick<JobRow, 'fell_back' | 'untranslated'>>;

export interface AccountBalance {
  balance: number;
  client: string;
}

/** The statuses in which a job shows its result. */
export const WITH_RESULT: readonly JobStatus[] = ['completed', 'accepted', 'rejected'];

export function showsResult(status: JobStatus): boolean {
  return WITH_RESULT.includes(status);
}

/**
 * Returns the price of a job in cents. It is 0 if the hold was released: the job failed, was canceled, or was
 * delivered with a machine's draft instead of an editor's text. The ledger still shows the hold.
 */
export function shownPrice(job: Pick<PresentedJob, 'status' | 'price_cents' | 'fell_back'>): number {
  return isReleased(job) ? 0 : job.price_cents;
}

/** Returns the discounts that the shown price contains. */
export function shownDiscounts(job: Pick<PresentedJob, 'status' | 'discounts' | 'fell_back'>): Discount[] {
  return isReleased(job) ? [] : (job.discounts ?? []);
}

function isReleased(job: Pick<PresentedJob, 'status' | 'fell_back'>): boolean {
  return job.status === 'failed' || job.status === 'canceled' || job.fell_back === true;
}

/** Returns the field `discounts` of a body, which is absent for a job without discounts. */
function discountsField(job: PresentedJob): { discounts?: Discount[] } {
  const discounts = shownDiscounts(job);
  return discounts.length === 0 ? {} : { discounts };
}

/** Returns the number of segments in the shown result that keep their source text; 0 if there is no result. */
export function shownUntranslated(job: Pick<PresentedJob, 'status' | 'untranslated'>): number {
  return showsResult(job.status) ? (job.untranslated?.segments ?? 0) : 0;
}

/** Returns the response body of a create, which is the same in both API formats. */
export function presentCreation(job: PresentedJob, text: string, balance: AccountBalance): JobCreationBody {
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
    : {
        order_number: job.order_number,
        price: shownPrice(job),
        ...discountsField(job),
        ...common,
        ...supplied,
        ...balance,
      };
}

/** Returns the detail body of a job. The field of the result is present only if there is a result. */
export function presentDetail(
  job: PresentedJob,
  texts: Texts,
  balance: AccountBalance,
  dialect: Dialect,
): JobBody {
  return dialect === 'legacy'
    ? { ...legacyCore(job, texts), ...balance }
    : { ...core(job, texts), ...balance };
}

export function presentListItem(job: PresentedJob, dialect: Dialect): JobListItemBody {
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

function core(job: PresentedJob, texts: Texts): Omit<Static<typeof Job>, keyof AccountBalance> {
  const result = showsResult(job.status) ? texts.result : undefined;
  const untranslated = shownUntranslated(job);
  return {
    ...plain(job, texts),
    ...discountsField(job),
    ...(result === undefined ? {} : { translated_text: result }),
    ...(untranslated === 0 ? {} : { untranslated }),
    ...(job.fell_back === true ? { fallback: 'machine' as const } : {}),
    ...(job.status === 'failed' && job.failure !== null ? { failure: job.failure } : {}),
  };
}

/** Returns the fields that a job has in the legacy format. */
function legacyCore(job: PresentedJob, texts: Texts): Omit<Static<typeof LegacyJob>, keyof AccountBalance> {
  const result = showsResult(job.status) ? texts.result : undefined;
  return {
    order_number: job.order_number,
    ...plain(job, texts),
    status: presentStatus(job, 'legacy'),
    ...(result === undefined ? {} : { translatedText: result }),
  };
}

function plain(job: PresentedJob, texts: Texts) {
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

function presentStatus(job: PresentedJob, dialect: Dialect): JobStatus | 'deliver_ok' {
  return dialect === 'legacy' && job.tier === 'machine' && job.status === 'completed'
    ? 'deliver_ok'
    : job.status;
}

/** Returns the completion callback: its content type and the bytes that every attempt sends. */
export function presentCallback(
  job: PresentedJob,
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
