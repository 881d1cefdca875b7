/**
 * Glossary and do-not-translate. For an engine that follows no glossary, a term is put into the source as a protected
 * word and taken out of the reply as the target term: the term is right, agreement around it is not always. For
 * every engine the reply is checked afterwards, and what is missing or forbidden is a note on the segment.
 *
 * How a term is found: word by word, the longest first, from left to right, never across a code. Written in lower
 * case it matches any case; with capitals throughout (`IT`) only itself. The usual endings of the source language
 * may stand at its words. Scripts without spaces match character by character.
 */
import type { Piece } from '@dragoman/documents';
import type { Term } from '@dragoman/engines';

export interface Glossary {
  /** The source with terms in place as protected words. */
  put(pieces: readonly Piece[]): Placed;
  /** What is wrong with a translation, a note each. */
  check(source: readonly Piece[], reply: readonly Piece[]): string[];
  readonly empty: boolean;
}

export interface Placed {
  pieces: Piece[];
  notes: string[];
  /** The reply with its terms as text. */
  take(reply: readonly Piece[]): Piece[];
}

interface Token {
  text: string;
  start: number;
  end: number;
}

interface Compiled {
  term: Term;
  tokens: string[];
  exact: boolean;
}

interface Match {
  entry: Compiled;
  start: number;
  end: number;
  /** In the form of the glossary, not with an ending. */
  plain: boolean;
}

/** A word; one character of a script without spaces; white space; any other character. */
const TOKEN =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}][\p{M}ー]*|(?:(?![\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}])[\p{L}\p{N}\p{M}_])+|\s+|./gsu;

/** Endings that a word may have, what stands in their place in the form of the glossary, and what they come after. */
const ENDINGS: Record<string, readonly (readonly [ending: string, form: string, after?: RegExp])[]> = {
  en: [
    ['ies', 'y'],
    // `boxes`, not `planes` of `plan`.
    ['es', '', /(?:[sxzo]|[cs]h)$/],
    // Not `princess` of `princes`.
    ['s', '', /[^s]$/],
  ],
  es: [
    ['ces', 'z'],
    ['es', ''],
    ['s', ''],
  ],
  gl: [
    ['ces', 'z'],
    ['es', ''],
    ['s', ''],
  ],
  pt: [
    ['ões', 'ão'],
    ['ns', 'm'],
    ['is', 'l'],
    ['es', ''],
    ['s', ''],
  ],
  ca: [
    ['es', 'a'],
    ['ns', ''],
    ['os', ''],
    ['s', ''],
  ],
  fr: [
    ['aux', 'al'],
    ['es', ''],
    ['s', ''],
    ['x', ''],
    ['e', ''],
  ],
  it: [
    ['i', 'o'],
    ['i', 'e'],
    ['e', 'a'],
    ['he', 'a'],
    ['hi', 'o'],
  ],
  de: [
    ['en', ''],
    ['er', ''],
    ['es', ''],
    ['e', ''],
    ['n', ''],
    ['s', ''],
  ],
  nl: [
    ['en', ''],
    ['s', ''],
    ['e', ''],
  ],
  sv: [
    ['arna', ''],
    ['erna', ''],
    ['orna', 'a'],
    ['ar', ''],
    ['er', ''],
    ['or', 'a'],
    ['en', ''],
    ['et', ''],
    ['n', ''],
    ['t', ''],
    ['s', ''],
  ],
  da: [
    ['erne', ''],
    ['er', ''],
    ['en', ''],
    ['et', ''],
    ['e', ''],
    ['s', ''],
  ],
  nb: [
    ['ene', ''],
    ['er', ''],
    ['en', ''],
    ['et', ''],
    ['a', ''],
    ['e', ''],
    ['s', ''],
  ],
  ru: [
    'ами',
    'ями',
    'ого',
    'ому',
    'ых',
    'ов',
    'ев',
    'ам',
    'ям',
    'ах',
    'ях',
    'ом',
    'ем',
    'ой',
    'ы',
    'и',
    'а',
    'я',
    'у',
    'ю',
    'е',
  ].map((ending) => [ending, ''] as const),
  pl: ['ami', 'ach', 'ego', 'emu', 'ów', 'om', 'em', 'ie', 'y', 'i', 'a', 'u', 'e', 'ę', 'ą'].map(
    (ending) => [ending, ''] as const,
  ),
  cs: ['ami', 'ech', 'ách', 'ého', 'ů', 'ům', 'em', 'y', 'i', 'a', 'u', 'e', 'ě'].map(
    (ending) => [ending, ''] as const,
  ),
};
/** A shorter word has its own form only: endings of three letters are not to be guessed at. */
const SHORTEST_STEM = 3;
/** What may stand on a Korean word: the mark of the plural, a particle. */
const PARTICLES =
  /^(?:들)?(?:은|는|이|가|을|를|의|에|에서|에게|에는|에서는|에도|께|한테|와|과|랑|이랑|도|만|로|으로|로는|으로는|부터|까지|처럼|보다|마다|이나|나|라도|이라도|입니다|이다)?$/u;
const LONGEST_PARTICLE = 4;

const tokenise = (text: string): Token[] =>
  [...text.matchAll(TOKEN)].map(({ 0: found, index }) => ({
    text: /^\s/.test(found) ? ' ' : found.normalize('NFC'),
    start: index,
    end: index + found.length,
  }));

/** What a Korean word may be without its particles. */
function stemsOf(word: string): string[] {
  const stems: string[] = [];
  for (let length = Math.max(1, word.length - LONGEST_PARTICLE); length < word.length; length++) {
    if (PARTICLES.test(word.slice(length))) stems.push(word.slice(0, length));
  }
  return stems;
}

