/** Generates varied English text for the benchmarks. The same seed gives the same text. */
import { createRandom } from '../prove/harness/random.ts';

const SUBJECTS = [
  'the old fisherman',
  'my sister',
  'a young doctor',
  'the city council',
  'every student',
  'the new teacher',
  'our neighbour',
  'the company',
  'a small group of tourists',
  'the president',
  'the children of the village',
  'an engineer from the north',
  'the museum',
  'this family',
  'the government',
  'a friend of mine',
];
const VERBS =
  `bought lost described opened visited remembered wanted sold painted discovered carried changed closed
prepared used explained`.split(/\s/);
const OBJECTS = [
  'the red house near the river',
  'three tickets for the last train',
  'a letter that nobody had read',
  'the window of the kitchen',
  'an answer to the difficult question',
  'the history of the bridge',
  'fresh bread and cold milk',
  'the keys of the hotel',
  'a map of the old town',
  'the plan for the next year',
  'many books about the sea',
  'the price of the bicycle',
  'a simple song',
  'the results of the meeting',
];
const ENDINGS = [
  'on Monday morning',
  'before the rain began',
  'because it was too late',
  'with great care',
  'in the summer of 1998',
  'when the market closed',
  'although the road was long',
  'for the first time',
  'without saying a word',
  'after dinner',
  'while the others were sleeping',
  'at ten o’clock',
];
const PLAIN = [
  'It was a cold night.',
  'Nobody knew why.',
  'The answer is simple: we need more time.',
  'Is there a better way to do this?',
  'Please close the door.',
  'She speaks four languages, but she prefers to listen.',
  'In the end, the water was clean again.',
  'There were 250 people in the square.',
];

/** Returns about `words` words in sentences of 3 to 20 words, with one paragraph on each line. */
export function englishText(words: number, seed: number): string {
  const random = createRandom(seed);
  const pick = (from: readonly string[]) => from[random.below(from.length)]!;
  const sentence = () => {
    if (random.below(5) === 0) return pick(PLAIN);
    const made = `${pick(SUBJECTS)} ${pick(VERBS)} ${pick(OBJECTS)} ${pick(ENDINGS)}`;
    return `${made[0]!.toUpperCase()}${made.slice(1)}.`;
  };
  const paragraphs: string[] = [];
  for (let count = 0; count < words; ) {
    const sentences = Array.from({ length: 3 + random.below(4) }, sentence).join(' ');
    count += countWords(sentences);
    paragraphs.push(sentences);
  }
  return paragraphs.join('\n');
}

export function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}
