/** Sets the language of an HTML page: the attributes `lang`, `xml:lang` and `dir` of its root element. */

import type { Document } from '../model/document.ts';
import { localeOf, primaryLanguage } from '../model/scripts.ts';
import type { Edit } from '../model/splice.ts';

/** Matches an attribute of a tag with its value. Each attribute is matched as a whole, so values are never searched. */
const attribute = /([^\s=>"'/]+)(?:(\s*=\s*)("[^"]*"|'[^']*'|[^\s>]+))?/g;

/**
 * Returns the edits that set the language of a page to that of its translation. A page that declares no language, or
 * another one than its source, stays as it is. A declared direction is set only together with a declared language.
 * @param from the source language
 */
export function pageLanguageEdits({ root, text }: Document, from: string, into: string): Edit[] {
  if (root === undefined) return [];
  const found = new Map<string, { value: string; start: number; end: number }>();
  for (const { index, 1: name, 2: equals, 3: value } of text
    .slice(root.start, root.end)
    .matchAll(attribute)) {
    const key = name!.toLowerCase();
    if (value === undefined || found.has(key)) continue;
    const isQuoted = /^["']/.test(value);
    const start = root.start + index + name!.length + equals!.length + (isQuoted ? 1 : 0);
    found.set(key, {
      value: isQuoted ? value.slice(1, -1) : value,
      start,
      end: start + value.length - (isQuoted ? 2 : 0),
    });
  }
  const declared = ['lang', 'xml:lang'].flatMap((name) => found.get(name) ?? []);
  const source = primaryLanguage(from);
  if (declared.length === 0 || source === undefined) return [];
  if (declared.some(({ value }) => primaryLanguage(value) !== source)) return [];
  const language = localeOf(into)?.toString() ?? into;
  const edits = declared.map((range) => ({ ...range, text: language }));
  const direction = found.get('dir');
  if (direction !== undefined && direction.value.toLowerCase() === directionOf(from)) {
    edits.push({ ...direction, text: directionOf(into) });
  }
  return edits.map(({ start, end, text: written }) => ({ start, end, write: () => written }));
}

const RIGHT_TO_LEFT = new Set(['Adlm', 'Arab', 'Hebr', 'Mand', 'Nkoo', 'Rohg', 'Syrc', 'Thaa']);

function directionOf(language: string): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.has(localeOf(language)?.maximize().script ?? '') ? 'rtl' : 'ltr';
}
