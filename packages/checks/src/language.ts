/** Returns `pt` for `pt-br`. */
export const base = (language: string): string => language.toLowerCase().split(/[-_]/, 1)[0]!;

/** Languages without spaces between words. */
export const UNSPACED = new Set(['zh', 'ja', 'th', 'lo', 'km', 'my']);
