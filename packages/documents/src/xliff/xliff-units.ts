/**
 * Converts a trans-unit to a unit: decides what is translated and how the target is written. The rules follow
 * XLIFF 1.2 §2.5 and §3.2. Where the standard specifies nothing, they follow the practice of existing files.
 */

import { plainHtml } from '../codes/escaped.ts';
import {
  type Code,
  type Document,
  errorAt,
  type Form,
  type Patch,
  type Target,
  type TextElement,
  type Unit,
} from '../model/document.ts';
import { Limits } from '../model/limits.ts';
import { escapedPatches } from './escaped-patches.ts';
import type { Capture } from './xliff-inline.ts';

/** The attributes of a tag. Attributes that this package uses are declared by name. */
export interface Attributes {
  [name: string]: string | undefined;
  id?: string;
  rid?: string;
  resname?: string;
  restype?: string;
  class?: string;
  origval?: string;
  ctype?: string;
  mtype?: string;
  state?: string;
  approved?: string;
  translate?: string;
  maxwidth?: string;
  version?: string;
}

export interface Element {
  name: string;
  attributes: Attributes;
  start: number;
  end: number;
  contentStart: number;
  contentEnd: number;
  selfClosing: boolean;
  /** The white space and other text before the element in the document. */
  space: string;
  preserve: boolean;
}

export interface TransUnit {
  attributes: Attributes;
  translate: boolean;
  preserve: boolean;
  /** True if the tool that wrote the document has locked the unit. */
  locked: boolean;
  /** True if a target with the state `translated` is replaced. */
  retranslate: boolean;
  /** The number of segments that the tool has described so far. */
  definitions: number;
  notes: string[];
  /** The attribute `target-language` of the `file` element. */
  language: string | undefined;
  source?: Element & { capture: Capture };
  segSource?: Element & { capture: Capture };
  target?: Element;
  /** The target element, if the scan reads targets instead of sources. */
  read?: Element & { capture: Capture };
}

interface Section {
  start: number;
  end: number;
}

/** Adds the unit, and the texts inside its codes, to the document. A trans-unit without a source is ignored. */
export function finishUnit(
  document: Document,
  found: TransUnit,
  sections: Section[],
  patches: Patch[],
): void {
  const { source, segSource, read } = found;
  if (!source) return;
  const given = segSource && segSource.capture.segments > 0 ? segSource : source;
  const basis = read && hasText(document.text, read) ? read : given;
  const { capture } = basis;
  check(document.text, basis);
  const target = targetOf(document.text, found);
  const translatable = found.translate && target.action !== 'leave';
  const wrap = wholeSection(document.text, basis, sections);
  // If the whole content is one CDATA section, the section becomes the unit itself. It is therefore removed
  // from the list of sections inside units, where it is the last entry.
  if (wrap) sections.pop();
  const kept = basis.preserve;
  const unit: Unit = {
    index: document.units.length,
    form: `${wrap ? 'cdata' : 'xml'}${kept ? '-kept' : ''}` as Form,
    start: wrap?.start ?? basis.contentStart,
    end: wrap?.end ?? basis.contentEnd,
    codes: capture.codes,
    translatable,
    target: wrap ? wrapped(target, wrap.before, wrap.after) : target,
    ...details(found),
  };
  if (capture.segments > 0) unit.segmented = true;
  document.units.push(unit);
  for (const sub of capture.subs) {
    document.units.push({
      index: document.units.length,
      form: kept ? 'xml-kept' : 'xml',
      ...sub,
      translatable: translatable && sub.end > sub.start,
    });
  }
  patches.push(...escapedPatches(document, unit, sections));
}

function check(text: string, basis: Element & { capture: Capture }): void {
  if (basis.contentEnd - basis.contentStart > Limits.unit) {
    throw errorAt(text, basis.start, `A unit is longer than ${Limits.unit} characters.`);
  }
  if (basis.capture.codes.filter((code) => code.kind !== 'gap').length > Limits.codes) {
    throw errorAt(text, basis.start, `A unit has more than ${Limits.codes} inline elements.`);
  }
}

