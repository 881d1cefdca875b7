import { describe, expect, it } from 'vitest';
import {
  allowsJobMove,
  firstJobStatus,
  JOB_MOVES,
  JOB_STATUSES,
  type JobActor,
  type JobStatus,
  type JobTrigger,
} from './states.ts';

/**
 * The expected transitions, as an independent copy: trigger, statuses, actors and effects. Any other
 * transition is an error.
 */
const DECIDED: Record<JobTrigger, { to: JobStatus; from: JobStatus[]; by: JobActor[]; effects: string[] }> = {
  begin: {
    from: ['new', 'machine_translate_in_progress'],
    to: 'translating',
    by: ['machine', 'editor'],
    effects: [],
  },
  complete: {
    from: ['new', 'machine_translate_in_progress', 'translating'],
    to: 'completed',
    by: ['machine', 'editor'],
    effects: ['capture', 'callback'],
  },
  fail: {
    from: ['new', 'machine_translate_in_progress', 'translating'],
    to: 'failed',
    by: ['machine'],
    effects: ['void', 'callback'],
  },
  cancel: {
    from: ['new', 'machine_translate_in_progress', 'translating'],
    to: 'canceled',
    by: ['customer', 'operator'],
    effects: ['void'],
  },
  fallBack: { from: ['translating'], to: 'completed', by: ['machine'], effects: ['void', 'callback'] },
  revise: { from: ['rejected'], to: 'completed', by: ['editor', 'machine'], effects: ['callback'] },
  accept: { from: ['completed'], to: 'accepted', by: ['customer', 'machine'], effects: [] },
  reject: { from: ['completed'], to: 'rejected', by: ['customer'], effects: [] },
  redraft: { from: ['translating'], to: 'translating', by: ['operator'], effects: [] },
  redrafted: { from: ['translating'], to: 'translating', by: ['machine'], effects: [] },
  upgrade: { from: ['completed'], to: 'new', by: ['customer'], effects: ['hold'] },
  cancelUpgrade: {
    from: ['new', 'translating'],
    to: 'completed',
    by: ['customer', 'operator'],
    effects: ['void'],
  },
  failUpgrade: {
    from: ['new', 'translating'],
    to: 'completed',
    by: ['machine'],
    effects: ['void', 'callback'],
  },
};
const FINAL: readonly JobStatus[] = ['failed', 'canceled', 'accepted'];
const TRIGGERS = Object.keys(JOB_MOVES) as JobTrigger[];
it('the statuses of jobs are exactly those of the published API', () => {
  const onTheWay = ['new', 'machine_translate_in_progress', 'translating'];
  expect(JOB_STATUSES).toEqual([...onTheWay, 'completed', 'failed', 'canceled', 'accepted', 'rejected']);
});

const EVERY_PAIR = TRIGGERS.flatMap((trigger) => JOB_STATUSES.map((status) => ({ trigger, status })));

/** Returns the differences between a table of transitions and the expected one. */
function faults(allowed: (trigger: JobTrigger, status: JobStatus) => boolean): string[] {
  return EVERY_PAIR.filter(
    ({ trigger, status }) => allowed(trigger, status) !== DECIDED[trigger].from.includes(status),
  ).map(({ trigger, status }) => `${trigger} from ${status}`);
}

describe('the transition table of jobs', () => {
  it('has exactly the expected triggers', () => {
    expect(TRIGGERS.sort()).toEqual(Object.keys(DECIDED).sort());
  });

  it.each(EVERY_PAIR)('allows or refuses $trigger from $status as expected', ({ trigger, status }) => {
    expect(allowsJobMove(trigger, status)).toBe(DECIDED[trigger].from.includes(status));
  });

  it('has the expected new status, actors and effects for each trigger, and lists no effect twice', () => {
    for (const trigger of TRIGGERS) {
      const { to, by, effects } = JOB_MOVES[trigger];
      expect({ to, by: [...by].sort(), effects: [...effects].sort() }, trigger).toEqual({
        to: DECIDED[trigger].to,
        by: DECIDED[trigger].by.sort(),
        effects: DECIDED[trigger].effects.sort(),
      });
      expect(new Set(effects).size, trigger).toBe(effects.length);
    }
  });

  it('ends every hold exactly once, by capture or void, on every way to a final status', () => {
    for (const trigger of TRIGGERS) {
      const { to, effects } = JOB_MOVES[trigger];
      const ends = effects.filter((effect) => effect === 'capture' || effect === 'void');
      // A completed or rejected job has no hold any more: it was captured or released before.
      const before: readonly JobStatus[] = ['completed', 'rejected'];
      const paid = JOB_MOVES[trigger].from.every((status) => before.includes(status));
      const finished = !paid && (to === 'completed' || FINAL.includes(to));
      expect(ends, trigger).toHaveLength(finished ? 1 : 0);
    }
  });

  it.each(FINAL)('has no transition from the final status %s', (status) => {
    expect(TRIGGERS.filter((trigger) => allowsJobMove(trigger, status))).toEqual([]);
  });

  it('allows no job to complete or fail twice', () => {
    expect(allowsJobMove('complete', 'completed')).toBe(false);
    expect(allowsJobMove('fail', 'failed')).toBe(false);
    expect(allowsJobMove('fail', 'completed')).toBe(false);
    expect(allowsJobMove('complete', 'failed')).toBe(false);
  });

  it('differs from the expected table when a transition is added or removed', () => {
    expect(faults(allowsJobMove)).toEqual([]);
    expect(faults((trigger, status) => status === 'failed' || allowsJobMove(trigger, status))).toEqual([
      'begin from failed',
      'complete from failed',
      'fallBack from failed',
      'revise from failed',
      'accept from failed',
      'reject from failed',
      'fail from failed',
      'cancel from failed',
      'redraft from failed',
      'redrafted from failed',
      'upgrade from failed',
      'cancelUpgrade from failed',
      'failUpgrade from failed',
    ]);
    expect(faults((trigger, status) => trigger !== 'begin' && allowsJobMove(trigger, status))).toEqual([
      'begin from new',
      'begin from machine_translate_in_progress',
    ]);
  });
});

describe('firstJobStatus', () => {
  it('returns new for a human job and machine_translate_in_progress for a machine job', () => {
    expect(firstJobStatus('human')).toBe('new');
    expect(firstJobStatus('machine')).toBe('machine_translate_in_progress');
  });

  it('returns a status that allows no transition that needs a drafted or completed job, such as accept', () => {
    for (const tier of ['human', 'machine'] as const) {
      expect(
        TRIGGERS.filter((trigger) => !allowsJobMove(trigger, firstJobStatus(tier))).sort(),
        tier,
      ).toEqual([
        'accept',
        ...(tier === 'machine' ? ['cancelUpgrade', 'failUpgrade'] : []),
        'fallBack',
        'redraft',
        'redrafted',
        'reject',
        'revise',
        'upgrade',
      ]);
    }
  });
});
