/**
 * What a service's reply must pass before it counts as a translation, whoever made it. Codes are judged in markup.ts:
 * each comes back once, or it is no translation.
 */

import type { Language, Piece } from './engine.ts';
import { visibleText } from './markup.ts';

/** @returns what is wrong, in words without the text itself, or null */
export function faultOf(
  target: readonly Piece[],
  source: readonly Piece[],
  { from, to }: { from: Language; to: Language },
): string | null {
  const [before, after] = [visibleText(source), visibleText(target)];
  if (before.trim() !== '' && wordsOf(target).trim() === '' && wordsOf(source).trim() !== '') {
    return 'the reply is empty';
  }
  return (
    lengthFault(before, after) ??
    urlFault(before, after) ??
    chatterFault(before, after, to) ??
    echoFault(wordsOf(source), wordsOf(target), from, to) ??
    scriptFault(wordsOf(source), wordsOf(target), from, to)
  );
}

const wordsOf = (pieces: readonly Piece[]): string =>
  visibleText(pieces.filter((piece) => !('keep' in piece)));

const MIN_RATIO = 0.3;
const MAX_RATIO = 3;
const RATIO_FROM = 20;

/** A Han character says about as much as three letters, a kana or a Hangul syllable as two. */
function weight(text: string): number {
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  const syllables = text.match(/[\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0;
  return text.length + 2 * han + syllables;
}

function lengthFault(source: string, target: string): string | null {
  const [before, after] = [weight(source), weight(target)];
  const ratio = after / Math.max(1, before);
  // A short source may honestly grow much; twenty times its length it may not.
  if (before <= RATIO_FROM) return after > 20 * RATIO_FROM ? 'the reply is far longer than the source' : null;
  if (ratio >= MIN_RATIO && ratio <= MAX_RATIO) return null;
  return `the reply is ${ratio.toFixed(1)} times as long as the source`;
}

const URL = /(?:\b[a-z][a-z\d+.-]{1,15}:\/\/|\bwww\.)[^\s<>"'«»“”⟦⟧]+/giu;

/** An address that the source has not is an invention, or somebody's who wrote instructions into the text. */
function urlFault(source: string, target: string): string | null {
  const known = source.toLowerCase();
  for (const [url] of target.matchAll(URL)) {
    if (!known.includes(url.toLowerCase().replace(/[.,;:!?)\]}…。，]+$/u, ''))) {
      return 'the reply has an address that the source has not';
    }
  }
  return null;
}

/** What a language model says about the work instead of doing it. */
const CHATTER = [
  /\bas an? (?:ai|artificial intelligence|(?:large )?language model)\b/iu,
  /\bi(?:['’]m| am) (?:sorry|unable|not able)\b/iu,
  /\bi (?:can(?:['’]t|not)|won['’]t|am unable to) (?:translate|assist|help|comply|fulfil)/iu,
  /^\s*(?:sure|certainly|of course|here(?:['’]s| is))\b[^.\n]{0,60}\btranslat/iu,
  /^\s*translation\s*:/iu,
];

function chatterFault(source: string, target: string, to: Language): string | null {
  if (target.includes('```') && !source.includes('```')) return 'the reply has a code fence';
  // Into English such a sentence may be the translation; only a model's word about itself surely is not.
  const patterns = primary(to) === 'en' ? CHATTER.slice(0, 1) : CHATTER;
  return patterns.some((pattern) => pattern.test(target) && !pattern.test(source))
    ? 'the reply speaks about the work instead of doing it'
    : null;
}

const ECHO_FROM_WORDS = 8;

/** So many words in a row are the same in no other language as in English; among close neighbours they may be. */
function echoFault(source: string, target: string, from: Language, to: Language): string | null {
  if (primary(from) === primary(to) || (primary(from) !== 'en' && primary(to) !== 'en')) return null;
  const words = source.match(/\p{Ll}{2,}/gu) ?? [];
  if (words.length < ECHO_FROM_WORDS || new Set(words).size < ECHO_FROM_WORDS) return null;
  const bare = (text: string): string => text.replace(/\s+/gu, ' ').trim();
  return bare(source) === bare(target) ? 'the reply is the source' : null;
}

const CYRILLIC = /\p{Script=Cyrillic}/gu;
const ARABIC = /\p{Script=Arabic}/gu;
const DEVANAGARI = /\p{Script=Devanagari}/gu;
const HAN = /\p{Script=Han}/gu;
const SCRIPTS: Readonly<Record<string, RegExp>> = {
  am: /\p{Script=Ethiopic}/gu,
  ar: ARABIC,
  be: CYRILLIC,
  bg: CYRILLIC,
  bn: /\p{Script=Bengali}/gu,
  el: /\p{Script=Greek}/gu,
  fa: ARABIC,
  gu: /\p{Script=Gujarati}/gu,
  he: /\p{Script=Hebrew}/gu,
  hi: DEVANAGARI,
  hy: /\p{Script=Armenian}/gu,
  ja: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu,
  ka: /\p{Script=Georgian}/gu,
  kk: CYRILLIC,
  km: /\p{Script=Khmer}/gu,
  kn: /\p{Script=Kannada}/gu,
  ko: /[\p{Script=Hangul}\p{Script=Han}]/gu,
  ky: CYRILLIC,
  lo: /\p{Script=Lao}/gu,
  mk: CYRILLIC,
  ml: /\p{Script=Malayalam}/gu,
  mr: DEVANAGARI,
  my: /\p{Script=Myanmar}/gu,
  ne: DEVANAGARI,
  pa: /[\p{Script=Gurmukhi}\p{Script=Arabic}]/gu,
  ru: CYRILLIC,
  si: /\p{Script=Sinhala}/gu,
  ta: /\p{Script=Tamil}/gu,
  te: /\p{Script=Telugu}/gu,
  th: /\p{Script=Thai}/gu,
  uk: CYRILLIC,
  ur: ARABIC,
  yue: HAN,
  zh: HAN,
};
const LATIN = /\p{Script=Latin}/gu;
/** Written in two scripts: not judged. */
const EITHER = new Set(['sr', 'bs', 'az', 'uz', 'mn', 'ku', 'tg', 'tt', 'tk', 'ug', 'sd', 'ks', 'yi', 'hbs']);

const SCRIPT_FROM_LETTERS = 20;
const MIN_SHARE = 0.2;

/** Names and quotations stay in their script; a whole reply does not. */
function scriptFault(source: string, target: string, from: Language, to: Language): string | null {
  const [own, expected] = [scriptOf(from), scriptOf(to)];
  if (own === null || expected === null) return null;
  // A source that is mostly in another script than its language's (a list of names) says nothing about the target.
  if (lettersOf(source) < SCRIPT_FROM_LETTERS || shareOf(source, own) < 0.5) return null;
  if (lettersOf(target) < SCRIPT_FROM_LETTERS / 3) return null;
  return shareOf(target, expected) < MIN_SHARE ? `the reply is not in the script of ${to}` : null;
}

const primary = (language: Language): string => language.split('-')[0]!;

function scriptOf(language: Language): RegExp | null {
  const first = primary(language);
  return EITHER.has(first) ? null : (SCRIPTS[first] ?? LATIN);
}

const lettersOf = (text: string): number => text.match(/\p{L}/gu)?.length ?? 0;

const shareOf = (text: string, script: RegExp): number =>
  (text.match(script)?.length ?? 0) / Math.max(1, lettersOf(text));
