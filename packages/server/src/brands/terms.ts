/** The rules of a glossary, whatever file it comes in. Pure. */
import type { Term } from '@dragoman/engines';

export const MAX_TERMS = 50_000;
export const MAX_TERM_CHARACTERS = 500;
export const MAX_NOTE_CHARACTERS = 2_000;

/** A term as a file has it, with the place that a complaint about it names: `line 3`, `languages.es.glossary[2]`. */
export interface WrittenTerm {
  where: string;
  term: Term;
}

/** What is wrong with a file, one line a fault. */
export interface Complaints {
  add(where: string, reason: string): void;
  readonly lines: readonly string[];
}

export function createComplaints(): Complaints {
  const lines: string[] = [];
  return { add: (where, reason) => void lines.push(`${where}: ${reason}`), lines };
}

/**
 * Checks the terms of one language and makes them plain: runs of white space are one space. A pair that is
 * written again is one term, with the first note that any of them has; where the two contradict each other that
 * is a fault. What is wrong goes to `complaints`, with where it stands.
 */
export function checkTerms(written: readonly WrittenTerm[], complaints: Complaints): Term[] {
  const kept = new Map<string, WrittenTerm>();
  const settled = new Map<string, WrittenTerm>();
  for (const { where, term: raw } of written) {
    const faults = faultsOf(raw);
    for (const fault of faults) complaints.add(where, fault);
    if (faults.length > 0) continue;
    const one = { where, term: tidy(raw) };
    const { source, forbidden, doNotTranslate } = one.term;
    const key = keyOf(one.term);
    const same = kept.get(key);
    if (same !== undefined) {
      if (!sameRule(same.term, one.term)) {
        complaints.add(where, `contradicts ${same.where}: the same pair with other flags.`);
      } else if (same.term.note === undefined && one.term.note !== undefined) {
        same.term.note = one.term.note;
      }
      continue;
    }
    const other = settled.get(source);
    if (!forbidden && other !== undefined && other.term.doNotTranslate !== doNotTranslate) {
      const reason = doNotTranslate ? 'it has a translation there' : 'it is not to be translated there';
      complaints.add(where, `contradicts ${other.where}: "${shorten(source)}": ${reason}.`);
      continue;
    }
    if (!forbidden) settled.set(source, one);
    kept.set(key, one);
  }
  if (kept.size > MAX_TERMS) {
    const last = [...kept.values()][MAX_TERMS]!;
    complaints.add(
      last.where,
      `a glossary has at most ${MAX_TERMS} terms a language; there are ${kept.size}.`,
    );
  }
  return [...kept.values()].map(({ term }) => term);
}

/** What makes two terms the same one, so that a difference in the rest is a change of it. */
export function keyOf({ source, target }: Term): string {
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
  return keyOf(one) === keyOf(other) && sameRule(one, other) && one.note === other.note;
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
    faults.push('forbidden: a term that is not to be translated has no target to forbid.');
  } else if (term.doNotTranslate && target !== '' && target !== source) {
    faults.push('target: must be empty where do_not_translate is set.');
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

/** Whether a text can be kept in the database, and in every kind of file (XML 1.0 §2.2). */
export function isClean(value: string): boolean {
  return value.isWellFormed() && !/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(value);
}

/** Characters as PostgreSQL counts them. */
export function isLonger(value: string, characters: number): boolean {
  return value.length > characters && [...value].length > characters;
}

/** A hard space stays one: it is part of how a term is written. */
function oneLine(value: string): string {
  return value.replaceAll(/[ \t\r\n]+/g, ' ').trim();
}

function oneNote(value: string | undefined): string {
  return (value ?? '').replaceAll(/\r\n?/g, '\n').trim();
}

/** A wrong value is quoted back, but not a whole document of it. */
export function shorten(value: string): string {
  return value.length > 40 ? `${value.slice(0, 40)}…` : value;
}

/** A term in the words of the files. */
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
