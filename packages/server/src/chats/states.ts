/**
 * The statuses of a chat message and every transition between them. All code reads this one table.
 *
 * | status           | meaning                                                                |
 * | ---------------- | ---------------------------------------------------------------------- |
 * | mt_init          | created; machine translation is pending                                |
 * | deliver_init     | translated and readable; the receiver has not answered yet             |
 * | deliver_complete | translated, and the receiver answered 2xx, or there is no receiver     |
 * | mt_failed        | translation failed; `failure` says why; the receiver is notified       |
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

/**
 * Who can trigger a transition. The sender (the program that sends callbacks) acts on the receiver's answer. The
 * operator replays a dead delivery.
 */
export type MessageActor = 'machine' | 'sender' | 'operator';

interface Move {
  from: readonly MessageStatus[];
  to: MessageStatus;
  by: readonly MessageActor[];
}

/** Every allowed transition, by its trigger. */
export const MESSAGE_MOVES = {
  /** The message is translated and has a callback URL. */
  translate: { from: ['mt_init'], to: 'deliver_init', by: ['machine'] },
  /** The message is translated and has no callback URL. */
  answer: { from: ['mt_init'], to: 'deliver_complete', by: ['machine'] },
  /** The message cannot be translated, after all attempts. */
  fail: { from: ['mt_init'], to: 'mt_failed', by: ['machine'] },
  /** The receiver of the callback answered 2xx. */
  deliver: { from: ['deliver_init'], to: 'deliver_complete', by: ['sender'] },
  /** The callback was attempted for the last time: its delivery is dead. */
  lose: { from: ['deliver_init'], to: 'deliver_failed', by: ['sender'] },
  /** An operator replays a dead delivery. */
  replay: { from: ['deliver_failed'], to: 'deliver_init', by: ['operator'] },
} as const satisfies Record<string, Move>;

export type MessageTrigger = keyof typeof MESSAGE_MOVES;

export const FIRST_MESSAGE_STATUS: MessageStatus = 'mt_init';

export function allowsMessageMove(trigger: MessageTrigger, status: MessageStatus): boolean {
  return (MESSAGE_MOVES[trigger].from as readonly MessageStatus[]).includes(status);
}
