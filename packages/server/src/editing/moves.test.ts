/** The table of a task's moves, held to the one that was decided; `states.test.ts` makes the moves. */
import { describe, expect, it } from 'vitest';
import {
  allows,
  TASK_MOVES,
  TASK_STATUSES,
  type TaskActor,
  type TaskStatus,
  type TaskTrigger,
} from './states.ts';

/** Written out for every trigger: whence, where to, and who may. A move that is not here must not exist. */
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

/** What is wrong with a table of moves; the checker, so that it can be shown to catch a planted fault. */
function faults(allowed: (trigger: TaskTrigger, status: TaskStatus) => boolean): string[] {
  return TRIGGERS.flatMap((trigger) =>
    TASK_STATUSES.filter((status) => allowed(trigger, status) !== DECIDED[trigger].from.includes(status)).map(
      (status) => `${trigger} from ${status}`,
    ),
  );
}

describe('the table of moves', () => {
  it('is the one that was decided', () => {
    expect(TASK_STATUSES).toEqual(['open', 'claimed', 'submitted', 'done', 'reported', 'canceled']);
    expect(TRIGGERS.sort()).toEqual(Object.keys(DECIDED).sort());
    expect(faults(allows)).toEqual([]);
    for (const trigger of TRIGGERS) {
      const { to, by } = TASK_MOVES[trigger];
      expect({ to, by: [...by].sort() }, trigger).toEqual({
        to: DECIDED[trigger].to,
        by: DECIDED[trigger].by.sort(),
      });
    }
  });

  it('would be caught with one move too many, or one too few', () => {
    const tooMany = faults((trigger, status) => status === 'canceled' || allows(trigger, status));
    expect(tooMany).toEqual(TRIGGERS.map((trigger) => `${trigger} from canceled`));
    const tooFew = faults((trigger, status) => trigger !== 'submit' && allows(trigger, status));
    expect(tooFew).toEqual(['submit from claimed']);
  });

  it('leads nowhere from the ends but by a rejection, and to a claim only from what is open', () => {
    expect(TRIGGERS.filter((trigger) => allows(trigger, 'canceled'))).toEqual([]);
    expect(TRIGGERS.filter((trigger) => allows(trigger, 'done'))).toEqual(['reopen', 'withdraw']);
    expect(TRIGGERS.filter((trigger) => TASK_MOVES[trigger].to === 'claimed')).toEqual(['claim']);
    expect(TASK_MOVES.claim.from).toEqual(['open']);
  });

  it('has a way to every state, and from every other state a way on', () => {
    for (const status of TASK_STATUSES) {
      if (status !== 'open')
        expect(
          TRIGGERS.some((trigger) => TASK_MOVES[trigger].to === status),
          status,
        ).toBe(true);
      if (status !== 'canceled')
        expect(
          TRIGGERS.some((trigger) => allows(trigger, status)),
          status,
        ).toBe(true);
    }
  });
});