/** The kind of text for each resource type (XLIFF 1.2, attribute `restype`). */
const resourceTypes: Record<string, TextElement> = {
  heading: 'heading',
  listitem: 'list_item',
  cell: 'table_cell',
  linklabel: 'link',
  button: 'button',
  pushbutton: 'button',
  defpushbutton: 'button',
  togglebutton: 'button',
  userbutton: 'button',
};

type Details = Pick<Unit, 'name' | 'notes' | 'maxLength' | 'element'>;

function details(found: TransUnit): Details {
  const more: Details = {};
  const { restype = '' } = found.attributes;
  if (Object.hasOwn(resourceTypes, restype)) more.element = resourceTypes[restype]!;
  const name = found.attributes.resname ?? found.attributes.id;
  if (name) more.name = name;
  const notes = found.notes.map((note) => plainHtml(note)).filter((note) => note !== '');
  if (notes.length > 0) more.notes = notes;
  const width = Number(found.attributes.maxwidth);
  if (width > 0 && found.attributes['size-unit'] === 'char') more.maxLength = width;
  return more;
}

/** Matches the values of `state` that mark a target as unfinished. */
const undone = /^(?:new|needs-.*)$/;

function targetOf(text: string, found: TransUnit): Target {
  const { source, segSource, target } = found;
  if (!target) {
    const after = segSource ?? source!;
    const space = source!.attributes['xml:space'];
    return {
      action: 'insert',
      at: after.end,
      lead: indentOf(source!.space),
      name: `${source!.name.slice(0, source!.name.lastIndexOf(':') + 1)}target`,
      ...(source!.attributes['xml:lang'] === undefined ? {} : { lang: found.language ?? '' }),
      space: space === undefined ? '' : ` xml:space="${space}"`,
      before: '',
      after: '',
    };
  }
  const hadText = hasText(text, target);
  const state = target.attributes.state ?? '';
  const isConfirmed = /^(?:final|signed-off)$/.test(state) || found.attributes.approved === 'yes';
  const isDone = isConfirmed || (state === 'translated' && !found.retranslate);
  if (!found.translate || (hadText && found.locked)) return { action: 'leave' };
  if (hadText && isDone && !undone.test(state)) return { action: 'leave' };
  const raw = text.slice(target.start, target.contentStart);
  const open = (target.selfClosing ? `${raw.slice(0, -2).trimEnd()}>` : raw).replace(
    /(\sstate\s*=\s*)(["'])(?:new|needs-[^"']*)\2/,
    '$1$2translated$2',
  );
  const close = target.selfClosing ? `</${target.name}>` : text.slice(target.contentEnd, target.end);
  return {
    action: 'replace',
    start: target.start,
    end: target.end,
    before: open,
    after: close,
    hadText,
  };
}

function hasText(text: string, { contentStart, contentEnd }: Element): boolean {
  return (
    text
      .slice(contentStart, contentEnd)
      .replace(/<!\[CDATA\[|\]\]>|<[^<>]*>/g, '')
      .trim() !== ''
  );
}

/** Returns the line break and indent before an element, or `''` in a compact file. */
function indentOf(space: string): string {
  return /(?:\r\n|\n|\r)[ \t]*$/.exec(space)?.[0] ?? '';
}

/** Returns the CDATA section if it is the whole content. The target is then written as a CDATA section too. */
function wholeSection(
  text: string,
  basis: Element & { capture: Capture },
  sections: readonly Section[],
): { start: number; end: number; before: string; after: string } | undefined {
  const section = sections.at(-1);
  if (!section || section.start < basis.contentStart || section.end > basis.contentEnd) return undefined;
  const codes: readonly Code[] = basis.capture.codes;
  if (codes.length > 0) return undefined;
  const before = text.slice(basis.contentStart, section.start);
  const after = text.slice(section.end, basis.contentEnd);
  if ((before + after).trim() !== '') return undefined;
  return {
    start: section.start + 9,
    end: section.end - 3,
    before: `${before}<![CDATA[`,
    after: `]]>${after}`,
  };
}

function wrapped(target: Target, before: string, after: string): Target {
  if (target.action === 'leave') return target;
  return { ...target, before: target.before + before, after: after + target.after };
}
