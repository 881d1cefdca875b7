/**
 * Mails to the customers who sent documents in the web app: one mail about all documents that were finished since
 * the last round. A mail that the SMTP server refuses is not repeated. A mail contains names, languages and links,
 * but no text of a document.
 */
import type { AccountRef } from '../base/account.ts';
import type { Database } from '../database/database.ts';
import { claimJobsToMail, type JobToMail } from './mail-store.ts';
import { readNames } from './text-store.ts';

export interface JobMailOptions {
  mailer: { send(mail: { to: string; subject: string; text: string }): Promise<unknown> };
  /** Returns the public address of the server. */
  root(): string;
}

const MAX_JOBS = 1000;
/** The maximum number of documents that a mail names. */
const MAX_NAMED = 20;

/** Mails every customer whose documents are finished. @param ended returns true when the worker stops */
export async function mailFinishedJobs(
  database: Database,
  { mailer, root }: JobMailOptions,
  ended = () => false,
): Promise<void> {
  while (!ended()) {
    const claimed = await claimJobsToMail(database, MAX_JOBS);
    const [first] = claimed;
    if (first === undefined) return;
    // Who cancels a job knows it.
    const jobs = claimed.filter(({ status }) => status !== 'canceled');
    if (first.email === null || jobs.length === 0) continue;
    const named = jobs.slice(0, MAX_NAMED);
    const account = { part: first.part, accountId: first.account_id } as AccountRef;
    const names = await readNames(
      database,
      account,
      named.map(({ job_id }) => job_id),
    );
    const lines = named.map((job) => describe(job, names.get(job.job_id), root()));
    if (jobs.length > named.length) lines.push(`… and ${jobs.length - named.length} more.`);
    const [subject, head] =
      jobs.length === 1
        ? ['Your document is finished', 'This document is finished:']
        : [`${jobs.length} of your documents are finished`, 'These documents are finished:'];
    await mailer.send({
      to: first.email,
      subject,
      text: `Hello ${first.name},\n\n${head}\n\n${lines.join('\n\n')}\n\nYou asked for this e-mail when you sent the documents.\n`,
    });
  }
}

/** Names a job and its page. @param name the name of the document's file, if it has one */
function describe(job: JobToMail, name: string | undefined, root: string): string {
  const { uid, environment, tier, status, source_language, target_language } = job;
  const failed = status === 'failed' ? ': failed' : '';
  const search = new URLSearchParams({
    tier,
    ...(environment === 'sandbox' ? { environment } : {}),
    open: uid,
  });
  return `${name ?? uid}, ${source_language} to ${target_language}${failed}\n${root}/app/account/jobs?${search}`;
}
