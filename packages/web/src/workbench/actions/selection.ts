/** Opens dialogs that are filled with the selected words. */
import type { Workbench } from '../session/workbench.ts';
import { plainText } from '../text/pieces.ts';

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

/**
 * Opens the dialog that splits the active segment. It begins with the caret in the source, otherwise with the first end of
 * a sentence. Returns false if the segment cannot be split.
 */
export function openSplitDialog(workbench: Workbench): boolean {
  const { active: position } = workbench.page;
  if (!workbench.maySplit(position)) return false;
  const text = plainText(workbench.segment(position).segment.source);
  const at = caretInSource(position) ?? firstEnd(text, workbench.task.job.source_language);
  workbench.update({ dialog: { dialog: 'split', position, at } });
  return true;
}

/** Returns the offset of the caret in the source of a segment, or of the selection's start; undefined without one. */
function caretInSource(position: number): number | undefined {
  const selection = getSelection();
  const source = document.querySelector(`[role=row][data-position="${position}"] [data-source]`);
  if (!source || !selection || selection.rangeCount === 0) return undefined;
  const { startContainer, startOffset } = selection.getRangeAt(0);
  if (!source.contains(startContainer)) return undefined;
  const before = document.createRange();
  before.selectNodeContents(source);
  before.setEnd(startContainer, startOffset);
  const texts = before.cloneContents();
  // The label of a tag is not a part of the text.
  for (const chip of texts.querySelectorAll('[data-kind]:not([data-kind=keep])')) chip.remove();
  const at = texts.textContent.length;
  return at === 0 ? undefined : at;
}

/** Returns the end of the first sentence, otherwise of the word in the middle. */
function firstEnd(text: string, language: string): number {
  const offsets = (granularity: 'sentence' | 'word') =>
    Array.from(new Intl.Segmenter(language, { granularity }).segment(text), ({ index }) => index).slice(1);
  const middle = offsets('word').filter((at) => at >= text.length / 2 && isWordStart(text, at));
  return offsets('sentence')[0] ?? middle[0] ?? text.length;
}

/** Matches letters of languages that write no spaces between words. */
const SPACELESS = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;

/** Returns whether a text may be cut before an offset: never inside a word or a number such as 18:00. */
export const isWordStart = (text: string, at: number): boolean =>
  /\S/.test(text[at] ?? '') && (/\s/.test(text[at - 1] ?? ' ') || SPACELESS.test(text.slice(at - 1, at + 1)));

/** Returns the selected words of a source text; empty if the selection is elsewhere. */
function selectedSource(): string {
  const selection = getSelection();
  const node = selection?.anchorNode;
  const element = node instanceof Element ? node : node?.parentElement;
  return element?.closest('[data-source]') ? selection!.toString().trim() : '';
}
