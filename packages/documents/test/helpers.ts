/** Test helpers that return the segments of a text or the translated text. */

import { type Format, plainText, rebuild, type ScanOptions, scan, segments } from '../src/documents.ts';
import { type FakeEngine, translate, upperCasing } from './engines.ts';

export function result(
  text: string,
  format: Format,
  engine: FakeEngine = upperCasing,
  target = 'de',
  options: ScanOptions = {},
): string {
  const document = scan(text, format, options);
  return rebuild(document, translate(document, 'en', engine), target);
}

/** Returns the segments as text. Protected words are in brackets, other codes are written as `|`. */
export function sent(text: string, format: Format, language = 'en', options: ScanOptions = {}): string[] {
  return segments(scan(text, format, options), language).map(({ pieces }) =>
    pieces
      .map((piece) => ('keep' in piece ? `[${piece.text}]` : 'text' in piece ? plainText([piece]) : '|'))
      .join(''),
  );
}

export function xliff(units: string, file = ''): string {
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">\n' +
    `<file original="a" source-language="en" datatype="plaintext"${file}><header/><body>\n` +
    `${units}\n</body></file></xliff>`
  );
}

/** Returns the first `target` element of a result, with its tags. */
export function target(text: string): string | undefined {
  return /<(?:\w+:)?target[\s\S]*?<\/(?:\w+:)?target>/.exec(text)?.[0];
}
