/**
 * White space by number. `text[at].trim() === ''` says the same, but makes a string of every character it is asked
 * about; subtitles that are not in ASCII ask at both ends of every cue.
 */

/** White space and control characters at the beginning of a text: nothing that is translated. */
export function blankStart(text: string): string {
  return /^[\s\p{Cc}]*/u.exec(text)![0];
}

/** White space and control characters at the end of a text. Read backwards, so that no run is tried twice. */
export function blankEnd(text: string): string {
  let start = text.length;
  while (start > 0 && BLANK.test(text[start - 1]!)) start -= 1;
  return text.slice(start);
}

const BLANK = /[\s\p{Cc}]/u;

/** Whether a UTF-16 unit is white space as `trim` sees it, or a control character of ASCII below the space. */
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
