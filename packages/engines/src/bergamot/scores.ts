/**
 * Reads the scores of Bergamot's words. The engine reports them only in HTML, as attributes of `font` elements that it
 * puts around each sentence and each word of the translation:
 *
 * `<font x-bergamot-sentence-index="0" x-bergamot-sentence-score="-0.2"><font x-bergamot-word-index="0"
 * x-bergamot-word-score="-0.2">Hola</font></font>`
 *
 * Other tags interrupt these elements: the engine then repeats them with the same indexes.
 */

/** A translation as HTML without the elements of the scores. */
export interface ScoredTarget {
  html: string;
  /** The scores of the words: for each word the mean of the logarithms of its tokens' probabilities. */
  scores: number[];
}

/** Dragoman sends no `font` elements, and a text that looks like one comes back escaped. */
const FONT = /<(?:font\b([^<>]*)|\/font)>/g;

export function readScores(html: string): ScoredTarget {
  const scores = new Map<string, number>();
  let sentence: string | undefined;
  const without = html.replace(FONT, (_, attributes: string = '') => {
    sentence = attributeOf(attributes, 'sentence-index') ?? sentence;
    const score = attributeOf(attributes, 'word-score');
    if (score !== undefined) {
      scores.set(`${sentence}.${attributeOf(attributes, 'word-index')}`, Number.parseFloat(score));
    }
    return '';
  });
  return { html: without, scores: [...scores.values()] };
}

const attributeOf = (attributes: string, name: string): string | undefined =>
  attributes.split(` x-bergamot-${name}="`, 2)[1]?.split('"', 1)[0];
