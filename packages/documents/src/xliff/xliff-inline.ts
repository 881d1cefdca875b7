/**
 * Converts the inline elements of a `source` or `seg-source` to codes (XLIFF 1.2 §2.4 and the element reference of
 * §3).
 *
 * A `Capture` collects the content of a `source`, `seg-source` or `sub` element while it is read. Usually it collects
 * text and codes. Inside native code or a protected element, the capture is opaque: it collects only the `sub`
 * elements of native code, whose text is translated separately.
 */

import { shorten } from '../codes/codes.ts';
import { endWithContent, hasNotranslate, plainHtml, separates } from '../codes/escaped.ts';
import { escapeMarkup } from '../codes/escapes.ts';
import type { Code, Patch } from '../model/document.ts';
import { depthAfter, readNative } from './escaped-patches.ts';
import type { Attributes } from './xliff-units.ts';

type Ends = (start: number, end: number) => void;

/** A text inside the native code of an inline element (the element `sub`). */
export interface SubText {
  start: number;
  end: number;
  codes: Code[];
}

const native = new Set(['bpt', 'ept', 'ph', 'it']);
/** Elements that XLIFF 1.2 defines without content. */
const empties = new Set(['x', 'bx', 'ex']);

/**
 * A `notranslate` element whose start tag is in the native code of an inline element, and whose end tag has
 * not been found yet.
 */
interface KeptNative {
  code: Code;
  /** The index of the code in `codes`, and the number of sub texts and segments before it. */
  index: number;
  subs: number;
  segments: number;
  /** The `rid` or `id` that a `bpt` shares with its `ept`. Undefined for other elements. */
  tie: string | undefined;
  name: string;
  depth: number;
  value: string;
}

/** Returns an attribute by its local name, because some tools write XHTML attributes with a prefix (`h:class`). */
function attributeOf(attributes: Attributes, name: string): string | undefined {
  if (attributes[name] !== undefined) return attributes[name];
  const full = Object.keys(attributes).find((one) => one.endsWith(`:${name}`));
  return full === undefined ? undefined : attributes[full];
}

/** Matches the ids of the placeholders with which Angular stands for tags that separate paragraphs. */
const ANGULAR_BLOCK =
  /^(?:START|CLOSE)_(?:PARAGRAPH|HEADING_LEVEL\d|(?:UN)?ORDERED_LIST|LIST_ITEM|BLOCK_TAG_\w+|TABLE\w*|TAG_(?:DIV|SECTION|LABEL|BUTTON))(?:_\d+)?$|^HORIZONTAL_RULE/;

/** Returns true if a `ctype` such as `x-html-p` names an element that separates paragraphs. */
const isBlockType = (ctype = ''): boolean =>
  /^x-/.test(ctype) && separates(ctype.replace(/^x-(?:html-)?/, ''));

