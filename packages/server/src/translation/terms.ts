/**
 * Glossary and do-not-translate. For an engine that follows no glossary, a term is put into the source as a protected
 * word and taken out of the reply as the target term: the term is right, agreement around it is not always. For
 * every engine the reply is checked afterwards, and what is missing or forbidden is a note on the segment.
 *
 * How a term is found is said where the checks find it. One that a code divides is not put in place.
 */
import { glossary as compile, isCapitals, type Glossary as Matcher, rendered } from '@dragoman/checks';
import type { Piece } from '@dragoman/documents';
import type { Term } from '@dragoman/engines';

export interface Glossary {
  /** The source with terms in place as protected words. */
  put(pieces: readonly Piece[]): PlacedTerms;
  /** What is wrong with a translation, a note each. */
  check(source: readonly Piece[], reply: readonly Piece[]): string[];
  readonly empty: boolean;
}

export interface PlacedTerms {
  pieces: Piece[];
  notes: string[];
  /** The reply with its terms as text. */
  take(reply: readonly Piece[]): Piece[];
}

export function createGlossary(terms: readonly Term[], from: string, to: string): Glossary {
  const matcher = compile(terms, from, to);
  return {
    empty: matcher.empty,
    put: (pieces) => put(pieces, matcher),
    check(source, reply) {
      const { wanted, forbidden } = matcher.compare(source, reply);
      const notes = [
        ...wanted.flatMap(({ term, present }) => (present ? [] : [`term missing: ${rendered(term)}`])),
        ...forbidden.map(({ term }) => `term forbidden: ${term.target}`),
      ];
      return [...new Set(notes)];
    },
  };
}

function put(pieces: readonly Piece[], matcher: Matcher): PlacedTerms {
  let next = pieces.reduce((most, piece) => Math.max(most, 'keep' in piece ? piece.keep : 0), 0) + 1;
  const placed = new Map<number, string>();
  const notes = new Set<string>();
  const made = pieces.flatMap((piece): Piece[] => {
    if (!('text' in piece) || 'keep' in piece) return [piece];
    const out: Piece[] = [];
    let position = 0;
    for (const { term, range, plain } of matcher.find(piece.text)) {
      const source = piece.text.slice(range.start, range.end);
      const target = term.doNotTranslate ? source : likeSource(term.target, source, term);
      if (!plain && !term.doNotTranslate) notes.add(`term not inflected: ${term.source}`);
      if (range.start > position) out.push({ text: piece.text.slice(position, range.start) });
      out.push({ keep: next, text: source });
      placed.set(next++, target);
      position = range.end;
    }
    if (position < piece.text.length) out.push({ text: piece.text.slice(position) });
    return out;
  });
  return {
    pieces: made,
    notes: [...notes],
    take: (reply) =>
      reply.map((piece) => {
        const target = 'keep' in piece ? placed.get(piece.keep) : undefined;
        return target === undefined ? piece : { text: target };
      }),
  };
}

/** The target in the case of the source's occurrence, where the glossary leaves the case open. */
function likeSource(target: string, occurrence: string, term: Term): string {
  if (term.caseSensitive || isCapitals(term.source)) return target;
  if (isCapitals(occurrence)) return target.toUpperCase();
  const first = /^\p{Lu}/u.test(occurrence) && /^\p{Ll}/u.test(term.source);
  return first ? target.charAt(0).toUpperCase() + target.slice(1) : target;
}
