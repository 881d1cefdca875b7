/** The keys that connect changes with topics: a change has keys, and a topic matches if it lists one of them. */
import type { ChangedList } from '../database/changes.ts';

/** All accounts. */
export const ANY = '*';

export const kindKey = (list: ChangedList, account: string = ANY) => `${list} ${account}`;

export const jobKey = (job: string) => `job ${job}`;

/** The targets of a job's segments changed. */
export const editKey = (job: string) => `edit ${job}`;

/** Jobs of an account changed, more than the debounce buffer lists one by one. */
export const someJobKey = (account: string) => `some_job ${account}`;
