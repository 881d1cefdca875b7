/** Opens dialogs that are filled with the selected words. */
import type { Workbench } from './workbench.ts';

/** Opens the dialog that marks an issue in the selected words of the target. */
export function openIssueDialog(workbench: Workbench): void {
  const { editor, page } = workbench;
  editor.syncSelection();
  const range = editor.selectedRange();
  const quote = range ? editor.selectedText() : '';
  workbench.update({
    dialog: { dialog: 'issue', position: page.active, quote, ...(range ? { range } : {}) },
  });
}

/** Opens the dialog for a term, with the words that are selected in the source and in the target. */
export function openTermDialog(workbench: Workbench): void {
  const { editor } = workbench;
  editor.syncSelection();
  const target = editor.selectedText().trim();
  workbench.update({ dialog: { dialog: 'term', source: selectedSource(), target } });
}

/** Returns the selected words of a source text; empty if the selection is elsewhere. */
function selectedSource(): string {
  const selection = getSelection();
  const node = selection?.anchorNode;
  const element = node instanceof Element ? node : node?.parentElement;
  return element?.closest('[data-source]') ? selection!.toString().trim() : '';
}
