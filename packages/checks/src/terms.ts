import type { Check, CheckInput } from './finding.ts';
import { glossary, rendered, type TermComparison } from './glossary.ts';

/** Cached because three checks need the result. */
const cache = new WeakMap<CheckInput, TermComparison>();

function compare(input: CheckInput): TermComparison {
  let compared = cache.get(input);
  if (compared === undefined) {
    const { source, target, terms, from, to } = input;
    compared = glossary(terms, from, to).compare(source, target);
    cache.set(input, compared);
  }
  return compared;
}

/** Returns one finding per term, even if it occurs several times. */
function missing(input: CheckInput, doNotTranslate: boolean) {
  const terms = new Set(
    compare(input).wanted.flatMap(({ term, present }) =>
      !present && term.doNotTranslate === doNotTranslate ? [term] : [],
    ),
  );
  return [...terms].map((term) => ({ values: { source: term.source, target: rendered(term) } }));
}

export const terms: Check = {
  id: 'terms',
  severity: 'warning',
  question: 'Does the translation use the glossary’s terms for the words of the source?',
  find: (input) => missing(input, false),
};

export const doNotTranslate: Check = {
  id: 'do-not-translate',
  severity: 'warning',
  question: 'Are words that must not be translated unchanged in the translation?',
  find: (input) => missing(input, true),
};

/** A warning, because the matcher may confuse words: an editor can acknowledge it. */
export const forbiddenTerms: Check = {
  id: 'forbidden-terms',
  severity: 'warning',
  question: 'Does the translation use a term that the glossary forbids?',
  find: (input) =>
    compare(input).forbidden.map(({ term, range }) => ({
      values: { source: term.source, target: term.target },
      range,
    })),
};
