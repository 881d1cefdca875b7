/** Finds and replaces in the whole task. */
import type { WorkbenchStore } from '../session/store.ts';
import type { Workbench } from '../session/workbench.ts';
import { countIn, replaceIn } from '../text/find.ts';
import { samePieces } from '../text/pieces.ts';

/** Counts the matches of a text in the source and the target of each segment. Segments without a match are omitted. */
export function countMatches(store: WorkbenchStore, query: string): { position: number; count: number }[] {
  if (query === '') return [];
  return store.positions.flatMap((position) => {
    const { segment, target } = store.segment(position);
    const count = countIn(segment.source, query) + countIn(target, query);
    return count === 0 ? [] : [{ position, count }];
  });
}

/**
 * Replaces all matches in the editable targets and shows a notice with a button "Undo". The button restores all segments
 * that were not edited after the replacement.
 */
export function replaceAll(
  workbench: Workbench,
  query: string,
  by: string,
  positions: readonly number[] = workbench.positions,
): void {
  const replaced = positions.flatMap((position) => {
    const { target, status } = workbench.segment(position);
    const now = replaceIn(target, query, by);
    if (!workbench.canEdit(position) || now === target) return [];
    workbench.setTarget(position, now);
    return [{ position, target, status, now: workbench.segment(position).target }];
  });
  const { length: count } = replaced;
  function undo(): void {
    for (const { position, target, status, now } of replaced) {
      if (samePieces(workbench.segment(position).target, now)) workbench.restore(position, target, status);
    }
  }
  workbench.announce({ type: 'replaced', count });
  workbench.update({ notice: count > 0 ? { type: 'replaced', count, undo } : undefined });
}
