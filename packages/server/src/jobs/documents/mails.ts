/**
 * Mails to the customers who sent documents in the web app: one mail when all documents of a user are finished. While
 * others are unfinished, one mail an hour names those that are. A mail that was not sent is sent later; if a worker is
 * killed after it sent a mail, the mail is sent twice. A mail contains names, languages and links, but no text of a
 * document.
 */
import { readName } from '../../access/names.ts';
import type { AccountRef } from '../../base/account.ts';
import type { Database } from '../../database/database.ts';
import { readNames } from '../text-store.ts';
import { claimJobsToMail, deleteMailRequests, type JobToMail, listUsersToMail } from './mail-store.ts';

export interface JobMailOptions {
  /** Returns false if the mail could not be sent. */
  mailer: { send(mail: { to: string; subject: string; text: string }): Promise<boolean | undefined> };
  /** Counts a mail of an account. Returns false if the account has caused too many mails, so that this one must wait. */
  mayMail(account: AccountRef): Promise<boolean>;
  /** Takes back the count of a mail that could not be sent. */
  forgiveMail(account: AccountRef): Promise<void>;
  /** Returns the public address of the server. */
  root(): string;
}

const MAX_USERS = 1000;
const MAX_JOBS = 1000;
/** The maximum number of documents that a mail names. */
const MAX_NAMED = 20;

/** Mails every customer whose documents are finished. @param ended returns true when the worker stops */
export async function mailFinishedJobs(
  database: Database,
  options: JobMailOptions,
  ended = () => false,
): Promise<void> {
  for (const { part, account_id, user_id } of await listUsersToMail(database, { limit: MAX_USERS })) {
    if (ended()) return;
    const account = { part, accountId: account_id } as AccountRef;
    const jobs = await claimJobsToMail(database, account, user_id, MAX_JOBS);
    const outcome = await mailJobs(database, account, jobs, options);
    // If the SMTP server does not answer, each mail takes seconds. The next round continues with the next user.
    if (outcome === 'failed') return;
    if (outcome === 'waits') continue;
    await deleteMailRequests(database, { account, jobIds: jobs.map(({ job_id }) => job_id) });
  }
}

/** Mails a user about finished jobs. `waits`: the account has caused too many mails. */
async function mailJobs(
  database: Database,
  account: AccountRef,
  claimed: readonly JobToMail[],
  { mailer, mayMail, forgiveMail, root }: JobMailOptions,
): Promise<'done' | 'waits' | 'failed'> {
  // Who cancels a job knows it.
  const jobs = claimed.filter(({ status }) => status !== 'canceled');
  const [first] = jobs;
  if (first === undefined || first.email === null) return 'done';
  if (!(await mayMail(account))) return 'waits';
  const named = jobs.slice(0, MAX_NAMED);
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
  const sent = await mailer.send({
    to: first.email,
    subject,
    text: `Hello ${first.name},\n\n${head}\n\n${lines.join('\n\n')}\n\nYou asked for this e-mail when you sent the documents.\n`,
  });
  if (sent !== false) return 'done';
  await forgiveMail(account);
  return 'failed';
}

/**
 * Names a job and its page. The customer chose the names of files, and mail programs turn host names into links, so only
 * a name that a person could have is shown. The extension is left out, because `.md` and others end host names too.
 * @param file the name of the document's file, if it has one
 */
function describe(job: JobToMail, file: string | undefined, root: string): string {
  const { uid, tier, status, source_language, target_language } = job;
  const failed = status === 'failed' ? ': failed' : '';
  const search = new URLSearchParams({ tier, open: uid });
  const read = readName(file?.replace(/\.[^.]*$/, '') ?? '');
  return `${'name' in read ? read.name : uid}, ${source_language} to ${target_language}${failed}\n${root}/app/account/jobs?${search}`;
}
