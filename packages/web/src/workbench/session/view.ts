/**
 * The two views of a task. `rows` is the grid of source and target. `flow` is the translated document itself, in which
 * the active segment is edited in place. Only formats with a visual layout have a flow view.
 */
import { type Format, TRAITS } from '@dragoman/documents/formats';
import type { Workbench } from './workbench.ts';

export type View = 'rows' | 'flow';

const keyOf = (format: Format) => `dragoman.view.${format}`;

export const hasFlow = (format: Format): boolean => TRAITS[format].flow !== undefined;

/** Returns the view that the user chose for a format in this browser, otherwise the flow view if the format has one. */
export function readView(format: Format): View {
  if (!hasFlow(format)) return 'rows';
  const stored = attempt(() => localStorage.getItem(keyOf(format)));
  return stored === 'rows' ? stored : 'flow';
}

/** Changes the view and remembers it. The caret, the undo history and the state of saving stay. */
export function toggleView(workbench: Workbench): void {
  const { format } = workbench.task.job;
  const view = workbench.page.view === 'flow' ? 'rows' : 'flow';
  attempt(() => localStorage.setItem(keyOf(format), view));
  // The text editor is created again in the other view, so the current caret must be stored first.
  workbench.editor.syncSelection();
  workbench.update({ view, selected: new Set() });
  workbench.focusActive();
}

/** Browsers can forbid storage. The choice then lasts until the page is closed. */
function attempt<Value>(access: () => Value): Value | undefined {
  try {
    return access();
  } catch {
    return undefined;
  }
}
