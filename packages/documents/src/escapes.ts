/**
 * Characters as a document writes them: reading character references and writing text back safely, for every form.
 */

import type { Form, Format } from './document.ts';
import { decodeReference } from './markup.ts';

/** How the raw characters of a form are read. */
export interface Reading {
  references: 'none' | 'html' | 'xml' | 'srt';
  /** `collapse`: runs of white space count as one space. `lines`: line breaks and tabs are borders. */
  space: 'collapse' | 'lines';
}

const readings: Record<Form, Reading> = {
  text: { references: 'none', space: 'lines' },
  srt: { references: 'srt', space: 'collapse' },
  html: { references: 'html', space: 'collapse' },
  pre: { references: 'html', space: 'lines' },
  attribute: { references: 'html', space: 'lines' },
  xml: { references: 'xml', space: 'collapse' },
  'xml-kept': { references: 'xml', space: 'lines' },
  cdata: { references: 'none', space: 'collapse' },
  'cdata-kept': { references: 'none', space: 'lines' },
};

export function readingOf(form: Form): Reading {
  return readings[form];
}

const xmlNames: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** One character reference, decoded; undefined when it is not one in this kind of text. */
export function readReference(raw: string, references: Reading['references']): string | undefined {
  if (references === 'none') return undefined;
  if (references === 'html') {
    const decoded = decodeReference(raw);
    return decoded === raw ? undefined : decoded;
  }
  if (!raw.endsWith(';')) return undefined;
  const body = raw.slice(1, -1);
  if (body.startsWith('#')) {
    const code = /^#x/i.test(body) ? Number.parseInt(body.slice(2), 16) : Number.parseInt(body.slice(1), 10);
    if (!(code > 0 && code <= 0x10ffff) || (code >= 0xd800 && code <= 0xdfff)) return undefined;
    return String.fromCodePoint(code);
  }
  if (Object.hasOwn(xmlNames, body)) return xmlNames[body];
  if (references === 'srt') {
    const decoded = decodeReference(raw);
    return decoded === raw ? undefined : decoded;
  }
  return undefined;
}

/** `&`, `<` and `>` as references: right in HTML text and in XML text (XML 1.0 §2.4). */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>]/g, (sign) => (sign === '&' ? '&amp;' : sign === '<' ? '&lt;' : '&gt;'));
}

/** For an attribute value between `quote`s. */
export function escapeAttribute(text: string, quote: '"' | "'"): string {
  const safe = text.replaceAll('&', '&amp;');
  return quote === '"' ? safe.replaceAll('"', '&quot;') : safe.replaceAll("'", '&#39;');
}

/** For the inside of a CDATA section, which the text must not end (XML 1.0 §2.7). */
export function escapeSection(text: string): string {
  return text.replaceAll(']]>', ']]]]><![CDATA[>');
}

/** Characters outside ASCII as references, for documents whose declared encoding may not hold them. */
export function asciiOnly(text: string): string {
  return text.replace(/[^\x00-\x7f]/gu, (sign) => `&#x${sign.codePointAt(0)!.toString(16).toUpperCase()};`);
}

/**
 * What an engine or editor wrote, without what its document cannot carry: NUL, lone surrogates and noncharacters
 * nowhere, control characters not in XML (XML 1.0 §2.2); elsewhere they are the customer's and stay. Line breaks
 * become spaces: the source of a segment never holds one.
 */
export function cleanText(text: string, format: Format): string {
  if (!/[\x00-\x1f\x7f\u0085\u2028\u2029\ud800-\udfff\ufffe\uffff]/.test(text)) return text;
  return text
    .toWellFormed()
    .replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' ')
    .replace(format === 'xliff' ? /[\x00-\x1f\x7f\ufffe\uffff]/g : /[\0\ufffe\uffff]/g, '');
}
