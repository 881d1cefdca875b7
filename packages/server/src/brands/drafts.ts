/**
 * Drafts of brands. An operator changes the draft, as often as needed; publishing puts it in the brand's place, in one
 * transaction. Whoever translates reads the published brand alone.
 *
 * A draft has a revision: a change names the one that it was made for, 0 where there was none, and another one is
 * refused. It also knows the version of the brand that it began as: where the brand was published by another way
 * since (a file at the command line), publishing says so first.
 */
import type { Term } from '@dragoman/engines';
import type { AccountRef } from '../account.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { ApiError, notFound } from '../errors.ts';
import {
  type Brand,
  BrandError,
  type BrandFile,
  type BrandLanguage,
  readBrand as readBrandFields,
  toBrandFile,
} from './brand.ts';
import { readBrand, replaceBrand, tellOf } from './brands.ts';
import { type BrandChanges, compareBrands } from './changes.ts';
import * as store from './draft-store.ts';
import { keyOf } from './terms.ts';

/** A brand as it is published, and what it is to become. At least one of them is there. */
export interface KeptBrand {
  published: { brand: Brand; isDefault: boolean; version: number } | undefined;
  draft:
    | { brand: BrandFile; revision: number; basedOn: number | undefined; changedAt: Date; changedBy: string }
    | undefined;
}

/** @throws ApiError `not_found` when there is neither a brand nor a draft of the name */
export async function readKept(on: Queryable, account: AccountRef, externalId: string): Promise<KeptBrand> {
  const row = await store.findDraft(on, account, externalId);
  const published = await readBrand(on, account, externalId).catch((error: unknown) => {
    if (error instanceof BrandError) return undefined;
    throw error;
  });
  if (row === undefined && published === undefined) throw notFound();
  return { published, draft: row && toDraft(row) };
}

function toDraft(row: store.DraftRow): NonNullable<KeptBrand['draft']> {
  return {
    brand: readBrandFields('the draft', row.brand),
    revision: row.revision,
    basedOn: row.based_on ?? undefined,
    changedAt: row.changed_at,
    changedBy: row.changed_by,
  };
}

/** What publishing the draft would change; undefined without a draft. */
export function pendingChanges({ published, draft }: KeptBrand): BrandChanges | undefined {
  if (draft === undefined) return undefined;
  const before = published?.isDefault ?? false;
  return compareBrands(published?.brand, draft.brand, { before, after: draft.brand.default ?? before });
}

/** The brand was published by another way since the draft was begun. */
export function isStale({ published, draft }: KeptBrand): boolean {
  return draft !== undefined && published?.version !== draft.basedOn;
}

export interface DraftChange {
  externalId: string;
  /** Of the draft that was read; 0: there was none. */
  revision: number;
  by: string;
}

/**
 * Changes a draft, or begins one from the published brand.
 * @param change gives the brand as it is to be; what it makes is checked as a file would be
 * @throws ApiError `not_found`; `conflict` when the draft has another revision; BrandError
 */
export async function changeDraft(
  database: Database,
  account: AccountRef,
  { externalId, revision, by }: DraftChange,
  change: (brand: BrandFile) => BrandFile,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const row = await store.lockDraft(transaction, account, externalId);
    if ((row?.revision ?? 0) !== revision) throw changedSince();
    const begun = row === undefined ? await beginning(transaction, account, externalId) : toDraft(row);
    const after = change(begun.brand);
    const brand = toBrandFile(after, after.default ?? false);
    readBrandFields('the draft', brand);
    const written = { externalId, revision, basedOn: begun.basedOn ?? null, brand, by };
    if ((await store.writeDraft(transaction, account, written)) === undefined) throw changedSince();
  });
}

async function beginning(
  transaction: Transaction,
  account: AccountRef,
  externalId: string,
): Promise<{ brand: BrandFile; basedOn: number | undefined }> {
  const { published } = await readKept(transaction, account, externalId);
  const { brand, isDefault, version } = published!;
  return { brand: { ...brand, default: isDefault }, basedOn: version };
}

/**
 * Begins a brand that there is not yet.
 * @throws BrandError when there is one of that name, or a draft
 */
