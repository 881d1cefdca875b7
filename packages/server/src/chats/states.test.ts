import { describe, expect, it } from 'vitest';
import { type Actor, allows, FIRST_STATUS, MOVES, STATUSES, type Status, type Trigger } from './states.ts';

/** The table of the decisions, written out. A move that is not here must not exist. */
const DECIDED: Record<Trigger, { from: Status; to: Status; by: Actor }> = {
  translate: { from: 'mt_init', to: 'deliver_init', by: 'machine' },
  answer: { from: 'mt_init', to: 'deliver_complete', by: 'machine' },
  fail: { from: 'mt_init', to: 'mt_failed', by: 'machine' },
  deliver: { from: 'deliver_init', to: 'deliver_complete', by: 'sender' },
  lose: { from: 'deliver_init', to: 'deliver_failed', by: 'sender' },
  replay: { from: 'deliver_failed', to: 'deliver_init', by: 'operator' },
};
const TRIGGERS = Object.keys(MOVES) as Trigger[];

/** What is wrong with a table of moves; the checker, so that it can be shown to catch a planted fault. */
function faults(allowed: (trigger: Trigger, status: Status) => boolean): string[] {
  return TRIGGERS.flatMap((trigger) =>
    STATUSES.filter((status) => allowed(trigger, status) !== (DECIDED[trigger].from === status)).map(
      (status) => `${trigger} from ${status}`,
    ),
  );
}

describe('the table of moves', () => {
  it('has the statuses of the interface, and no other', () => {
    expect(STATUSES).toEqual(['mt_init', 'deliver_init', 'deliver_complete', 'mt_failed', 'deliver_failed']);
  });

  it('is the one that was decided', () => {
    expect(TRIGGERS.sort()).toEqual(Object.keys(DECIDED).sort());
    expect(faults(allows)).toEqual([]);
    for (const trigger of TRIGGERS) {
      expect(MOVES[trigger].to, trigger).toBe(DECIDED[trigger].to);
      expect(MOVES[trigger].by, trigger).toEqual([DECIDED[trigger].by]);
    }
  });

  it('begins with mt_init, reaches every state, and ends in the delivered and the failed one', () => {
    const reached = new Set<Status>([FIRST_STATUS]);
    for (const _ of STATUSES) {
      for (const trigger of TRIGGERS) {
        if ([...reached].some((status) => allows(trigger, status))) reached.add(MOVES[trigger].to);
      }
    }
    expect([...reached].sort()).toEqual([...STATUSES].sort());
    const ends = STATUSES.filter((status) => !TRIGGERS.some((trigger) => allows(trigger, status)));
    expect(ends.sort()).toEqual(['deliver_complete', 'mt_failed']);
  });

  it('would be caught with one move too many, or one too few', () => {
    expect(faults((trigger, status) => status === 'mt_failed' || allows(trigger, status))).toHaveLength(6);
    expect(faults((trigger, status) => trigger !== 'fail' && allows(trigger, status))).toEqual([
      'fail from mt_init',
    ]);
  });
});
