/**
 * Tests of the Bergamot engine, whose threads run a test script: batches, dying threads, translation through
 * a pivot language, and memory.
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { MANIFEST } from '../src/bergamot/models.ts';
import type { BergamotEngine, BergamotOptions, Draft } from '../src/engines.ts';
import { createBergamot } from '../src/engines.ts';
import { placeModels } from './bergamot/model.ts';
import { conformance, textOf, translated } from './conformance.ts';

const script = new URL('./bergamot/script.ts', import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'dragoman-models-'));
const engines: BergamotEngine[] = [];
const make = (options: Partial<BergamotOptions> = {}): BergamotEngine => {
  const engine = createBergamot({ folder, script, ...options });
  engines.push(engine);
  return engine;
};

beforeAll(() => placeModels(folder, ['en-es', 'es-en', 'en-fr', 'en-zz']));
afterEach(async () => {
  await Promise.all(engines.splice(0).map((each) => each.stop()));
});
afterAll(() => rmSync(folder, { recursive: true }));

conformance('Bergamot', { make: () => createBergamot({ folder, script }), to: 'es' });

function draft(engine: BergamotEngine, texts: string[], from = 'en', to = 'es'): Promise<Draft[]> {
  const segments = texts.map((text, n) => ({ id: String(n), pieces: [{ text }] }));
  return engine.draft({ from, to, segments, lane: 'bulk' });
}

const batch = (bad: Record<number, string>): string[] =>
  Array.from({ length: 20 }, (_, n) => bad[n] ?? `House ${n}.`);

describe('the Bergamot engine', () => {
  test.each([
    ['DIE', 'crashed', 'ended with 134', {}],
    ['THROW', 'crashed', 'ended with 1', {}],
    ['HANG', 'timeout', 'within 1000 ms', { deadlineMs: () => 1_000 }],
  ])(
    'fails only the segment with the word %s, at which the thread ends or hangs',
    async (word, reason, detail, limits) => {
      const engine = make({ limits });
      const drafts = await draft(engine, batch({ 7: `To ${word} for.` }));
      drafts.forEach((each, n) => {
        if (n !== 7) expect(textOf(translated(each))).toBe(`hOUSE ${n}.`);
      });
      expect(drafts[7]).toMatchObject({ status: 'failed', reason, detail: expect.stringContaining(detail) });
      expect(engine.threads()).toMatchObject([{ pair: 'en-es', restarts: 2 }]);
      expect(await engine.health()).toMatchObject({ ok: true });
    },
  );

  test('fails a segment as garbled when the thread returns too few translations', async () => {
    expect(await draft(make(), ['A SHORT house.'])).toMatchObject([{ status: 'failed', reason: 'garbled' }]);
  });

  test('reports the mean and the lowest probability of the words of a draft', async () => {
    expect(await draft(make(), ['A house.'])).toMatchObject([{ confidence: { mean: 0.75, minimum: 0.5 } }]);
  });

  test('reports no confidence for scores that are no probabilities, or a text without letters', async () => {
    const drafts = await draft(make(), ['An ODD house.', '123']);
    expect(drafts.map((each) => each.status === 'translated' && each.confidence)).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('translates a text without its scores when the scores end the thread', async () => {
    const drafts = await draft(make(), ['A house.', 'To SCORE a house.']);
    expect(drafts.map((each) => textOf(translated(each)))).toEqual(['a HOUSE.', 'tO score A HOUSE.']);
    expect(drafts).toMatchObject([{ confidence: undefined }, { confidence: undefined }]);
  });
});

describe('Bergamot language pairs', () => {
  test('are offered when their models load, directly or with English as the pivot', async () => {
    const engine = make();
    const found = (await engine.directions()).map(
      ({ from, to, route, hops }) => `${from}>${to} ${route} ${hops}`,
    );
    expect(found.sort()).toEqual([
      'en>es bergamot:en-es 1',
      'en>fr bergamot:en-fr 1',
      'es>en bergamot:es-en 1',
      'es>fr bergamot:es-en+en-fr 2',
    ]);
    expect(engine.threads()).toEqual([]);
  });

  test('are reported one by one as their models load, after all that will be tested', async () => {
    const begun = vi.fn();
    const passed = vi.fn();
    const found = await make().directions({ begun, passed });
    expect(begun).toHaveBeenCalledOnce();
    expect(begun.mock.calls[0]![0]).toEqual(expect.arrayContaining(found));
    expect(begun.mock.calls[0]![0].length).toBeGreaterThan(found.length);
    expect(passed.mock.calls.length).toBeGreaterThan(1);
    expect(passed.mock.calls[0]![0].length).toBeLessThan(found.length);
    expect(passed.mock.lastCall![0]).toEqual(found);
  });

  test('keep the codes of a segment that is translated through the pivot language', async () => {
    const pieces = [
      { open: 1 },
      { text: 'La casa' },
      { close: 1 },
      { keep: 2, text: '{x}' },
      { text: ' es ROJA 😀.' },
    ];
    const request = { from: 'es', to: 'fr', segments: [{ id: 'a', pieces }], lane: 'interactive' as const };
    const drafts = await make().draft(request);
    const confidence = { mean: 0.75, minimum: 0.5 };
    expect(drafts).toEqual([
      { id: 'a', status: 'translated', pieces, route: 'bergamot:es-en+en-fr', confidence },
    ]);
  });

  test('fail without delaying other language pairs when their model cannot be loaded', async () => {
    const engine = make();
    const [bad, good] = await Promise.all([draft(engine, ['House.'], 'en', 'zz'), draft(engine, ['House.'])]);
    expect(bad).toMatchObject([{ status: 'failed', reason: 'crashed' }]);
    expect(textOf(translated(good[0]))).toBe('hOUSE.');
    expect(await engine.health()).toMatchObject({ ok: false, detail: expect.stringContaining('en-zz') });
  });

  test('do not include a model with a changed file, and the health check names this model', async () => {
    const other = mkdtempSync(join(tmpdir(), 'dragoman-models-'));
    await placeModels(other, ['en-es', 'en-fr']);
    const version = await make({ folder: other }).version();
    writeFileSync(join(other, 'en-fr', 'vocab.enfr.spm'), Buffer.alloc(10));
    const engine = make({ folder: other });
    expect(await engine.directions()).toMatchObject([{ from: 'en', to: 'es' }]);
    expect(await engine.health()).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/^en-fr: vocab.enfr.spm has 10 bytes/),
    });
    expect(await engine.version()).not.toBe(version);
    rmSync(other, { recursive: true });
  });

  test('are known while the files of the models are read again, so that no request waits for it', async () => {
    const own = mkdtempSync(join(tmpdir(), 'dragoman-models-'));
    await placeModels(own, ['en-es']);
    const engine = make({ folder: own });
    await engine.directions();
    // Reading a named pipe takes until another process writes to it.
    mkdirSync(join(own, 'en-fr'));
    const pipe = join(own, 'en-fr', MANIFEST);
    execFileSync('mkfifo', [pipe]);
    const again = engine.directions();
    expect([await engine.serves!('en', 'es'), await engine.serves!('en', 'fr')]).toEqual([true, false]);
    expect(await draft(engine, ['A house.'])).toMatchObject([{ status: 'translated' }]);
    writeFileSync(pipe, '');
    expect(await again).toMatchObject([{ from: 'en', to: 'es' }]);
    rmSync(own, { recursive: true });
  });

  test('are an empty list when the folder has no models', async () => {
    const engine = make({ folder: join(folder, 'nothing') });
    expect(await engine.directions()).toEqual([]);
    expect(await engine.version()).toBe('no models');
    expect(await engine.health()).toMatchObject({ ok: false });
  });
});

describe('Bergamot threads', () => {
  test('take turns when the memory budget allows only one thread', async () => {
    const engine = make({ memoryMebibytes: 300, turnMs: 0 });
    let most = 0;
    const work = ['es', 'fr'].map(async (to) => {
      const drafts = await draft(engine, batch({}), 'en', to);
      most = Math.max(most, engine.threads().length);
      return drafts.every(({ status }) => status === 'translated');
    });
    expect(await Promise.all(work)).toEqual([true, true]);
    expect(most).toBe(1);
  });

  test('are separate for interactive and bulk requests, and end when they are idle', async () => {
    const engine = make({ limits: { idleMs: 50 }, memoryMebibytes: 2_000 });
    const segments = [{ id: 'a', pieces: [{ text: 'House.' }] }];
    const lanes = (['interactive', 'bulk'] as const).map((lane) =>
      engine.draft({ from: 'en', to: 'es', segments, lane }),
    );
    await Promise.all(lanes);
    await vi.waitFor(() => expect(engine.threads()).toEqual([]), { timeout: 300_000, interval: 50 });
    expect(await draft(engine, ['House.'])).toMatchObject([{ status: 'translated' }]);
  });
});
