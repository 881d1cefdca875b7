import type { Check, Range } from './finding.ts';
import { base, UNSPACED } from './language.ts';
import { stretches } from './pieces.ts';
import { tokenise } from './tokens.ts';

/** Languages in which doubled words are normal, because they form plurals, adverbs or emphasis. */
const DOUBLING = new Set(
  'id ms jv su tl fil ceb vi tr az kk ky uz tk hi ur bn mr gu pa ne ta te kn ml si sw zu xh st af ht mi haw sm ka hy he ko'.split(
    ' ',
  ),
);

/** Words that may correctly occur twice in a row, for each language. */
const RIGHT: Record<string, readonly string[]> = {
  en: ['had', 'that', 'very', 'bye', 'no', 'ha', 'so'],
  de: ['die', 'der', 'das', 'sie', 'den', 'dem', 'ihr', 'was'],
  nl: ['die', 'dat', 'je', 'ze'],
  fr: ['nous', 'vous', 'si', 'non'],
  it: ['via', 'piano', 'quasi', 'sì', 'no'],
  es: ['no', 'sí', 'casi'],
  ar: ['جدا', 'جداً'],
  fa: ['کم', 'آرام'],
};

export const doubledWords: Check = {
  id: 'doubled-words',
  severity: 'warning',
  question:
    'Is a word repeated, although the source has no repeated word and the language does not require it?',
  find({ source, target, to }) {
    const language = base(to);
    if (DOUBLING.has(language) || UNSPACED.has(language)) return [];
    const right = new Set(RIGHT[language]);
    const found = doubles(target).filter(({ word }) => !right.has(word));
    // Doubled words are accepted if the source has at least as many: they are then intended, for example as
    // emphasis.
    if (found.length === 0 || doubles(source).length >= found.length) return [];
    return found.map(({ word, range }) => ({ values: { word }, range }));
  },
};

function doubles(pieces: Parameters<typeof stretches>[0]): { word: string; range: Range }[] {
  return stretches(pieces).flatMap(({ text, start }) => {
    const tokens = tokenise(text);
    return tokens.flatMap((token, index) => {
      const [space, second] = [tokens[index + 1], tokens[index + 2]];
      if (space?.text !== ' ' || second === undefined || !/^\p{L}/u.test(token.text)) return [];
      const word = token.text.toLowerCase();
      if (second.text.toLowerCase() !== word) return [];
      return [{ word, range: { start: start + token.start, end: start + second.end } }];
    });
  });
}