export async function beginBrand(
  database: Database,
  account: AccountRef,
  brand: { externalId: string; name: string; isDefault: boolean; by: string },
): Promise<void> {
  const { externalId, name, isDefault, by } = brand;
  const taken = new BrandError(`external_id: there is a brand ${externalId} already.`);
  await database.transaction(async (transaction) => {
    const kept = await readKept(transaction, account, externalId).catch(() => undefined);
    if (kept !== undefined) throw taken;
    const file = { external_id: externalId, name, default: isDefault, languages: {} };
    readBrandFields('the draft', file);
    const written = { externalId, revision: 0, basedOn: null, brand: file, by };
    if ((await store.writeDraft(transaction, account, written)) === undefined) throw taken;
  });
}

/**
 * Puts the draft in the brand's place, in one transaction; the draft is gone after it. Running workers translate by it
 * within two seconds.
 * @param anyway also where the brand was published by another way since the draft was begun
 * @param also is done in the same transaction
 */
export async function publishDraft(
  database: Database,
  account: AccountRef,
  { externalId, revision, anyway }: { externalId: string; revision: number; anyway: boolean },
  also: (transaction: Transaction, changes: BrandChanges) => Promise<void>,
): Promise<BrandChanges> {
  const changes = await database.transaction(async (transaction) => {
    const row = await store.lockDraft(transaction, account, externalId);
    if (row === undefined) throw notFound();
    if (row.revision !== revision) throw changedSince();
    if (!anyway && isStale(await readKept(transaction, account, externalId))) {
      throw new ApiError(
        'conflict',
        'The brand has been published by another way since the draft was begun.',
        {},
        {
          stale: true,
        },
      );
    }
    const { brand } = toDraft(row);
    const made = await replaceBrand(transaction, account, externalId, () => brand);
    await store.deleteDraft(transaction, account, externalId);
    await also(transaction, made);
    return made;
  });
  await tellOf(database, changes);
  return changes;
}

/** @returns whether there was a draft */
export function discardDraft(on: Queryable, account: AccountRef, externalId: string): Promise<boolean> {
  return store.deleteDraft(on, account, externalId);
}

export function listDrafts(on: Queryable, account: AccountRef) {
  return store.listDrafts(on, account);
}

function changedSince(): ApiError {
  return new ApiError('conflict', 'The draft has been changed since it was read.');
}

/** A brand with other terms for a language; the language is added where it was not there. */
export function withTerms(
  brand: BrandFile,
  language: string,
  change: (terms: readonly Term[]) => Term[],
): BrandFile {
  const settings: BrandLanguage = brand.languages.get(language) ?? {
    tone: undefined,
    instructions: undefined,
    terms: [],
  };
  const languages = new Map(brand.languages);
  languages.set(language, { ...settings, terms: change(settings.terms) });
  return { ...brand, languages };
}

/** What makes a term: another term with the same key is the same one. */
type TermKey = Pick<Term, 'source' | 'target'>;

/**
 * Terms with some put in and some taken out. A term that takes another one's place (`was`) stands where that stood; a
 * new one comes first, where whoever wrote it sees it.
 */
export function editTerms(
  terms: readonly Term[],
  edits: { put: readonly { was: TermKey | undefined; term: Term }[]; remove: readonly TermKey[] },
): Term[] {
  const gone = new Set(edits.remove.map((key) => keyOf(key as Term)));
  let left = terms.filter((term) => !gone.has(keyOf(term)));
  for (const { was, term } of [...edits.put].reverse()) {
    const old = keyOf((was ?? term) as Term);
    const at = left.findIndex((one) => keyOf(one) === old);
    const others = left.filter((one, index) => index !== at && keyOf(one) !== keyOf(term));
    left = at < 0 ? [term, ...others] : others.toSpliced(Math.min(at, others.length), 0, term);
  }
  return left;
}

/** The terms of a file besides those that are there: of those that are the same one, the file's. */
export function mergeTerms(terms: readonly Term[], read: readonly Term[]): Term[] {
  const given = new Map(read.map((term) => [keyOf(term), term]));
  const kept = terms.map((term) => {
    const other = given.get(keyOf(term));
    given.delete(keyOf(term));
    return other ?? term;
  });
  return [...kept, ...given.values()];
}
