import { describe, expect, it } from 'vitest';
import {
  allowsMessageMove,
  FIRST_MESSAGE_STATUS,
  MESSAGE_MOVES,
  MESSAGE_STATUSES,
  type MessageActor,
  type MessageStatus,
  type MessageTrigger,
} from './states.ts';

/** The expected transitions, as an independent copy. Any other transition is an error. */
const DECIDED: Record<MessageTrigger, { from: MessageStatus; to: MessageStatus; by: MessageActor }> = {
  translate: { from: 'mt_init', to: 'deliver_init', by: 'machine' },
  answer: { from: 'mt_init', to: 'deliver_complete', by: 'machine' },
  fail: { from: 'mt_init', to: 'mt_failed', by: 'machine' },
  deliver: { from: 'deliver_init', to: 'deliver_complete', by: 'sender' },
  lose: { from: 'deliver_init', to: 'deliver_failed', by: 'sender' },
  replay: { from: 'deliver_failed', to: 'deliver_init', by: 'operator' },
};
const TRIGGERS = Object.keys(MESSAGE_MOVES) as MessageTrigger[];

/** Returns the differences between a table of transitions and the expected one. */
function faults(allowed: (trigger: MessageTrigger, status: MessageStatus) => boolean): string[] {
  return TRIGGERS.flatMap((trigger) =>
    MESSAGE_STATUSES.filter((status) => allowed(trigger, status) !== (DECIDED[trigger].from === status)).map(
      (status) => `${trigger} from ${status}`,
    ),
  );
}

describe('the transition table of chat messages', () => {
  it('has exactly the statuses that the interface publishes', () => {
    expect(MESSAGE_STATUSES).toEqual([
      'mt_init',
      'deliver_init',
      'deliver_complete',
      'mt_failed',
      'deliver_failed',
    ]);
  });

  it('has exactly the expected transitions', () => {
    expect(TRIGGERS.sort()).toEqual(Object.keys(DECIDED).sort());
    expect(faults(allowsMessageMove)).toEqual([]);
    for (const trigger of TRIGGERS) {
      expect(MESSAGE_MOVES[trigger].to, trigger).toBe(DECIDED[trigger].to);
      expect(MESSAGE_MOVES[trigger].by, trigger).toEqual([DECIDED[trigger].by]);
    }
  });

  it('starts at mt_init, reaches every status, and ends only at deliver_complete and mt_failed', () => {
    const reached = new Set<MessageStatus>([FIRST_MESSAGE_STATUS]);
    for (const _ of MESSAGE_STATUSES) {
      for (const trigger of TRIGGERS) {
        if ([...reached].some((status) => allowsMessageMove(trigger, status)))
          reached.add(MESSAGE_MOVES[trigger].to);
      }
    }
    expect([...reached].sort()).toEqual([...MESSAGE_STATUSES].sort());
    const ends = MESSAGE_STATUSES.filter(
      (status) => !TRIGGERS.some((trigger) => allowsMessageMove(trigger, status)),
    );
    expect(ends.sort()).toEqual(['deliver_complete', 'mt_failed']);
  });

  it('fails the comparison with the expected table when a transition is added or removed', () => {
    expect(
      faults((trigger, status) => status === 'mt_failed' || allowsMessageMove(trigger, status)),
    ).toHaveLength(6);
    expect(faults((trigger, status) => trigger !== 'fail' && allowsMessageMove(trigger, status))).toEqual([
      'fail from mt_init',
    ]);
  });
});
