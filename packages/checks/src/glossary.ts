/**
 * The glossary matcher, for engines without glossaries, for highlighting in the workbench, and for checks.
 *
 * Terms are found word by word, from left to right, the longest first. A term in lower case matches any case; one in
 * capitals (`IT`) matches only itself. Words may have the common endings of the language. In scripts without spaces,
 * terms are matched character by character.
 */
import type { Piece } from '@dragoman/documents/pieces';
import { formsOf } from './endings.ts';
import type { Range } from './finding.ts';
import { base } from './language.ts';
import { stretches } from './pieces.ts';
import type { Term } from './term.ts';
import { type Token, tokenise } from './tokens.ts';

/** An occurrence of a term in a text. */
export interface Occurrence {
  term: Term;
  /** Range in the searched text; for pieces, in their visible text. */
  range: Range;
  /** In the form of the glossary, without an ending. */
  plain: boolean;
}

export interface TermComparison {
  /** Terms of the source, and whether the translation has the target, or another target for the same words. */
  wanted: (Occurrence & { present: boolean })[];
  /** Forbidden terms in the translation; `range` is in its visible text. */
  forbidden: Occurrence[];
}

export interface Glossary {
  readonly empty: boolean;
  /** Finds terms in a text of the source. */
  find(source: string): Occurrence[];
  compare(source: readonly Piece[], target: readonly Piece[]): TermComparison;
}

interface Compiled {
  term: Term;
  tokens: string[];
  exact: boolean;
}

/** Cached as long as the terms exist, because the workbench matches at every keystroke. */
const cache = new WeakMap<readonly Term[], Map<string, Glossary>>();

/** Compiles the glossary of a language pair. The terms must not be changed afterwards. */
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

/** Returns the text of a term in a translation. */
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
      const isPresent = (term: Term) =>
        alternatives.get(keyOf(term))!.some((one) => texts.has(rendered(one)));
      const used = inPieces(target, findForbidden);
      const forbiddenSources =
        used.length === 0
          ? new Set()
          : new Set(inPieces(source, findForbiddenSource).map(({ term }) => term));
      return {
        wanted: found.map((one) => ({ ...one, present: isPresent(one.term) })),
        // A term without a source is forbidden everywhere.
        forbidden: used.filter(({ term }) => term.source === '' || forbiddenSources.has(term)),
      };
    },
  };
}

/** Key of terms for the same words. */
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

function compile(term: Term, text: string): Compiled | undefined {
  const tokens = tokenise(text.normalize('NFC').trim()).map((token) => token.text);
  if (tokens.length === 0) return undefined;
  const exact = term.caseSensitive || isCapitals(text.trim());
  return { term, tokens: exact ? tokens : tokens.map((token) => token.toLowerCase()), exact };
}

/** Returns a function that finds terms in texts of one language: from left to right, longest first, no overlaps. */
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
