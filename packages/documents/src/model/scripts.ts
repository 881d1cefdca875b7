/**
 * The scripts of languages. A segment in a script that the source language does not use is copied. An
 * engine's reply in a script that the target language does not use is no translation.
 */

/**
 * Languages that are written in more scripts than the one that Unicode CLDR calls likely. The scripts are ISO 15924
 * codes.
 */
const SEVERAL: Readonly<Record<string, readonly string[]>> = {
  az: ['Latn', 'Cyrl', 'Arab'],
  bs: ['Latn', 'Cyrl'],
  crh: ['Latn', 'Cyrl'],
  ff: ['Latn', 'Adlm'],
  ha: ['Latn', 'Arab'],
  kk: ['Cyrl', 'Latn', 'Arab'],
  ks: ['Arab', 'Deva'],
  ku: ['Latn', 'Arab', 'Cyrl'],
  ky: ['Cyrl', 'Latn', 'Arab'],
  mn: ['Cyrl', 'Mong'],
  ms: ['Latn', 'Arab'],
  pa: ['Guru', 'Arab'],
  sd: ['Arab', 'Deva'],
  sr: ['Cyrl', 'Latn'],
  tg: ['Cyrl', 'Latn', 'Arab'],
  tk: ['Latn', 'Cyrl'],
  tt: ['Cyrl', 'Latn'],
  ug: ['Arab', 'Latn', 'Cyrl'],
  uz: ['Latn', 'Cyrl', 'Arab'],
};

/**
 * Languages with a script other than Latin whose texts may have whole sentences in Latin letters: names,
 * terms, romanization.
 */
const LATIN_TOO = new Set(['hi', 'ja', 'ko', 'yue', 'zh']);

/** ISO 15924 codes that stand for several scripts or for a variant of a script. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  Aran: ['Arab'],
  Hans: ['Hani', 'Bopo'],
  Hant: ['Hani', 'Bopo'],
  Jpan: ['Hani', 'Hira', 'Kana'],
  Kore: ['Hang', 'Hani'],
};

interface Letters {
  /** Matches letters that the language uses only in names and quotations. */
  foreign: RegExp;
  /** Matches letters outside the language's own script. */
  notOwn: RegExp;
  /** True if the language's texts may contain Latin letters, so that `foreign` does not match them. */
  latin: boolean;
}

const known = new Map<string, Letters | undefined>();
/** The maximum size of the cache. Language tags come from requests, so their number is unlimited. */
const REMEMBERED = 500;

function lettersOf(language: string): Letters | undefined {
  if (!known.has(language)) {
    if (known.size >= REMEMBERED) known.clear();
    known.set(language, readLetters(language));
  }
  return known.get(language);
}

function readLetters(language: string): Letters | undefined {
  const locale = localeOf(language);
  const likely = locale?.maximize().script;
  if (!locale || likely === undefined || primaryLanguage(language) === undefined) return undefined;
  const own = SEVERAL[locale.language] ?? [likely];
  const scripts = LATIN_TOO.has(locale.language) ? [...own, 'Latn'] : own;
  try {
    return { foreign: foreignTo(scripts), notOwn: foreignTo(own), latin: scripts.includes('Latn') };
  } catch {
    return undefined; // The Unicode data of this Node.js version does not have the script.
  }
}

function foreignTo(scripts: readonly string[]): RegExp {
  const parts = scripts.flatMap((script) => PARTS[script] ?? [script]);
  const classes = parts.map((script) => `\\p{scx=${script}}`).join('');
  return new RegExp(`[\\p{L}--[${classes}]]`, 'gv');
}

/** Returns the locale of a language tag, or undefined if its language is not an ISO 639 code. */
export function localeOf(tag: string): Intl.Locale | undefined {
  if (!/^[a-z]{2,3}(?:[-_][a-z\d_-]{1,30})?$/i.test(tag)) return undefined;
  try {
    return new Intl.Locale(tag.replaceAll('_', '-'));
  } catch {
    return undefined;
  }
}

/**
 * ISO 639 codes that name no single language: several languages (`mul`), or a language without a code
 * (`mis`). (`und` is not in the list, because `Intl.Locale` does not treat it as a language.)
 */
const NO_LANGUAGE = new Set(['mul', 'mis']);

const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

/**
 * Returns the language of a tag without region and script, by current ISO 639: `en` for `en-GB` and `eng`. Both kinds
 * of Norwegian are returned as `no`. Returns undefined for an unknown language.
 */
export function primaryLanguage(tag: string): string | undefined {
  const language = localeOf(tag.trim())?.language;
  if (language === undefined || NO_LANGUAGE.has(language) || names.of(language) === undefined)
    return undefined;
  return language === 'nb' || language === 'nn' ? 'no' : language;
}

export const countLetters = (text: string): number => text.match(/\p{L}/gu)?.length ?? 0;

/**
 * Matches symbols and letters of scripts other than Latin. The pattern is fast because it does not need the `u` flag.
 */
const unusual =
  /[^\s!-#%-*,-;?-\]_a-{}\u00a1\u00a7\u00aa\u00ab\u00ad\u00b2\u00b3\u00b6\u00b7\u00b9-\u00d6\u00d8-\u00f6\u00f8-\u024f\u2010-\u2027]/;

/** The ASCII part of `unusual`, which takes a quarter of the time. */
const unusualAscii = /[^\s!-#%-*,-;?-\]_a-{}]/;

/**
 * Returns true if a text certainly has no symbols and no foreign letters; false means unknown. The check pays off
 * because most texts are Latin, and counting letters takes a hundred times as long.
 */
export const isPlain = (text: string, language: string): boolean =>
  lettersOf(language)?.latin !== false && !(unusualAscii.test(text) && unusual.test(text));

/**
 * Returns how many letters of a text the language does not use, or undefined if the language's script is unknown.
 *
 * @param options.own counts all letters outside the language's own script; for Chinese, this includes Latin letters
 */
export function countForeignLetters(
  text: string,
  language: string,
  { own = false }: { own?: boolean } = {},
): number | undefined {
  const letters = lettersOf(language);
  if (letters === undefined) return undefined;
  return text.match(own ? letters.notOwn : letters.foreign)?.length ?? 0;
}
