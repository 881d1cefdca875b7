/** Reads test rows: pieces of a segment written as text, such as `<1>bold</1>`, `<2/>` and `{3:%s}`. */
import type { Piece } from '@dragoman/documents/pieces';
import { type CheckInput, check, type Finding, type Term } from '../src/checks.ts';

export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let position = 0;
  for (const match of text.matchAll(/<(\d+)>|<\/(\d+)>|<(\d+)\/>|\{(\d+):([^}]*)\}/g)) {
    if (match.index > position) found.push({ text: text.slice(position, match.index) });
    position = match.index + match[0].length;
    const [, open, close, single, keep, kept] = match;
    if (open !== undefined) found.push({ open: Number(open) });
    else if (close !== undefined) found.push({ close: Number(close) });
    else if (single !== undefined) found.push({ single: Number(single) });
    else found.push({ keep: Number(keep), text: kept! });
  }
  if (position < text.length) found.push({ text: text.slice(position) });
  return found;
}

export type Row = [
  pair: string,
  source: string,
  target: string,
  verdict: string[],
  more?: Partial<CheckInput>,
];

/** Returns the findings of one check as text: the values, then the words of the range in brackets. */
export function verdict(id: Finding['check'], [pair, source, target, , more]: Row): string[] {
  return found(pair, source, target, more)
    .filter((one) => one.check === id)
    .map(({ values, range }) => {
      const printed = Object.values(values).join(' ');
      return range === undefined
        ? printed
        : `${printed} [${visible(target).slice(range.start, range.end)}]`.trim();
    });
}

export function found(
  pair: string,
  source: string,
  target: string,
  more: Partial<CheckInput> = {},
): Finding[] {
  const [from, to] = pair.split('>') as [string, string];
  const input = {
    source: pieces(source),
    target: pieces(target),
    from,
    to,
    format: 'text',
    terms: [],
  } as const;
  return check({ ...input, ...more });
}

const visible = (text: string) =>
  pieces(text)
    .flatMap((piece) => ('text' in piece ? [piece.text] : []))
    .join('');

export const term = (source: string, target: string, fields: Partial<Term> = {}): Term => ({
  source,
  target,
  caseSensitive: false,
  forbidden: false,
  doNotTranslate: false,
  ...fields,
});
