/** The English names of languages. Pure. */

const english = new Intl.DisplayNames('en', { type: 'language', languageDisplay: 'standard' });

/** `pt-br` is `Portuguese (Brazil)`. What has no name, or is no language tag, is named by its shortname. */
export function nameOf(shortname: string): string {
  try {
    return english.of(shortname) ?? shortname;
  } catch {
    return shortname;
  }
}
