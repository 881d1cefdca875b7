/**
 * Property tests of the stored form of entries with variables in any order: a recalled target must be
 * identical to the target that was stored.
 */
import { mergeText, type Piece, plainText, rebuild, type Segment, scan, segments } from '@dragoman/documents';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fit, type StoredPair, toStoredForm } from './form.ts';
import { readTmx, type TmxUnit, writeTmx } from './tmx.ts';

/** Converts protected words to plain text, as in entries of earlier versions and of other tools. */
const bareOf = (pieces: readonly Piece[]): Piece[] =>
  mergeText(pieces.map((piece) => ('keep' in piece ? { text: piece.text } : piece)));

const variable = (name: string, example: string) =>
  `<span class="notranslate" origval="%${name}%">${example}</span>`;
const xliff = (source: string) =>
  '<?xml version="1.0"?><xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">' +
  '<file original="a" source-language="en" target-language="es" datatype="plaintext"><body>' +
  `<trans-unit id="1"><source>${source}</source></trans-unit></body></file></xliff>`;

interface Drawn {
  format: 'html' | 'xliff';
  /** The visible text of each variable. */
  examples: string[];
  /** The words before each variable of the source and after the last variable. */
  before: string[];
  /** The words before and after the variables of the target. The variables are in the order of `order`. */
  after: string[];
  order: number[];
}

const example = fc.constantFrom('A', 'Al', 'a', '3', '13', '1.5', 'Anna', 'is', '', '…', '%s', 'x-7', 'ñ');
const word = fc.constantFrom(
  'house',
  'Al',
  'final',
  '13',
  '3',
  'Is',
  'a',
  'Annabel',
  '33 cats',
  'x-71',
  'señor',
);
const drawn: fc.Arbitrary<Drawn> = fc.integer({ min: 1, max: 4 }).chain((count) =>
  fc.record({
    format: fc.constantFrom('html', 'xliff'),
    examples: fc.array(example, { minLength: count, maxLength: count }),
    before: fc.array(word, { minLength: count + 1, maxLength: count + 1 }),
    after: fc.array(word, { minLength: count + 1, maxLength: count + 1 }),
    order: fc.shuffledSubarray([...Array(count).keys()], { minLength: count, maxLength: count }),
  }),
);

/**
 * Builds a document from the generated words. @param prefix a sentence before the segment, which shifts its
 * code numbers
 */
function documentOf({ format, examples, before }: Drawn, prefix = '') {
  const code = (shown: string, index: number) =>
    format === 'html'
      ? variable(`V${index}`, shown)
      : `<x id="INTERPOLATION_${index}" equiv-text="${shown}"/>`;
  const parts = examples.map((shown, index) => `${before[index]} ${code(shown, index)} `);
  const sentence = `${prefix}The ${parts.join('')}${before.at(-1)} stays.`;
  const document = scan(format === 'html' ? sentence : xliff(sentence), format, { sourceLanguage: 'en' });
  return { document, segment: segments(document, 'en').at(-1)! };
}

function humanOf({ after, order }: Drawn, { pieces }: Segment): Piece[] {
  const kept = pieces.filter((piece) => 'keep' in piece);
  const parts = order.flatMap((which, index): Piece[] => [{ text: ` ${after[index]} ` }, kept[which]!]);
  return [{ text: 'Pues' }, ...parts, { text: ` ${after.at(-1)}.` }];
}

/** Returns a target with each variable replaced by its position in the source. */
function placesOf(source: readonly Piece[], target: readonly Piece[]): string {
  const kept = source.flatMap((piece) => ('keep' in piece ? [piece.keep] : []));
  return target
    .map((piece) => ('keep' in piece ? `[${kept.indexOf(piece.keep)}]` : 'text' in piece ? piece.text : '<>'))
    .join('');
}

type Fit = typeof fit;

