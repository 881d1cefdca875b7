/** The tone in which a job is edited. */
import type { AccountRef } from '../base/account.ts';
import { findBrandTone } from '../brands/brands.ts';
import type { Queryable } from '../database/database.ts';
import type { TaskJobRow } from './edited-jobs-store.ts';

/**
 * Returns the tone in which a job is edited and learned: that of the request, otherwise that of its brand when its tasks
 * were opened. Its texts keep that tone when the brand gets another.
 */
export async function readTone(
  on: Queryable,
  account: AccountRef,
  job: Pick<TaskJobRow, 'tone' | 'brand' | 'brand_tone' | 'target_language'>,
): Promise<string | undefined> {
  if (job.tone !== null) return job.tone;
  if (job.brand_tone === null) return findBrandTone(on, account, job.brand, job.target_language);
  return job.brand_tone === '' ? undefined : job.brand_tone;
}
