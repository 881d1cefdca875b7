import type { Check, CheckInput } from './finding.ts';
import { type Compared, glossary, rendered } from './glossary.ts';

/** Three checks ask the same of a text. */
const known = new WeakMap<CheckInput, Compared>();

function compare(input: CheckInput): Compared {
  let compared = known.get(input);
  if (compared === undefined) {
    const { source, target, terms, from, to } = input;
    compared = glossary(terms, from, to).compare(source, target);
    known.set(input, compared);
  }
  return compared;
}

/** One finding a term, however often it comes. */
function missing(input: CheckInput, doNotTranslate: boolean) {
  const terms = new Set(
    compare(input).wanted.flatMap(({ term, there }) =>
      !there && term.doNotTranslate === doNotTranslate ? [term] : [],
    ),
  );
  return [...terms].map((term) => ({ values: { source: term.source, target: rendered(term) } }));
}

export const terms: Check = {
  id: 'terms',
  severity: 'warning',
  asks: 'Has the translation the terms that the glossary has for the source?',
  find: (input) => missing(input, false),
};

export const doNotTranslate: Check = {
  id: 'do-not-translate',
  severity: 'warning',
  asks: 'Does what is not to be translated stand in the translation as it is?',
  find: (input) => missing(input, true),
};

/** A warning, since the matcher may take a word for another: an editor who uses it all the same has to say so. */
export const forbiddenTerms: Check = {
  id: 'forbidden-terms',
  severity: 'warning',
  asks: 'Does the translation use a term that the glossary forbids?',
  find: (input) =>
    compare(input).forbidden.map(({ term, range }) => ({
      values: { source: term.source, target: term.target },
      range,
    })),
};
