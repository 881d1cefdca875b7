/** Builds the input of the automatic checks for the segments of a job. */
import type { CheckInput } from '@dragoman/checks';
import { type Description, type Piece, TRAITS } from '@dragoman/documents';
import { keptOf } from '../../base/kept.ts';
import { type ProposalJob, readJobTerms } from '../../brands/proposals.ts';
import type { Database } from '../../database/database.ts';
import type { TaskKey } from './access-store.ts';
import type { EditingContext } from './context.ts';
import { type DescribedJob, describeJob } from './descriptions.ts';
import type { TaskJobRow } from './edited-jobs-store.ts';
import type { SegmentRow } from './edits-store.ts';

/** Returns the input of the checks for a target of a segment. */
export type InputOf = (
  row: Pick<SegmentRow, 'source' | 'segment_id' | 'route'>,
  target: readonly Piece[],
) => CheckInput;

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
  const { isSubtitles, hasLengths } = TRAITS[job.text_format];
  const isNeeded = described === 'all' || isSubtitles || hasLengths;
  const [descriptions, inputOf] = await Promise.all([
    isNeeded ? describeJob(context, account, jobId, job) : new Map<string, Description>(),
    textInputs(context.database, { account, jobId }, job),
  ]);
  return (row, target) => {
    const description = descriptions.get(row.segment_id);
    return {
      ...inputOf(row, target),
      ...(description?.maxLength === undefined ? {} : { maxLength: description.maxLength }),
      ...(description?.time === undefined ? {} : { time: description.time }),
    };
  };
}

/** Like `checkInputs`, but without the limits of the document, which do not depend on the text alone. */
export async function textInputs(
  database: Database,
  { account, jobId }: Pick<TaskKey, 'account' | 'jobId'>,
  job: DescribedJob & { brand: string | null },
): Promise<InputOf> {
  const terms = await readJobTerms(database, account, proposalJob(jobId, job));
  return ({ source, route }, target) => ({
    source,
    target,
    from: job.source_language,
    to: job.target_language,
    format: job.text_format,
    terms,
    kept: keptOf(route) !== undefined,
  });
}

/** Returns the fields of a job that term proposals need. */
export function proposalJob(jobId: string, job: Pick<TaskJobRow, 'brand' | 'target_language'>): ProposalJob {
  return { jobId, brand: job.brand, targetLanguage: job.target_language };
}
