import 'fake-indexeddb/auto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Piece } from '../text/pieces.ts';
import { openDrafts } from './drafts.ts';
import { type Save, type ServerVersion, saveStatusOf } from './save-queue.ts';
import { type SaveOutcome, Saver } from './saver.ts';

const text = (words: string): Piece[] => [{ text: words }];
const save = (words: string, status: 'draft' | 'confirmed' = 'draft'): Save => ({
  target: text(words),
  status,
  acknowledged: [],
});

/** The outcome of one request. */
type Fate = 'answered' | 'never arrives' | 'answer lost';

/** A simulated server that stores revisions. `fates` has the outcomes of its next requests. */
class Server {
  segments = new Map<number, ServerVersion>(
    [0, 1, 2].map((at) => [at, { revision: 1, target: [], status: 'open' }]),
  );
  fates: Fate[] = [];
  overwritten = 0;

  async receive(position: number, sent: Save, revision: number): Promise<SaveOutcome> {
    const fate = this.fates.shift() ?? 'answered';
    if (fate === 'never arrives') throw new Error('no connection');
    const now = this.segments.get(position)!;
    if (now.revision !== revision) {
      if (fate === 'answer lost') throw new Error('no connection');
      return { outcome: 'conflict', theirs: now };
    }
    this.segments.set(position, { revision: revision + 1, target: sent.target, status: sent.status });
    if (fate === 'answer lost') throw new Error('no connection');
    return { outcome: 'saved', revision: revision + 1 };
  }
}

/** A simulated page with its own clock. */
async function open(server: Server, task: string, revisions: Map<number, number>) {
  const clock = { now: 1_000, calls: new Set<{ time: number; call: () => void }>() };
  let closed = false;
  const saver = new Saver({
    drafts: await openDrafts('user', task),
    send: async (position, sent, revision) => {
      // A closed page sends nothing and receives no answer.
      if (closed) return new Promise<never>(() => {});
      const outcome = await server.receive(position, sent, revision);
      if (outcome.outcome === 'saved') revisions.set(position, outcome.revision);
      if (outcome.outcome === 'conflict') revisions.set(position, outcome.theirs.revision);
      return outcome;
    },
    now: () => clock.now,
    at: (time, call) => {
      const entry = { time, call };
      clock.calls.add(entry);
      return () => clock.calls.delete(entry);
    },
    onChange: () => {},
  });
  return {
    saver,
    /** Advances the clock and waits until all started requests have ended. */
    async pass(ms: number) {
      clock.now += ms;
      for (const entry of [...clock.calls]) {
        if (entry.time <= clock.now && clock.calls.delete(entry)) entry.call();
      }
      for (let turn = 0; turn < 5; turn += 1) {
        await saver.stored();
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    leave() {
      closed = true;
      saver.stop();
    },
  };
}

type Step =
  | { step: 'type'; position: number }
  | { step: 'confirm'; position: number }
  | { step: 'pass'; ms: number }
  | { step: 'reload' }
  | { step: 'fates'; fates: Fate[] };

const position = fc.integer({ min: 0, max: 2 });
const someStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ step: fc.constant('type' as const), position }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('confirm' as const), position }) },
  {
    weight: 3,
    arbitrary: fc.record({ step: fc.constant('pass' as const), ms: fc.constantFrom(1, 300, 600, 5_000) }),
  },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('reload' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      step: fc.constant('fates' as const),
      fates: fc.array(fc.constantFrom<Fate>('answered', 'never arrives', 'answer lost'), { maxLength: 4 }),
    }),
  },
);

let tasks = 0;

async function play(steps: readonly Step[], forgetful = false) {
  const server = new Server();
  tasks += 1;
  const task = `task ${tasks}`;
  let revisions = new Map([...server.segments].map(([at, { revision }]) => [at, revision]));
  let page = await open(server, task, revisions);
  const last = new Map<number, Save>();
  let words = 0;
  for (const step of steps) {
    if (step.step === 'type' || step.step === 'confirm') {
      words += 1;
      const typed = save(`words ${words}`, step.step === 'confirm' ? 'confirmed' : 'draft');
      last.set(step.position, typed);
      page.saver.edit(step.position, { revision: revisions.get(step.position)!, save: typed, activeMs: 10 });
      if (step.step === 'confirm') page.saver.flush([step.position]);
    } else if (step.step === 'pass') await page.pass(step.ms);
    else if (step.step === 'fates') server.fates = [...step.fates];
    else {
      await page.saver.stored();
      page.leave();
      revisions = new Map([...server.segments].map(([at, { revision }]) => [at, revision]));
      page = await open(server, forgetful ? `${task} without drafts` : task, revisions);
      await page.saver.restore(server.segments);
    }
  }
  // No request fails from here on.
  server.fates = [];
  for (let turn = 0; turn < 12; turn += 1) await page.pass(30_000);
  return { server, page, last, drafts: await openDrafts('user', task) };
}

