/**
 * Finds HTML elements with the class `notranslate` and the attribute `origval` in XLIFF text, where HTML is
 * escaped or in CDATA. The value of `origval` replaces their content.
 */

import { endWithContent, hasNotranslate } from '../codes/escaped.ts';
import { escapeMarkup, escapeSection } from '../codes/escapes.ts';
import { voids } from '../codes/html-elements.ts';
import { tokenize } from '../codes/markup.ts';
import type { Document, Patch, Unit } from '../model/document.ts';
import { firstSection, isText, type Run, rawRuns, type TextRun } from '../segments/runs.ts';

/** Returns the replacements to apply when a unit is copied to its target. */
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
  return textStretches(runs).flatMap((stretch) => patchesOf(stretch, inSection).patches);
}

/** Returns the replacements for a text, and the element that is still open at its end. */
function patchesOf(
  stretch: readonly TextRun[],
  inSection: (offset: number) => boolean,
): { patches: Patch[]; open: OpenElement | undefined } {
  const { found, open } = contents(stretch.map((run) => run.text).join(''));
  const offsets = new RawOffsets(stretch);
  const patches = found.map(({ from, to, html }): Patch => {
    const start = offsets.startAt(from);
    const end = from === to ? start : offsets.endAt(to);
    return { start, end, text: inSection(start) ? escapeSection(html) : escapeMarkup(html) };
  });
  return { patches, open };
}

/** The HTML markup that an XLIFF element `bpt`, `ept`, `it` or `ph` contains (its native code). */
export interface NativeMarkup {
  /** The content of the XLIFF element after decoding. */
  text: string;
  /** The replacements for `notranslate` elements that begin and end in this XLIFF element. */
  patches: Patch[];
  /** A `notranslate` element that begins in this XLIFF element and ends in another one. */
  open?: OpenElement;
}

/**
 * Reads the native code (the content of an inline XLIFF element) between two offsets. Returns undefined if it
 * contains elements (`sub`).
 */
export function readNative(document: string, start: number, end: number): NativeMarkup | undefined {
  const raw = document.slice(start, end);
  const isSection = raw.startsWith('<![CDATA[') && raw.indexOf(']]>') === raw.length - 3;
  if (raw.includes('<') && !isSection) return undefined;
  const unit = isSection
    ? { form: 'cdata-kept' as const, start: start + 9, end: end - 3, codes: [] }
    : { form: 'xml-kept' as const, start, end, codes: [] };
  const runs = rawRuns({ text: document, sections: [] }, { index: 0, translatable: false, ...unit });
  const stretch = textStretches(runs)[0] ?? [];
  const text = stretch.map((run) => run.text).join('');
  const { patches, open } = patchesOf(stretch, () => isSection);
  // The last patch belongs to an element that is still open here. It is left out, because the element ends in
  // another native code.
  if (open === undefined) return { text, patches };
  return { text, patches: patches.slice(0, -1), open };
}

/** Returns how many elements of a name are open after a text. Returns 0 as soon as all are closed. */
export function depthAfter(text: string, name: string, depth: number): number {
  let open = depth;
  tokenize(text, {
    startTag(tag) {
      if (open > 0 && tag.name === name && !tag.selfClosing) open += 1;
    },
    endTag(ended) {
      if (open > 0 && ended === name) open -= 1;
    },
    text() {},
    other() {},
  });
  return open;
}

/** Returns the texts between codes. Line breaks count as text here. */
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

/** Maps offsets in the decoded text to offsets in the document. Callers must ask for offsets in ascending order. */
class RawOffsets {
  readonly #stretch: readonly TextRun[];
  #index = 0;
  /** The number of decoded characters before the run at `#index`. */
  #before = 0;

  constructor(stretch: readonly TextRun[]) {
    this.#stretch = stretch;
  }

  /** Returns where the character at a decoded offset starts in the document. */
  startAt(offset: number): number {
    const run = this.#reach(offset + 1);
    return run === undefined
      ? this.#stretch.at(-1)!.end
      : run.whole
        ? run.start
        : run.start + offset - this.#before;
  }

  /** Returns where the character before a decoded offset ends in the document. */
  endAt(offset: number): number {
    const run = this.#reach(offset);
    return run === undefined
      ? this.#stretch.at(-1)!.end
      : run.whole
        ? run.end
        : run.start + offset - this.#before;
  }

  /**
   * Advances to the text run in which a decoded offset lies, and returns it. At a border, this is the earlier
   * run.
   */
  #reach(offset: number): TextRun | undefined {
    for (;;) {
      const run = this.#stretch[this.#index];
      if (run === undefined || offset - this.#before <= run.text.length) return run;
      this.#before += run.text.length;
      this.#index += 1;
    }
  }
}

/**
 * An element with the class `notranslate` and the attribute `origval`, whose end tag has not been found yet.
 */
export interface OpenElement {
  name: string;
  depth: number;
  from: number;
  value: string;
}

/**
 * Finds the elements with the class `notranslate` and the attribute `origval` in a decoded text. Returns
 * their contents, outermost first, with the replacements. An unclosed element extends to the end of the text.
 */
function contents(text: string): {
  found: { from: number; to: number; html: string }[];
  open: OpenElement | undefined;
} {
  const found: { from: number; to: number; html: string }[] = [];
  let open: OpenElement | undefined;
  tokenize(text, {
    startTag(tag) {
      if (voids.has(tag.name)) return;
      if (open) {
        if (tag.name === open.name && !tag.selfClosing) open.depth += 1;
        return;
      }
      const value = tag.attributes.get('origval');
      if (value === undefined || !hasNotranslate(tag.attributes.get('class'))) return;
      if (tag.selfClosing) {
        found.push({
          from: tag.end - 2,
          to: tag.end,
          html: endWithContent(text.slice(tag.start, tag.end), value),
        });
      } else open = { name: tag.name, depth: 1, from: tag.end, value };
    },
    endTag(name, start) {
      if (!open || name !== open.name) return;
      open.depth -= 1;
      if (open.depth > 0) return;
      found.push({ from: open.from, to: start, html: escapeMarkup(open.value) });
      open = undefined;
    },
    text() {},
    other() {},
  });
  if (open !== undefined) {
    const { from, value } = open as OpenElement;
    found.push({ from, to: text.length, html: escapeMarkup(value) });
  }
  return { found, open };
}
