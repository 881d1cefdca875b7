/**
 * The states of a task and the table of its transitions.
 *
 * | state     | meaning                                                                              |
 * | --------- | ------------------------------------------------------------------------------------ |
 * | open      | may be claimed                                                                       |
 * | claimed   | an editor holds a claim: lease, lease token, time limit                              |
 * | submitted | every segment is confirmed; waits for other tasks, the review or the delivery        |
 * | done      | delivered with its job                                                               |
 * | reported  | an operator must look at it                                                          |
 * | canceled  | its job was canceled or delivered without it, or the review returned the job         |
 */
export const TASK_STATUSES = ['open', 'claimed', 'submitted', 'done', 'reported', 'canceled'] as const;

export type TaskStatus = (typeof TASK_STATUSES)[number];
export type TaskKind = 'edit' | 'review';

/** Who triggers a transition. `system` is a periodic run, after a time limit has passed. */
export type TaskActor = 'editor' | 'reviewer' | 'operator' | 'customer' | 'system';

/** The ways in which a claim can end. */
export const CLAIM_ENDS = [
  'submitted',
  'returned',
  'released',
  'lease_expired',
  'limit_expired',
  'skipped',
  'reported',
  'canceled',
  'reassigned',
] as const;
export type ClaimEnd = (typeof CLAIM_ENDS)[number];

interface Move {
  from: readonly TaskStatus[];
  to: TaskStatus;
  by: readonly TaskActor[];
}

/** Every allowed transition, by its trigger. A transition from `claimed` ends the claim. */
export const TASK_MOVES = {
  claim: { from: ['open'], to: 'claimed', by: ['editor'] },
  release: { from: ['claimed'], to: 'open', by: ['editor'] },
  /** Also resolves the reports of a reported task. */
  free: { from: ['open', 'claimed', 'reported'], to: 'open', by: ['operator'] },
  expire: { from: ['claimed'], to: 'open', by: ['system'] },
  skip: { from: ['open', 'claimed'], to: 'open', by: ['editor'] },
  /** The system reports a task that too many editors have skipped. */
  report: { from: ['open', 'claimed'], to: 'reported', by: ['editor', 'system'] },
  submit: { from: ['claimed'], to: 'submitted', by: ['editor'] },
  /** Returns an edited task to its editor: a reviewer does so before the delivery, a customer after it. */
  reopen: { from: ['submitted', 'done'], to: 'open', by: ['reviewer', 'customer'] },
  /**
   * Ends a review task after the job was returned to its editors. A later review of the job is a new task.
   */
  withdraw: { from: ['claimed', 'done'], to: 'canceled', by: ['reviewer', 'customer'] },
  deliver: { from: ['submitted'], to: 'done', by: ['system'] },
  /**
   * Closes a fully confirmed task that was not submitted by the deadline. The task is delivered and charged,
   * so the customer can reject its job.
   */
  close: { from: ['open', 'reported'], to: 'done', by: ['system'] },
  cancel: { from: ['open', 'claimed', 'submitted', 'reported'], to: 'canceled', by: ['customer', 'system'] },
} as const satisfies Record<string, Move>;

export type TaskTrigger = keyof typeof TASK_MOVES;

/** Returns true if `trigger` is allowed on a task in `status`. */
export function allowsTaskMove(trigger: TaskTrigger, status: TaskStatus): boolean {
  return (TASK_MOVES[trigger].from as readonly TaskStatus[]).includes(status);
}

/**
 * The states of a query to the customer.
 *
 * | state     | meaning                                                         |
 * | --------- | --------------------------------------------------------------- |
 * | open      | waits for the answer of the customer                            |
 * | answered  | the customer answered it                                        |
 * | withdrawn | an editor withdrew it                                           |
 * | closed    | its job was delivered or canceled before the customer answered  |
 */
export const QUERY_STATUSES = ['open', 'answered', 'withdrawn', 'closed'] as const;
export type QueryStatus = (typeof QUERY_STATUSES)[number];

/** Every allowed transition of a query, by its trigger. */
export const QUERY_MOVES = {
  answer: { from: ['open'], to: 'answered' },
  withdraw: { from: ['open'], to: 'withdrawn' },
  close: { from: ['open'], to: 'closed' },
} as const satisfies Record<string, { from: readonly QueryStatus[]; to: QueryStatus }>;
export type QueryTrigger = keyof typeof QUERY_MOVES;
