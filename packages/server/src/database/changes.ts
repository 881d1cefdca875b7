/** The kinds of changes that stores report for live updates (`live/`). */

/**
 * The lists that pages show. No page shows `sessions`: a change of sessions makes the server close the event
 * streams of ended sessions.
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
 * The kind of a change: the list that changed, or a change of one job that leaves all lists unchanged. `edit`
 * is a change of the job's segments, `job` any other change of the job.
 */
export type ChangeKind = ChangedList | 'job' | 'edit';

/** Changes that belong to no account. */
export type ChangeOfAll = 'engines' | 'requests' | 'sessions';

export interface Change {
  kind: ChangeKind;
  /** The account of the list or job; undefined if there is none or the store does not know it. */
  account: string | undefined;
  job: string | undefined;
}
