/**
 * Tests of a faulty Apertium pipeline. A pipeline is a chain of processes, its stages. The middle stage here
 * is a test program (stage.ts) that simulates the faults; the stages around it are `cat`.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mergeText } from '@dragoman/documents';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Stage } from '../src/apertium/chain.ts';
import type { ApertiumEngine, ApertiumOptions, Draft, Lane, Piece } from '../src/engines.ts';
import { createApertium } from '../src/engines.ts';
import { textOf, translated } from './conformance.ts';

const CAT: Stage = { command: '/bin/cat', args: [] };
const stage = (...args: string[]): Stage => ({
  command: process.execPath,
  args: [join(import.meta.dirname, 'stage.ts'), ...args],
});

const engines: ApertiumEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((each) => each.stop()));
});

/** On a busy machine a stage takes longer to start or to answer than the limits of the program allow. */
const PATIENT = { startMs: 600_000, deadlineMs: () => 600_000 };

function make(chain: Stage[], { limits, ...options }: ApertiumOptions = {}): ApertiumEngine {
  const lane = (name: Lane) => ({ ...PATIENT, ...limits?.[name] });
  const own = { interactive: lane('interactive'), bulk: lane('bulk') };
  const engine = createApertium({ chainOf: async () => chain, limits: own, ...options });
  engines.push(engine);
  return engine;
}

function draft(engine: ApertiumEngine, texts: string[], lane: Lane = 'bulk', to = 'es'): Promise<Draft[]> {
  const segments = texts.map((text, n) => ({ id: String(n), pieces: [{ text }] }));
  return engine.draft({ from: 'en', to, segments, lane });
}

const good = (n: number): string => `A big house number ${n}.`;
const answered = (n: number): string => `A grande house number ${n}.`;

/** Returns twenty good segments. Those whose indexes are in `bad` have the text from `bad`. */
const batch = (bad: Record<number, string>): string[] =>
  Array.from({ length: 20 }, (_, n) => bad[n] ?? good(n));

const shortDeadline = { bulk: { deadlineMs: () => 300 } };

describe('the Apertium engine', () => {
  test.each([
    ['DIE', 'crashed', 'SIGKILL', {}],
    ['EXIT', 'crashed', 'status 0', {}],
    ['HANG', 'timeout', '1500 ms', { bulk: { deadlineMs: () => 1_500 } }],
    ['EMPTY', 'garbled', 'without the id', {}],
    ['GARBAGE', 'garbled', 'without the id', {}],
    ['FLOOD', 'garbled', 'without the id', {}],
    ['UNIT', 'garbled', 'lexical unit', {}],
    ['SHORT', 'garbled', 'empty', {}],
  ])(
    'fails only the segment whose text makes a stage misbehave: %s',
    async (word, reason, detail, limits) => {
      const engine = make([CAT, stage(), CAT], { limits });
      const drafts = await draft(engine, batch({ 7: `A ${word} house.` }));
      drafts.forEach((each, n) => {
        if (n !== 7) expect(textOf(translated(each))).toBe(answered(n));
      });
      expect(drafts[7]).toMatchObject({
        id: '7',
        status: 'failed',
        reason,
        detail: expect.stringContaining(detail),
      });
      const restarts = engine.pipelines()[0]?.restarts;
      expect(restarts).toBe(word === 'UNIT' || word === 'SHORT' ? 0 : 2);
    },
  );

  test('keeps a direction enabled after many segments that kill a stage', async () => {
    const engine = make([CAT, stage(), CAT]);
    const bad = Object.fromEntries([1, 2, 3, 4, 10, 19].map((n) => [n, 'To DIE for.']));
    const [mine, others] = await Promise.all([draft(engine, batch(bad)), draft(engine, batch({}))]);
    expect(mine.filter(({ status }) => status === 'failed').map(({ id }) => Number(id))).toEqual([
      1, 2, 3, 4, 10, 19,
    ]);
    expect(others.map((each) => textOf(translated(each)))).toEqual(batch({}).map((_, n) => answered(n)));
    expect(await engine.health()).toMatchObject({ ok: true });
  });

  test('translates the long segments that are queued behind a segment at which a stage hangs', async () => {
    const engine = make([stage(), CAT], { limits: shortDeadline });
    const long = 'A big house. '.repeat(700);
    const drafts = await draft(engine, ['A big HANG.', ...Array.from({ length: 12 }, () => long)]);
    expect(drafts.map(({ status }) => status)).toEqual([
      'failed',
      ...Array.from({ length: 12 }, () => 'translated'),
    ]);
  });
});

