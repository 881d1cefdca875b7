/** Builds the input of the automatic checks for the segments of a job. */
import type { CheckInput } from '@dragoman/checks';
import type { Description, Piece } from '@dragoman/documents';
import { keptOf } from '../base/kept.ts';
import { type ProposalJob, readJobTerms } from '../brands/proposals.ts';
import type { EditingContext } from './context.ts';
import { type DescribedJob, describeJob } from './descriptions.ts';
import type { TaskJobRow } from './edited-jobs-store.ts';
import type { SegmentRow } from './edits-store.ts';
import type { TaskKey } from './store.ts';

/** Returns the input of the checks for a target of a segment. */
export type InputOf = (
  row: Pick<SegmentRow, 'source' | 'segment_id' | 'route'>,
  target: readonly Piece[],
) => CheckInput;

/** The formats whose documents limit the length or the time of a segment. */
const LIMITED = ['srt', 'xliff'];

/**
 * Returns a function that builds the inputs for the segments of a job.
 * @param described `limits`: reads the document only if its format can limit segments, which is faster for many
 * jobs
 */
export async function checkInputs(
  context: EditingContext,
  { account, jobId }: Pick<TaskKey, 'account' | 'jobId'>,
  job: DescribedJob & { brand: string | null },
  described: 'all' | 'limits' = 'all',
): Promise<InputOf> {
  const isNeeded = described === 'all' || LIMITED.includes(job.text_format);
  const [descriptions, terms] = await Promise.all([
    isNeeded ? describeJob(context, account, jobId, job) : new Map<string, Description>(),
    readJobTerms(context.database, account, proposalJob(jobId, job)),
  ]);
  return ({ source, segment_id, route }, target) => {
    const description = descriptions.get(segment_id);
    return {
      source,
      target,
      from: job.source_language,
      to: job.target_language,
      format: job.text_format,
      terms,
      kept: keptOf(route) !== undefined,
      ...(description?.maxLength === undefined ? {} : { maxLength: description.maxLength }),
      ...(description?.time === undefined ? {} : { time: description.time }),
    };
  };
}

/** Returns the fields of a job that term proposals need. */
export function proposalJob(jobId: string, job: Pick<TaskJobRow, 'brand' | 'target_language'>): ProposalJob {
  return { jobId, brand: job.brand, targetLanguage: job.target_language };
}
