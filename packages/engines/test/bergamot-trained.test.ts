/**
 * Tests of the real WebAssembly engine with trained weights: a small model that writes Arabic names in Latin letters,
 * converted by bergamot/transliteration.ts. The original model is not in the repository. Without
 * `TRANSLITERATION_MODEL`, the folder with its files (see docs/engines.md), the tests are skipped. The expected letters
 * come from a separate implementation of the original model, which computes in 64-bit floats.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sealModel } from '../src/bergamot/models.ts';
import type { BergamotEngine, Draft, Piece } from '../src/engines.ts';
import { createBergamot } from '../src/engines.ts';
import { SPELLINGS } from './bergamot/names.ts';
import { convertTransliteration } from './bergamot/transliteration.ts';
import { textOf, translated } from './conformance.ts';

const source = process.env.TRANSLITERATION_MODEL;

const NAMES = Object.entries({
  آتزمون: 'atzmon',
  جورج: 'jorg',
  لندن: 'lenden',
  باريس: 'barris',
  برلين: 'berlin',
  مدريد: 'madrid',
  روما: 'roma',
  طوكيو: 'tokio',
  بغداد: 'baghdad',
  تونس: 'tons',
  الدوحة: 'doha',
  الجزائر: 'jazzair',
  المدينة: 'madina',
  الأرجنتين: 'arjantin',
  أستراليا: 'astralia',
  ألمانيا: 'almania',
  إندونيسيا: 'indonisia',
  كاليفورنيا: 'calevornia',
  شيكاغو: 'shikago',
  أحمد: 'ahmad',
  إبراهيم: 'ibrahim',
  إسماعيل: 'ismail',
  ألكسندر: 'alexandre',
  إليزابيث: 'elizabeth',
  سارة: 'sara',
  طارق: 'targ',
  عبدالرحمن: 'abdalharman',
  علي: 'alli',
  فاطمة: 'fatma',
  ماريا: 'maria',
  نيكولا: 'nicola',
  هشام: 'hasham',
  ويليام: 'william',
  يوسف: 'yosf',
});

describe.skipIf(source === undefined)('Bergamot with trained weights', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-models-'));
  let engine: BergamotEngine;
  beforeAll(async () => {
    await convertTransliteration(source!, folder);
    await sealModel(join(folder, 'ar-en'), 'ar', 'en');
    // The converted model is slow. On a busy machine, the usual deadline would end the thread that runs it.
    engine = createBergamot({ folder, limits: { deadlineMs: () => 900_000, startMs: 900_000 } });
  });
  afterAll(async () => {
    await engine.stop();
    rmSync(folder, { recursive: true });
  });

  const request = (segments: readonly Piece[][]): Promise<Draft[]> =>
    engine.draft({
      from: 'ar',
      to: 'en',
      segments: segments.map((pieces, index) => ({ id: String(index), pieces })),
      lane: 'bulk',
    });
  const draft = async (segments: readonly Piece[][]): Promise<Piece[][]> =>
    (await request(segments)).map(translated);

  test('offers the language pair of the model', async () => {
    expect(await engine.directions()).toMatchObject([{ from: 'ar', to: 'en', route: 'bergamot:ar-en' }]);
  });

  test('writes names exactly as the original model does, in a batch and one by one', async () => {
    const batch = await draft(NAMES.map(([text]) => [{ text }]));
    expect(batch.map(textOf)).toEqual(NAMES.map(([, latin]) => latin));
    for (const [index, [text]] of NAMES.entries()) {
      expect(await draft([[{ text }]])).toEqual([batch[index]]);
    }
  });

  /** Returns what the model writes for each name with a shortlist for other names. */
  async function withShortlist(names: readonly [string, string][]): Promise<string[]> {
    const other = mkdtempSync(join(tmpdir(), 'dragoman-models-'));
    await convertTransliteration(source!, other, names);
    await sealModel(join(other, 'ar-en'), 'ar', 'en');
    const limited = createBergamot({
      folder: other,
      limits: { deadlineMs: () => 900_000, startMs: 900_000 },
    });
    try {
      const segments = NAMES.map(([text]) => ({ id: text, pieces: [{ text }] }));
      const drafts = await limited.draft({ from: 'ar', to: 'en', segments, lane: 'bulk' });
      return drafts.map(translated).map(textOf);
    } finally {
      await limited.stop();
      rmSync(other, { recursive: true });
    }
  }

  test('writes the same names with a shortlist of their letters, and no other letters', async () => {
    expect(await withShortlist(NAMES)).toEqual(NAMES.map(([, latin]) => latin));
    // The shortlist has no letter but those of this name and up to seven more, which fill it to a multiple of eight.
    const few = new Set((await withShortlist([['جورج', 'jorg']])).join(''));
    expect(few.size).toBeLessThan(12);
    expect(few.size).toBeLessThan(new Set(NAMES.flatMap(([, latin]) => [...latin])).size);
  });

  test('is more confident of names that it spells as usual than of other names', async () => {
    const drafts = await request(SPELLINGS.map(([text]) => [{ text }]));
    const usual: number[] = [];
    const other: number[] = [];
    for (const [index, [, spelling]] of SPELLINGS.entries()) {
      const one = drafts[index]!;
      if (one.status !== 'translated' || !one.confidence) throw new Error('no confidence');
      (textOf(one.pieces) === spelling ? usual : other).push(one.confidence.mean);
    }
    const pairs = usual.flatMap((right) =>
      other.map((wrong) => (right > wrong ? 1 : right === wrong ? 0.5 : 0)),
    );
    const share = pairs.reduce<number>((sum, one) => sum + one, 0) / pairs.length;
    // A share of 0.5 would be chance. docs/engines.md has the measured share.
    expect(share).toBeGreaterThan(0.6);
  });

  test.each<[string, Piece[], Piece[]]>([
    [
      'a pair of codes around a name',
      [{ open: 1 }, { text: 'جورج' }, { close: 1 }],
      [{ open: 1 }, { text: 'jorg' }, { close: 1 }],
    ],
    [
      'nested pairs of codes and a single code',
      [{ open: 1 }, { open: 2 }, { text: 'برلين' }, { close: 2 }, { close: 1 }, { single: 3 }],
      [{ open: 1 }, { open: 2 }, { text: 'berlin' }, { close: 2 }, { close: 1 }, { single: 3 }],
    ],
    ['a single code before a name', [{ single: 1 }, { text: 'لندن' }], [{ single: 1 }, { text: 'lenden' }]],
    [
      'a protected word after a name',
      [{ text: 'باريس' }, { keep: 1, text: '{name}' }],
      [{ text: 'barris' }, { keep: 1, text: '{name}' }],
    ],
  ])('keeps %s in its place', async (_, pieces, expected) => {
    expect(await draft([pieces])).toEqual([expected]);
  });
});
