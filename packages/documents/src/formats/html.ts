/**
 * Scans HTML documents and fragments. This is the second pass over the tokens: block elements separate units, inline
 * elements become codes in units, and attributes with visible text become separate units.
 */

import { shorten, writesValue } from '../codes/codes.ts';
import { plainHtml } from '../codes/escaped.ts';
import {
  blocks,
  controls,
  opaque,
  preformatted,
  textAttributes,
  textElementOf,
  voids,
} from '../codes/html-elements.ts';
import { decodeReference, recordTokens, replay, type Tag, tokenize } from '../codes/markup.ts';
import {
  type Code,
  type Document,
  emptyDocument,
  errorAt,
  type Form,
  type TextElement,
  type Unit,
} from '../model/document.ts';
import { Languages } from '../model/languages.ts';
import { Limits } from '../model/limits.ts';
import { primaryLanguage } from '../model/scripts.ts';
import { findKept, type KeptElement, mayKeep, switchOf, type Walk } from './html-kept.ts';
import { Stack } from './html-stack.ts';

interface Frame {
  name: string;
  /** True inside an element that is not translated. */
  off: boolean;
  /** True inside an element that preserves white space. */
  pre: boolean;
  /** The language that the element or its nearest ancestor declares. */
  language: string | undefined;
  /** The kind of the element's text, set by the innermost element that determines it. */
  element: TextElement | undefined;
  /** The code of the element's start tag, and the number of the unit that contains it. */
  code?: Code;
  unit?: number;
}

/**
 * Scans HTML. Malformed HTML is accepted.
 *
 * @throws DocumentError when a limit is exceeded
 */
export function scanHtml(text: string, setsLanguage = false): Document {
  const document = emptyDocument('html', text);
  const ranges = templates(text);
  // `</1>` belongs to a tag of a program, and is no comment.
  const html = masked(text, ranges).replace(/<\/\d{1,3}>/g, (found) => '\ue000'.repeat(found.length));
  let kept = new Map<number, KeptElement>();
  let walk: Walk = (visitor) => tokenize(html, visitor);
  if (mayKeep(html)) {
    const tokens = recordTokens(html);
    walk = (visitor) => replay(tokens, visitor);
    const found = findKept(walk, text);
    kept = found.kept;
    document.patches = found.patches;
  }
  const scanner = new Scanner(text, kept, ranges);
  document.units = scanner.scan(walk);
  document.languages = scanner.languages.changes;
  if (setsLanguage && scanner.root !== undefined) document.root = scanner.root;
  return document;
}

/**
 * Returns the language of an element's content and attributes. The declaration of the root element is ignored, because
 * in many pages it names the language of the template, and nothing would be translated.
 */
function languageOf({ name, attributes }: Tag, outer: string | undefined): string | undefined {
  const tag = attributes.get('lang') ?? attributes.get('xml:lang');
  if (tag === undefined || name === 'html' || name === 'body') return outer;
  return primaryLanguage(tag);
}

class Scanner {
  readonly languages = new Languages();
  /** The start tag of the root element. */
  root: { start: number; end: number } | undefined;
  readonly #text: string;
  readonly #kept: Map<number, KeptElement>;
  readonly #stack: Stack<Frame>;
  readonly #units: Unit[] = [];
  readonly #templates: { start: number; end: number }[];
  #template = 0;

  /**
   * The number of the current unit. It is stored at each start tag and compared at the end tag, because the
   * two tags form a pair only within one unit.
   */
  #serial = 0;
  #start = -1;
  #end = -1;
  #codes: Code[] = [];
  #number = 0;
  #letters = false;
  #breaks = 0;
  #form: Form = 'html';
  #element: TextElement | undefined;

  /** Tokens before this offset are inside an element that is not translated. */
  #skipTo = 0;
  /** The element whose raw content is being skipped, and where it starts. */
  #raw: { name: string; start: number } | undefined;

  constructor(text: string, kept: Map<number, KeptElement>, ranges: { start: number; end: number }[]) {
    this.#text = text;
    this.#kept = kept;
    this.#stack = new Stack(text);
    this.#templates = ranges;
  }

