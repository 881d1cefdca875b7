/**
 * Tests of several pipelines for one direction. A test program (stage.ts) runs as a process of each pipeline
 * and simulates faults.
 */

import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Stage } from '../src/apertium/chain.ts';
import type { ApertiumEngine, ApertiumOptions, Draft } from '../src/engines.ts';
import { createApertium } from '../src/engines.ts';
import { textOf, translated } from './conformance.ts';

const stage = (): Stage => ({ command: process.execPath, args: [join(import.meta.dirname, 'stage.ts')] });
const good = (n: number): string => `A big house number ${n}.`;
const answered = (n: number): string => `A grande house number ${n}.`;
const many = Array.from({ length: 2_000 }, (_, n) => good(n));
const all = many.map((_, n) => answered(n));

const engines: ApertiumEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((each) => each.stop()));
});

function make(options: ApertiumOptions = {}): ApertiumEngine {
  const engine = createApertium({ chainOf: async () => [stage()], bulkPipelines: 2, ...options });
  engines.push(engine);
  return engine;
}

function draft(engine: ApertiumEngine, texts: readonly string[], to = 'es'): Promise<Draft[]> {
  const segments = texts.map((text, n) => ({ id: String(n), pieces: [{ text }] }));
  return engine.draft({ from: 'en', to, segments, lane: 'bulk' });
}

const plain = (drafts: readonly Draft[]): string[] => drafts.map((each) => textOf(translated(each)));

/** Starts work that keeps both pipelines busy, and waits until both run. */
async function bothAtWork(engine: ApertiumEngine): Promise<{ work: Promise<Draft[]> }> {
  const work = draft(engine, [...many, 'A HANG.']);
  await vi.waitFor(() => expect(engine.pipelines()).toHaveLength(2), { timeout: 300_000, interval: 50 });
  return { work };
}

describe('a pool of two Apertium pipelines', () => {
  test('divides the segments between the pipelines, and returns the right translation of each segment', async () => {
    const engine = make();
    const busy = new Set<number>();
    const work = Array.from({ length: 4 }, async () => {
      const drafts = await draft(engine, many);
      for (const { pids } of engine.pipelines()) busy.add(pids[0]!);
      return plain(drafts);
    });
    expect(await Promise.all(work)).toEqual([all, all, all, all]);
    expect(busy.size).toBe(2);
  });

  test('starts only one pipeline for occasional sentences', async () => {
    const engine = make();
    for (let n = 0; n < 20; n++) expect(plain(await draft(engine, [good(n)]))).toEqual([answered(n)]);
    expect(engine.pipelines()).toHaveLength(1);
  });

  test('starts only one pipeline when there is memory only for one', async () => {
    const engine = make({ memoryMebibytes: 160 });
    let most = 0;
    const work = draft(engine, many).then(plain);
    const pairs = ['ca', 'gl'].map(async (to) => {
      await draft(engine, [good(1)], to);
      most = Math.max(most, engine.pipelines().length);
    });
    expect(await work).toEqual(all);
    await Promise.all(pairs);
    expect(most).toBe(1);
  });

  test('gives the memory of its spare pipeline to another direction', async () => {
    const engine = make({ memoryMebibytes: 280, turnMs: 0 });
    const work = Array.from({ length: 3 }, () => draft(engine, many).then(plain));
    await vi.waitFor(() => expect(engine.pipelines()).toHaveLength(2), { timeout: 300_000, interval: 50 });
    expect(await draft(engine, [good(1)], 'ca')).toMatchObject([{ status: 'translated' }]);
    expect(await Promise.all(work)).toEqual([all, all, all]);
  });

  test.each([0, 1])(
    'loses no segment and does not restart the other pipeline when pipeline %i is killed',
    async (which) => {
      const engine = make({ limits: { bulk: { deadlineMs: () => 3_600_000 } } });
      const work = Array.from({ length: 3 }, () => draft(engine, many).then(plain));
      await vi.waitFor(() => expect(engine.pipelines()).toHaveLength(2), { timeout: 300_000, interval: 50 });
      const before = engine.pipelines();
      process.kill(before[which]!.pids[0]!, 'SIGKILL');
      expect(await Promise.all(work)).toEqual([all, all, all]);
      const other = engine.pipelines().find(({ pids }) => pids[0] === before[1 - which]!.pids[0]);
      expect(other).toMatchObject({ restarts: 0 });
    },
  );

  test('fails only the segment that kills a pipeline', async () => {
    const engine = make();
    const drafts = await draft(engine, many.with(1_000, 'A DIE house.'));
    expect(drafts[1_000]).toMatchObject({ status: 'failed', reason: 'crashed' });
    expect(plain(drafts.toSpliced(1_000, 1))).toEqual(all.toSpliced(1_000, 1));
  });

  test('ends both pipelines when they are idle', async () => {
    const engine = make({ limits: { bulk: { idleMs: 20 } } });
    expect(plain(await draft(engine, many))).toEqual(all);
    await vi.waitFor(() => expect(engine.pipelines()).toEqual([]), { timeout: 300_000, interval: 50 });
  });

  test('ends both pipelines and fails their segments when the engine stops', async () => {
    const engine = make({ limits: { bulk: { deadlineMs: () => 3_600_000 } } });
    const { work } = await bothAtWork(engine);
    await engine.stop();
    expect(engine.pipelines()).toEqual([]);
    expect((await work).at(-1)).toMatchObject({ status: 'failed', reason: 'stopped' });
  });

  test('drops all segments of an aborted request', async () => {
    const engine = make();
    const abort = new AbortController();
    const segments = many.map((text, n) => ({ id: String(n), pieces: [{ text }] }));
    const work = engine.draft({ from: 'en', to: 'es', segments, lane: 'bulk', signal: abort.signal });
    await vi.waitFor(() => expect(engine.pipelines()).toHaveLength(2), { timeout: 300_000, interval: 50 });
    abort.abort(new Error('aborted'));
    await expect(work).rejects.toThrow('aborted');
    expect(plain(await draft(engine, [good(1)]))).toEqual([answered(1)]);
    await vi.waitFor(() => expect(engine.pipelines().every(({ busy }) => !busy)).toBe(true), {
      timeout: 300_000,
      interval: 50,
    });
  });
});
