/** What a job costs. Pure; integer cents. */

/**
 * @param words of the translatable text
 * @param centsPerWord a whole number
 * @returns cents
 * @throws RangeError when the product is not a safe integer
 */
export function priceOf(words: number, centsPerWord: number): number {
  const cents = words * centsPerWord;
  if (!Number.isSafeInteger(cents) || cents < 0) throw new RangeError('a price that is not a safe integer');
  return cents;
}
