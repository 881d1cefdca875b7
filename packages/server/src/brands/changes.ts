/** Compares two versions of a brand. */
import { isDeepStrictEqual } from 'node:util';
import type { Term } from '@dragoman/engines';
import type { Brand, BrandLanguage } from './brand.ts';
import { sameTerm, termKey } from './terms.ts';

/**
 * The differences between two glossaries. A term is identified by its source and target; a difference in
 * another field is a change of the term.
 */
export interface TermChanges {
  added: Term[];
  changed: { from: Term; to: Term }[];
  removed: Term[];
  unchanged: number;
  /** Whether the terms that are in both glossaries have a different order. */
  reordered: boolean;
}

export interface LanguageChanges {
  language: string;
  change: 'added' | 'changed' | 'removed' | 'unchanged';
  tone: boolean;
  instructions: boolean;
  terms: TermChanges;
}

export interface BrandChanges {
  externalId: string;
  change: 'added' | 'changed' | 'unchanged';
  name: boolean;
  fallback: boolean;
  votes: boolean;
  /** Whether other patterns are protected. */
  protect: boolean;
  /** Whether the brand becomes the default brand of the account, or stops being it. */
  default: 'becomes' | 'no longer' | 'unchanged';
  languages: LanguageChanges[];
}

export function compareBrands(
  before: Brand | undefined,
  after: Brand,
  isDefault: { before: boolean; after: boolean },
): BrandChanges {
  const names = new Set([...(before?.languages.keys() ?? []), ...after.languages.keys()]);
  const languages = [...names]
    .sort()
    .map((language) =>
      compareLanguages(language, before?.languages.get(language), after.languages.get(language)),
    );
  const name = before !== undefined && before.name !== after.name;
  const fallback = before !== undefined && before.fallback !== after.fallback;
  const votes = before !== undefined && before.votes !== after.votes;
  const protect = !isDeepStrictEqual(before?.protect ?? [], after.protect ?? []);
  const changed =
    name ||
    fallback ||
    votes ||
    protect ||
    isDefault.before !== isDefault.after ||
    languages.some(({ change }) => change !== 'unchanged');
  return {
    externalId: after.externalId,
    change: before === undefined ? 'added' : changed ? 'changed' : 'unchanged',
    name,
    fallback,
    votes,
    protect,
    default: isDefault.before === isDefault.after ? 'unchanged' : isDefault.after ? 'becomes' : 'no longer',
    languages,
  };
}

function compareLanguages(
  language: string,
  before: BrandLanguage | undefined,
  after: BrandLanguage | undefined,
): LanguageChanges {
  const terms = compareTerms(before?.terms ?? [], after?.terms ?? []);
  const tone = before?.tone !== after?.tone;
  const instructions = before?.instructions !== after?.instructions;
  if (before === undefined) return { language, change: 'added', tone, instructions, terms };
  if (after === undefined) return { language, change: 'removed', tone, instructions, terms };
  const change = tone || instructions || termsDiffer(terms) ? 'changed' : 'unchanged';
  return { language, change, tone, instructions, terms };
}

export function termsDiffer({ added, changed, removed, reordered }: TermChanges): boolean {
  return added.length + changed.length + removed.length > 0 || reordered;
}

function compareTerms(before: readonly Term[], after: readonly Term[]): TermChanges {
  const old = new Map(before.map((term) => [termKey(term), term]));
  const kept = new Set<string>();
  const added: Term[] = [];
  const changed: { from: Term; to: Term }[] = [];
  for (const to of after) {
    const from = old.get(termKey(to));
    if (from === undefined) {
      added.push(to);
      continue;
    }
    kept.add(termKey(to));
    if (!sameTerm(from, to)) changed.push({ from, to });
  }
  const staying = before.map(termKey).filter((key) => kept.has(key));
  const stayed = [...kept];
  return {
    added,
    changed,
    removed: before.filter((term) => !kept.has(termKey(term))),
    unchanged: kept.size - changed.length,
    reordered: staying.some((key, index) => key !== stayed[index]),
  };
}

/** Summarises changes as numbers, without the content of the brand. */
export function countChanges(changes: BrandChanges) {
  const { change, name, fallback, votes, protect, default: isDefault, languages } = changes;
  return {
    change,
    name,
    fallback,
    votes,
    protect,
    default: isDefault,
    languages: languages.map(({ language, change, tone, instructions, terms }) => ({
      language,
      change,
      tone,
      instructions,
      added: terms.added.length,
      changed: terms.changed.length,
      removed: terms.removed.length,
      reordered: terms.reordered,
    })),
  };
}
