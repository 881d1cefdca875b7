/**
 * The glossary matcher, used by engines without glossaries, by the workbench for highlighting, and by checks.
 *
 * The matcher goes through the words from left to right and prefers the longest term. A term in lower case
 * matches any case; a term in capitals (`IT`) matches only capitals. Words may have the common endings of the
 * language. In scripts without spaces, terms are matched character by character.
 */
import type { Piece } from '@dragoman/documents/pieces';
import { formsOf } from './endings.ts';
import type { Range } from './finding.ts';
import { createTermRecogniser } from './inflection.ts';
import { base } from './language.ts';
import { stretches, translatable } from './pieces.ts';
import type { Term } from './term.ts';
import { type Token, tokenise } from './tokens.ts';

/** An occurrence of a term in a text. */
export interface Occurrence {
  term: Term;
  /**
   * The range of the occurrence in the searched text. If pieces were searched, the range is in their visible
   * text.
   */
  range: Range;
  /** True if the word has exactly the glossary form, without an inflected ending. */
  plain: boolean;
}

export interface TermComparison {
  /**
   * Terms that occur in the source. `present` is true if the translation has the target of the term, or of another
   * term with the same source. The target may be inflected or part of a compound word.
   */
  wanted: (Occurrence & { present: boolean })[];
  /** The forbidden terms in the translation. `range` is a range of the visible text of the translation. */
  forbidden: Occurrence[];
}

export interface Glossary {
  readonly empty: boolean;
  /** Returns the occurrences of terms in a source text. */
  find(source: string): Occurrence[];
  compare(source: readonly Piece[], target: readonly Piece[]): TermComparison;
}

interface Compiled {
  term: Term;
  tokens: string[];
  exact: boolean;
}

/**
 * Compiled glossaries, cached as long as their terms exist. The workbench matches terms at every keystroke.
 */
const cache = new WeakMap<readonly Term[], Map<string, Glossary>>();

/**
 * Compiles the glossary of a language pair. The caller must not change the terms afterwards, because the
 * result is cached.
 */
export function glossary(terms: readonly Term[], from: string, to: string): Glossary {
  let ofPair = cache.get(terms);
  if (ofPair === undefined) {
    ofPair = new Map();
    cache.set(terms, ofPair);
  }
  const pair = terms.length === 0 ? '' : `${from} ${to}`;
  let made = ofPair.get(pair);
  if (made === undefined) {
    made = compileGlossary(terms, base(from), base(to));
    ofPair.set(pair, made);
  }
  return made;
}

/** Returns the text that the translation must use for a term. */
export const rendered = (term: Term): string => (term.doNotTranslate ? term.source : term.target);

export const isCapitals = (text: string): boolean =>
  /\p{Lu}/u.test(text) && text === text.toUpperCase() && text.length > 1;

function compileGlossary(terms: readonly Term[], from: string, to: string): Glossary {
  const wanted = terms.filter((term) => !term.forbidden && (term.doNotTranslate || term.target !== ''));
  const forbidden = terms.filter((term) => term.forbidden && term.target !== '');
  const source = (term: Term) => term.source;
  const findWanted = createFinder(wanted, source, from);
  const findForbiddenSource = createFinder(forbidden, source, from);
  const findRendered = createFinder(wanted, rendered, to);
  const findForbidden = createFinder(forbidden, rendered, to);
  const alternatives = Map.groupBy(wanted, keyOf);
  return {
    empty: wanted.length + forbidden.length === 0,
    find: findWanted,

    compare(source, target) {
      const found = inPieces(source, findWanted);
      const renderings = found.length === 0 ? [] : inPieces(target, findRendered);
      const texts = new Set(renderings.map(({ term }) => rendered(term)));
      let recognise: ((term: string) => boolean) | undefined;
      const inflected = (term: Term) => {
        if (isExact(term, rendered(term))) return false;
        recognise ??= createTermRecogniser(translatable(target), to);
        return recognise(rendered(term));
      };
      const isPresent = (term: Term) => {
        const same = alternatives.get(keyOf(term))!;
        return same.some((one) => texts.has(rendered(one))) || same.some(inflected);
      };
      const used = inPieces(target, findForbidden);
      const forbiddenSources =
        used.length === 0
          ? new Set()
          : new Set(inPieces(source, findForbiddenSource).map(({ term }) => term));
      return {
        wanted: found.map((one) => ({ ...one, present: isPresent(one.term) })),
        // A forbidden term without a source must not occur in any translation.
        forbidden: used.filter(({ term }) => term.source === '' || forbiddenSources.has(term)),
      };
    },
  };
}

/** Returns the same key for terms that have the same source words. */
const keyOf = ({ source, caseSensitive }: Term) =>
  `${caseSensitive} ${caseSensitive ? source : source.toLowerCase()}`;

function inPieces(pieces: readonly Piece[], find: (text: string) => Occurrence[]): Occurrence[] {
  return stretches(pieces).flatMap(({ text, start: at }) =>
    find(text).map(({ term, plain, range }) => ({
      term,
      plain,
      range: { start: at + range.start, end: at + range.end },
    })),
  );
}

/** True if the term matches only words in the same letter case. */
const isExact = (term: Term, text: string): boolean => term.caseSensitive || isCapitals(text.trim());

function compile(term: Term, text: string): Compiled | undefined {
  const tokens = tokenise(text.normalize('NFC').trim()).map((token) => token.text);
  if (tokens.length === 0) return undefined;
  const exact = isExact(term, text);
  return { term, tokens: exact ? tokens : tokens.map((token) => token.toLowerCase()), exact };
}

/**
 * Returns a function that finds the terms in texts of one language. The function reads a text from left to
 * right, prefers the longest term and returns no overlapping terms.
 */
function createFinder(
  terms: readonly Term[],
  pick: (term: Term) => string,
  language: string,
): (text: string) => Occurrence[] {
  const entries = terms.flatMap((term) => compile(term, pick(term)) ?? []);
  const byFirst = Map.groupBy(entries, ({ tokens }) => tokens[0]!.toLowerCase());
  for (const same of byFirst.values()) same.sort((a, b) => b.tokens.length - a.tokens.length);

  function matchAt(tokens: readonly Token[], at: number, entry: Compiled): { plain: boolean } | undefined {
    let plain = true;
    for (const [offset, wanted] of entry.tokens.entries()) {
      const token = tokens[at + offset];
      if (token === undefined) return undefined;
      const text = entry.exact ? token.text : token.text.toLowerCase();
      if (text === wanted) continue;
      if (!formsOf(text, language).includes(wanted)) return undefined;
      plain = false;
    }
    return { plain };
  }

  return function find(text) {
    if (byFirst.size === 0) return [];
    const tokens = tokenise(text);
    const found: Occurrence[] = [];
    for (let at = 0; at < tokens.length; ) {
      let best: { entry: Compiled; plain: boolean } | undefined;
      for (const form of formsOf(tokens[at]!.text.toLowerCase(), language)) {
        for (const entry of byFirst.get(form) ?? []) {
          if (best !== undefined && entry.tokens.length <= best.entry.tokens.length) break;
          const matched = matchAt(tokens, at, entry);
          if (matched !== undefined) best = { entry, ...matched };
        }
      }
      if (best === undefined) {
        at++;
        continue;
      }
      const { entry, plain } = best;
      const last = tokens[at + entry.tokens.length - 1]!;
      found.push({ term: entry.term, plain, range: { start: tokens[at]!.start, end: last.end } });
      at += entry.tokens.length;
    }
    return found;
  };
}