describe('a segment with a faulty reply', () => {
  /** Seven lengths, so that the stage spoils the replies in each of its ways. */
  const lengths = Array.from({ length: 7 }, (_, n) => 'x'.repeat(n));
  const draftPieces = async (pieces: Piece[]): Promise<Draft> => {
    const engine = make([CAT, stage(), CAT]);
    const [result] = await engine.draft({
      from: 'en',
      to: 'es',
      segments: [{ id: '0', pieces }],
      lane: 'bulk',
    });
    return result!;
  };

  test('is sent again without the words that may cause the fault', async () => {
    const engine = make([CAT, stage(), CAT]);
    const drafts = await draft(
      engine,
      lengths.map((x) => `A big snake_case${x}, (my_house), house.`),
    );
    expect(drafts.map((each) => textOf(translated(each)))).toEqual(
      lengths.map((x) => `A grande snake_case${x}, (my_house), house.`),
    );
    expect(engine.pipelines()[0]?.restarts).toBe(0);
  });

  test('is translated clause by clause, with its codes', async () => {
    for (const x of lengths) {
      const source: Piece[] = [
        { text: `A big ONE${x}, the ` },
        { open: 1 },
        { text: 'big, old' },
        { close: 1 },
        { text: ' house — (a big ' },
        { keep: 2, text: '{name}' },
        { text: ' TWO): "big' },
        { single: 3 },
        { text: '" big_house ' },
      ];
      const expected = source.map((piece) =>
        'text' in piece ? { ...piece, text: piece.text.replaceAll(/big(?!_)/g, 'grande') } : piece,
      );
      expect(mergeText(translated(await draftPieces(source)))).toEqual(expected);
    }
  });

  test('fails when one clause has a faulty reply by itself', async () => {
    expect(await draftPieces([{ text: 'A big ONE, a big UNIT, a big TWO.' }])).toMatchObject({
      status: 'failed',
      reason: 'garbled',
    });
  });

  test('fails when its marks are inside a pair of codes', async () => {
    const pieces: Piece[] = [{ open: 1 }, { text: 'A ONE, a TWO.' }, { close: 1 }];
    expect(await draftPieces(pieces)).toMatchObject({ status: 'failed', reason: 'garbled' });
  });
});

