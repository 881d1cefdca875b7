/**
 * Checks whether a reply is a translation, for all engines. Codes are checked elsewhere: markup.ts checks
 * those of services, and the server checks the codes of every draft.
 */

import { countForeignLetters, countLetters } from '@dragoman/documents/scripts';
import type { Language, Piece } from './engine.ts';
import { visibleText } from './markup.ts';

interface Direction {
  from: Language;
  to: Language;
}

/** Returns why a reply cannot be a translation, without quoting the reply; null when it can. */
export function faultOf(
  target: readonly Piece[],
  source: readonly Piece[],
  { from, to }: Direction,
): string | null {
  const [before, after] = [visibleText(source), visibleText(target)];
  const [given, made] = [wordsOf(source), wordsOf(target)];
  if (/\p{L}/u.test(given) && made.trim() === '') return 'the reply is empty';
  if (made.includes('```') && !given.includes('```')) return 'the reply has a code fence';
  return lengthFault(before, after) ?? urlFault(before, after) ?? scriptFault(given, made, from, to);
}

/**
 * Like {@link faultOf}, but also detects replies in which a language model comments on its task, and replies that
 * repeat the source.
 */
export function serviceFaultOf(
  target: readonly Piece[],
  source: readonly Piece[],
  direction: Direction,
): string | null {
  const [given, made] = [wordsOf(source), wordsOf(target)];
  return (
    faultOf(target, source, direction) ??
    chatterFault(visibleText(source), visibleText(target), direction.to) ??
    echoFault(given, made, direction.from, direction.to)
  );
}

/** Returns the visible text without protected words. */
const wordsOf = (pieces: readonly Piece[]): string =>
  visibleText(pieces.filter((piece) => !('keep' in piece)));

const MIN_RATIO = 0.3;
const MAX_RATIO = 3;
const RATIO_FROM = 20;

/**
 * Returns a length that is comparable between scripts. A Han character counts as three letters, a kana or a
 * Hangul syllable as two.
 */
function weight(text: string): number {
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  const syllables = text.match(/[\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0;
  return text.length + 2 * han + syllables;
}

function lengthFault(source: string, target: string): string | null {
  const [before, after] = [weight(source), weight(target)];
  const ratio = after / Math.max(1, before);
  // The ratio says nothing about a short source. So the translation of a source of at most `RATIO_FROM`
  // letters may have up to twenty times `RATIO_FROM` letters.
  if (before <= RATIO_FROM) return after > 20 * RATIO_FROM ? 'the reply is far longer than the source' : null;
  if (ratio >= MIN_RATIO && ratio <= MAX_RATIO) return null;
  return `the reply is ${ratio.toFixed(1)} times as long as the source`;
}

const URL = /(?:\b[a-z][a-z\d+.-]{1,15}:\/\/|\bwww\.)[^\s<>"'«»“”⟦⟧]+/giu;

/**
 * A URL that is not in the source was invented by the engine, or comes from instructions hidden in the text.
 */
function urlFault(source: string, target: string): string | null {
  const known = source.toLowerCase();
  for (const [url] of target.matchAll(URL)) {
    if (!known.includes(url.toLowerCase().replace(/(?<![.,;:!?)\]}…。，])[.,;:!?)\]}…。，]+$/u, ''))) {
      return 'the reply has a URL that is not in the source';
    }
  }
  return null;
}

/** Patterns of sentences in which a language model comments on its task. */
const CHATTER = [
  /\bas an? (?:ai|artificial intelligence|(?:large )?language model)\b/iu,
  /\bi(?:['’]m| am) (?:sorry|unable|not able)\b/iu,
  /\bi (?:can(?:['’]t|not)|won['’]t|am unable to) (?:translate|assist|help|comply|fulfil)/iu,
  /^\s*(?:sure|certainly|of course|here(?:['’]s| is))\b[^.\n]{0,60}\btranslat/iu,
  /^\s*translation\s*:/iu,
];

function chatterFault(source: string, target: string, to: Language): string | null {
  // If the target language is English, a sentence that matches one of the other patterns may be a correct
  // translation. A model's statement about itself never is.
  const patterns = primary(to) === 'en' ? CHATTER.slice(0, 1) : CHATTER;
  return patterns.some((pattern) => pattern.test(target) && !pattern.test(source))
    ? 'the reply comments on the task instead of translating'
    : null;
}

const ECHO_FROM_WORDS = 8;

/**
 * Detects a reply that repeats the source. A text with eight different words is never the same in English and
 * another language. Between other languages, which may be similar, it can be, so these are not checked.
 */
function echoFault(source: string, target: string, from: Language, to: Language): string | null {
  if (primary(from) === primary(to) || (primary(from) !== 'en' && primary(to) !== 'en')) return null;
  const words = source.match(/\p{Ll}{2,}/gu) ?? [];
  if (words.length < ECHO_FROM_WORDS || new Set(words).size < ECHO_FROM_WORDS) return null;
  const bare = (text: string): string => text.replace(/\s+/gu, ' ').trim();
  return bare(source) === bare(target) ? 'the reply is the source' : null;
}

const SCRIPT_FROM_LETTERS = 20;
const MIN_SHARE = 0.2;

const WORDS = /\p{L}+/gu;
const NAMES = /(?<!\p{L})\p{Lu}\p{L}*/gu;

/**
 * Detects a reply in a wrong script. Names and quotations may keep their script, but a whole reply may not.
 */
function scriptFault(source: string, target: string, from: Language, to: Language): string | null {
  const letters = countLetters(source);
  // The check is skipped when the source is mostly in a foreign script, such as a list of names.
  if (letters < SCRIPT_FROM_LETTERS || !isOwn(source, letters, from, 0.5)) return null;
  // Names that the reply copies from the source, such as product names, are ignored.
  const known = new Set(source.match(NAMES));
  const words = (target.match(WORDS) ?? []).filter((word) => !known.has(word)).join(' ');
  const made = countLetters(words);
  if (made < SCRIPT_FROM_LETTERS / 3 || isOwn(target, countLetters(target), to, MIN_SHARE)) return null;
  return `the reply is not in the script of ${to}`;
}

/**
 * Returns whether at least `share` of the letters belong to the language's script; true if that script is not
 * known.
 */
const isOwn = (text: string, letters: number, language: Language, share: number): boolean =>
  letters - (countForeignLetters(text, language, { own: true }) ?? 0) >= share * letters;

const primary = (language: Language): string => language.split('-')[0]!;
