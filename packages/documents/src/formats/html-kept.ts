/**
 * The first of two passes over an HTML text. It finds where elements that are not translated end
 * (`translate="no"`, the class `notranslate`, `math`), and the elements whose content is replaced with the
 * value of their attribute `origval`.
 */

import { endWithContent, hasNotranslate } from '../codes/escaped.ts';
import { escapeMarkup } from '../codes/escapes.ts';
import { blocks, computed, controls, voids } from '../codes/html-elements.ts';
import { decodeReference, type Tag, type Visitor } from '../codes/markup.ts';
import type { Patch } from '../model/document.ts';
import { Stack } from './html-stack.ts';

/** A function that reads a text and calls a visitor for each token. */
export type Walk = (visitor: Visitor) => void;

export interface KeptElement {
  /** The end of the element, or of its unit if the element is never closed. */
  end: number;
  contentEnd: number;
  /** True if a nested element is translated (`translate="yes"`). */
  reopened: boolean;
}

interface Frame {
  name: string;
  kept?: KeptElement & { contentStart: number; locked: boolean };
  origval?: string;
  /** True inside an element whose whole content is replaced. */
  replaced: boolean;
}

/**
 * Returns how a tag switches translation: `no`, `yes` or `locked`, which nested elements cannot change (HTML standard
 * §3.2.6.2).
 */
export function switchOf(tag: Tag): 'no' | 'yes' | 'locked' | undefined {
  if (hasNotranslate(tag.attributes.get('class')) || tag.name === 'math') return 'locked';
  const value = tag.attributes.get('translate')?.trim().toLowerCase();
  if (value === 'no') return 'no';
  if (value === 'yes' || value === '') return 'yes';
  return computed.has(tag.name) ? 'no' : undefined;
}

/** Returns true if a text may have elements that are not translated. Otherwise the first pass is skipped. */
export function mayKeep(html: string): boolean {
  return /translate|material-|<(?:math|code|kbd|pre|samp|tt|var)/i.test(html);
}

/** Returns the elements that are not translated, by the offset of their start tag, and the contents to replace. */
export function findKept(walk: Walk, text: string): { kept: Map<number, KeptElement>; patches: Patch[] } {
  const kept = new Map<number, KeptElement>();
  const patches: Patch[] = [];
  const stack = new Stack<Frame>(text);
  /** Inline elements that are not translated, and whose unit has not ended yet. */
  let pending: Frame[] = [];
  const border = (offset: number) => {
    for (const frame of pending) frame.kept!.end = Math.min(frame.kept!.end, offset);
    pending = [];
  };
  const finish = (frames: Frame[], name: string | undefined, start: number, end: number) => {
    for (const frame of frames) {
      const { kept: element } = frame;
      if (!element) continue;
      pending = pending.filter((other) => other !== frame);
      if (frame.name === name && frame === frames.at(-1)) {
        element.contentEnd = start;
        element.end = end;
      } else {
        element.end = Math.min(element.end, start);
        element.contentEnd = element.end;
      }
      if (frame.origval !== undefined && !frame.replaced) {
        patches.push({
          start: element.contentStart,
          end: element.contentEnd,
          text: escapeMarkup(frame.origval),
        });
      }
    }
  };
  walk({
    startTag(tag) {
      finish(stack.implied(tag.name), undefined, tag.start, tag.start);
      const isBlock = blocks.has(tag.name) || controls.has(tag.name);
      if (isBlock) border(tag.start);
      const set = switchOf(tag);
      const outer = stack.top;
      const replaced = outer !== undefined && (outer.replaced || outer.origval !== undefined);
      const origval = hasNotranslate(tag.attributes.get('class')) ? originalValue(tag, text) : undefined;
      if (voids.has(tag.name) || tag.selfClosing) {
        if (set) kept.set(tag.start, { end: tag.end, contentEnd: tag.end, reopened: false });
        if (origval !== undefined && !replaced && !voids.has(tag.name)) {
          patches.push({
            start: tag.end - 2,
            end: tag.end,
            text: endWithContent(text.slice(tag.start), origval),
          });
        }
        return;
      }
      const frame: Frame = { name: tag.name, replaced };
      if (set === 'no' || set === 'locked') {
        const infinity = Number.POSITIVE_INFINITY;
        frame.kept = {
          end: infinity,
          contentEnd: infinity,
          reopened: false,
          contentStart: tag.end,
          locked: set === 'locked',
        };
        kept.set(tag.start, frame.kept);
        if (!isBlock) pending.push(frame);
        if (origval !== undefined) frame.origval = origval;
      } else if (set === 'yes') {
        for (const other of stack.frames()) if (other.kept) other.kept.reopened = true;
      }
      stack.push(frame, tag.start);
    },
    endTag(name, start, end) {
      if (blocks.has(name) || controls.has(name)) border(start);
      finish(stack.close(name), name, start, end);
    },
    text() {},
    other() {},
  });
  border(text.length);
  finish(stack.closeAll(), undefined, text.length, text.length);
  return { kept, patches };
}

function originalValue(tag: Tag, text: string): string | undefined {
  const value = tag.attributes.get('origval');
  if (!value?.includes('\ue000')) return value;
  const range = tag.range('origval')!;
  const raw = text.slice(range.start, range.end).replace(/^[^=]*=\s*/, '');
  return raw.replace(/^(["'])([\s\S]*)\1$/, '$2').replace(/&#?\w+;/g, (found) => decodeReference(found));
}
