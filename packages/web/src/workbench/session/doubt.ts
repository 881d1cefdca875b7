/** The doubtful segments of a task, between which Tab moves in the flow view. */
import { samePieces } from '../text/pieces.ts';
import { draftOriginOf, hasLowConfidence } from './origin.ts';
import { firstTarget, type SegmentState } from './state.ts';
import type { Workbench } from './workbench.ts';

/**
 * Why a segment is doubtful.
 *
 * - `finding`: a check has reported a problem.
 * - `no_draft`: there was no draft.
 * - `match`: the draft is a memory match of another text.
 * - `confidence`: the engine had little confidence in its draft, which nobody has changed.
 * - `changed`: in a review, the editor has changed the draft.
 * - `neighbor`: the segment before or after it was changed, so that the two may not fit together.
 */
export type Doubt = 'finding' | 'no_draft' | 'match' | 'confidence' | 'changed' | 'neighbor';

/** Returns why a segment is doubtful, undefined if it is not. A confirmed segment is never doubtful. */
export function doubtOf(workbench: Workbench, position: number): Doubt | undefined {
  const state = workbench.segment(position);
  const { segment, status } = state;
  if (!segment.mine) return undefined;
  const review = workbench.task.kind === 'review';
  if (!review && status === 'confirmed') return undefined;
  if (workbench.findings(position).length > 0) return 'finding';
  if (segment.draft === null) return 'no_draft';
  if (review) return isChanged(state) ? 'changed' : undefined;
  const draft = draftOriginOf(segment);
  if (draft?.from === 'fuzzy' || draft?.from === 'memory') return 'match';
  if (hasLowConfidence(draft) && !isChanged(state)) return 'confidence';
  return neighborsOf(workbench, position).some(isChanged) ? 'neighbor' : undefined;
}

/**
 * Makes the next or the previous doubtful segment the active one. Returns false if there is none in that direction, so
 * that Tab then leaves the document as in any other page.
 */
export function stepDoubt(workbench: Workbench, by: -1 | 1): boolean {
  const { positions, page } = workbench;
  for (let index = workbench.indexOf(page.active) + by; positions[index] !== undefined; index += by) {
    if (!doubtOf(workbench, positions[index]!)) continue;
    workbench.activate(positions[index]!, 'row');
    return true;
  }
  return false;
}

/** Returns true if the target of a segment differs from the draft that its editor got. */
function isChanged({ segment, target }: SegmentState): boolean {
  return segment.mine && !samePieces(firstTarget({ ...segment, target: null }), target);
}

/** Returns the segments next to a segment; in other documents than subtitles, only those of its paragraph. */
function neighborsOf(workbench: Workbench, position: number): SegmentState[] {
  const index = workbench.indexOf(position);
  const { segment } = workbench.segment(position);
  return [index - 1, index + 1].flatMap((at) => {
    const there = workbench.positions[at];
    if (there === undefined) return [];
    const state = workbench.segment(there);
    return segment.time || state.segment.unit === segment.unit ? state : [];
  });
}
