/** Splits texts into words and user-perceived characters. */

/**
 * Matches one token: a word, a character of a script without spaces, a run of white space, or any other
 * character.
 */
export const TOKEN =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}][\p{M}ー]*|(?:(?![\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}])[\p{L}\p{N}\p{M}_\u00ad])+|\s+|./gsu;

export interface Token {
  text: string;
  start: number;
  end: number;
}

/**
 * Splits a text into tokens as readers see them: each run of white space is one space, words are in NFC without soft
 * hyphens, and all apostrophes and all hyphens are the same, because text processors write other ones than keyboards.
 */
export const tokenise = (text: string): Token[] =>
  [...text.matchAll(TOKEN)].map(({ 0: found, index }) => ({
    text: seen(found),
    start: index,
    end: index + found.length,
  }));

function seen(token: string): string {
  if (/^\s/.test(token)) return ' ';
  if (/^['’ʼ‘＇]$/.test(token)) return "'";
  if (/^[‐‑-]$/.test(token)) return '-';
  return token.normalize('NFC').replaceAll('\u00ad', '');
}

/** Returns the words and punctuation marks of a text, without white space. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const [found] of text.normalize('NFC').matchAll(TOKEN)) if (!/^\s/.test(found)) words.push(found);
  return words;
}

/**
 * Characters that may be part of a grapheme cluster with several code points: marks, joiners, skin tones,
 * flags, conjoining Hangul.
 */
const CLUSTERED =
  /\p{M}|\p{RI}|\r|[\u200c\u200d]|[\u{1f3fb}-\u{1f3ff}]|[\u0600-\u0605\u06dd\u070f]|[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]/u;

let graphemes: Intl.Segmenter | undefined;

/**
 * Returns the grapheme clusters of a text. `Intl.Segmenter` is slow, so it is used only if a cluster may have
 * several code points.
 */
export function graphemesOf(text: string): string[] {
  const composed = text.normalize('NFC');
  if (!CLUSTERED.test(composed)) return Array.from(composed);
  graphemes ??= new Intl.Segmenter('und', { granularity: 'grapheme' });
  return Array.from(graphemes.segment(composed), ({ segment }) => segment);
}
