/** Inserts the shown completion, and stores in the browser whether words are completed. */
import type { Workbench } from '../session/workbench.ts';

/** The setting of this browser. Words are completed unless it is `off`. */
const SETTING = 'dragoman_completion';
const listeners = new Set<() => void>();

/** Returns whether words are completed while typing. */
export function completes(): boolean {
  try {
    return localStorage.getItem(SETTING) !== 'off';
  } catch {
    // If the browser forbids storage, the default applies.
    return true;
  }
}

export function setCompletes(on: boolean): void {
  try {
    if (on) localStorage.removeItem(SETTING);
    else localStorage.setItem(SETTING, 'off');
  } catch {
    return;
  }
  for (const notify of listeners) notify();
}

export function watchCompletes(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Inserts the rest of the word. Returns false when no completion is shown. */
export function acceptCompletion(workbench: Workbench): boolean {
  const { completion } = workbench;
  if (!completion) return false;
  workbench.setCompletion(undefined);
  workbench.editor.insertText(completion.rest);
  workbench.announce({ type: 'completed', word: completion.typed + completion.rest });
  return true;
}
