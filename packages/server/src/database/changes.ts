/** Changes that stores report for live updates (`live/`). */

/** Lists that pages show. No page shows `sessions`: it makes the server look for streams whose session has ended. */
export type ChangedList =
  | 'jobs'
  | 'tasks'
  | 'deliveries'
  | 'chats'
  | 'balance'
  | 'engines'
  | 'requests'
  | 'sessions';

/** A list, or a job that lists show unchanged: `edit` for the text of its segments, `job` for anything else. */
export type ChangeKind = ChangedList | 'job' | 'edit';

export interface Change {
  kind: ChangeKind;
  /** The account of the list or job; undefined if it has none or the writer does not know it. */
  account: string | undefined;
  job: string | undefined;
}
