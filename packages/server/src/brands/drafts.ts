/**
 * Drafts of brands. Operators change the draft. Publishing replaces the brand with the draft in one
 * transaction. Translations use only the published brand.
 *
 * Each change contains the revision of the draft to which it applies, or 0 if there is no draft. A change is
 * refused if the draft has a different revision.
 *
 * A draft also records the version of the brand from which it started. A file at the command line may publish
 * the brand in the meantime. Publishing the draft is then refused unless forced.
 */
import type { Term } from '@dragoman/engines';
import { lockAccount } from '../access/accounts.ts';
import { type Actor, recordAudit } from '../audit/audit.ts';
import type { AccountRef, Person } from '../base/account.ts';
import { ApiError, notFound } from '../base/errors.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import {
  type Brand,
  BrandError,
  type BrandFile,
  type BrandLanguage,
  parseBrand,
  toBrandFile,
} from './brand.ts';
import { notifyBrandChange, readBrand, replaceBrand } from './brands.ts';
import { type BrandChanges, compareBrands } from './changes.ts';
import * as store from './draft-store.ts';
import { termKey } from './terms.ts';

/** A published brand and its draft. At least one of the two exists. */
export interface BrandWithDraft {
  published: { brand: Brand; isDefault: boolean; version: number } | undefined;
  draft:
    | { brand: BrandFile; revision: number; basedOn: number | undefined; changedAt: Date; changedBy: string }
    | undefined;
}

/** Reads a brand and its draft. @throws ApiError `not_found` if neither exists */
export async function readBrandWithDraft(
  on: Queryable,
  account: AccountRef,
  externalId: string,
): Promise<BrandWithDraft> {
  const row = await store.findDraft(on, { account, externalId });
  const published = await readBrand(on, account, externalId).catch((error: unknown) => {
    if (error instanceof BrandError) return undefined;
    throw error;
  });
  if (row === undefined && published === undefined) throw notFound();
  return { published, draft: row && toDraft(row) };
}

function toDraft(row: store.DraftRow): NonNullable<BrandWithDraft['draft']> {
  return {
    brand: parseBrand('the draft', row.brand),
    revision: row.revision,
    basedOn: row.based_on ?? undefined,
    changedAt: row.changed_at,
    changedBy: row.changed_by,
  };
}

/** Returns the changes that publishing the draft would make, or undefined if there is no draft. */
export function pendingChanges({ published, draft }: BrandWithDraft): BrandChanges | undefined {
  if (draft === undefined) return undefined;
  const before = published?.isDefault ?? false;
  return compareBrands(published?.brand, draft.brand, { before, after: draft.brand.default ?? before });
}

/** Returns whether another version of the brand was published, for example from a file, since the draft was started. */
export function isStale({ published, draft }: BrandWithDraft): boolean {
  return draft !== undefined && published?.version !== draft.basedOn;
}

export interface DraftChange {
  externalId: string;
  /**
   * The revision of the draft to which the change applies; 0 if there is no draft. Undefined for a change that
   * applies to every revision.
   */
  revision: number | undefined;
  by: DraftAuthor;
  /** The details to record in the audit entry. */
  detail: object;
}

/** The user who changes a draft. */
type DraftAuthor = Pick<Person, 'userId' | 'email' | 'name'>;

/**
 * Changes a draft, or starts one from the published brand.
 * @param change a function that returns the changed brand, which is then checked like a brand file
 * @throws ApiError `not_found`; `conflict` if the draft has another revision
 * @throws BrandError if the changed brand has faults
 */
export async function changeDraft(
  database: Database,
  account: AccountRef,
  edit: DraftChange,
  change: (brand: BrandFile) => BrandFile,
): Promise<void> {
  await database.transaction((transaction) => updateDraft(transaction, account, edit, change));
}

/** Like `changeDraft`, but within the transaction of the caller. */
export async function updateDraft(
  transaction: Transaction,
  account: AccountRef,
  { externalId, revision, by, detail }: DraftChange,
  change: (brand: BrandFile) => BrandFile,
): Promise<void> {
  await lockAccount(transaction, account);
  const row = await store.lockDraft(transaction, account, externalId);
  const found = row?.revision ?? 0;
  if (revision !== undefined && revision !== found) throw draftConflict();
  const current = row === undefined ? await newDraft(transaction, account, externalId) : toDraft(row);
  const after = change(current.brand);
  const brand = toBrandFile(after, after.default ?? false);
  parseBrand('the draft', brand);
  const written = { externalId, revision: found, basedOn: current.basedOn ?? null, brand, by: by.name };
  if ((await store.writeDraft(transaction, account, written)) === undefined) throw draftConflict();
  await recordAudit(transaction, by, {
    action: 'brand.draft_changed',
    account,
    subject: externalId,
    detail,
  });
}

