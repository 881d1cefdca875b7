/**
 * The keys that connect changes with topics. A change has keys, and a topic matches if it has one of them.
 */
import type { ChangedList } from '../database/changes.ts';

/** The account part of a key that stands for all accounts. */
export const ANY = '*';

export const kindKey = (list: ChangedList, account: string = ANY) => `${list} ${account}`;

export const jobKey = (job: string) => `job ${job}`;

/** The key of a change to the targets of a job's segments. */
export const editKey = (job: string) => `edit ${job}`;

/** The key that replaces the keys of single jobs when too many jobs of an account have changed. */
export const someJobKey = (account: string) => `some_job ${account}`;
