import type { Check, CheckInput } from './finding.ts';
import { glossary, rendered, type TermComparison } from './glossary.ts';

/** The comparison of a segment with the glossary, cached because three checks use it. */
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

/** Returns one finding for each missing term, even if the term occurs several times. */
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
  question: 'If the source has a glossary term, does the translation use the glossary’s translation of it?',
  find: (input) => missing(input, false),
};

export const doNotTranslate: Check = {
  id: 'do-not-translate',
  severity: 'warning',
  question: 'Are words that must not be translated unchanged in the translation?',
  find: (input) => missing(input, true),
};

/**
 * Severity is warning, because the matcher may mistake another word for the term. An editor can acknowledge
 * it.
 */
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
