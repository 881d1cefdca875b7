/** The outcomes of the work on a job, and what they change in its row. The functions are pure. */
import type { DraftedSegment } from './segment-store.ts';
import { JOB_MOVES, type JobEffect, type JobTrigger } from './states.ts';
import type { AnyJobRow } from './store.ts';
import { priceTranslated, type Untranslated } from './untranslated.ts';

/** The outcome of the work on a leased job. */
export type JobOutcome =
  | { kind: 'completed'; result: string; matches?: SegmentMatch[]; untranslated?: Untranslated }
  /** The result exists, but is not shown until the delivery delay has passed. */
  | { kind: 'held'; result: string; matches?: SegmentMatch[]; untranslated?: Untranslated }
  /** The stored result is delivered free of charge, as the sandbox trigger `fallback` asks. */
  | { kind: 'fell_back'; result: string; untranslated?: Untranslated }
  /** Drafts were made for a human job, and an editor works on them next. */
  | { kind: 'drafted'; segments: DraftedSegment[]; matches?: SegmentMatch[] }
  /** New drafts were made for a job that already has tasks for editors. */
  | { kind: 'redrafted'; segments: DraftedSegment[]; matches?: SegmentMatch[] }
  | { kind: 'failed'; reason: string };

/** A segment whose draft comes from the translation memory. */
export interface SegmentMatch {
  position: number;
  memoryId: string;
}

/** The status change that stores an outcome. */
export const OUTCOME_TRIGGERS = {
  completed: 'complete',
  fell_back: 'fallBack',
  held: 'begin',
  drafted: 'begin',
  redrafted: 'redrafted',
  failed: 'fail',
} as const satisfies Record<JobOutcome['kind'], JobTrigger>;

export const JOB_OUTCOMES = Object.keys(OUTCOME_TRIGGERS) as JobOutcome['kind'][];

export const hasEffect = (trigger: JobTrigger, effect: JobEffect): boolean =>
  (JOB_MOVES[trigger].effects as readonly JobEffect[]).includes(effect);

/**
 * Returns the row of a job with the untranslated segments of its result. If the job is charged now, its price is
 * without them. Returns the same object if nothing changes.
 */
export function settledRow(row: AnyJobRow, outcome: JobOutcome, trigger: JobTrigger): AnyJobRow {
  if (outcome.kind === 'failed' || outcome.kind === 'redrafted') return row;
  const untranslated = outcome.kind === 'drafted' ? undefined : outcome.untranslated;
  if (untranslated === undefined) return row.untranslated === null ? row : { ...row, untranslated: null };
  const price = hasEffect(trigger, 'capture') ? priceTranslated(row, untranslated) : {};
  return { ...row, untranslated, ...price };
}
