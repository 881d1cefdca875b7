/**
 * The statuses of a job and every transition between them.
 *
 * | status                        | meaning                                                     |
 * | ----------------------------- | ----------------------------------------------------------- |
 * | new                           | created, its price held, not drafted yet                    |
 * | machine_translate_in_progress | the same, for a machine job                                 |
 * | translating                   | drafted; an editor works on it, or its delivery is delayed     |
 * | completed                     | the result is visible, and the callback is in the outbox    |
 * | failed                        | without a result, its hold released; see `failure`          |
 * | canceled                      | canceled by the customer or an operator, its hold released  |
 * | accepted, rejected            | the customer's decision on a completed job                  |
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

/** Who can trigger a transition between statuses. */
export type JobActor = 'machine' | 'editor' | 'customer' | 'operator';

/** The effects of a status change in addition to the new status. They happen in the same transaction. */
export type JobEffect = 'hold' | 'capture' | 'void' | 'callback';

interface Move {
  from: readonly JobStatus[];
  to: JobStatus;
  by: readonly JobActor[];
  effects: readonly JobEffect[];
}

const UNFINISHED = ['new', 'machine_translate_in_progress', 'translating'] as const;

/** Every allowed transition, by its trigger. */
export const JOB_MOVES = {
  /** The engine's draft is ready, or an editor claims a task. */
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
  /**
   * The deadline passed and the brand allows a fallback: the machine's result is delivered free of charge.
   */
  fallBack: { from: ['translating'], to: 'completed', by: ['machine'], effects: ['void', 'callback'] },
  /**
   * A rejected job is completed again without another charge: by editors, or at once in the sandbox, which
   * has no editors.
   */
  revise: { from: ['rejected'], to: 'completed', by: ['editor', 'machine'], effects: ['callback'] },
  /**
   * The customer accepts the result, or has not accepted or rejected it within the period that the operator
   * set.
   */
  accept: { from: ['completed'], to: 'accepted', by: ['customer', 'machine'], effects: [] },
  /** The customer rejects an edited job with a reason, and editors edit it again. */
  reject: { from: ['completed'], to: 'rejected', by: ['customer'], effects: [] },
  /** The source could not be read or translated in any attempt. */
  fail: { from: UNFINISHED, to: 'failed', by: ['machine'], effects: ['void', 'callback'] },
  /**
   * The customer cancels the job, or an operator cancels it for the customer. No callback is sent, because the
   * customer knows of the cancelation.
   */
  cancel: { from: UNFINISHED, to: 'canceled', by: ['customer', 'operator'], effects: ['void'] },
  /** An operator requests new drafts for untouched segments. Tasks stay, and nothing is charged. */
  redraft: { from: ['translating'], to: 'translating', by: ['operator'], effects: [] },
  /** A worker has made the requested drafts. */
  redrafted: { from: ['translating'], to: 'translating', by: ['machine'], effects: [] },
  /** A completed machine job becomes a human job, for an additional price. */
  upgrade: { from: ['completed'], to: 'new', by: ['customer'], effects: ['hold'] },
  /**
   * An upgraded job is canceled before an editor has finished it. It becomes the completed machine job again.
   * Like `cancel`, this sends no callback.
   */
  cancelUpgrade: {
    from: ['new', 'translating'],
    to: 'completed',
    by: ['customer', 'operator'],
    effects: ['void'],
  },
  /**
   * An upgraded job fails and becomes the completed machine job again. The customer waits for a result and
   * gets a callback.
   */
  failUpgrade: {
    from: ['new', 'translating'],
    to: 'completed',
    by: ['machine'],
    effects: ['void', 'callback'],
  },
} as const satisfies Record<string, Move>;

export type JobTrigger = keyof typeof JOB_MOVES;

export function firstJobStatus(tier: 'human' | 'machine'): JobStatus {
  return tier === 'machine' ? 'machine_translate_in_progress' : 'new';
}

export function allowsJobMove(trigger: JobTrigger, status: JobStatus): boolean {
  return (JOB_MOVES[trigger].from as readonly JobStatus[]).includes(status);
}
