/** The common word endings of each language, so that the glossary also finds inflected forms. */

/**
 * For each language: the ending of an inflected word, the ending of its glossary form, and a condition for
 * the letters before the ending.
 */
const ENDINGS: Record<string, readonly (readonly [ending: string, form: string, after?: RegExp])[]> = {
  en: [
    ['ies', 'y'],
    // Matches `boxes` as a form of `box`, but not `planes` as a form of `plan`.
    ['es', '', /(?:[sxzo]|[cs]h)$/],
    // Does not match `princess` as a form of `princes`.
    ['s', '', /[^s]$/],
  ],
  es: [
    ['ces', 'z'],
    ['es', ''],
    ['s', ''],
  ],
  gl: [
    ['ces', 'z'],
    ['es', ''],
    ['s', ''],
  ],
  pt: [
    ['ões', 'ão'],
    ['ns', 'm'],
    ['is', 'l'],
    ['es', ''],
    ['s', ''],
  ],
  ca: [
    ['es', 'a'],
    ['ns', ''],
    ['os', ''],
    ['s', ''],
  ],
  fr: [
    ['aux', 'al'],
    ['es', ''],
    ['s', ''],
    ['x', ''],
    ['e', ''],
  ],
  it: [
    ['i', 'o'],
    ['i', 'e'],
    ['e', 'a'],
    ['he', 'a'],
    ['hi', 'o'],
  ],
  de: [
    ['en', ''],
    ['er', ''],
    ['es', ''],
    ['e', ''],
    ['n', ''],
    ['s', ''],
  ],
  nl: [
    ['en', ''],
    ['s', ''],
    ['e', ''],
  ],
  sv: [
    ['arna', ''],
    ['erna', ''],
    ['orna', 'a'],
    ['ar', ''],
    ['er', ''],
    ['or', 'a'],
    ['en', ''],
    ['et', ''],
    ['n', ''],
    ['t', ''],
    ['s', ''],
  ],
  da: [
    ['erne', ''],
    ['er', ''],
    ['en', ''],
    ['et', ''],
    ['e', ''],
    ['s', ''],
  ],
  nb: [
    ['ene', ''],
    ['er', ''],
    ['en', ''],
    ['et', ''],
    ['a', ''],
    ['e', ''],
    ['s', ''],
  ],
  ru: 'ами ями ого ому ых ов ев ам ям ах ях ом ем ой ы и а я у ю е о ь й'
    .split(' ')
    .map((ending) => [ending, ''] as const),
  pl: ['ami', 'ach', 'ego', 'emu', 'ów', 'om', 'em', 'ie', 'y', 'i', 'a', 'o', 'u', 'e', 'ę', 'ą'].map(
    (ending) => [ending, ''] as const,
  ),
  cs: ['ami', 'ech', 'ách', 'ého', 'ů', 'ům', 'em', 'y', 'i', 'a', 'o', 'u', 'e', 'ě'].map(
    (ending) => [ending, ''] as const,
  ),
};
/** The minimum length of a stem in letters. Endings are not removed if fewer letters would remain. */
const SHORTEST_STEM = 3;
/** Suffixes of Korean words: the plural marker and the particles. */
const PARTICLES =
  /^(?:들)?(?:은|는|이|가|을|를|의|에|에서|에게|에는|에서는|에도|께|한테|와|과|랑|이랑|도|만|로|으로|로는|으로는|부터|까지|처럼|보다|마다|이나|나|라도|이라도|입니다|이다)?$/u;
const LONGEST_PARTICLE = 4;

/** Returns the stems that a Korean word may have without its particles. */
function stemsOf(word: string): string[] {
  const stems: string[] = [];
  for (let length = Math.max(1, word.length - LONGEST_PARTICLE); length < word.length; length++) {
    if (PARTICLES.test(word.slice(length))) stems.push(word.slice(0, length));
  }
  return stems;
}

/** Returns the word and the forms under which a glossary may list it. */
export function formsOf(word: string, language: string): string[] {
  const forms = [word];
  for (const [ending, form, after] of ENDINGS[language] ?? []) {
    if (!word.endsWith(ending) || word.length - ending.length < SHORTEST_STEM) continue;
    const stem = word.slice(0, -ending.length);
    if (after === undefined || after.test(stem)) forms.push(stem + form);
  }
  if (language === 'ko') forms.push(...stemsOf(word));
  return forms;
}
