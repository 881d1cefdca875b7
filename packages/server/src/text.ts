/** What no text of a request may hold. */

/**
 * NUL, and the 66 noncharacters of Unicode (23.7: "should never be interchanged"): U+FDD0 to U+FDEF, and the last two
 * code points of each of the 17 planes. Without the `u` flag, whose decoding of each character takes three times as long.
 */
const UNUSABLE =
  /[\0\ufdd0-\ufdef\ufffe\uffff]|[\ud83f\ud87f\ud8bf\ud8ff\ud93f\ud97f\ud9bf\ud9ff\uda3f\uda7f\udabf\udaff\udb3f\udb7f\udbbf\udbff][\udffe\udfff]/;

/**
 * Says what is in a text that cannot be kept or translated: PostgreSQL takes no NUL, UTF-8 no half surrogate pair, and
 * engines lose noncharacters or choke on them. Undefined for a text without such.
 */
export function findUnusable(text: string): string | undefined {
  if (text.isWellFormed() && !UNUSABLE.test(text)) return undefined;
  return 'must not contain NUL characters, noncharacters such as U+FFFF, or half surrogate pairs.';
}