  scan(walk: Walk): Unit[] {
    walk({
      startTag: (tag) => this.#startTag(tag),
      endTag: (name, start, end) => this.#endTag(name, start, end),
      text: (start, end) => this.#chars(start, end),
      other: (start, end) => {
        if (start >= this.#skipTo && !this.#raw && this.#start >= 0) this.#code('single', start, end);
      },
    });
    this.#flush();
    this.#units.sort((a, b) => a.start - b.start || b.end - a.end);
    for (let i = 0; i < this.#units.length; i += 1) this.#units[i]!.index = i;
    return this.#units;
  }

  #startTag(tag: Tag): void {
    if (tag.start < this.#skipTo || this.#raw) return;
    if (tag.attributes.size > Limits.attributes) {
      throw errorAt(this.#text, tag.start, `A tag has more than ${Limits.attributes} attributes.`);
    }
    if (tag.end - tag.start > Limits.htmlTag) {
      throw errorAt(this.#text, tag.start, `A tag is longer than ${Limits.htmlTag} characters.`);
    }
    const { name } = tag;
    if (name === 'html') this.root ??= { start: tag.start, end: tag.end };
    this.#stack.implied(name);
    const isBlock = blocks.has(name) || controls.has(name);
    if (isBlock) this.#flush();
    const outer = this.#stack.top;
    const language = languageOf(tag, outer?.language);
    this.languages.note(tag.start, language);
    const set = switchOf(tag);
    const kept = this.#kept.get(tag.start);
    const off = set === 'yes' ? false : set !== undefined || (outer?.off ?? false);
    if (kept && (set === 'locked' || set === 'no') && (set === 'locked' || !kept.reopened)) {
      this.#skipTo = kept.end;
      if (!isBlock) {
        const seen = plainHtml(this.#text.slice(tag.end, kept.contentEnd));
        this.#code('keep', tag.start, kept.end, shorten(seen));
      }
      this.languages.note(kept.end, outer?.language);
      return;
    }
    if (!off) for (const attribute of textAttributes(tag)) this.#attribute(tag, attribute);
    if (opaque.has(name) && !tag.selfClosing) {
      this.#raw = { name, start: tag.start };
      this.languages.note(tag.end, outer?.language);
      return;
    }
    if (voids.has(name) || tag.selfClosing) {
      if (name === 'br') this.#lineBreak(tag);
      else if (!isBlock) this.#code(name === 'input' ? 'gap' : 'single', tag.start, tag.end);
      this.languages.note(tag.end, outer?.language);
      return;
    }
    const frame: Frame = {
      name,
      off,
      pre: preformatted.has(name) || (outer?.pre ?? false),
      language,
      element: textElementOf(name) ?? outer?.element,
    };
    if (!isBlock) {
      frame.code = this.#code('single', tag.start, tag.end);
      frame.unit = this.#serial;
    }
    this.#stack.push(frame, tag.start);
  }

  #endTag(name: string, start: number, end: number): void {
    if (start < this.#skipTo) return;
    if (this.#raw) {
      if (name !== this.#raw.name) return;
      if (!blocks.has(name) && this.#start >= 0) this.#code('single', this.#raw.start, end);
      this.#raw = undefined;
      return;
    }
    const isBlock = blocks.has(name) || controls.has(name);
    if (isBlock) this.#flush();
    const frame = this.#stack.close(name).at(-1);
    this.languages.note(end, this.#stack.top?.language);
    if (isBlock) return;
    if (name === 'br') {
      this.#code('gap', start, end);
      return;
    }
    const code = this.#code('single', start, end);
    // If both tags are in the same unit, they form a pair. Otherwise each tag is a single code.
    if (code && frame?.code && frame.unit === this.#serial) {
      frame.code.kind = 'open';
      code.kind = 'close';
      code.number = frame.code.number;
    }
  }

  #chars(start: number, end: number): void {
    if (start < this.#skipTo || this.#raw) return;
    let position = start;
    while (this.#template < this.#templates.length && this.#templates[this.#template]!.start < end) {
      const found = this.#templates[this.#template]!;
      this.#template += 1;
      if (found.start < position) continue; // A template inside a tag belongs to the tag and is skipped.
      this.#words(position, found.start);
      const template = this.#text.slice(found.start, found.end);
      if (writesValue.test(template)) this.#code('keep', found.start, found.end, shorten(template));
      else this.#code('gap', found.start, found.end);
      position = found.end;
    }
    this.#words(position, end);
  }

  /** Adds text to the current unit. CDATA sections in the text (in `svg`) become protected words. */
  #words(start: number, end: number): void {
    const words = this.#text.slice(start, end);
    let position = 0;
    for (let open = words.indexOf('<![CDATA['); open >= 0; open = words.indexOf('<![CDATA[', position)) {
      this.#plainWords(start + position, start + open);
      const close = words.indexOf(']]>', open);
      position = close < 0 ? words.length : close + 3;
      this.#code('keep', start + open, start + position, shorten(words.slice(open + 9, position)));
    }
    this.#plainWords(start + position, end);
  }

  #plainWords(start: number, end: number): void {
    if (end <= start) return;
    const words = this.#text.slice(start, end);
    const blank = !/[^ \t\n\f\r]/.test(words);
    if (blank && this.#start < 0) return;
    const frame = this.#stack.top;
    if (frame?.off) {
      if (!blank) this.#code('keep', start, end, shorten(plainHtml(words)));
      return;
    }
    if (!blank) this.#breaks = 0;
    this.#begin(start, end);
    if (!this.#letters) this.#letters = /\p{L}/u.test(words);
    if (this.#letters && end - this.#start > Limits.unit) {
      throw errorAt(this.#text, this.#start, `A paragraph is longer than ${Limits.unit} characters.`);
    }
  }

  #begin(start: number, end: number): void {
    if (this.#start < 0) {
      this.#start = start;
      this.#form = this.#stack.top?.pre ? 'pre' : 'html';
      this.#element = this.#stack.top?.element;
    }
    this.#end = end;
  }

  #code(kind: Code['kind'], start: number, end: number, text?: string): Code {
    // The unit has too many codes. A new unit is started, so that a page with a long list of links is not rejected.
    if (this.#codes.length >= Limits.codes) this.#flush();
    this.#begin(start, end);
    this.#number += 1;
    const code: Code = { kind, number: this.#number, start, end };
    if (text !== undefined) code.text = text;
    this.#codes.push(code);
    return code;
  }

  /** Handles `<br>`: a line break ends a sentence, and two in a row end the unit. */
  #lineBreak(tag: Tag): void {
    this.#breaks += 1;
    if (this.#breaks > 1) this.#flush();
    else if (this.#start >= 0) this.#code('gap', tag.start, tag.end);
  }

  #attribute(tag: Tag, attribute: string): void {
    const range = tag.range(attribute);
    if (!range) return;
    const raw = this.#text.slice(range.start, range.end);
    const head = /^[^=]*=[ \t\n\f\r]*(["']?)/.exec(raw);
    if (!head) return;
    const start = range.start + head[0].length;
    const end = range.end - (head[1] === '' ? 0 : 1);
    const value = this.#text.slice(start, end);
    if (!/\p{L}/u.test(value)) return;
    // In an attribute, a reference without `;` may be literal text (HTML standard §13.2.5.73). Such values are rare
    // and are not translated.
    if (
      value.includes('&') &&
      decodeReference(value) !== decodeReference(value.replace(/&(?!#?\w+;)/g, '&amp;'))
    ) {
      return;
    }
    if (value.length > Limits.unit) return;
    const quote = head[1] as '"' | "'" | '';
    // The value of an `input` is the label of a button.
    const element = attribute === 'value' ? 'button' : 'attribute';
    this.#add({ form: 'attribute', start, end, codes: [], quote, element });
  }

  #flush(): void {
    if (this.#letters) {
      const element = this.#element === undefined ? {} : { element: this.#element };
      this.#add({ form: this.#form, start: this.#start, end: this.#end, codes: this.#codes, ...element });
    }
    this.#serial += 1;
    this.#start = -1;
    this.#end = -1;
    this.#codes = [];
    this.#number = 0;
    this.#letters = false;
    this.#breaks = 0;
  }

  #add(unit: Pick<Unit, 'form' | 'start' | 'end' | 'codes' | 'quote' | 'element'>): void {
    if (this.#units.length >= Limits.units) {
      throw errorAt(this.#text, unit.start, `The text has more than ${Limits.units} paragraphs.`);
    }
    this.#units.push({ index: 0, ...unit, translatable: true });
  }
}

/**
 * Matches the start of a template that cannot be prose: ERB, JSP and ASP tags with a sign after `<%` (such as
 * `<%=`), PHP, or an XML declaration.
 */
const marked = /<(?:%[=@!#-]|\?(?:=|php|xml))/iy;
/**
 * The maximum length of a template that starts with a bare `<%` or `<?`. A longer one, or one that contains a tag, is
 * prose.
 */
const longestBare = 2_000;
const tagStart = /<\/?[a-z]/gi;

/** Finds `<% … %>` and `<? … ?>`. The tokenizer would end them at the first `>`. */
function templates(text: string): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  if (!/<[%?]/.test(text)) return found;
  const after = {
    '%': nextOf((from) => text.indexOf('%>', from)),
    '?': nextOf((from) => text.indexOf('?>', from)),
    tag: nextOf((from) => {
      tagStart.lastIndex = from;
      return tagStart.exec(text)?.index ?? -1;
    }),
  };
  let position = 0;
  for (const { 0: opening, index: start } of text.matchAll(/<[%?]/g)) {
    if (start < position) continue;
    const close = after[opening[1] as '%' | '?'](start + 2);
    if (close === Number.POSITIVE_INFINITY) continue;
    marked.lastIndex = start;
    if (!marked.test(text) && (close - start > longestBare || after.tag(start + 2) < close)) continue;
    position = close + 2;
    found.push({ start, end: position });
  }
  return found;
}

/**
 * Wraps a search function so that each match is searched for only once. Callers must ask with ascending
 * offsets. The search returns infinity if there is no match.
 */
function nextOf(search: (from: number) => number): (from: number) => number {
  let next = -1;
  return (from) => {
    if (next < from) {
      next = search(from);
      if (next < 0) next = Number.POSITIVE_INFINITY;
    }
    return next;
  };
}

/** Replaces templates with placeholder characters of the same length, so that the tokenizer reads them as text. */
function masked(text: string, ranges: readonly { start: number; end: number }[]): string {
  if (ranges.length === 0) return text;
  const out: string[] = [];
  let position = 0;
  for (const { start, end } of ranges) {
    out.push(text.slice(position, start), '\ue000'.repeat(end - start));
    position = end;
  }
  out.push(text.slice(position));
  return out.join('');
}
