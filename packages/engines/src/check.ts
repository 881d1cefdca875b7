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
  return lengthFault(before, after) ?? urlFault(source, target) ?? scriptFault(given, made, from, to);
}

/**
 * Like {@link faultOf}, but also detects replies that comment on the task, replies that repeat the source, and replies
 * with quotation marks around them, or with lines, control characters or markup that the source does not have.
 */
export function serviceFaultOf(
  target: readonly Piece[],
  source: readonly Piece[],
  direction: Direction,
): string | null {
  const [given, made] = [wordsOf(source), wordsOf(target)];
  const [before, after] = [visibleText(source), visibleText(target)];
  return (
    faultOf(target, source, direction) ??
    addedFault(before, after) ??
    markupFault(given, made) ??
    quoteFault(before, after) ??
    chatterFault(before, after, direction.to) ??
    echoFault(given, made, direction.from, direction.to)
  );
}

/**
 * Like {@link serviceFaultOf}, but also detects faults that only language models have: JSON and refusals.
 */
export function modelFaultOf(
  target: readonly Piece[],
  source: readonly Piece[],
  direction: Direction,
): string | null {
  const [before, after] = [visibleText(source), visibleText(target)];
  if (JSON_START.test(after) && !JSON_LIKE.test(before)) return 'the reply is JSON';
  const fault = serviceFaultOf(target, source, direction);
  if (fault !== null) return fault;
  // Only apologies in an English source are recognized: a list for all languages would be too long.
  const isRefusal = primary(direction.from) === 'en' && REFUSAL.test(after) && !APOLOGY.test(before);
  return isRefusal ? 'the reply is a refusal' : null;
}

