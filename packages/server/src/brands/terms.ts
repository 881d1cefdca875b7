/** The rules for the terms of a glossary. They are the same for every file format. */
import type { Term } from '@dragoman/engines';
import { shorten } from '../http/input.ts';

export const MAX_TERMS = 50_000;
export const MAX_TERM_CHARACTERS = 500;
export const MAX_NOTE_CHARACTERS = 2_000;

/** A term of a file with its place in the file, such as `line 3` or `languages.es.glossary[2]`. */
export interface WrittenTerm {
  where: string;
  term: Term;
}

/** Collects the faults of a file, one line for each. */
export interface Faults {
  add(where: string, reason: string): void;
  readonly lines: readonly string[];
}

export function createFaults(): Faults {
  const lines: string[] = [];
  return { add: (where, reason) => void lines.push(`${where}: ${reason}`), lines };
}

/** Checks the terms of one language, one after another. */
export interface TermCheck {
  add(written: WrittenTerm): void;
  /** Returns the terms so far, without duplicates, and adds a fault if there are too many. */
  terms(): Term[];
}

/**
 * Checks and normalises the terms of one language. Runs of white space become one space. Duplicates are
 * merged and keep the first note; duplicates that contradict each other are faults. Adds the faults to
 * `faults`.
 */
export function createTermCheck(faults: Faults): TermCheck {
  const kept = new Map<string, WrittenTerm>();
  const settled = new Map<string, WrittenTerm>();
  return {
    add({ where, term: raw }) {
      const ownFaults = faultsOf(raw);
      for (const fault of ownFaults) faults.add(where, fault);
      if (ownFaults.length > 0) return;
      const one = { where, term: tidy(raw) };
      const { source, forbidden, doNotTranslate } = one.term;
      const key = termKey(one.term);
      const same = kept.get(key);
      if (same !== undefined) {
        if (!sameRule(same.term, one.term)) {
          faults.add(where, `contradicts ${same.where}: the same pair with other flags.`);
        } else if (same.term.note === undefined && one.term.note !== undefined) {
          same.term.note = one.term.note;
        }
        return;
      }
      const other = settled.get(source);
      if (!forbidden && other !== undefined && other.term.doNotTranslate !== doNotTranslate) {
        const reason = doNotTranslate ? 'it has a translation there' : 'it is marked do_not_translate there';
        faults.add(where, `contradicts ${other.where}: "${shorten(source)}": ${reason}.`);
        return;
      }
      if (!forbidden) settled.set(source, one);
      kept.set(key, one);
    },
    terms() {
      if (kept.size > MAX_TERMS) {
        const last = [...kept.values()][MAX_TERMS]!;
        faults.add(
          last.where,
          `a glossary has at most ${MAX_TERMS} terms a language; there are ${kept.size}.`,
        );
      }
      return [...kept.values()].map(({ term }) => term);
    },
  };
}

/** Checks terms at once, like {@link createTermCheck}. */
export function checkTerms(written: readonly WrittenTerm[], faults: Faults): Term[] {
  const check = createTermCheck(faults);
  for (const one of written) check.add(one);
  return check.terms();
}

/** Returns the key that identifies a term. A difference in its other fields is a change of the same term. */
export function termKey({ source, target }: Term): string {
  return `${source}\0${target}`;
}

function sameRule(one: Term, other: Term): boolean {
  return (
    one.caseSensitive === other.caseSensitive &&
    one.forbidden === other.forbidden &&
    one.doNotTranslate === other.doNotTranslate
  );
}

export function sameTerm(one: Term, other: Term): boolean {
  return termKey(one) === termKey(other) && sameRule(one, other) && one.note === other.note;
}

function tidy(term: Term): Term {
  const source = oneLine(term.source);
  const note = oneNote(term.note);
  return {
    source,
    target: term.doNotTranslate ? '' : oneLine(term.target),
    caseSensitive: term.caseSensitive,
    forbidden: term.forbidden,
    doNotTranslate: term.doNotTranslate,
    ...(note === '' ? {} : { note }),
  };
}

function faultsOf(term: Term): string[] {
  const source = oneLine(term.source);
  const target = oneLine(term.target);
  const faults = [
    ...wordFaults('source', source),
    ...wordFaults('target', target),
    ...noteFaults(oneNote(term.note)),
  ];
  if (source === '') faults.push('source: must not be empty.');
  if (term.doNotTranslate && term.forbidden) {
    faults.push('forbidden: must be false if do_not_translate is set.');
  } else if (term.doNotTranslate && target !== '' && target !== source) {
    faults.push('target: must be empty if do_not_translate is set.');
  } else if (!term.doNotTranslate && target === '') {
    faults.push('target: must not be empty, unless do_not_translate is set.');
  }
  return faults;
}

function wordFaults(field: string, value: string): string[] {
  if (!isClean(value) || /\p{Cc}/u.test(value)) {
    return [`${field}: must not contain control characters or half surrogate pairs.`];
  }
  return isLonger(value, MAX_TERM_CHARACTERS)
    ? [`${field}: must be at most ${MAX_TERM_CHARACTERS} characters.`]
    : [];
}

function noteFaults(note: string): string[] {
  if (!isClean(note)) return ['note: must not contain control characters or half surrogate pairs.'];
  return isLonger(note, MAX_NOTE_CHARACTERS)
    ? [`note: must be at most ${MAX_NOTE_CHARACTERS} characters.`]
    : [];
}

/** Returns whether a text can be stored in the database and in every file format (XML 1.0 §2.2). */
export function isClean(value: string): boolean {
  return value.isWellFormed() && !/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(value);
}

/** Returns whether a text has more than `characters` code points. PostgreSQL also counts code points. */
export function isLonger(value: string, characters: number): boolean {
  return value.length > characters && [...value].length > characters;
}

/** Normalises white space, except no-break spaces, which belong to the spelling of a term. */
function oneLine(value: string): string {
  return value.replaceAll(/[ \t\r\n]+/g, ' ').trim();
}

function oneNote(value: string | undefined): string {
  return (value ?? '').replaceAll(/\r\n?/g, '\n').trim();
}

/** Converts a term to the field names of the files. */
export function presentTerm(term: Term): Record<string, string | boolean> {
  return {
    source: term.source,
    ...(term.target === '' ? {} : { target: term.target }),
    ...(term.caseSensitive ? { case_sensitive: true } : {}),
    ...(term.forbidden ? { forbidden: true } : {}),
    ...(term.doNotTranslate ? { do_not_translate: true } : {}),
    ...(term.note === undefined ? {} : { note: term.note }),
  };
}
