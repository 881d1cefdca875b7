/**
 * Tests of the real WebAssembly engine with a small model of random weights (bergamot/model.ts). They show that
 * models load, codes are preserved and no text aborts the engine. They do not test quality or speed.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findModels, sealModel } from '../src/bergamot/models.ts';
import { THREAD_LIMITS, Thread } from '../src/bergamot/thread.ts';
import type { BergamotEngine, Piece } from '../src/engines.ts';
import { createBergamot } from '../src/engines.ts';
import { BERGAMOT, read, write } from '../src/markup.ts';
import { MemoryBudget } from '../src/memory-budget.ts';
import { shortlistFile } from './bergamot/marian.ts';
import { placeModels, tinyModel, tinyVocabulary } from './bergamot/model.ts';
import { codesOf, textOf, translated } from './conformance.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-models-'));
let engine: BergamotEngine;
let thread: Thread;
beforeAll(async () => {
  await placeModels(folder, ['en-es', 'es-en']);
  engine = createBergamot({ folder });
  const { models } = await findModels(folder);
  thread = new Thread({
    name: 'en-es',
    megabytes: 300,
    urgent: false,
    script: new URL('../src/bergamot/worker.ts', import.meta.url),
    model: models[0]!.setup,
    limits: THREAD_LIMITS,
    memory: new MemoryBudget(2_000, 1_000),
  });
});
afterAll(async () => {
  await Promise.all([engine.stop(), thread.stop()]);
  rmSync(folder, { recursive: true });
});

const send = async (pieces: readonly Piece[]): Promise<Piece[]> => {
  const { text, table } = write(pieces, BERGAMOT);
  const reply = await thread.send(text, {});
  if (!reply.ok) throw new Error(`${reply.reason}: ${reply.detail}`);
  return read(reply.html, table, BERGAMOT);
};

test('Bergamot offers the language pairs of the models that load', async () => {
  expect(await engine.directions()).toMatchObject([
    { from: 'en', to: 'es', route: 'bergamot:en-es', hops: 1 },
    { from: 'es', to: 'en', route: 'bergamot:es-en', hops: 1 },
  ]);
});

test('Bergamot translates a segment and keeps its codes', async () => {
  const pieces: Piece[] = [
    { text: 'The ' },
    { open: 1 },
    { text: 'big red' },
    { close: 1 },
    { text: ' house of ' },
    { keep: 2, text: '{name} & <co>' },
    { single: 3 },
    { text: ' is here 😀 today.' },
  ];
  const segments = [{ id: 'a', pieces }];
  const [draft] = await engine.draft({ from: 'en', to: 'es', segments, lane: 'bulk' });
  const target = translated(draft);
  expect(codesOf(target)).toEqual(codesOf(pieces));
  expect(textOf(target)).not.toContain('house');
  expect(textOf(target)).toContain('😀');
});

test('Bergamot translates with a model of 32-bit floats, if its name says so', async () => {
  const floats = mkdtempSync(join(tmpdir(), 'dragoman-models-'));
  const place = join(floats, 'en-es');
  mkdirSync(place);
  writeFileSync(join(place, 'model.enes.float32.bin'), tinyModel({ quantized: false, width: 40 }));
  writeFileSync(join(place, 'vocab.enes.spm'), tinyVocabulary());
  expect(await sealModel(place, 'en', 'es')).toMatchObject({ precision: 'float32' });
  const other = createBergamot({ folder: floats });
  try {
    expect(await other.directions()).toMatchObject([{ from: 'en', to: 'es' }]);
  } finally {
    await other.stop();
    rmSync(floats, { recursive: true });
  }
});

test('Bergamot writes only words that the shortlist of the model allows', async () => {
  const limited = mkdtempSync(join(tmpdir(), 'dragoman-models-'));
  await placeModels(limited, ['en-es']);
  // The first eight ids are the end, the unknown word, and the letters a to f.
  const shortlist = shortlistFile(
    8,
    Array.from({ length: 256 }, () => []),
  );
  writeFileSync(join(limited, 'en-es', 'lex.50.50.enes.s2t.bin'), shortlist);
  await sealModel(join(limited, 'en-es'), 'en', 'es');
  const other = createBergamot({ folder: limited });
  const segments = [{ id: 'a', pieces: [{ open: 1 }, { text: 'The red house.' }, { close: 1 }] }];
  const [one] = await other.draft({ from: 'en', to: 'es', segments, lane: 'bulk' });
  expect(textOf(translated(one))).toMatch(/^[a-f\u2047 ]+$/u);
  expect(codesOf(translated(one))).toEqual(codesOf(segments[0]!.pieces));
  await other.stop();
  rmSync(limited, { recursive: true });
});

test('Bergamot reports the probabilities of the words of a draft, with and without codes', async () => {
  const segments = [
    { id: 'text', pieces: [{ text: 'The big red house. A small garden & 5 < 6.' }] },
    { id: 'codes', pieces: [{ open: 1 }, { text: 'The big' }, { close: 1 }, { text: ' red house.' }] },
  ];
  const drafts = await engine.draft({ from: 'en', to: 'es', segments, lane: 'bulk' });
  for (const one of drafts) {
    const { mean, minimum } = (one.status === 'translated' && one.confidence) || { mean: 2, minimum: 2 };
    expect(mean).toBeLessThanOrEqual(1);
    expect(minimum).toBeGreaterThanOrEqual(0);
    expect(minimum).toBeLessThanOrEqual(mean);
  }
});

test('Bergamot returns the same translation for the same text', async () => {
  const pieces = [{ text: 'The house is red.' }];
  expect(await send(pieces)).toEqual(await send(pieces));
});

test('Bergamot keeps every code of any text and never aborts', async () => {
  const words = fc.constantFrom(
    'The house',
    '<b>',
    '5 < 6 & 7 > 3',
    '&amp;',
    '</span>',
    '\n',
    '😀👩‍👩‍👧',
    'שלום',
    '漢字',
    'ﬁ',
    '\u200b',
    '-->',
    '<![CDATA[',
    '"\'',
    '𝒳',
  );
  const some = fc.oneof(words, fc.string({ unit: 'binary', maxLength: 6 }));
  const part = some.map((text): Piece[] => [{ text }]);
  let number = 0;
  const code = fc.oneof(
    part.map((inside): Piece[] => [{ open: ++number }, ...inside, { close: number }]),
    fc.constant(null).map((): Piece[] => [{ single: ++number }]),
    some.map((text): Piece[] => [{ keep: ++number, text }]),
  );
  const segment = fc.array(fc.oneof(part, code), { minLength: 1, maxLength: 6 }).map((each) => each.flat());
  await fc.assert(
    fc.asyncProperty(fc.array(segment, { minLength: 4, maxLength: 16 }), async (batch) => {
      const targets = await Promise.all(batch.map((pieces) => send(pieces)));
      expect(targets.map(codesOf)).toEqual(batch.map(codesOf));
    }),
    { numRuns: 30 },
  );
  expect(thread.restarts).toBe(0);
});

test('Bergamot replaces a thread that an unclosed tag aborts, and translates the other segments', async () => {
  const before = thread.restarts;
  const [bad, good] = await Promise.all([thread.send('<b>x', {}), send([{ text: 'The house.' }])]);
  expect(bad).toMatchObject({ ok: false, reason: 'crashed', detail: 'its thread ended with 134' });
  expect(textOf(good)).not.toBe('');
  expect(thread.restarts - before).toBe(2);
});
