/**
 * The inline elements of a `source` or `seg-source`, as codes (XLIFF 1.2 §2.4 and the element reference of §3).
 *
 * A capture is either open (text and codes are collected) or opaque (inside native code or a protected element:
 * nothing counts but the `sub` elements of native code, which hold texts of their own).
 */

import { shorten } from './codes.ts';
import type { Code, Patch } from './document.ts';
import { hasNotranslate, plainHtml } from './escaped.ts';
import { escapeMarkup } from './escapes.ts';
import type { Attributes } from './xliff-units.ts';

type Ends = (start: number, end: number) => void;

/** A text inside native code (`sub`). */
export interface SubText {
  start: number;
  end: number;
  codes: Code[];
}

const native = new Set(['bpt', 'ept', 'ph', 'it']);

export class Capture {
  readonly codes: Code[] = [];
  readonly subs: SubText[] = [];
  /** Number of `mrk mtype="seg"` seen. */
  segments = 0;

  readonly #text: string;
  readonly #segmented: boolean;
  readonly #addPatch: (patch: Patch) => void;
  /** Codes that await their other half, by kind and `rid` or `id`. */
  readonly #ties = new Map<string, number>();
  #number = 0;
  #opaque = false;
  /** The text of a `sub` being captured; everything goes there. */
  #inner: Capture | undefined;
  /** In a seg-source: where the text outside segments began; undefined inside one. */
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

  /** An element inside. Returns what to do at its end tag. */
  open(local: string, attributes: Attributes, empty: boolean, start: number, end: number): Ends | undefined {
    if (this.#inner) return this.#inner.open(local, attributes, empty, start, end);
    if (this.#opaque) return local === 'sub' && !empty ? this.#sub(end) : undefined;
    if (hasNotranslate(attributes.class)) return this.#protected(attributes, empty, start, end);
    if (local === 'mrk' && attributes.mtype === 'protected') {
      return this.#protected(attributes, empty, start, end);
    }
    if (local === 'mrk' && attributes.mtype === 'seg' && this.#segmented && !empty) return this.#segment(end);
    if (native.has(local)) return this.#native(local, attributes, empty, start, end);
    if (local === 'x') this.#placeholder(attributes, start, end);
    else if (local === 'bx') this.#half('open', 'bx', attributes, start, end);
    else if (local === 'ex') this.#half('close', 'bx', attributes, start, end);
    else if (empty) this.#code(local === 'br' ? 'gap' : 'single', start, end);
    else return this.#pair(start, end);
    // <x></x> is as good as <x/>.
    const code = this.codes.at(-1)!;
    return (_, close) => {
      code.end = Math.max(code.end, close);
    };
  }

  /** A comment or processing instruction. */
  standalone(start: number, end: number): void {
    if (this.#inner) this.#inner.standalone(start, end);
    else if (!this.#opaque) this.#code('single', start, end);
  }

  /** The end of the content. */
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

  /** `g`, a `mrk` that annotates, an element of another vocabulary. */
  #pair(start: number, end: number): Ends {
    const { number } = this.#code('open', start, end);
    return (closeStart, closeEnd) => {
      this.#code('close', closeStart, closeEnd, number);
    };
  }

  /** One half of a pair whose halves are elements of their own, tied by `rid` or, failing that, `id`. */
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

  /** `x`. Angular writes variables and paired tags as `x`, told apart by their ids. */
  #placeholder(attributes: Attributes, start: number, end: number): void {
    const id = attributes.id ?? '';
    const tag = /^(START|CLOSE)_(.+)$/.exec(id);
    if (attributes.ctype === 'lb' || id === 'LINE_BREAK') this.#code('gap', start, end);
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
    if (empty) return undefined;
    this.#opaque = true;
    return (_, close) => {
      this.#opaque = false;
      code.end = close;
    };
  }

  /** Kept whole; with `origval`, the copy in the target gets that value as its content. */
  #protected(attributes: Attributes, empty: boolean, start: number, end: number): Ends | undefined {
    if (empty) {
      this.#code('single', start, end);
      return undefined;
    }
    const code = this.#code('keep', start, end);
    this.#opaque = true;
    const { length } = this.subs;
    return (contentEnd, close) => {
      this.#opaque = false;
      this.subs.length = length;
      code.end = close;
      code.text = shorten(plainHtml(this.#text.slice(end, contentEnd)));
      const origval = attributes.origval;
      if (origval !== undefined && hasNotranslate(attributes.class)) {
        this.#addPatch({ start: end, end: contentEnd, text: escapeMarkup(origval) });
      }
    };
  }

  /** Everything since the last segment is between segments, its codes included. */
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
      // One by one: as arguments of one call, 100,000 of them would be too many.
      for (const sub of inner.subs) this.subs.push(sub);
    };
  }
}
