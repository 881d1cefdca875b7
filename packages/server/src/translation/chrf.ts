/**
 * The chrF2 score of translations against references: how many sequences of one to six characters they have in common.
 * It is computed over all texts together, as sacreBLEU does (Popović 2015, with the effective order).
 */

const ORDER = 6;
/** The square of beta = 2: recall counts twice as much as precision. */
const BETA_SQUARED = 4;

/**
 * Returns the score, 0 to 100.
 * @param references the reference of each text
 */
export function chrf(texts: readonly string[], references: readonly string[]): number {
  let [precision, recall, orders] = [0, 0, 0];
  const pairs = texts.map(
    (text, index) => [charactersOf(text), charactersOf(references[index] ?? '')] as const,
  );
  for (let order = 1; order <= ORDER; order += 1) {
    let [matches, made, wanted] = [0, 0, 0];
    for (const [text, reference] of pairs) {
      const found = countSequences(reference, order);
      for (const [sequence, count] of countSequences(text, order)) {
        matches += Math.min(count, found.get(sequence) ?? 0);
      }
      made += Math.max(0, text.length - order + 1);
      wanted += Math.max(0, reference.length - order + 1);
    }
    if (made === 0 || wanted === 0) continue;
    precision += matches / made;
    recall += matches / wanted;
    orders += 1;
  }
  if (precision + recall === 0) return 0;
  return (100 * (1 + BETA_SQUARED) * precision * recall) / ((BETA_SQUARED * precision + recall) * orders);
}

const charactersOf = (text: string): string[] => [...text.replace(/\s/gu, '')];

function countSequences(characters: readonly string[], order: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (let at = 0; at + order <= characters.length; at += 1) {
    const sequence = characters.slice(at, at + order).join('');
    counts.set(sequence, (counts.get(sequence) ?? 0) + 1);
  }
  return counts;
}
