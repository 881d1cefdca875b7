/** Compares the transition table of tasks with an independent copy; `states.test.ts` runs the transitions. */
import { describe, expect, it } from 'vitest';
import {
  allowsTaskMove,
  TASK_MOVES,
  TASK_STATUSES,
  type TaskActor,
  type TaskStatus,
  type TaskTrigger,
} from './states.ts';

/** Every trigger with its source states, target state and actors. No other transition may exist. */
const DECIDED: Record<TaskTrigger, { from: TaskStatus[]; to: TaskStatus; by: TaskActor[] }> = {
  claim: { from: ['open'], to: 'claimed', by: ['editor'] },
  release: { from: ['claimed'], to: 'open', by: ['editor'] },
  free: { from: ['open', 'claimed', 'reported'], to: 'open', by: ['operator'] },
  expire: { from: ['claimed'], to: 'open', by: ['system'] },
  skip: { from: ['open', 'claimed'], to: 'open', by: ['editor'] },
  report: { from: ['open', 'claimed'], to: 'reported', by: ['editor', 'system'] },
  submit: { from: ['claimed'], to: 'submitted', by: ['editor'] },
  reopen: { from: ['submitted', 'done'], to: 'open', by: ['reviewer', 'customer'] },
  withdraw: { from: ['claimed', 'done'], to: 'canceled', by: ['reviewer', 'customer'] },
  deliver: { from: ['submitted'], to: 'done', by: ['system'] },
  close: { from: ['open', 'reported'], to: 'done', by: ['system'] },
  cancel: { from: ['open', 'claimed', 'submitted', 'reported'], to: 'canceled', by: ['customer', 'system'] },
};
const TRIGGERS = Object.keys(TASK_MOVES) as TaskTrigger[];

/** Returns the differences between a table of transitions and the expected one. */
function faults(allowed: (trigger: TaskTrigger, status: TaskStatus) => boolean): string[] {
  return TRIGGERS.flatMap((trigger) =>
    TASK_STATUSES.filter((status) => allowed(trigger, status) !== DECIDED[trigger].from.includes(status)).map(
      (status) => `${trigger} from ${status}`,
    ),
  );
}

describe('the transition table of tasks', () => {
  it('is identical to an independent copy of the expected transitions', () => {
    expect(TASK_STATUSES).toEqual(['open', 'claimed', 'submitted', 'done', 'reported', 'canceled']);
    expect(TRIGGERS.sort()).toEqual(Object.keys(DECIDED).sort());
    expect(faults(allowsTaskMove)).toEqual([]);
    for (const trigger of TRIGGERS) {
      const { to, by } = TASK_MOVES[trigger];
      expect({ to, by: [...by].sort() }, trigger).toEqual({
        to: DECIDED[trigger].to,
        by: DECIDED[trigger].by.sort(),
      });
    }
  });

  it('differs from the independent copy when a transition is added or removed', () => {
    const tooMany = faults((trigger, status) => status === 'canceled' || allowsTaskMove(trigger, status));
    expect(tooMany).toEqual(TRIGGERS.map((trigger) => `${trigger} from canceled`));
    const tooFew = faults((trigger, status) => trigger !== 'submit' && allowsTaskMove(trigger, status));
    expect(tooFew).toEqual(['submit from claimed']);
  });

  it('allows only a rejection to leave a final state, and allows the state claimed only after open', () => {
    expect(TRIGGERS.filter((trigger) => allowsTaskMove(trigger, 'canceled'))).toEqual([]);
    expect(TRIGGERS.filter((trigger) => allowsTaskMove(trigger, 'done'))).toEqual(['reopen', 'withdraw']);
    expect(TRIGGERS.filter((trigger) => TASK_MOVES[trigger].to === 'claimed')).toEqual(['claim']);
    expect(TASK_MOVES.claim.from).toEqual(['open']);
  });

  it('has a transition into every state, and a transition out of every state that is not final', () => {
    for (const status of TASK_STATUSES) {
      if (status !== 'open')
        expect(
          TRIGGERS.some((trigger) => TASK_MOVES[trigger].to === status),
          status,
        ).toBe(true);
      if (status !== 'canceled')
        expect(
          TRIGGERS.some((trigger) => allowsTaskMove(trigger, status)),
          status,
        ).toBe(true);
    }
  });
});
