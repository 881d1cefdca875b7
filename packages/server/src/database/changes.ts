/** The kinds of changes that stores report for live updates (`live/`). */

/**
 * Lists that pages show. `sessions` is not shown: it makes the server close streams whose session has ended.
 */
export type ChangedList =
  | 'jobs'
  | 'tasks'
  | 'deliveries'
  | 'chats'
  | 'balance'
  | 'engines'
  | 'requests'
  | 'sessions';

/**
 * A list, or a part of a job that leaves the lists unchanged: `edit` for its segments, `job` for anything
 * else.
 */
export type ChangeKind = ChangedList | 'job' | 'edit';

export interface Change {
  kind: ChangeKind;
  /** The account of the list or job; undefined if there is none or the writer does not know it. */
  account: string | undefined;
  job: string | undefined;
}
