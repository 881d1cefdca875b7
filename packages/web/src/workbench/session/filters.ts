/** The filters of the grid: decides which segments match each filter, counts them, and applies the chosen filter. */
import type { SegmentState } from './state.ts';
import type { WorkbenchStore } from './store.ts';
import type { Workbench } from './workbench.ts';

/** The filters in the order of their buttons. */
export const FILTERS = ['open', 'findings', 'unsure', 'comments', 'issues', 'repeats', 'changed'] as const;
export type Filter = (typeof FILTERS)[number];

type Matches = (state: SegmentState, counts: FilterCounts) => boolean;

const matches: Record<Filter, Matches> = {
  open: ({ segment, status }) => segment.mine && status !== 'confirmed',
  // Until the checks have run on an edited text, the result for the earlier text stays.
  findings: ({ segment, findings }, counts) =>
    findings ? segment.mine && findings.length > 0 : counts.matches(segment.position, 'findings'),
  unsure: ({ segment, unsure }) => segment.mine && unsure,
  comments: ({ comments }) => comments > 0,
  issues: ({ issues }) => issues.length > 0,
  repeats: ({ segment }, counts) => segment.repeats !== undefined || counts.isRepeated(segment.position),
  changed: ({ changed }) => changed,
};

/**
 * Counts the segments that match each filter. Only a changed segment is counted again, because each typed key is a
 * change.
 */
export class FilterCounts {
  readonly #matched: Record<Filter, Set<number>> = {
    open: new Set(),
    findings: new Set(),
    unsure: new Set(),
    comments: new Set(),
    issues: new Set(),
    repeats: new Set(),
    changed: new Set(),
  };
  /** The segments of the task whose checks have run on the current text. */
  readonly #checked = new Set<number>();
  /** The first segment of each group of repeats. */
  readonly #repeated: ReadonlySet<number>;

  constructor(states: Iterable<SegmentState>) {
    const all = [...states];
    this.#repeated = new Set(all.flatMap(({ segment }) => segment.repeats ?? []));
    for (const state of all) this.count(state);
  }

  of(filter: Filter): number {
    return this.#matched[filter].size;
  }

  /** The number of segments of the task whose checks have run on the current text. */
  get checked(): number {
    return this.#checked.size;
  }

  matches(position: number, filter: Filter): boolean {
    return this.#matched[filter].has(position);
  }

  isRepeated(position: number): boolean {
    return this.#repeated.has(position);
  }

  /** Counts a segment no more. */
  forget(position: number): void {
    this.#checked.delete(position);
    for (const filter of FILTERS) this.#matched[filter].delete(position);
  }

  /** Counts a segment again after a change. Returns true when a count has changed. */
  count(state: SegmentState): boolean {
    const { mine, position } = state.segment;
    let changed = put(this.#checked, position, mine && state.findings !== undefined);
    for (const filter of FILTERS) {
      if (put(this.#matched[filter], position, matches[filter](state, this))) changed = true;
    }
    return changed;
  }
}

/** Adds a position to a set or removes it. Returns true when the set has changed. */
function put(positions: Set<number>, position: number, belongs: boolean): boolean {
  if (belongs === positions.has(position)) return false;
  if (belongs) positions.add(position);
  else positions.delete(position);
  return true;
}

/**
 * Shows only the segments that match a filter now. A segment that stops matching stays in the grid until a filter is
 * chosen again, so that no row disappears while the editor works on it. If the active segment does not match, the next
 * one that does becomes the active one.
 *
 * @param by undefined to show all segments
 */
export function chooseFilter(workbench: Workbench, by: Filter | undefined): void {
  const positions = by && matching(workbench, by);
  workbench.update({ filtering: true, filter: by && positions && { by, positions } });
  workbench.announce({ type: 'filtered', count: workbench.rows.length });
  const { active } = workbench.page;
  const next = workbench.rows.find((position) => position >= active) ?? workbench.rows[0];
  if (next !== undefined) workbench.activate(next);
}

/** Closes the bar with the filters and shows all segments. The active segment stays the active one. */
export function closeFilters(workbench: Workbench): void {
  workbench.update({ filtering: false, filter: undefined });
  workbench.focusActive();
}

function matching(store: WorkbenchStore, by: Filter): readonly number[] {
  return store.positions.filter((position) => store.filterCounts.matches(position, by));
}
