/**
 * The states of a translation job, and every move between them. One table; everything asks it.
 *
 * | state                         | meaning                                        |
 * | ----------------------------- | ---------------------------------------------- |
 * | new                           | created, paid for, nothing done yet            |
 * | machine_translate_in_progress | the same, for a machine-only job               |
 * | translating                   | a draft is made: an editor has it, or its hold has not passed |
 * | completed                     | the result is there for all to see, and the callback is in the outbox |
 * | failed                        | given up and refunded; `failure` says why      |
 * | canceled                      | taken back by the customer and refunded        |
 * | accepted, rejected            | the customer's word on a completed job         |
 */
export const STATUSES = [
  'new',
  'machine_translate_in_progress',
  'translating',
  'completed',
  'failed',
  'canceled',
  'accepted',
  'rejected',
] as const;

export type Status = (typeof STATUSES)[number];

/** Who makes a move. */
export type Actor = 'machine' | 'editor' | 'customer' | 'operator';

/** What happens to the money and the outside world in the same transaction as the move. */
export type Effect = 'hold' | 'capture' | 'void' | 'callback';

interface Move {
  from: readonly Status[];
  to: Status;
  by: readonly Actor[];
  effects: readonly Effect[];
}

const UNFINISHED = ['new', 'machine_translate_in_progress', 'translating'] as const;

/** Every allowed move, by what triggers it. */
export const MOVES = {
  /** The machine draft is made, or an editor claims. */
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
  /** No editor came in time, and the brand says not to wait: the machine's result, for nothing. */
  fallBack: { from: ['translating'], to: 'completed', by: ['machine'], effects: ['void', 'callback'] },
  /** Edited again after a rejection; it is paid for already. In the sandbox, where nobody edits, at once. */
  revise: { from: ['rejected'], to: 'completed', by: ['editor', 'machine'], effects: ['callback'] },
  /** The customer is content; or has said nothing for as long as the operator waits. */
  accept: { from: ['completed'], to: 'accepted', by: ['customer', 'machine'], effects: [] },
  /** The customer is not, and says why: people edit it again. Only where people have. */
  reject: { from: ['completed'], to: 'rejected', by: ['customer'], effects: [] },
  /** The source cannot be parsed or translated, after all tries. */
  fail: { from: UNFINISHED, to: 'failed', by: ['machine'], effects: ['void', 'callback'] },
  /** The customer takes it back, or an operator does for them. Who asked for that knows: no callback. */
  cancel: { from: UNFINISHED, to: 'canceled', by: ['customer', 'operator'], effects: ['void'] },
  /** An operator has what no editor has touched yet drafted anew; its tasks stay, and nobody pays for it. */
  redraft: { from: ['translating'], to: 'translating', by: ['operator'], effects: [] },
  /** That is done. */
  redrafted: { from: ['translating'], to: 'translating', by: ['machine'], effects: [] },
  /** A machine's finished job goes on to a human, for a price of its own. Only where the tier is `machine`. */
  upgrade: { from: ['completed'], to: 'new', by: ['customer'], effects: ['hold'] },
  /**
   * A job that was upgraded is taken back before a human has finished it: it is the machine's finished job again, paid
   * for and delivered as that. No callback, as for `cancel`.
   */
  cancelUpgrade: {
    from: ['new', 'translating'],
    to: 'completed',
    by: ['customer', 'operator'],
    effects: ['void'],
  },
} as const satisfies Record<string, Move>;

export type Trigger = keyof typeof MOVES;

/** Where a job begins: at its creation, by its tier. */
export function firstStatus(tier: 'human' | 'machine'): Status {
  return tier === 'machine' ? 'machine_translate_in_progress' : 'new';
}

/** Whether `trigger` is allowed on a job in `status`. */
export function allows(trigger: Trigger, status: Status): boolean {
  return (MOVES[trigger].from as readonly Status[]).includes(status);
}