describe('an Apertium pipeline that cannot work', () => {
  test('reports its segments as unsupported when a program does not exist', async () => {
    const engine = make([CAT, { command: '/nonexistent/lt-proc', args: [] }, CAT]);
    expect(await draft(engine, ['A big house.'])).toMatchObject([
      { status: 'unsupported', detail: expect.stringContaining('lt-proc could not be started (ENOENT)') },
    ]);
    expect(engine.pipelines()).toEqual([]);
  });

  test('says so when the temporary folder for a data file is missing', async () => {
    vi.stubEnv('TMPDIR', '/nonexistent');
    try {
      const engine = make([CAT, { ...CAT, data: Buffer.from('x') }]);
      const detail = expect.stringContaining('/nonexistent/dragoman-');
      expect(await draft(engine, ['A big house.'])).toMatchObject([{ status: 'unsupported', detail }]);
      // The first stage had started and was killed. Its end, which is reported before that of a later process, is not
      // the reason.
      await once(spawn('/bin/true'), 'exit');
      expect(await draft(engine, ['A big house.'])).toMatchObject([{ status: 'unsupported', detail }]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test.each([
    ['ends at once', { command: '/bin/false', args: [] }],
    ['prints an invalid reply', { command: '/bin/sed', args: ['-zu', 's/.*/no/'] }],
    ['changes nothing', CAT],
  ])('is not offered when a stage %s', async (_, bad) => {
    const engine = make([CAT, bad]);
    expect(await draft(engine, ['A big house.'])).toMatchObject([{ status: 'unsupported' }]);
    expect(await engine.directions()).toEqual([]);
  });

  test('is disabled after three failed starts, and enabled again when a start succeeds', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-engines-'));
    try {
      const flag = join(folder, 'flag');
      const engine = make([stage(flag)], { limits: { bulk: { firstOpenMs: 200 } } });
      expect(await draft(engine, [good(1)])).toMatchObject([{ status: 'translated' }]);
      writeFileSync(flag, '');
      process.kill(engine.pipelines()[0]!.pids[0]!, 'SIGKILL');
      const drafts = await draft(engine, batch({}));
      expect(new Set(drafts.map(({ status }) => status))).toEqual(new Set(['failed']));
      expect(drafts[0]).toMatchObject({
        reason: 'crashed',
        detail: expect.stringContaining('after failed starts'),
      });
      rmSync(flag);
      await vi.waitFor(
        async () => {
          expect(await draft(engine, [good(1)])).toMatchObject([{ status: 'translated' }]);
        },
        { timeout: 300_000, interval: 50 },
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

test('an Apertium direction is offered again when its pipeline is no longer killed at every start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-stage-'));
  const flag = join(folder, 'dies');
  try {
    writeFileSync(flag, '');
    const engine = make([stage(flag)], { limits: { bulk: { firstOpenMs: 50, maxOpenMs: 400 } } });
    for (let storm = 0; storm < 5; storm++) {
      const drafts = await draft(engine, [good(1)]);
      expect(drafts).toMatchObject([{ status: 'unsupported', detail: expect.stringContaining('self-test') }]);
    }
    rmSync(flag);
    await vi.waitFor(
      async () => {
        expect(await draft(engine, [good(1)])).toMatchObject([{ status: 'translated' }]);
      },
      { timeout: 300_000, interval: 50 },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe('Apertium pipelines', () => {
  test('answer a small request before a large request of the same lane ends', async () => {
    const engine = make([CAT, stage()]);
    await draft(engine, [good(0)]);
    const order: string[] = [];
    const large = Array.from({ length: 3_000 }, (_, n) => good(n));
    await Promise.all([
      draft(engine, large).then(() => order.push('large')),
      draft(engine, batch({})).then(() => order.push('small')),
    ]);
    expect(order).toEqual(['small', 'large']);
  });

  test('are separate for interactive and bulk requests', async () => {
    const engine = make([CAT, stage()]);
    await Promise.all([draft(engine, batch({})), draft(engine, batch({}), 'interactive')]);
    expect(
      engine
        .pipelines()
        .map(({ lane }) => lane)
        .sort(),
    ).toEqual(['bulk', 'interactive']);
  });

  test('take turns when the memory budget is too small for all', async () => {
    const engine = make([CAT, stage()], { memoryMebibytes: 160, turnMs: 0 });
    let most = 0;
    const look = (): void => {
      most = Math.max(most, engine.pipelines().length);
    };
    const work = ['es', 'ca', 'gl'].map(async (to) => {
      const drafts = await draft(engine, batch({}), 'bulk', to);
      look();
      return drafts.every(({ status }) => status === 'translated');
    });
    expect(await Promise.all(work)).toEqual([true, true, true]);
    expect(most).toBe(1);
  });

  test('stop when they are idle, and start again for the next request', async () => {
    const engine = make([CAT, stage()], { limits: { bulk: { idleMs: 20 } } });
    await draft(engine, [good(0)]);
    await vi.waitFor(() => expect(engine.pipelines()).toEqual([]), { timeout: 300_000, interval: 50 });
    expect(await draft(engine, [good(0)])).toMatchObject([{ status: 'translated' }]);
  });

  test('drop the queued segments of an aborted request', async () => {
    const engine = make([CAT, stage()]);
    await draft(engine, [good(0)]);
    const abort = new AbortController();
    const segments = Array.from({ length: 5_000 }, (_, n) => ({
      id: String(n),
      pieces: [{ text: good(n) }],
    }));
    const work = engine.draft({ from: 'en', to: 'es', segments, lane: 'bulk', signal: abort.signal });
    abort.abort(new Error('aborted'));
    await expect(work).rejects.toThrow('aborted');
    expect(textOf(translated((await draft(engine, [good(1)]))[0]))).toBe(answered(1));
  });
});