/** The forms that a word may have in the glossary, its own first. */
function formsOf(word: string, language: string): string[] {
  const forms = [word];
  for (const [ending, form, after] of ENDINGS[language] ?? []) {
    if (!word.endsWith(ending) || word.length - ending.length < SHORTEST_STEM) continue;
    const stem = word.slice(0, -ending.length);
    if (after === undefined || after.test(stem)) forms.push(stem + form);
  }
  if (language === 'ko') forms.push(...stemsOf(word));
  return forms;
}

const isCapitals = (text: string) => /\p{Lu}/u.test(text) && text === text.toUpperCase() && text.length > 1;

function compile(term: Term, text: string): Compiled | undefined {
  const tokens = tokenise(text.normalize('NFC').trim()).map((token) => token.text);
  if (tokens.length === 0) return undefined;
  const exact = term.caseSensitive || isCapitals(text.trim());
  return { term, tokens: exact ? tokens : tokens.map((token) => token.toLowerCase()), exact };
}

/** Finds terms in texts of one language. */
function createFinder(entries: readonly Compiled[], language: string) {
  const byFirst = new Map<string, Compiled[]>();
  for (const entry of entries) {
    const key = entry.tokens[0]!.toLowerCase();
    const same = byFirst.get(key);
    if (same === undefined) byFirst.set(key, [entry]);
    else same.push(entry);
  }
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

  /** From left to right, the longest at each place, none over another. */
  return function find(text: string): Match[] {
    if (byFirst.size === 0) return [];
    const tokens = tokenise(text);
    const found: Match[] = [];
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
      const last = tokens[at + best.entry.tokens.length - 1]!;
      found.push({ ...best, start: tokens[at]!.start, end: last.end });
      at += best.entry.tokens.length;
    }
    return found;
  };
}

const base = (language: string) => language.toLowerCase().split(/[-_]/, 1)[0]!;

export function createGlossary(terms: readonly Term[], from: string, to: string): Glossary {
  const compiled = (pick: (term: Term) => string, wanted: readonly Term[]) =>
    wanted.flatMap((term) => compile(term, pick(term)) ?? []);
  const wanted = terms.filter((term) => !term.forbidden && (term.doNotTranslate || term.target !== ''));
  const forbidden = terms.filter((term) => term.forbidden && term.target !== '');
  const findWanted = createFinder(
    compiled(({ source }) => source, wanted),
    base(from),
  );
  const findForbiddenSource = createFinder(
    compiled(({ source }) => source, forbidden),
    base(from),
  );
  const rendered = (term: Term) => (term.doNotTranslate ? term.source : term.target);
  const findRendered = createFinder(compiled(rendered, wanted), base(to));
  const findForbidden = createFinder(
    compiled(({ target }) => target, forbidden),
    base(to),
  );

  const matchesIn = (pieces: readonly Piece[], find: (text: string) => Match[]) =>
    pieces.flatMap((piece) => ('text' in piece && !('keep' in piece) ? find(piece.text) : []));

  return {
    empty: wanted.length + forbidden.length === 0,

    put(pieces) {
      let next = pieces.reduce((most, piece) => Math.max(most, 'keep' in piece ? piece.keep : 0), 0) + 1;
      const placed = new Map<number, string>();
      const notes = new Set<string>();
      const made = pieces.flatMap((piece): Piece[] => {
        if (!('text' in piece) || 'keep' in piece) return [piece];
        const out: Piece[] = [];
        let position = 0;
        for (const { entry, start, end, plain } of findWanted(piece.text)) {
          const source = piece.text.slice(start, end);
          const { term } = entry;
          const target = term.doNotTranslate ? source : likeSource(term.target, source, term);
          if (!plain && !term.doNotTranslate) notes.add(`term not inflected: ${term.source}`);
          if (start > position) out.push({ text: piece.text.slice(position, start) });
          out.push({ keep: next, text: source });
          placed.set(next++, target);
          position = end;
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
    },

    check(source, reply) {
      const notes: string[] = [];
      const wantedTerms = new Set(matchesIn(source, findWanted).map(({ entry }) => entry.term));
      if (wantedTerms.size > 0) {
        const there = new Set(
          matchesIn(joined(reply), findRendered).map(({ entry }) => rendered(entry.term)),
        );
        for (const term of wantedTerms) {
          if (!there.has(rendered(term))) notes.push(`term missing: ${rendered(term)}`);
        }
      }
      const used = new Set(matchesIn(joined(reply), findForbidden).map(({ entry }) => entry.term));
      if (used.size > 0) {
        const asked = new Set(matchesIn(source, findForbiddenSource).map(({ entry }) => entry.term));
        for (const term of used) {
          // Without a source it is forbidden everywhere.
          if (term.source === '' || asked.has(term)) notes.push(`term forbidden: ${term.target}`);
        }
      }
      return notes;
    },
  };
}

/** Texts that stand together, as one: a term may have been split by what was put back as text. */
function joined(pieces: readonly Piece[]): Piece[] {
  const out: Piece[] = [];
  for (const piece of pieces) {
    const last = out.at(-1);
    if (last !== undefined && 'text' in last && !('keep' in last) && 'text' in piece && !('keep' in piece)) {
      out[out.length - 1] = { text: last.text + piece.text };
    } else out.push(piece);
  }
  return out;
}

/** The target in the case of the source's occurrence, where the glossary leaves the case open. */
function likeSource(target: string, occurrence: string, term: Term): string {
  if (term.caseSensitive || isCapitals(term.source)) return target;
  if (isCapitals(occurrence)) return target.toUpperCase();
  const first = /^\p{Lu}/u.test(occurrence) && /^\p{Ll}/u.test(term.source);
  return first ? target.charAt(0).toUpperCase() + target.slice(1) : target;
}
