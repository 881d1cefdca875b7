/** The English names of languages. */

const english = new Intl.DisplayNames('en', { type: 'language', languageDisplay: 'standard' });

/** Returns the English name of a language, such as `Portuguese (Brazil)` for `pt-br`; its code when it has none. */
export function nameOf(shortname: string): string {
  try {
    return english.of(shortname) ?? shortname;
  } catch {
    return shortname;
  }
}
