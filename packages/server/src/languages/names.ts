/** The English names of languages. */

const english = new Intl.DisplayNames('en', { type: 'language', languageDisplay: 'standard' });

/**
 * Returns the English name of a language, such as `Portuguese (Brazil)` for `pt-br`. A language without a
 * name is returned as its code.
 */
export function nameOf(shortname: string): string {
  try {
    return english.of(shortname) ?? shortname;
  } catch {
    return shortname;
  }
}
