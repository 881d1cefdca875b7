/**
 * White-space tests on UTF-16 code units. `text[at].trim() === ''` would give the same result, but it allocates a
 * string per character, which is slow for subtitles outside ASCII.
 */

/** Returns the white space and control characters at the beginning of a text. */
export function blankStart(text: string): string {
  return /^[\s\p{Cc}]*/u.exec(text)![0];
}

/** Returns the white space and control characters at the end of a text. It scans backwards, in linear time. */
export function blankEnd(text: string): string {
  let start = text.length;
  while (start > 0 && BLANK.test(text[start - 1]!)) start -= 1;
  return text.slice(start);
}

const BLANK = /[\s\p{Cc}]/u;

/**
 * Returns true if a UTF-16 code unit is white space as defined by `String.prototype.trim`, or any character up to
 * U+0020.
 */
export function isSpaceUnit(unit: number): boolean {
  if (unit <= 0x20) return true;
  if (unit < 0xa0) return false;
  return (
    unit === 0xa0 ||
    unit === 0x1680 ||
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x3000 ||
    unit === 0xfeff
  );
}
