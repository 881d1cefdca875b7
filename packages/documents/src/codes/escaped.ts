/**
 * Finds HTML in the text of an XLIFF unit, where it is escaped (`&lt;b&gt;`) or in CDATA. HTML tags become codes and
 * are written back unchanged.
 */

import { type Range, shorten } from './codes.ts';
import { escapeMarkup } from './escapes.ts';
import { blocks, computed, controls, opaque, voids } from './html-elements.ts';
import { decodeReference, type Tag, tokenize } from './markup.ts';

const reference = /&(?:#\d+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);/g;
const knownTag =
  /<\/?(?:a|abbr|b|big|blockquote|br|button|cite|code|div|em|figure|font|h[1-6]|hr|i|img|label|li|ol|p|pre|script|section|small|span|strong|style|sub|sup|table|td|th|tr|tt|u|ul)(?=[\s/>])/i;

/**
 * Returns true if a decoded text is HTML, so that `&amp;` in it means `&`. A reference or a well-known tag
 * shows that it is HTML. A bare `&` outside tags shows that it is plain text, which was escaped only once, unless there are
 * both.
 */
export function isHtml(text: string): boolean {
  const visible = text.replace(/<[^<>]*>/g, '');
  const bare = visible.replace(reference, '');
  if (bare.includes('&') && (bare.length === visible.length || !knownTag.test(text))) return false;
  return bare.length < visible.length || knownTag.test(text);
}

/** Returns the tags, comments and (in HTML) character references of a decoded text. */
export function markupRanges(text: string, html: boolean): Range[] {
  const ranges: Range[] = [];
  if (text.includes('<')) tagRanges(text, ranges);
  if (!html || !text.includes('&')) return ranges;
  const references: Range[] = [];
  let next = 0;
  for (const match of text.matchAll(reference)) {
    const to = match.index + match[0].length;
    while (next < ranges.length && ranges[next]!.to <= match.index) next += 1;
    if (ranges[next] && ranges[next]!.from < to) continue;
    const decoded = decodeReference(match[0]);
    if (decoded !== match[0]) references.push({ from: match.index, to, text: decoded });
  }
  return [...ranges, ...references].sort((a, b) => a.from - b.from);
}

function tagRanges(text: string, ranges: Range[]): void {
  /** Start tags whose end tag has not been found yet, with their index in `ranges`. */
  const open: { name: string; at: number }[] = [];
  /** The number of open tags of each name. With it, a stray end tag needs no search. */
  const count = new Map<string, number>();
  let kept: { name: string; depth: number; from: number; to: number; gap: boolean } | undefined;
  let serial = 0;
  const single = (from: number, to: number, name = '') => {
    if (!kept) ranges.push({ from, to, code: { kind: separates(name) ? 'gap' : 'single' } });
  };
  const endKept = (from: number, to: number) => {
    const seen = shorten(plainHtml(text.slice(kept!.to, from)));
    ranges.push({ from: kept!.from, to, code: kept!.gap ? { kind: 'gap' } : { kind: 'keep', text: seen } });
    kept = undefined;
  };
  // `%<name>` is a variable of Ruby, and `</1>` a tag of a program, not of HTML.
  const masked = text.replace(/%<\w{1,60}>|<\/\d{1,3}>/g, (found) => '\ue000'.repeat(found.length));
  tokenize(masked, {
    startTag(tag) {
      if (kept) {
        if (tag.name === kept.name && !tag.selfClosing && !voids.has(tag.name)) kept.depth += 1;
        return;
      }
      if (tag.selfClosing && !voids.has(tag.name) && isKept(tag)) {
        ranges.push({ from: tag.start, to: tag.end, code: { kind: 'keep', text: '' } });
        return;
      }
      if (voids.has(tag.name) || tag.selfClosing) {
        single(tag.start, tag.end, tag.name);
        return;
      }
      if (isKept(tag) || opaque.has(tag.name)) {
        kept = { name: tag.name, depth: 1, from: tag.start, to: tag.end, gap: separates(tag.name) };
        return;
      }
      if (separates(tag.name)) {
        single(tag.start, tag.end, tag.name);
        return;
      }
      ranges.push({ from: tag.start, to: tag.end, code: { kind: 'single' } });
      open.push({ name: tag.name, at: ranges.length - 1 });
      count.set(tag.name, (count.get(tag.name) ?? 0) + 1);
    },
    endTag(name, start, end) {
      if (kept) {
        if (name !== kept.name) return;
        kept.depth -= 1;
        if (kept.depth === 0) endKept(start, end);
        return;
      }
      if (!count.get(name)) {
        single(start, end, name);
        return;
      }
      let tag = open.pop()!;
      while (tag.name !== name) {
        count.set(tag.name, count.get(tag.name)! - 1);
        tag = open.pop()!;
      }
      count.set(name, count.get(name)! - 1);
      serial += 1;
      const opened = ranges[tag.at]!;
      opened.code = { kind: 'open' };
      opened.pair = serial;
      ranges.push({ from: start, to: end, code: { kind: 'close' }, pair: serial });
    },
    text() {},
    other: (start, end) => single(start, end),
  });
  // A `notranslate` element without an end tag extends to the end of the text.
  if (kept) endKept(text.length, text.length);
}

/** Returns true if an element separates sentences, as a paragraph and a line break do. */
export function separates(name: string): boolean {
  return name === 'br' || name === 'input' || opaque.has(name) || blocks.has(name) || controls.has(name);
}

/** Returns the text that replaces the `/>` of an empty element, so that the element can have content. */
export function endWithContent(element: string, value: string): string {
  const name = /^<([^\s/>]+)/.exec(element)![1]!;
  return `>${escapeMarkup(value)}</${name}>`;
}

/** Returns true if an element has the class `notranslate` or `translate="no"`, in any letter case, or contains code. */
function isKept({ name, attributes }: Tag): boolean {
  if (hasNotranslate(attributes.get('class'))) return true;
  const translate = attributes.get('translate')?.trim().toLowerCase();
  return translate === 'no' || (computed.has(name) && translate !== 'yes' && translate !== '');
}

/** Returns true if a class says `notranslate`, or that the text is the name of an icon, which a font replaces. */
export function hasNotranslate(className: string | undefined): boolean {
  return (
    className !== undefined &&
    /(?:^|\s)(?:notranslate|material-(?:icons|symbols)(?:-\w+)?)(?:\s|$)/i.test(className)
  );
}

/** Returns the visible text of HTML, with tags removed, references decoded and white space collapsed. */
export function plainHtml(html: string): string {
  const tagless = html.includes('<') ? html.replace(/<[^<>]*>/g, '') : html;
  return tagless
    .replace(/&#?\w+;/g, (found) => decodeReference(found))
    .replace(/\s+/g, ' ')
    .trim();
}
