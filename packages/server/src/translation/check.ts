/**
 * What every reply must pass before it counts as a translation, whichever engine made it. Codes are put right
 * elsewhere; this asks whether the words can be a translation at all. A reply that fails goes to the next engine.
 */
import type { Piece } from '@dragoman/documents';

/** Outside this ratio of target to source, by weight, a reply is no translation; not asked of short segments. */
const LEAST_RATIO = 0.3;
const MOST_RATIO = 3;
const RATIO_FROM = 20;
/** Letters from which a reply in another script than the language's is none. */
const SCRIPT_FROM = 30;
const LEAST_SCRIPT_SHARE = 0.1;

const SCRIPTS: Record<string, RegExp> = {
  zh: /\p{sc=Han}/gu,
  ja: /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/gu,
  ko: /\p{sc=Hang}/gu,
  ...Object.fromEntries(['ru', 'uk', 'be', 'bg', 'mk', 'kk'].map((language) => [language, /\p{sc=Cyrl}/gu])),
  el: /\p{sc=Grek}/gu,
  ...Object.fromEntries(['ar', 'fa', 'ur'].map((language) => [language, /\p{sc=Arab}/gu])),
  he: /\p{sc=Hebr}/gu,
  hi: /\p{sc=Deva}/gu,
  th: /\p{sc=Thai}/gu,
  ka: /\p{sc=Geor}/gu,
  hy: /\p{sc=Armn}/gu,
};
const LATIN = /\p{sc=Latn}/gu;
/** Languages that are written in more than one script: nothing is expected of them. */
const SEVERAL = new Set(['sr', 'hbs', 'uz', 'az', 'mn', 'pa', 'ks', 'ms', 'ku']);

const DENSE = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/gu;
const LETTER = /\p{L}/gu;
const ADDRESS = /https?:\/\/[^\s<>"']+/giu;

const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

/** Characters, those that stand for a syllable or a word counted as three. */
const weigh = (text: string) => text.length + 2 * count(text, DENSE);

/** @returns what is wrong with the reply, in words without the text itself; undefined when nothing is */
export function faultOf(
  source: readonly Piece[],
  reply: readonly Piece[],
  targetLanguage: string,
): string | undefined {
  const [given, made] = [wordsOf(source), wordsOf(reply)];
  if (/\p{L}/u.test(given) && made.trim() === '') return 'the reply is empty';
  const [sourceWeight, weight] = [weigh(visible(source)), weigh(visible(reply))];
  const ratio = weight / Math.max(1, sourceWeight);
  if (sourceWeight > RATIO_FROM && (ratio < LEAST_RATIO || ratio > MOST_RATIO)) {
    return `the reply is ${ratio.toFixed(1)} times as long as the source`;
  }
  if (made.includes('```') && !given.includes('```')) return 'the reply is fenced as code';
  const known = new Set(visible(source).match(ADDRESS) ?? []);
  if ((made.match(ADDRESS) ?? []).some((address) => !known.has(address))) {
    return 'the reply has an address that the source has not';
  }
  return scriptFault(made, targetLanguage);
}

function scriptFault(made: string, targetLanguage: string): string | undefined {
  const language = targetLanguage.toLowerCase().split(/[-_]/, 1)[0]!;
  if (SEVERAL.has(language)) return undefined;
  const expected = SCRIPTS[language] ?? LATIN;
  const letters = count(made, LETTER);
  if (letters < SCRIPT_FROM || count(made, expected) / letters >= LEAST_SCRIPT_SHARE) return undefined;
  return 'the reply is not in the script of its language';
}

/** The translatable words: not what is protected. */
function wordsOf(pieces: readonly Piece[]): string {
  return pieces.map((piece) => ('text' in piece && !('keep' in piece) ? piece.text : '')).join(' ');
}

function visible(pieces: readonly Piece[]): string {
  return pieces.map((piece) => ('text' in piece ? piece.text : '')).join('');
}
