/** `notranslate` elements that stand in the text of an XLIFF unit, escaped or in CDATA, and get their `origval`. */

import type { Document, Patch, Unit } from './document.ts';
import { hasNotranslate } from './escaped.ts';
import { escapeMarkup, escapeSection } from './escapes.ts';
import { voids } from './html-elements.ts';
import { tokenize } from './markup.ts';
import { isText, type Run, rawRuns, type TextRun } from './runs.ts';

/** The contents to replace when the unit is copied to its target. */
export function escapedPatches(
  document: Document,
  unit: Unit,
  sections: readonly { start: number; end: number }[],
): Patch[] {
  const raw = document.text.slice(unit.start, unit.end);
  if (!raw.includes('notranslate') || !raw.includes('origval')) return [];
  const runs = rawRuns({ ...document, sections }, unit);
  const inSection = (offset: number) =>
    unit.form.startsWith('cdata') ||
    sections.some((section) => section.start <= offset && offset < section.end);
  const patches: Patch[] = [];
  for (const stretch of textStretches(runs)) {
    const text = stretch.map((run) => run.text).join('');
    for (const { from, to, value } of contents(text)) {
      const start = rawOffset(stretch, from, unit);
      const end = from === to ? start : rawOffset(stretch, to, unit, true);
      const html = escapeMarkup(value);
      patches.push({ start, end, text: inSection(start) ? escapeSection(html) : escapeMarkup(html) });
    }
  }
  return patches;
}

/** Text runs between codes. Line breaks are part of the text here. */
function textStretches(runs: readonly Run[]): TextRun[][] {
  const found: TextRun[][] = [[]];
  for (const run of runs) {
    if (isText(run)) found.at(-1)!.push(run);
    else if (run.code.kind === 'gap' && run.code.number === 0) {
      found.at(-1)!.push({ text: '\n', start: run.start, end: run.end, whole: true });
    } else found.push([]);
  }
  return found.filter((stretch) => stretch.length > 0);
}

function rawOffset(stretch: readonly TextRun[], offset: number, unit: Unit, asEnd = false): number {
  let before = 0;
  for (const run of stretch) {
    const inside = offset - before;
    if (asEnd ? inside <= run.text.length : inside < run.text.length) {
      if (run.whole) return asEnd ? run.end : run.start;
      return run.start + inside;
    }
    before += run.text.length;
  }
  return stretch.at(-1)?.end ?? unit.end;
}

/** The contents of `notranslate` elements with an `origval`, outermost first, in a decoded text. */
function contents(text: string): { from: number; to: number; value: string }[] {
  const found: { from: number; to: number; value: string }[] = [];
  let open: { name: string; depth: number; from: number; value: string } | undefined;
  tokenize(text, {
    startTag(tag) {
      if (voids.has(tag.name) || tag.selfClosing) return;
      if (open) {
        if (tag.name === open.name) open.depth += 1;
        return;
      }
      const value = tag.attributes.get('origval');
      if (value === undefined || !hasNotranslate(tag.attributes.get('class'))) return;
      open = { name: tag.name, depth: 1, from: tag.end, value };
    },
    endTag(name, start) {
      if (!open || name !== open.name) return;
      open.depth -= 1;
      if (open.depth > 0) return;
      found.push({ from: open.from, to: start, value: open.value });
      open = undefined;
    },
    text() {},
    other() {},
  });
  if (open) found.push({ from: open.from, to: text.length, value: open.value });
  return found;
}
