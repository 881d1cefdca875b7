/** `notranslate` elements that stand in the text of an XLIFF unit, escaped or in CDATA, and get their `origval`. */

import type { Document, Patch, Unit } from './document.ts';
import { hasNotranslate } from './escaped.ts';
import { escapeMarkup, escapeSection } from './escapes.ts';
import { voids } from './html-elements.ts';
import { tokenize } from './markup.ts';
import { firstSection, isText, type Run, rawRuns, type TextRun } from './runs.ts';

/** The contents to replace when the unit is copied to its target. */
export function escapedPatches(
  document: Document,
  unit: Unit,
  sections: readonly { start: number; end: number }[],
): Patch[] {
  const raw = document.text.slice(unit.start, unit.end);
  if (!raw.includes('notranslate') || !raw.includes('origval')) return [];
  const source = { text: document.text, sections };
  const runs = rawRuns(source, unit);
  const inSection = (offset: number) => {
    if (unit.form.startsWith('cdata')) return true;
    const section = sections[firstSection(source, offset)];
    return section !== undefined && section.start <= offset;
  };
  const patches: Patch[] = [];
  for (const stretch of textStretches(runs)) {
    const text = stretch.map((run) => run.text).join('');
    const offsets = new RawOffsets(stretch, unit.end);
    for (const { from, to, value } of contents(text)) {
      const start = offsets.startAt(from);
      const end = from === to ? start : offsets.endAt(to);
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

/** From offsets in the text of a stretch, asked in ascending order, to offsets in the document. */
class RawOffsets {
  readonly #stretch: readonly TextRun[];
  readonly #last: number;
  #index = 0;
  /** Characters of the text before the run at `#index`. */
  #before = 0;

  constructor(stretch: readonly TextRun[], last: number) {
    this.#stretch = stretch;
    this.#last = stretch.at(-1)?.end ?? last;
  }

  /** Where the character at an offset begins. */
  startAt(offset: number): number {
    const run = this.#reach(offset + 1);
    return run === undefined ? this.#last : run.whole ? run.start : run.start + offset - this.#before;
  }

  /** Where the character before an offset ends. */
  endAt(offset: number): number {
    const run = this.#reach(offset);
    return run === undefined ? this.#last : run.whole ? run.end : run.start + offset - this.#before;
  }

  /** The run that holds the text up to an offset. */
  #reach(offset: number): TextRun | undefined {
    for (;;) {
      const run = this.#stretch[this.#index];
      if (run === undefined || offset - this.#before <= run.text.length) return run;
      this.#before += run.text.length;
      this.#index += 1;
    }
  }
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