const LINE_BREAK = /\r\n|[\n\r\u0085\u2028\u2029]/gu;
const QUOTED = /^["'“”„«‹`「『].*["'“”»›`」』]$/su;
/** Matches a quotation mark, or a dash that begins direct speech: its translation may have quotation marks. */
const QUOTE = /["'‘’‚‛“”„‟«»‹›`「」『』《》〈〉〝〞〟＂]|^\s*[-‒–—―]/u;
/** Matches a quotation. An apostrophe in or after a word does not begin one. */
const QUOTATION =
  /(?<!\p{L})['‘‚][^'‘’‚]+['‘’](?!\p{L})|["“”„«»‹›`「『《][^"“”„«»‹›`「」『』《》]+["“”«»‹›`」』》]/gu;
/** Matches the beginning of a JSON object or array, but not a placeholder such as `{{name}}` or `[{0}]`. */
const JSON_START = /^\s*(?:\[\s*)?(?:\{\s*"|\[\s*")/u;
const JSON_LIKE = /[{[]\s*["'„「『\p{Pi}\p{Pf}]/u;
const CONTROL = /[\p{Cc}\u202d\u202e\ufffd]/gu;

/**
 * Detects what a model adds to a translation. A translation has as many lines as its segment. Further lines are an
 * explanation or a second translation.
 */
function addedFault(source: string, target: string): string | null {
  const lines = (text: string): number => text.match(LINE_BREAK)?.length ?? 0;
  if (lines(target) > lines(source)) return 'the reply has more lines than the source';
  const known = new Set(source.toWellFormed().match(CONTROL));
  const added = target.match(CONTROL)?.some((one) => !known.has(one) && !'\t\n\r\u0085'.includes(one));
  return added === true ? 'the reply has control characters' : null;
}

/** Matches tags, placeholders in braces, character references and escapes of programs. */
const MARKUP =
  /<\/?[a-z][^<>\n]{0,200}>|\{[^{}\n]{1,60}\}|&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,8});|\\[nrt](?![\p{L}])/giu;

/** Detects more markup in the words of a reply than in those of its source. Codes and protected words are no words. */
function markupFault(source: string, target: string): string | null {
  const count = (text: string) => text.match(MARKUP)?.length ?? 0;
  return count(target) > count(source) ? 'the reply has markup that the source does not have' : null;
}

function quoteFault(source: string, target: string): string | null {
  return QUOTED.test(target.trim()) && !QUOTE.test(source) ? 'the reply is in quotation marks' : null;
}

/**
 * Detects replies in another order than their sources by the numbers in them: at least two replies have the numbers of
 * another source instead of their own. Services that get a list of texts answer with a list, without names.
 */
export function isReordered(
  sources: readonly (readonly Piece[])[],
  replies: readonly (readonly Piece[])[],
): boolean {
  const numbers = (pieces: readonly Piece[]) => visibleText(pieces).match(/\d+/g)?.join(' ') ?? '';
  const wanted = sources.map(numbers);
  const known = new Set(wanted.filter((own) => own !== ''));
  const isOther = (found: string, index: number) => found !== wanted[index] && known.has(found);
  return replies.map(numbers).filter(isOther).length >= 2;
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
  // For a short source, the ratio means nothing. So the translation of a source of at most `RATIO_FROM` letters may
  // have up to twenty times `RATIO_FROM` letters.
  if (before <= RATIO_FROM) return after > 20 * RATIO_FROM ? 'the reply is far longer than the source' : null;
  if (ratio >= MIN_RATIO && ratio <= MAX_RATIO) return null;
  return `the reply is ${ratio.toFixed(1)} times as long as the source`;
}

/** Matches the scheme and the host of a URL, and `www.` with its host. Either scheme or host may be a protected word. */
const URL_START = /(?:\b[a-z][a-z\d+.-]{0,15}:\/\/|\bwww\.)[\w.\u00c0-\u02ff\u0400-\u04ff-]*/giu;

/**
 * A URL that is not in the source was invented by the engine, or comes from instructions hidden in the text. Protected
 * words are not searched, because they come from the source. A path is not compared, because the text after a URL, as
 * in `https://example.com|our page`, may look like a part of it.
 */
function urlFault(source: readonly Piece[], target: readonly Piece[]): string | null {
  const known = visibleText(source).toLowerCase();
  const made = target.map((piece) => ('keep' in piece ? '\n' : 'text' in piece ? piece.text : '')).join('');
  const isInvented = [...made.matchAll(URL_START)].some(
    ([start]) => !known.includes(start.toLowerCase().replace(/(?<![.-])[.-]+$/u, '')),
  );
  return isInvented ? 'the reply has a URL that is not in the source' : null;
}

/**
 * Patterns of texts that are never a translation: a model's statements about itself, and tokens of its chat template.
 */
const NEVER = [
  /\bas an? (?:ai|artificial intelligence|(?:large )?language model)\b/iu,
  /<[|｜][^<>|｜\n]{1,40}[|｜]>|<\/?(?:s|bos|eos|think|start_of_turn|end_of_turn)>|\[\/?INST\]/u,
];

/** Patterns of sentences in which a language model comments on its task. */
const CHATTER = [
  /\bi(?:['’]m| am) (?:sorry|unable|not able)\b/iu,
  /\bi (?:can(?:['’]t|not)|won['’]t|am unable to) (?:translate|assist|help|comply|fulfil)/iu,
  /^\s*(?:sure|certainly|of course|here(?:['’]s| is))\b[^.\n]{0,60}\btranslat/iu,
  /^\s*translation\b[^:\n]{0,30}:/iu,
];

/** Matches the apologies in which a model refuses to translate. */
const REFUSAL =
  /\blo siento\b.{0,20}\bno puedo|\btut mir leid\b.{0,20}\bkann|\bdésol.{0,20}\bne (?:peux|suis) pas|\bdesculpe\b.{0,20}\bnão posso|\bmi dispiace\b.{0,20}\bnon posso/iu;
const APOLOGY =
  /sorry|apolog|regret|afraid|unfortunate|forgive|pardon|excuse|unable|not able|\b(?:can|could) ?(?:['’]?t\b|n['’]?t|not)/iu;

function chatterFault(source: string, target: string, to: Language): string | null {
  // If the target language is English, a sentence that comments on a task may be a correct translation.
  const patterns = primary(to) === 'en' ? NEVER : [...NEVER, ...CHATTER];
  return patterns.some((pattern) => pattern.test(target) && !pattern.test(source))
    ? 'the reply comments on the task instead of translating'
    : null;
}

const LOWER_CASE_WORDS = /(?<!\p{L})\p{Ll}{2,}(?!\p{L})/gu;
const ECHO_FROM_WORDS = 8;
const ECHO_SHARE = 0.6;

/** Frequent English words that other languages with Latin letters do not have. */
const ENGLISH = new Set(
  'the and that with you your this from were which would they what when their should'.split(' '),
);
const ENGLISH_FROM_WORDS = 3;
const ENGLISH_SHARE = 0.25;

/**
 * Detects a reply in English when another language was requested, and a reply that repeats the source's words when
 * English was requested. A pair of two other languages is not checked, because such languages may be similar.
 */
function echoFault(source: string, target: string, from: Language, to: Language): string | null {
  if (primary(from) === primary(to)) return null;
  const made = new Set(target.match(LOWER_CASE_WORDS));
  const english = englishWords(made);
  // A quoted label of a user interface may stay in English, so quotations are left out unless the reply has no other
  // words.
  const outside = target.replace(QUOTATION, ' ');
  const judged = /\p{L}/u.test(outside) ? new Set(outside.match(LOWER_CASE_WORDS)) : made;
  const isEnglish = englishWords(judged) >= Math.max(ENGLISH_FROM_WORDS, ENGLISH_SHARE * judged.size);
  if (isEnglish && primary(to) !== 'en') return 'the reply is in English';
  if (primary(from) !== 'en' && primary(to) !== 'en') return null;
  // A text with eight different words is never the same in English and another language.
  const words = new Set(source.match(LOWER_CASE_WORDS));
  if (words.size < ECHO_FROM_WORDS) return null;
  const bare = (text: string): string => text.replace(/\s+/gu, ' ').trim();
  const common = [...made].filter((word) => words.has(word)).length;
  const isSource = english === 0 && common >= ECHO_FROM_WORDS && common >= ECHO_SHARE * made.size;
  return bare(source) === bare(target) || (isSource && primary(to) === 'en')
    ? 'the reply is the source'
    : null;
}

const englishWords = (words: ReadonlySet<string>): number =>
  [...words].filter((word) => ENGLISH.has(word)).length;

const SCRIPT_FROM_LETTERS = 20;
const MIN_SHARE = 0.2;

const WORDS = /\p{L}+/gu;
const NAMES = /(?<!\p{L})\p{Lu}\p{L}*/gu;

/**
 * Detects a reply in a wrong script. Names and quotations may keep their script, but a whole reply may not.
 */
function scriptFault(source: string, target: string, from: Language, to: Language): string | null {
  const letters = countLetters(source);
  // No check if the source is short or mostly in another script, as a list of foreign names is.
  if (letters < SCRIPT_FROM_LETTERS || !isOwn(source, letters, from, 0.5)) return null;
  // Product names and other names that the reply copies from the source do not count.
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