/** Returns true if the native code of an inline element is a tag that separates paragraphs. */
function isBlockMarkup(ctype: string | undefined, raw: string): boolean {
  const name = /^\s*(?:<!\[CDATA\[)?(?:<|&lt;|&#60;|&#x3c;)\/?([a-z][a-z\d-]{0,30})/i.exec(raw)?.[1];
  return isBlockType(ctype) || (name !== undefined && separates(name.toLowerCase()));
}

export class Capture {
  readonly codes: Code[] = [];
  readonly subs: SubText[] = [];
  /** The number of elements `mrk mtype="seg"` so far. */
  segments = 0;

  readonly #text: string;
  readonly #segmented: boolean;
  readonly #addPatch: (patch: Patch) => void;
  /** Codes whose other half has not been found yet, by kind and `rid` or `id`. */
  readonly #ties = new Map<string, number>();
  #number = 0;
  #opaque = false;
  #kept: KeptNative | undefined;
  /** The capture of the current `sub` element, which gets all events. */
  #inner: Capture | undefined;
  /** In a `seg-source`, the start of the text outside segments. Undefined inside a segment. */
  #outside: number | undefined;

  constructor(text: string, start: number, segmented: boolean, addPatch: (patch: Patch) => void) {
    this.#text = text;
    this.#segmented = segmented;
    this.#addPatch = addPatch;
    if (segmented) this.#outside = start;
  }

  get isOpaque(): boolean {
    return this.#inner ? this.#inner.isOpaque : this.#opaque;
  }

  /** Handles a start tag. Returns the handler of its end tag. */
  open(local: string, attributes: Attributes, empty: boolean, start: number, end: number): Ends | undefined {
    if (this.#inner) return this.#inner.open(local, attributes, empty, start, end);
    if (this.#opaque) return local === 'sub' && !empty ? this.#sub(end) : undefined;
    const isProtected = local === 'mrk' && attributes.mtype === 'protected';
    if (isProtected || hasNotranslate(attributeOf(attributes, 'class'))) {
      return this.#protected(local, attributes, empty, start, end);
    }
    if (local === 'mrk' && attributes.mtype === 'seg' && this.#segmented && !empty) return this.#segment(end);
    if (native.has(local)) return this.#native(local, attributes, empty, start, end);
    if (local === 'x') this.#placeholder(attributes, start, end);
    else if (local === 'bx') this.#half('open', 'bx', attributes, start, end);
    else if (local === 'ex') this.#half('close', 'bx', attributes, start, end);
    else if (empty) this.#code(local === 'br' ? 'gap' : 'single', start, end);
    else return this.#pair(isBlockType(attributes.ctype), start, end);
    // `<x></x>` is equivalent to `<x/>`, so the code extends to the end tag.
    const code = this.codes.at(-1)!;
    return (_, close) => {
      code.end = Math.max(code.end, close);
    };
  }

  /** Handles a comment or processing instruction. */
  standalone(start: number, end: number): void {
    if (this.#inner) this.#inner.standalone(start, end);
    else if (!this.#opaque) this.#code('single', start, end);
  }

  /** Handles the end of the `source` or `seg-source` element. */
  finish(end: number): void {
    if (this.segments > 0 && this.#outside !== undefined) this.#gap(this.#outside, end);
  }

  #code(kind: Code['kind'], start: number, end: number, number?: number): Code {
    if (number === undefined) {
      this.#number += 1;
      number = this.#number;
    }
    const code: Code = { kind, number, start, end };
    this.codes.push(code);
    return code;
  }

  /** Handles `g`, an annotating `mrk`, and elements of other vocabularies. */
  #pair(isBlock: boolean, start: number, end: number): Ends {
    const { number } = this.#code(isBlock ? 'gap' : 'open', start, end);
    return (closeStart, closeEnd) => {
      this.#code(isBlock ? 'gap' : 'close', closeStart, closeEnd, number);
    };
  }

  /**
   * Handles one half of a pair whose halves are separate elements. The halves are linked by `rid`, or by `id`
   * if there is no `rid`.
   */
  #half(kind: 'open' | 'close', family: string, attributes: Attributes, start: number, end: number): Code {
    const tie = `${family} ${attributes.rid ?? attributes.id ?? ''}`;
    if (kind === 'open') {
      const code = this.#code('open', start, end);
      code.tied = true;
      this.#ties.set(tie, code.number);
      return code;
    }
    const number = this.#ties.get(tie);
    this.#ties.delete(tie);
    const code = this.#code('close', start, end, number);
    code.tied = true;
    return code;
  }

  /** Handles `x`. Angular writes variables and paired tags as `x` with special ids. */
  #placeholder(attributes: Attributes, start: number, end: number): void {
    const id = attributes.id ?? '';
    const tag = /^(START|CLOSE)_(.+)$/.exec(id);
    const isGap = attributes.ctype === 'lb' || id === 'LINE_BREAK' || isBlockType(attributes.ctype);
    if (isGap || ANGULAR_BLOCK.test(id)) this.#code('gap', start, end);
    else if (/^(INTERPOLATION|ICU)(_\d+)?$/.test(id)) {
      const code = this.#code('keep', start, end);
      code.text = shorten(id.startsWith('ICU') ? '…' : (attributes['equiv-text'] ?? '…'));
    } else if (tag) this.#half(tag[1] === 'START' ? 'open' : 'close', 'x', { id: tag[2]! }, start, end);
    else this.#code('single', start, end);
  }

  #native(
    local: string,
    attributes: Attributes,
    empty: boolean,
    start: number,
    end: number,
  ): Ends | undefined {
    const lineBreak = attributes.ctype === 'lb';
    let code: Code;
    if (local === 'bpt') code = this.#half('open', 'bpt', attributes, start, end);
    else if (local === 'ept') code = this.#half('close', 'bpt', attributes, start, end);
    else code = this.#code(lineBreak ? 'gap' : 'single', start, end);
    const { length } = this.subs;
    if (empty) {
      this.#readNative(local, attributes, code, length, end, end);
      return undefined;
    }
    this.#opaque = true;
    return (contentEnd, close) => {
      this.#opaque = false;
      code.end = close;
      this.#readNative(local, attributes, code, length, end, contentEnd);
      if (code.kind !== 'keep' && isBlockMarkup(attributes.ctype, this.#text.slice(end, contentEnd))) {
        code.kind = 'gap';
        delete code.tied;
      }
    };
  }

  /**
   * Finds `notranslate` elements whose tags are in the native code of inline elements. Both tags may be in
   * one element or in two.
   */
  #readNative(
    local: string,
    attributes: Attributes,
    code: Code,
    subs: number,
    start: number,
    end: number,
  ): void {
    const tie = local === 'bpt' || local === 'ept' ? (attributes.rid ?? attributes.id ?? '') : undefined;
    const kept = this.#kept;
    const isOther = kept !== undefined && local === 'ept' && kept.tie === tie;
    if (!kept && !/notranslate/i.test(this.#text.slice(start, end))) return;
    const markup = readNative(this.#text, start, end);
    if (kept) {
      kept.depth = isOther ? 0 : depthAfter(markup?.text ?? '', kept.name, kept.depth);
      if (kept.depth === 0) this.#endKept(kept, code);
      return;
    }
    if (!markup) return;
    for (const patch of markup.patches) this.#addPatch(patch);
    if (markup.open) {
      const { name, depth, value } = markup.open;
      const index = this.codes.length - 1;
      this.#kept = { code, index, subs, segments: this.segments, tie, name, depth, value };
    } else if (markup.patches.length > 0 && code.kind === 'single') {
      code.kind = 'keep';
      code.text = shorten(plainHtml(markup.text));
    }
  }

  /**
   * Replaces the codes of an element with the class `notranslate`, from its start tag to its end tag, with one
   * protected word. Does nothing if only one half of another pair of codes is inside the element.
   */
  #endKept(kept: KeptNative, last: Code): void {
    this.#kept = undefined;
    const inside = this.codes.slice(kept.index);
    if (inside[0] !== kept.code || this.segments !== kept.segments) return;
    const halves = new Map<number, number>();
    for (const { kind, number } of inside) {
      if (kind === 'open' || kind === 'close') halves.set(number, (halves.get(number) ?? 0) + 1);
    }
    if ([...halves.values()].some((count) => count !== 2)) return;
    this.codes.length = kept.index;
    this.subs.length = kept.subs;
    const code = this.#code('keep', kept.code.start, last.end, kept.code.number);
    const texts = inside.slice(1).map((one, at) => this.#text.slice(inside[at]!.end, one.start));
    code.text = shorten(plainHtml(texts.join('')));
    this.#addPatch({ start: kept.code.end, end: last.start, text: escapeMarkup(kept.value) });
  }

  /**
   * Handles a protected element, which becomes a protected word. If it has an `origval`, its copy in the target gets
   * that value as content.
   */
  #protected(
    local: string,
    attributes: Attributes,
    empty: boolean,
    start: number,
    end: number,
  ): Ends | undefined {
    const origval = hasNotranslate(attributeOf(attributes, 'class'))
      ? attributeOf(attributes, 'origval')
      : undefined;
    if (empty && (origval === undefined || empties.has(local))) {
      this.#code('single', start, end);
      return undefined;
    }
    const code = this.#code('keep', start, end);
    if (empty) {
      code.text = '';
      this.#addPatch({ start: end - 2, end, text: endWithContent(this.#text.slice(start, end), origval!) });
      return undefined;
    }
    this.#opaque = true;
    const { length } = this.subs;
    return (contentEnd, close) => {
      this.#opaque = false;
      this.subs.length = length;
      code.end = close;
      code.text = shorten(plainHtml(this.#text.slice(end, contentEnd)));
      if (origval !== undefined) {
        this.#addPatch({ start: end, end: contentEnd, text: escapeMarkup(origval) });
      }
    };
  }

  /** Starts a segment. The text and codes since the last segment become a gap. */
  #segment(end: number): Ends {
    this.segments += 1;
    this.#gap(this.#outside!, end);
    this.#outside = undefined;
    return (start) => {
      this.#outside = start;
    };
  }

  #gap(start: number, end: number): void {
    while (this.codes.length > 0 && this.codes.at(-1)!.start >= start) this.codes.pop();
    if (end > start) this.#code('gap', start, end);
  }

  #sub(start: number): Ends {
    const inner = new Capture(this.#text, start, false, this.#addPatch);
    this.#inner = inner;
    return (end) => {
      this.#inner = undefined;
      this.subs.push({ start, end, codes: inner.codes });
      // Adds the texts in a loop, because one call cannot take 100,000 arguments.
      for (const sub of inner.subs) this.subs.push(sub);
    };
  }
}
