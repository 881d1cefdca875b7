/** What an engine may read of a chat before the message that it translates. Pure. */
import { plainText, scan, segments } from '@dragoman/documents';
import type { EarlierRow } from './store.ts';

/** Of the nearest messages; enough for who is spoken to and of what, short enough to be sent with every message. */
const MAX_CHARACTERS = 1_500;

/**
 * The messages before, in the language of this one: what was said in it as it was said, what was said in its
 * target language by its translation. Oldest first, one a line.
 * @param earlier the nearest first
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