/** Returns a description of the error in a recalled target; undefined if the target is correct. */
function faultOf(given: Drawn, recall: Fit, stored: StoredPair, mustBeComplete: boolean): string | undefined {
  const here = documentOf(given);
  const human = humanOf(given, here.segment);
  const there = documentOf(given, 'See {link}. ');
  for (const { document, segment } of [here, there]) {
    const { pieces, complete } = recall(segment.pieces, stored);
    if (!complete) {
      if (mustBeComplete) return 'not recalled';
      continue;
    }
    const places = placesOf(segment.pieces, pieces);
    if (places !== placesOf(here.segment.pieces, human)) return places;
    if (document !== here.document) continue;
    const written = (target: Piece[]) => rebuild(document, new Map([[segment.id, target]]), 'es');
    if (written(pieces) !== written(human)) return written(pieces);
  }
  return undefined;
}

function storedOf(given: Drawn): StoredPair {
  const { segment } = documentOf(given);
  return JSON.parse(JSON.stringify(toStoredForm(segment.pieces, humanOf(given, segment))));
}

const bareEntry = ({ source, target }: StoredPair): StoredPair => ({
  source: bareOf(source),
  target: bareOf(target),
});

/** A planted fault: a version of `fit` that matches protected words by their text. */
const searchText: Fit = (source, remembered) => {
  let pieces = bareOf(remembered.target);
  let complete = true;
  for (const kept of source) {
    if (!('keep' in kept)) continue;
    const at = pieces.findIndex(
      (piece) => 'text' in piece && !('keep' in piece) && piece.text.includes(kept.text),
    );
    if (at < 0) {
      complete = false;
      continue;
    }
    const { text } = pieces[at] as { text: string };
    const start = text.indexOf(kept.text);
    pieces = pieces.toSpliced(at, 1, { text: text.slice(0, start) }, kept, {
      text: text.slice(start + kept.text.length),
    });
  }
  return { pieces, complete };
};

describe('recalled targets with variables in any order', () => {
  const coded = (recall: Fit) =>
    fc.property(drawn, (given) => {
      expect(faultOf(given, recall, storedOf(given), true)).toBeUndefined();
    });
  const bare = (recall: Fit) =>
    fc.property(drawn, (given) => {
      expect(faultOf(given, recall, bareEntry(storedOf(given)), false)).toBeUndefined();
    });

  it('have the variables at the same positions as the target that was stored', () => fc.assert(coded(fit)));

  it('are correct or not used when the entry has the variables as plain words', () => fc.assert(bare(fit)));

  it('have the variables at the same positions after a TMX export and import', async () => {
    await fc.assert(
      fc.asyncProperty(drawn, async (given) => {
        const stored = storedOf(given);
        const entry = {
          id: '1',
          createdAt: new Date(0),
          changedAt: new Date(0),
          properties: {},
          from: 'en',
          to: 'es',
        };
        const file = writeTmx(
          (async function* () {
            yield { ...entry, ...stored };
          })(),
          'en',
        );
        let unit: TmxUnit | undefined;
        for await (unit of readTmx(file));
        const [source, target] = unit!.variants.map(({ pieces }) => pieces);
        expect(faultOf(given, fit, toStoredForm(source!, target!), true)).toBeUndefined();
      }),
    );
  });

  it('are reported as wrong by this test when a faulty program matches variables by text instead of number', () => {
    for (const property of [coded(searchText), bare(searchText)]) {
      expect(String(fc.check(property).errorInstance)).toMatch(
        /^AssertionError: expected '.*' to be undefined/,
      );
    }
  });

  it('are reported as wrong by this test when a faulty program numbers variables by their order in the target', () => {
    const swapped: Fit = (source, { target }) => {
      const kept = source.filter((piece) => 'keep' in piece);
      return { pieces: target.map((piece) => ('keep' in piece ? kept.shift()! : piece)), complete: true };
    };
    expect(String(fc.check(coded(swapped)).errorInstance)).toMatch(/expected 'Pues .*' to be undefined/);
  });

  it('are tested with entries whose plain words are unambiguous, and with ambiguous ones', () => {
    const recalled = fc.sample(drawn, 200).filter((given) => {
      const { segment } = documentOf(given);
      return fit(segment.pieces, bareEntry(storedOf(given))).complete;
    });
    expect(recalled.length).toBeGreaterThan(0);
    expect(recalled.length).toBeLessThan(200);
    expect(plainText(storedOf(recalled[0]!).source)).toMatch(/^The /);
  });
});
