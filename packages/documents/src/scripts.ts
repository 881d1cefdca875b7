/**
 * Which letters a language is written with. The one table of scripts: segments in another script are kept, and a
 * reply in another script is no translation.
 */

/** Languages written in more scripts than the one that the Unicode CLDR calls likely, as codes of ISO 15924. */
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

/** Languages with a script of their own, whose texts have whole sentences in Latin letters: names, terms, romanised. */
const LATIN_TOO = new Set(['hi', 'ja', 'ko', 'yue', 'zh']);

/** Codes of ISO 15924 for writing systems of several scripts, or for variants of one. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  Aran: ['Arab'],
  Hans: ['Hani', 'Bopo'],
  Hant: ['Hani', 'Bopo'],
  Jpan: ['Hani', 'Hira', 'Kana'],
  Kore: ['Hang', 'Hani'],
};

interface Letters {
  /** Finds letters that no text in the language has, but for names and quotations. */
  foreign: RegExp;
  /** Finds letters of other scripts than the language's own. */
  notOwn: RegExp;
  /** Whether Latin letters are none of `foreign`. */
  latin: boolean;
}

const known = new Map<string, Letters | undefined>();
/** Language tags come from requests, so only so many are remembered. */
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
    return undefined; // A script that this version of Unicode has no property for.
  }
}

function foreignTo(scripts: readonly string[]): RegExp {
  const parts = scripts.flatMap((script) => PARTS[script] ?? [script]);
  const classes = parts.map((script) => `\\p{scx=${script}}`).join('');
  return new RegExp(`[\\p{L}--[${classes}]]`, 'gv');
}

/** The locale of a tag whose language is a code of ISO 639; undefined for any other. */
function localeOf(tag: string): Intl.Locale | undefined {
  if (!/^[a-z]{2,3}(?:[-_][a-z\d_-]{1,30})?$/i.test(tag)) return undefined;
  try {
    return new Intl.Locale(tag.replaceAll('_', '-'));
  } catch {
    return undefined;
  }
}

/** Says nothing of the language: several, not coded. (`und` is no locale.) */
const NO_LANGUAGE = new Set(['mul', 'mis']);

const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

/**
 * The language of a tag, without region and script, as ISO 639 writes it today: `en` for `en-GB` and `eng`. The kinds
 * of Norwegian are one language. Undefined for a tag that names no known language.
 */
export function primaryLanguage(tag: string): string | undefined {
  const language = localeOf(tag.trim())?.language;
  if (language === undefined || NO_LANGUAGE.has(language) || names.of(language) === undefined)
    return undefined;
  return language === 'nb' || language === 'nn' ? 'no' : language;
}

export const countLetters = (text: string): number => text.match(/\p{L}/gu)?.length ?? 0;

/** Finds what plain Latin text does not have: symbols, and letters of other scripts. Without `u` it is fast. */
const unusual =
  /[^\s!-#%-*,-;?-\]_a-{}\u00a1\u00a7\u00aa\u00ab\u00ad\u00b2\u00b3\u00b6\u00b7\u00b9-\u00d6\u00d8-\u00f6\u00f8-\u024f\u2010-\u2027]/;

/**
 * Whether a text can have neither a symbol nor a letter that the language is not written with. False says nothing.
 * Most texts are Latin, and counting letters takes a hundred times as long as this.
 */
export const isPlain = (text: string, language: string): boolean =>
  lettersOf(language)?.latin !== false && !unusual.test(text);

/**
 * The number of letters that texts in a language do not have. Undefined for a language whose script is not known.
 *
 * @param options.own true: letters of all scripts but the language's own count; in Chinese, also Latin ones.
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
