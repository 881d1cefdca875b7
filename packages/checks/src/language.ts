/** Returns the language without its region: `pt` for `pt-br`. */
export const base = (language: string): string => language.toLowerCase().split(/[-_]/, 1)[0]!;

/** Languages that write no spaces between words. */
export const UNSPACED = new Set(['zh', 'ja', 'th', 'lo', 'km', 'my']);
