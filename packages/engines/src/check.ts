/**
 * What a reply must pass before it counts as a translation, whichever engine made it. Codes are judged elsewhere: those
 * of services in markup.ts, all of them once more where drafts are put together.
 */

import { countForeignLetters, countLetters } from '@dragoman/documents/scripts';
import type { Language, Piece } from './engine.ts';
import { visibleText } from './markup.ts';

interface Direction {
  from: Language;
  to: Language;
}

/** Whether the words can be a translation at all. @returns what is wrong, in words without the text itself, or null */
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

/** As {@link faultOf}, and whether a service speaks about the work, or gives the source back. */
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

/** The translatable words: not what is protected. */
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
    if (!known.includes(url.toLowerCase().replace(/(?<![.,;:!?)\]}…。，])[.,;:!?)\]}…。，]+$/u, ''))) {
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

const SCRIPT_FROM_LETTERS = 20;
const MIN_SHARE = 0.2;

const WORDS = /\p{L}+/gu;
const NAMES = /(?<!\p{L})\p{Lu}\p{L}*/gu;

/** Names and quotations stay in their script; a whole reply does not. */
function scriptFault(source: string, target: string, from: Language, to: Language): string | null {
  const letters = countLetters(source);
  // A source that is mostly in another script than its language's (a list of names) says nothing about the target.
  if (letters < SCRIPT_FROM_LETTERS || !isOwn(source, letters, from, 0.5)) return null;
  // Names that are left as they are (a line of product names) say nothing either: without them the reply is judged.
  const known = new Set(source.match(NAMES));
  const judged = (target.match(WORDS) ?? []).filter((word) => !known.has(word)).join(' ');
  const made = countLetters(judged);
  if (made < SCRIPT_FROM_LETTERS / 3 || isOwn(target, countLetters(target), to, MIN_SHARE)) return null;
  return `the reply is not in the script of ${to}`;
}

/** Whether at least this share of the letters is in the language's own script; true where that is not known. */
const isOwn = (text: string, letters: number, language: Language, share: number): boolean =>
  letters - (countForeignLetters(text, language, { own: true }) ?? 0) >= share * letters;

const primary = (language: Language): string => language.split('-')[0]!;
