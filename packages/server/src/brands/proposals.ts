/**
 * Terms that editors propose while they translate. A proposal applies to the job in which it was made. The customer
 * takes or declines it. A taken term is added to the draft of the brand; a declined term does not apply any more.
 */
import type { Term } from '@dragoman/engines';
import { recordAudit } from '../audit/audit.ts';
import type { AccountRef, Person } from '../base/account.ts';
import { ApiError, fieldError, notFound, reason, wrongFields } from '../base/errors.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { BrandError, languagesFor } from './brand.ts';
import { readContext } from './brands.ts';
import { editTerms, updateDraft, withTerms } from './drafts.ts';
import * as store from './proposal-store.ts';
import { findNearest } from './store.ts';
import { checkTerms, createFaults, termKey } from './terms.ts';

/** The maximum number of proposals of a job. Each one is checked in every segment of the job. */
const MAX_PROPOSALS = 200;

/** The job for which a term is proposed, with its brand or default brand. */
export interface ProposalJob {
  jobId: string;
  brand: string | null;
  targetLanguage: string;
}

/** A term that applies to a job. `proposal` is set if it is not in the published glossary. */
export interface JobTerm extends Term {
  proposal?: { id: string; by: string; userId: string; status: store.ProposalStatus };
}

/** Returns the terms that apply to a job: the glossary of its brand, and the proposals made in the job. */
export async function readJobTerms(
  database: Database,
  account: AccountRef,
  { jobId, brand, targetLanguage }: ProposalJob,
): Promise<readonly JobTerm[]> {
  if (brand === null) return [];
  const [{ terms }, proposals] = await Promise.all([
    readContext(database, account, brand, targetLanguage),
    store.findProposalsOfJob(database, { account, jobId, externalId: brand }),
  ]);
  if (proposals.length === 0) return terms;
  const published = new Set(terms.map(termKey));
  return [...terms, ...proposals.map(toJobTerm).filter((term) => !published.has(termKey(term)))];
}

function toJobTerm({ proposal, by, user_id, status, ...row }: store.ProposalRow): JobTerm {
  return { ...toGlossaryTerm(row), proposal: { id: proposal, by, userId: user_id, status } };
}

function toGlossaryTerm({
  source,
  target,
  note,
}: Pick<store.ProposalRow, 'source' | 'target' | 'note'>): Term {
  const flags = { caseSensitive: false, forbidden: false, doNotTranslate: false };
  return { source, target, ...flags, ...(note === null ? {} : { note }) };
}

/**
 * Proposes a term for the brand of a job.
 * @throws ApiError `invalid_request` if the job has no brand, or if the term is empty, too long, known already,
 * or contradicts the glossary
 */
export async function proposeTerm(
  database: Database,
  account: AccountRef,
  job: ProposalJob,
  user: Pick<Person, 'userId' | 'name'>,
  written: { source: string; target: string; note: string | undefined },
): Promise<JobTerm> {
  const { jobId, brand, targetLanguage } = job;
  if (brand === null)
    throw new ApiError('invalid_request', 'The job has no brand whose glossary could take the term.');
  const { source, target, note } = readTerm(written);
  const terms = await readJobTerms(database, account, job);
  if (terms.some((one) => termKey(one) === termKey({ source, target } as Term))) {
    throw fieldError('target', reason('term_known'));
  }
  if (terms.some((one) => one.source === source && one.doNotTranslate)) {
    throw fieldError('source', reason('term_untranslated'));
  }
  if (terms.filter(({ proposal }) => proposal).length >= MAX_PROPOSALS) {
    throw fieldError('source', reason('too_many_proposals', { most: MAX_PROPOSALS }));
  }
  const languages = languagesFor(targetLanguage);
  const language =
    (await findNearest(database, { account, externalId: brand, languages }))?.language ?? languages[0]!;
  const proposal = { externalId: brand, language, jobId, userId: user.userId, source, target, note };
  const id = await store.insertProposal(database, account, proposal);
  if (id === undefined) throw fieldError('target', reason('term_proposed'));
  const by = { id, by: user.name, userId: user.userId, status: 'proposed' } as const;
  return { ...toGlossaryTerm({ source, target, note: note ?? null }), proposal: by };
}

/**
 * Checks and normalises a term by the rules of glossaries. @throws ApiError `invalid_request` that names the wrong
 * fields
 */
function readTerm({
  source,
  target,
  note,
}: {
  source: string;
  target: string;
  note: string | undefined;
}): Term {
  const faults = createFaults();
  const flags = { caseSensitive: false, forbidden: false, doNotTranslate: false };
  const written = { source, target, ...flags, ...(note === undefined ? {} : { note }) };
  const [term] = checkTerms([{ where: 'term', term: written }], faults);
  if (term !== undefined) return term;
  // Each line of `faults` has the form `term: field: reason`.
  const fields = faults.lines.map((line) => line.split(': '));
  throw wrongFields(Object.fromEntries(fields.map(([, field, ...why]) => [field!, why.join(': ')])));
}

/**
 * Withdraws an editor's own proposal. @throws ApiError `not_found` if it belongs to another editor, or the customer has
 * decided on it
 */
export async function withdrawTerm(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  userId: string,
  proposalId: string,
): Promise<void> {
  if (!(await store.deleteProposal(on, { account, jobId, proposalId, userId }))) throw notFound();
}

/**
 * Takes a proposal, which adds the term to the draft of the brand, or declines the proposal.
 * @throws ApiError `not_found` if there is no such waiting proposal; `conflict` if the draft has a term that
 * contradicts the proposal
 * @returns the brand of the proposal
 */
export async function decideOnTerm(
  database: Database,
  account: AccountRef,
  by: Pick<Person, 'userId' | 'email' | 'name'>,
  proposalId: string,
  decision: 'taken' | 'declined',
): Promise<string> {
  return database.transaction(async (transaction) => {
    const row = await store.decideProposal(transaction, account, proposalId, decision);
    if (row === undefined) throw notFound();
    const externalId = row.external_id;
    const detail = { proposal: proposalId, language: row.language };
    if (decision === 'taken') await addToDraft(transaction, account, by, row, detail);
    await recordAudit(transaction, by, { action: `term.${decision}`, account, subject: externalId, detail });
    return externalId;
  });
}

/** Adds the term of an accepted proposal to the draft of the brand. @throws ApiError `conflict` */
async function addToDraft(
  transaction: Transaction,
  account: AccountRef,
  by: Pick<Person, 'userId' | 'email' | 'name'>,
  row: store.DecidedRow,
  detail: object,
): Promise<void> {
  const term = toGlossaryTerm(row);
  const change = { externalId: row.external_id, revision: undefined, by, detail: { ...detail, added: 1 } };
  const add = (terms: readonly Term[]) =>
    terms.some((one) => termKey(one) === termKey(term))
      ? [...terms]
      : editTerms(terms, { put: [{ was: undefined, term }], remove: [] });
  await updateDraft(transaction, account, change, (brand) => withTerms(brand, row.language, add)).catch(
    (error: unknown) => {
      if (error instanceof BrandError) throw new ApiError('conflict', error.message);
      throw error;
    },
  );
}
