/**
 * Writes a model for tests. It has the architecture of the "tiny" Firefox models: a transformer encoder of
 * six layers, two decoder layers with SSRU, tied embeddings, and 8-bit matrices with precomputed scales. It
 * is narrower and has random weights, so it loads and computes like a real model, but its translations are
 * meaningless.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sealModel } from '../../src/bergamot/models.ts';
import { floats, type Item, modelFile, shortlistFile, vocabularyFile } from './marian.ts';

export interface TinySize {
  /** Width of the embeddings; real models have 256. */
  width?: number;
  /** Width of the feed-forward layers; real models have 1,536. */
  inner?: number;
  /** Size of the vocabulary, at least 256; real models have 32,000. */
  vocabulary?: number;
  seed?: number;
  /** False for matrices of 32-bit floats. */
  quantized?: boolean;
  /** True for a model that translates every text into nothing. */
  mute?: boolean;
}

/** Marian's type number for `int8` matrices in the memory layout of the library intgemm. */
const INTGEMM8 = 0x4101;

export function tinyModel(size: TinySize = {}): Buffer {
  const { width = 64, inner = 128, vocabulary = 256, seed = 1, quantized = true, mute = false } = size;
  const random = generator(seed);
  const items: Item[] = [];
  const values = (name: string, shape: number[], value: () => number): void => {
    const count = shape.reduce((product, each) => product * each, 1);
    items.push(floats(name, shape, Float32Array.from({ length: count }, value)));
  };
  const zero = (): number => 0;
  const scale = (name: string): void => values(`${name}_QuantMultA`, [1, 1], () => 127 / 4);
  const matrix = (name: string, rows: number, columns: number): void => {
    if (!quantized) {
      values(name, [rows, columns], () => (random() * 2 - 1) * 0.3);
      return;
    }
    const bytes = Buffer.alloc(rows * columns + 4);
    for (let at = 0; at < rows * columns; at++) bytes.writeInt8(Math.trunc((random() * 2 - 1) * 127), at);
    // With this scale, the weights are between -0.3 and 0.3.
    bytes.writeFloatLE(127 / 0.3, rows * columns);
    items.push({ name, type: INTGEMM8, shape: [rows, columns], bytes });
    scale(name);
  };
  const norm = (name: string): void => {
    values(`${name}_ln_scale`, [1, width], () => 1);
    values(`${name}_ln_bias`, [1, width], zero);
  };
  const attention = (name: string): void => {
    for (const part of ['q', 'k', 'v', 'o']) {
      matrix(`${name}_W${part}`, width, width);
      values(`${name}_b${part}`, [1, width], zero);
    }
    norm(`${name}_Wo`);
  };
  const feedForward = (name: string): void => {
    matrix(`${name}_W1`, width, inner);
    values(`${name}_b1`, [1, inner], zero);
    matrix(`${name}_W2`, inner, width);
    values(`${name}_b2`, [1, width], zero);
    norm(`${name}_ffn`);
  };

  matrix('Wemb', vocabulary, width);
  scale('none');
  // The first id is the end of a translation.
  let id = 0;
  values('decoder_ff_logit_out_b', [1, vocabulary], () => (mute && id++ === 0 ? 1e4 : random() - 0.5));
  for (let layer = 1; layer <= 6; layer++) {
    attention(`encoder_l${layer}_self`);
    feedForward(`encoder_l${layer}_ffn`);
  }
  for (let layer = 1; layer <= 2; layer++) {
    matrix(`decoder_l${layer}_rnn_W`, width, width);
    matrix(`decoder_l${layer}_rnn_Wf`, width, width);
    values(`decoder_l${layer}_rnn_bf`, [1, width], zero);
    norm(`decoder_l${layer}_rnn_ffn`);
    attention(`decoder_l${layer}_context`);
    feedForward(`decoder_l${layer}_ffn`);
  }
  return modelFile(items, {
    'dec-depth': 2,
    'dim-emb': width,
    'dim-vocabs': `[${vocabulary}, ${vocabulary}]`,
    'transformer-dim-ffn': inner,
  });
}

/** Creates a deterministic random generator (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Returns a SentencePiece vocabulary of single characters, each with and without a preceding space. */
export function tinyVocabulary(size = 256): Buffer {
  const characters = [
    ...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,;:!?()-\'"&<>/%$€áéíóúñ',
  ];
  const pieces = [
    ...characters.map((each) => `▁${each}`),
    ...characters,
    '▁',
    '▁the',
    '▁house',
    '▁is',
    '▁red',
  ];
  const all = pieces.map((each, index): [string, number] => [each, -1 - index / 100]);
  // With single letters as its vocabulary, the model writes translations with about as many characters as
  // real ones. The first two ids of the vocabulary are reserved.
  for (let point = 0x100; all.length < size - 2; point++) {
    if (/\p{L}/u.test(String.fromCodePoint(point))) all.push([String.fromCodePoint(point), -20]);
  }
  return vocabularyFile(all);
}

/** Returns a shortlist that allows all letters in each translation. */
export function tinyShortlist(size = 256): Buffer {
  return shortlistFile(
    100,
    Array.from({ length: size }, () => Array.from({ length: size - 100 }, (_, at) => 100 + at)),
  );
}

/** Writes a model of each pair, with its manifest, into a folder. */
export async function placeModels(folder: string, pairs: readonly string[]): Promise<void> {
  for (const [index, pair] of pairs.entries()) {
    const [from = '', to = ''] = pair.split('-');
    const place = join(folder, pair);
    await mkdir(place, { recursive: true });
    await writeFile(join(place, `model.${from}${to}.intgemm.alphas.bin`), tinyModel({ seed: index + 1 }));
    await writeFile(join(place, `vocab.${from}${to}.spm`), tinyVocabulary());
    await sealModel(place, from, to);
  }
}
