/**
 * The outline of a segment: its visible text as one string, in which one character stands for each protected word and
 * each code. Source and reply are compared by their outlines, and repairs of a reply are edits of its outline.
 */

import type { Item } from './decode.ts';

/** Stands for a protected word that Apertium sees as an unknown word. */
export const KEEP = '\ue000';
/** Stands for a code between words. */
export const CODE = '\ufffc';

/** Replaces the characters of an outline from `from` up to, but not including, `to`. */
export interface Edit {
  from: number;
  to: number;
  text: string;
}

/** Returns the outline of a reply. Spaces that came back in superblanks must not change, so they are written as tabs. */
export function outlineOf(items: readonly Item[]): string {
  return items.map(charsOf).join('');
}

function charsOf(item: Item): string {
  if ('text' in item) return item.verbatim ? item.text.replaceAll(' ', '\t') : item.text;
  if ('kept' in item) return KEEP;
  return 'fixed' in item ? CODE : '';
}

/** Applies edits to the items of a reply. The edits are in order and do not overlap. */
export function applyEdits(items: readonly Item[], edits: readonly Edit[]): Item[] {
  let next = 0;
  let end = 0;
  /** An edit may begin in one item and end in a later one. The text up to here is replaced. */
  let replaced = 0;
  return items.flatMap((item): Item[] => {
    const start = end;
    end += charsOf(item).length;
    const own: Edit[] = [];
    for (; next < edits.length && edits[next]!.from < end; next++) own.push(edits[next]!);
    if (own.length === 0 && start >= replaced) return [item];
    if (!('text' in item) || item.verbatim) {
      return [...own.map(({ text }): Item => ({ text, verbatim: false, ids: item.ids })), item];
    }
    let text = '';
    let from = Math.max(0, replaced - start);
    for (const edit of own) {
      text += item.text.slice(from, edit.from - start) + edit.text;
      from = edit.to - start;
    }
    replaced = Math.max(replaced, start + from);
    text += item.text.slice(from);
    return text === '' ? [] : [{ ...item, text }];
  });
}
