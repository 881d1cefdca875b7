/**
 * Applies the glossary of a brand. For an engine without glossary support, a term is put into the source as a
 * protected word and replaced by the target term in the reply. The target term is then used, but the words
 * around it may not agree with it in gender or number. The reply of every engine is checked, and each missing
 * or forbidden term becomes a note on the segment.
 *
 * `packages/checks` defines how a term is matched. Tags inside a term are put around it: readers see the term, and its
 * translation may have other words.
 */
import { glossary as compile, isCapitals, type Glossary as Matcher, rendered } from '@dragoman/checks';
import { mergeText, type Piece } from '@dragoman/documents';
import type { Term } from '@dragoman/engines';
import { formatTermNote } from './draft-notes.ts';

export interface Glossary {
  /** Replaces the terms in the source by protected words. */
  put(pieces: readonly Piece[]): PlacedTerms;
  /** Returns a note for each missing or forbidden term of a translation. */
  check(source: readonly Piece[], reply: readonly Piece[]): string[];
  readonly empty: boolean;
}

export interface PlacedTerms {
  pieces: Piece[];
  notes: string[];
  /** Returns the reply with its protected words replaced by the target terms. */
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
        ...wanted.flatMap(({ term, present }) =>
          present ? [] : [formatTermNote('term_missing', rendered(term))],
        ),
        ...forbidden.map(({ term }) => formatTermNote('term_forbidden', term.target)),
      ];
      return [...new Set(notes)];
    },
  };
}

function put(pieces: readonly Piece[], matcher: Matcher): PlacedTerms {
  let next = pieces.reduce((most, piece) => Math.max(most, 'keep' in piece ? piece.keep : 0), 0) + 1;
  const placed = new Map<number, string>();
  const notes = new Set<string>();
  const made = gatherTerms(pieces, matcher).flatMap((piece): Piece[] => {
    if (!('text' in piece) || 'keep' in piece) return [piece];
    const out: Piece[] = [];
    let position = 0;
    for (const { term, range, plain } of matcher.find(piece.text)) {
      const source = piece.text.slice(range.start, range.end);
      const target = term.doNotTranslate ? source : likeSource(term.target, source, term);
      if (!plain && !term.doNotTranslate) notes.add(formatTermNote('term_not_inflected', term.source));
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

/** A tag inside a text, and its offset there. */
interface InnerTag {
  at: number;
  tag: { open: number } | { close: number };
}

/** Moves the tags inside each term to its ends, so that the term is one text. */
function gatherTerms(pieces: readonly Piece[], matcher: Matcher): Piece[] {
  if (!pieces.some((piece) => 'open' in piece || 'close' in piece)) return [...pieces];
  const out: Piece[] = [];
  let text = '';
  let tags: InnerTag[] = [];
  const flush = () => {
    let position = 0;
    const copy = (to: number, count: number) => {
      for (const { at, tag } of tags.splice(0, count)) {
        out.push({ text: text.slice(position, at) }, tag);
        position = at;
      }
      out.push({ text: text.slice(position, to) });
      position = to;
    };
    for (const { range } of tags.length === 0 ? [] : matcher.find(text)) {
      // Elements that begin or end with the term may have to change their order.
      const first = tags.findLastIndex(
        ({ at, tag }) => at < range.start || (at === range.start && 'close' in tag),
      );
      copy(range.start, first + 1);
      const next = tags.findIndex(({ at, tag }) => at > range.end || (at === range.end && 'open' in tag));
      const inside = tags.slice(0, next < 0 ? tags.length : next).map(({ tag }) => tag);
      const ends = aroundTerm(inside);
      if (ends === undefined) continue;
      tags = tags.slice(inside.length);
      out.push(...ends.before, { text: text.slice(range.start, range.end) }, ...ends.after);
      position = range.end;
    }
    copy(text.length, tags.length);
    [text, tags] = ['', []];
  };
  for (const piece of pieces) {
    if ('text' in piece && !('keep' in piece)) text += piece.text;
    else if ('open' in piece || 'close' in piece) tags.push({ at: text.length, tag: piece });
    else {
      flush();
      out.push(piece);
    }
  }
  flush();
  return mergeText(out);
}

/** Returns the tags before and after a term so that they stay nested; undefined if they cannot, or there are none. */
function aroundTerm(inside: readonly InnerTag['tag'][]): { before: Piece[]; after: Piece[] } | undefined {
  const opened = inside.flatMap((tag) => ('open' in tag ? [tag.open] : []));
  const closed = inside.flatMap((tag) => ('close' in tag ? [tag.close] : []));
  const whole = opened.filter((pair) => closed.includes(pair));
  const leftOpen = opened.filter((pair) => !whole.includes(pair));
  const leftClosed = closed.filter((pair) => !whole.includes(pair));
  if (inside.length === 0 || (leftOpen.length > 0 && leftClosed.length > 0)) return undefined;
  return {
    before: [...leftOpen, ...whole].map((open) => ({ open })),
    after: [...whole.toReversed(), ...leftClosed].map((close) => ({ close })),
  };
}

/** Returns the target term in the letter case of the source word, unless the glossary prescribes the letter case. */
function likeSource(target: string, occurrence: string, term: Term): string {
  if (term.caseSensitive || isCapitals(term.source)) return target;
  if (isCapitals(occurrence)) return target.toUpperCase();
  const first = /^\p{Lu}/u.test(occurrence) && /^\p{Ll}/u.test(term.source);
  return first ? target.charAt(0).toUpperCase() + target.slice(1) : target;
}
