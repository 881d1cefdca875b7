/**
 * The states of a chat message, and every move between them. One table; everything asks it.
 *
 * | state            | meaning                                                                |
 * | ---------------- | ---------------------------------------------------------------------- |
 * | mt_init          | created; the machine has it                                            |
 * | deliver_init     | translated, for all to read; its receiver has not answered yet         |
 * | deliver_complete | translated, and the receiver answered 2xx, or there is none            |
 * | mt_failed        | the machine gave up; `failure` says why; the receiver is told that too |
 * | deliver_failed   | translated, but the delivery is dead; it can be replayed               |
 */
export const MESSAGE_STATUSES = [
  'mt_init',
  'deliver_init',
  'deliver_complete',
  'mt_failed',
  'deliver_failed',
] as const;

export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

/** Who makes a move. The operator replays; the sender speaks for the receiver. */
export type MessageActor = 'machine' | 'sender' | 'operator';

interface Move {
  from: readonly MessageStatus[];
  to: MessageStatus;
  by: readonly MessageActor[];
}

/** Every allowed move, by what triggers it. */
export const MESSAGE_MOVES = {
  /** The translation is there, and somebody is to be told. */
  translate: { from: ['mt_init'], to: 'deliver_init', by: ['machine'] },
  /** The translation is there, and nobody asked to be told. */
  answer: { from: ['mt_init'], to: 'deliver_complete', by: ['machine'] },
  /** The message cannot be translated, after all tries. */
  fail: { from: ['mt_init'], to: 'mt_failed', by: ['machine'] },
  /** The receiver answered 2xx. */
  deliver: { from: ['deliver_init'], to: 'deliver_complete', by: ['sender'] },
  /** The delivery is dead. */
  lose: { from: ['deliver_init'], to: 'deliver_failed', by: ['sender'] },
  /** A dead delivery begins anew. */
  replay: { from: ['deliver_failed'], to: 'deliver_init', by: ['operator'] },
} as const satisfies Record<string, Move>;

export type MessageTrigger = keyof typeof MESSAGE_MOVES;

export const FIRST_MESSAGE_STATUS: MessageStatus = 'mt_init';

/** Whether `trigger` is allowed on a message in `status`. */
export function allowsMessageMove(trigger: MessageTrigger, status: MessageStatus): boolean {
  return (MESSAGE_MOVES[trigger].from as readonly MessageStatus[]).includes(status);
}
