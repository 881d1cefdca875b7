/**
 * The states of a task, and every move between them. One table; everything asks it.
 *
 * | state     | meaning                                                                          |
 * | --------- | -------------------------------------------------------------------------------- |
 * | open      | waits for an editor                                                              |
 * | claimed   | an editor has it: lease, fencing token, limit                                    |
 * | submitted | every segment confirmed; waits for the other tasks, the review or the delivery   |
 * | done      | delivered with its job                                                           |
 * | reported  | an operator has to look at it                                                    |
 * | canceled  | its job was taken back, or delivered without it; or a review that sent it back   |
 */
export const TASK_STATUSES = ['open', 'claimed', 'submitted', 'done', 'reported', 'canceled'] as const;

export type TaskStatus = (typeof TASK_STATUSES)[number];
export type TaskKind = 'edit' | 'review';

/** Who makes a move. `system`: the upkeep, when a time has come. */
export type TaskActor = 'editor' | 'reviewer' | 'operator' | 'customer' | 'system';

/** How a claim ends. */
export type ClaimEnd =
  | 'submitted'
  | 'returned'
  | 'released'
  | 'lease_expired'
  | 'limit_expired'
  | 'skipped'
  | 'reported'
  | 'canceled'
  | 'reassigned';

interface Move {
  from: readonly TaskStatus[];
  to: TaskStatus;
  by: readonly TaskActor[];
}

/** Every allowed move, by what triggers it. A move from `claimed` to anything ends the claim. */
export const TASK_MOVES = {
  claim: { from: ['open'], to: 'claimed', by: ['editor'] },
  /** By an operator, a reported one too: the report is settled. */
  release: { from: ['claimed'], to: 'open', by: ['editor'] },
  free: { from: ['open', 'claimed', 'reported'], to: 'open', by: ['operator'] },
  expire: { from: ['claimed'], to: 'open', by: ['system'] },
  skip: { from: ['open', 'claimed'], to: 'open', by: ['editor'] },
  /** By the system: too many have skipped it. */
  report: { from: ['open', 'claimed'], to: 'reported', by: ['editor', 'system'] },
  submit: { from: ['claimed'], to: 'submitted', by: ['editor'] },
  /** Sends an edited task back: a reviewer before the delivery, the customer after it. */
  reopen: { from: ['submitted', 'done'], to: 'open', by: ['reviewer', 'customer'] },
  /** A review that sent its job back is over; there will be another. */
  withdraw: { from: ['claimed', 'done'], to: 'canceled', by: ['reviewer', 'customer'] },
  deliver: { from: ['submitted'], to: 'done', by: ['system'] },
  /** Not handed in by the deadline, but all of it was confirmed: delivered and paid for, so it can be rejected. */
  close: { from: ['open', 'reported'], to: 'done', by: ['system'] },
  cancel: { from: ['open', 'claimed', 'submitted', 'reported'], to: 'canceled', by: ['customer', 'system'] },
} as const satisfies Record<string, Move>;

export type TaskTrigger = keyof typeof TASK_MOVES;

/** Whether `trigger` is allowed on a task in `status`. */
export function allows(trigger: TaskTrigger, status: TaskStatus): boolean {
  return (TASK_MOVES[trigger].from as readonly TaskStatus[]).includes(status);
}
