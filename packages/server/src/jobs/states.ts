/**
 * The statuses of a job and every move between them.
 *
 * | state                         | meaning                                        |
 * | ----------------------------- | ---------------------------------------------- |
 * | new                           | created, its price held, not drafted yet       |
 * | machine_translate_in_progress | the same, for a machine job                    |
 * | translating                   | drafted: for an editor, or until its hold period has passed |
 * | completed                     | the result is visible, and the callback is in the outbox |
 * | failed                        | given up, its hold released; `failure` has the reason |
 * | canceled                      | canceled by the customer, its hold released    |
 * | accepted, rejected            | the customer's decision on a completed job     |
 */
export const JOB_STATUSES = [
  'new',
  'machine_translate_in_progress',
  'translating',
  'completed',
  'failed',
  'canceled',
  'accepted',
  'rejected',
] as const;

export type JobStatus = (typeof JOB_STATUSES)[number];

/** Who makes a move. */
export type JobActor = 'machine' | 'editor' | 'customer' | 'operator';

/** What else happens in the transaction of a move. */
export type JobEffect = 'hold' | 'capture' | 'void' | 'callback';

interface Move {
  from: readonly JobStatus[];
  to: JobStatus;
  by: readonly JobActor[];
  effects: readonly JobEffect[];
}

const UNFINISHED = ['new', 'machine_translate_in_progress', 'translating'] as const;

/** Every allowed move, by its trigger. */
export const JOB_MOVES = {
  /** The engine's draft is made, or an editor claims a task. */
  begin: {
    from: ['new', 'machine_translate_in_progress'],
    to: 'translating',
    by: ['machine', 'editor'],
    effects: [],
  },
  /** The result is assembled and checked. */
  complete: {
    from: UNFINISHED,
    to: 'completed',
    by: ['machine', 'editor'],
    effects: ['capture', 'callback'],
  },
  /** The deadline passed, and the brand wants a fallback: the machine's result, free of charge. */
  fallBack: { from: ['translating'], to: 'completed', by: ['machine'], effects: ['void', 'callback'] },
  /** Edited again after a rejection, without another charge. In the sandbox, which has no editors, at once. */
  revise: { from: ['rejected'], to: 'completed', by: ['editor', 'machine'], effects: ['callback'] },
  /** The customer accepts the result, or did not react within the operator's period. */
  accept: { from: ['completed'], to: 'accepted', by: ['customer', 'machine'], effects: [] },
  /** The customer rejects the result with a reason, and editors edit it again. Only for edited jobs. */
  reject: { from: ['completed'], to: 'rejected', by: ['customer'], effects: [] },
  /** The source could not be read or translated in any try. */
  fail: { from: UNFINISHED, to: 'failed', by: ['machine'], effects: ['void', 'callback'] },
  /** The customer, or an operator for them, cancels the job. No callback, because they know. */
  cancel: { from: UNFINISHED, to: 'canceled', by: ['customer', 'operator'], effects: ['void'] },
  /** An operator requests new drafts for untouched segments. Tasks stay, and nothing is charged. */
  redraft: { from: ['translating'], to: 'translating', by: ['operator'], effects: [] },
  /** The requested drafts are made. */
  redrafted: { from: ['translating'], to: 'translating', by: ['machine'], effects: [] },
  /** A completed machine job becomes a human one, for a price of its own. */
  upgrade: { from: ['completed'], to: 'new', by: ['customer'], effects: ['hold'] },
  /**
   * An upgraded job is canceled before an editor has finished it. It becomes the completed machine job again. No
   * callback, as for `cancel`.
   */
  cancelUpgrade: {
    from: ['new', 'translating'],
    to: 'completed',
    by: ['customer', 'operator'],
    effects: ['void'],
  },
  /** The same for an upgraded job that fails. Its customer waits for the result and gets a callback. */
  failUpgrade: {
    from: ['new', 'translating'],
    to: 'completed',
    by: ['machine'],
    effects: ['void', 'callback'],
  },
} as const satisfies Record<string, Move>;

export type JobTrigger = keyof typeof JOB_MOVES;

/** Returns the status of a new job. */
export function firstJobStatus(tier: 'human' | 'machine'): JobStatus {
  return tier === 'machine' ? 'machine_translate_in_progress' : 'new';
}

/** Whether a job in `status` allows the move of `trigger`. */
export function allowsJobMove(trigger: JobTrigger, status: JobStatus): boolean {
  return (JOB_MOVES[trigger].from as readonly JobStatus[]).includes(status);
}