test('the saver loses no text when requests fail or the page closes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someStep, { maxLength: 25 }), async (steps) => {
      const { server, page, last, drafts } = await play(steps);
      expect(saveStatusOf(page.saver.queue).state).toBe('saved');
      for (const [at, typed] of last) {
        expect(server.segments.get(at)!.target).toEqual(typed.target);
        expect(server.segments.get(at)!.status).toBe(typed.status);
      }
      expect((await drafts.all()).size).toBe(0);
      page.leave();
    }),
  );
});

test('the saver loses an unsent text at a reload when the browser stores no drafts', async () => {
  const steps: Step[] = [
    { step: 'fates', fates: ['never arrives'] },
    { step: 'type', position: 0 },
    { step: 'pass', ms: 600 },
    { step: 'reload' },
  ];
  const { server, page } = await play(steps, true);
  expect(server.segments.get(0)!.target).toEqual([]);
  page.leave();
});

test('the saver keeps both texts of a conflict until the editor chooses one', async () => {
  const server = new Server();
  const page = await open(server, 'conflict', new Map());
  page.saver.edit(0, { revision: 1, save: save('mine'), activeMs: 0 });
  server.segments.set(0, { revision: 2, target: text('theirs'), status: 'draft' });
  await page.pass(600);
  expect(saveStatusOf(page.saver.queue)).toEqual({ state: 'conflict', positions: [0] });
  expect(page.saver.queue.entries.get(0)).toMatchObject({
    save: save('mine'),
    theirs: { target: text('theirs') },
  });
  await page.pass(60_000);
  expect(server.segments.get(0)!.target).toEqual(text('theirs'));
  page.saver.resolve(0, save('both'));
  await page.pass(1);
  expect(server.segments.get(0)).toEqual({ revision: 3, target: text('both'), status: 'draft' });
  expect(saveStatusOf(page.saver.queue).state).toBe('saved');
});

test('the saver sends each text once and keeps it when the lease is lost', async () => {
  const drafts = await openDrafts('user', 'stale');
  const sent: number[] = [];
  const saver = new Saver({
    drafts,
    send: async (at) => {
      sent.push(at);
      return { outcome: 'stale' };
    },
    now: () => 0,
    at: () => () => {},
    onChange: () => {},
  });
  saver.edit(0, { revision: 1, save: save('kept'), activeMs: 0 }, 0);
  await expect.poll(() => saveStatusOf(saver.queue)).toEqual({ state: 'lost', waiting: 1 });
  // A text that was not sent before the lease was lost is sent once, so that the server keeps it for the next editor.
  saver.edit(0, { revision: 1, save: save('kept too'), activeMs: 0 }, 0);
  saver.edit(1, { revision: 1, save: save('another'), activeMs: 0 }, 0);
  await expect.poll(() => sent).toEqual([0, 1]);
  await saver.stored();
  saver.flush();
  await saver.stored();
  expect(sent).toEqual([0, 1]);
  expect((await drafts.all()).get(0)?.save).toEqual(save('kept too'));
  expect(saveStatusOf(saver.queue)).toEqual({ state: 'lost', waiting: 2 });
});

test('the saver sends a refused text again only after an edit', async () => {
  const sent: string[] = [];
  const saver = new Saver({
    drafts: await openDrafts('user', 'refused'),
    send: async (_, { target }) => {
      sent.push((target[0] as { text: string }).text);
      return sent.length === 1 ? { outcome: 'refused', code: 'invalid' } : { outcome: 'saved', revision: 2 };
    },
    now: () => 0,
    at: () => () => {},
    onChange: () => {},
  });
  saver.edit(0, { revision: 1, save: save('wrong'), activeMs: 0 }, 0);
  await expect.poll(() => saveStatusOf(saver.queue)).toEqual({ state: 'refused', positions: [0] });
  saver.edit(0, { revision: 1, save: save('right'), activeMs: 0 }, 0);
  await expect.poll(() => saveStatusOf(saver.queue).state).toBe('saved');
  expect(sent).toEqual(['wrong', 'right']);
});

test('the draft store returns only drafts of the same user and task', async () => {
  const mine = await openDrafts('one', 'shared');
  await mine.put(3, { revision: 1, save: save('mine'), activeMs: 0, sent: [] });
  expect((await (await openDrafts('other', 'shared')).all()).size).toBe(0);
  expect((await (await openDrafts('one', 'another')).all()).size).toBe(0);
  expect([...(await mine.all()).keys()]).toEqual([3]);
});
