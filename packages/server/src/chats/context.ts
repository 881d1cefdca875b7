/** Builds the context that an engine may read: the earlier messages of the chat. The functions are pure. */
import { plainText, scan, segments } from '@dragoman/documents';
import type { EarlierRow } from './store.ts';

/**
 * The maximum length of the context in UTF-16 code units. It is long enough to show the addressee and the
 * subject, and short enough to send with every request.
 */
const MAX_CHARACTERS = 1_500;

/**
 * Returns the earlier messages in this message's source language, oldest first, one a line. A message written
 * in that language appears as written; a message translated into that language appears as translated.
 * @param earlier nearest first
 */
export function chatContextOf(earlier: readonly EarlierRow[], sourceLanguage: string): string | undefined {
  const lines: string[] = [];
  let left = MAX_CHARACTERS;
  for (const message of earlier) {
    const line = lineOf(message, sourceLanguage);
    if (line === undefined) continue;
    left -= line.length;
    if (left < 0) break;
    lines.push(line);
  }
  return lines.length === 0 ? undefined : lines.reverse().join('\n');
}

function lineOf(message: EarlierRow, language: string): string | undefined {
  const text =
    message.source_language === language
      ? message.body
      : message.target_language === language
        ? message.translated
        : null;
  if (text === null) return undefined;
  if (message.text_format === 'text') return text;
  return segments(scan(text, 'html'), language)
    .map(({ pieces }) => plainText(pieces))
    .join(' ');
}