async function newDraft(
  transaction: Transaction,
  account: AccountRef,
  externalId: string,
): Promise<{ brand: BrandFile; basedOn: number | undefined }> {
  const { published } = await readBrandWithDraft(transaction, account, externalId);
  const { brand, isDefault, version } = published!;
  return { brand: { ...brand, default: isDefault }, basedOn: version };
}

/**
 * Starts the draft of a new brand.
 * @throws BrandError if a brand or draft with this identifier exists
 */
export async function beginBrand(
  database: Database,
  by: DraftAuthor,
  account: AccountRef,
  brand: { externalId: string; name: string; isDefault: boolean },
): Promise<void> {
  const { externalId, name, isDefault } = brand;
  const taken = new BrandError(`external_id: the brand ${externalId} exists already.`);
  await database.transaction(async (transaction) => {
    await lockAccount(transaction, account);
    const kept = await readBrandWithDraft(transaction, account, externalId).catch(() => undefined);
    if (kept !== undefined) throw taken;
    const file = { external_id: externalId, name, default: isDefault, languages: {} };
    parseBrand('the draft', file);
    const written = { externalId, revision: 0, basedOn: null, brand: file, by: by.name };
    if ((await store.writeDraft(transaction, account, written)) === undefined) throw taken;
    await recordAudit(transaction, by, {
      action: 'brand.begun',
      account,
      subject: externalId,
      detail: { name },
    });
  });
}

/**
 * Replaces the brand with its draft and deletes the draft, in one transaction. Running workers use the new
 * version within two seconds.
 * @throws ApiError `not_found`; `conflict` if the draft has another revision, or is stale and `anyway` is
 * false
 */
export async function publishDraft(
  database: Database,
  by: Actor,
  account: AccountRef,
  { externalId, revision, anyway }: { externalId: string; revision: number; anyway: boolean },
): Promise<BrandChanges> {
  const changes = await database.transaction(async (transaction) => {
    const row = await store.lockDraft(transaction, account, externalId);
    if (row === undefined) throw notFound();
    if (row.revision !== revision) throw draftConflict();
    if (!anyway && isStale(await readBrandWithDraft(transaction, account, externalId))) {
      const message = 'The brand was published in another way since the draft was started.';
      throw new ApiError('conflict', message, {}, { stale: true });
    }
    const { brand } = toDraft(row);
    const made = await replaceBrand(transaction, by, account, externalId, () => brand);
    // A draft that is identical to the published brand changes nothing, so it is deleted as if it had been
    // discarded.
    if (made.change === 'unchanged') await discardDraft(transaction, by, account, externalId);
    else await store.deleteDraft(transaction, { account, externalId });
    return made;
  });
  await notifyBrandChange(database, changes);
  return changes;
}

/** Deletes a draft, with an audit entry. @throws ApiError `not_found` if there is no draft */
export async function discardDraft(
  transaction: Transaction,
  by: Actor,
  account: AccountRef,
  externalId: string,
): Promise<void> {
  if (!(await store.deleteDraft(transaction, { account, externalId }))) throw notFound();
  await recordAudit(transaction, by, {
    action: 'brand.draft_discarded',
    account,
    subject: externalId,
    detail: {},
  });
}

export function listDrafts(on: Queryable, account: AccountRef) {
  return store.findDrafts(on, { account });
}

function draftConflict(): ApiError {
  return new ApiError('conflict', 'The draft was changed since it was read.');
}

/** Returns a brand with changed terms in one language. The language is added if the brand lacks it. */
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

/** The fields that identify a term. */
type TermKey = Pick<Term, 'source' | 'target'>;

/**
 * Adds, replaces and removes terms. A term that replaces another term (`was`) takes its position. New terms
 * come first.
 */
export function editTerms(
  terms: readonly Term[],
  edits: { put: readonly { was: TermKey | undefined; term: Term }[]; remove: readonly TermKey[] },
): Term[] {
  const gone = new Set(edits.remove.map((key) => termKey(key as Term)));
  let left = terms.filter((term) => !gone.has(termKey(term)));
  for (const { was, term } of [...edits.put].reverse()) {
    const old = termKey((was ?? term) as Term);
    const at = left.findIndex((one) => termKey(one) === old);
    const others = left.filter((one, index) => index !== at && termKey(one) !== termKey(term));
    left = at < 0 ? [term, ...others] : others.toSpliced(Math.min(at, others.length), 0, term);
  }
  return left;
}

/**
 * Adds the terms of a file to a glossary. A term of the file replaces the term of the glossary with the same
 * source and target.
 */
export function mergeTerms(terms: readonly Term[], read: readonly Term[]): Term[] {
  const given = new Map(read.map((term) => [termKey(term), term]));
  const kept = terms.map((term) => {
    const other = given.get(termKey(term));
    given.delete(termKey(term));
    return other ?? term;
  });
  return [...kept, ...given.values()];
}
