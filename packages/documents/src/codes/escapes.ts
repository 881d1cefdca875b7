/** Character references and escapes: decodes and safely encodes the text of every kind of unit. */

import type { Form } from '../model/document.ts';
import { type Format, TRAITS } from '../model/formats.ts';
import { decodeReference, NONCHARACTER } from './markup.ts';

/** How the characters of a unit are decoded, which depends on how the document encodes them. */
export interface Reading {
  references: 'none' | 'html' | 'xml' | 'srt';
  /** `collapse`: a run of white space counts as one space. `lines`: line breaks and tabs separate segments. */
  space: 'collapse' | 'lines';
}

const readings: Record<Form, Reading> = {
  text: { references: 'none', space: 'lines' },
  srt: { references: 'srt', space: 'collapse' },
  vtt: { references: 'html', space: 'collapse' },
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

/** Decodes a character reference. Returns undefined if the text is no reference in this format. */
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
    const character = String.fromCodePoint(code);
    return NONCHARACTER.test(character) ? undefined : character;
  }
  if (Object.hasOwn(xmlNames, body)) return xmlNames[body];
  if (references === 'srt') {
    const decoded = decodeReference(raw);
    return decoded === raw ? undefined : decoded;
  }
  return undefined;
}

/** Escapes `&`, `<` and `>` for HTML text and XML text (XML 1.0 §2.4). */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>]/g, (sign) => (sign === '&' ? '&amp;' : sign === '<' ? '&lt;' : '&gt;'));
}

/** Escapes an attribute value in the given quotation marks. */
export function escapeAttribute(text: string, quote: '"' | "'"): string {
  const safe = text.replaceAll('&', '&amp;');
  return quote === '"' ? safe.replaceAll('"', '&quot;') : safe.replaceAll("'", '&#39;');
}

/** Escapes `]]>`, which would end a CDATA section (XML 1.0 §2.7). */
export function escapeSection(text: string): string {
  return text.replaceAll(']]>', ']]]]><![CDATA[>');
}

/** Replaces characters outside ASCII with references, because the document's declared encoding may lack them. */
export function asciiOnly(text: string): string {
  return text.replace(/[^\x00-\x7f]/gu, (sign) => `&#x${sign.codePointAt(0)!.toString(16).toUpperCase()};`);
}

/**
 * Removes characters that a document cannot contain from a translation: NUL, lone surrogates and noncharacters in all
 * formats, and control characters in XML (XML 1.0 §2.2). Line breaks become spaces, because the source of a segment
 * never has a line break. Only subtitles keep their line breaks, because an editor may divide a cue into lines.
 */
export function cleanText(text: string, format: Format): string {
  if (!/[\x00-\x1f\x7f\u0085\u2028\u2029\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]/.test(text)) return text;
  return text
    .toWellFormed()
    .replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, (run) =>
      TRAITS[format].isSubtitles && /[\r\n]/.test(run) ? '\n' : ' ',
    )
    .replace(format === 'xliff' ? /[\x00-\x1f\x7f\p{NChar}]/gu : /[\0\p{NChar}]/gu, '');
}
