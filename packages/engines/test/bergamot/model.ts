/**
 * Writes a model for tests. It has the architecture of the "tiny" Firefox models: a transformer encoder of
 * six layers, two decoder layers with SSRU, tied embeddings, and 8-bit matrices with precomputed scales. It
 * is narrower and has random weights, so it loads and computes like a real model, but its translations are
 * meaningless.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sealModel } from '../../src/bergamot/models.ts';

export interface TinySize {
  /** Width of the embeddings; real models have 256. */
  width?: number;
  /** Width of the feed-forward layers; real models have 1,536. */
  inner?: number;
  /** Size of the vocabulary, at least 256; real models have 32,000. */
  vocabulary?: number;
  seed?: number;
}

const FLOAT32 = 0x404;
const INT8 = 0x101;
/** Marian's type number for `int8` matrices in the memory layout of the library intgemm. */
const INTGEMM8 = 0x4101;

interface Item {
  name: string;
  type: number;
  shape: number[];
  bytes: Buffer;
}

export function tinyModel({ width = 64, inner = 128, vocabulary = 256, seed = 1 }: TinySize = {}): Buffer {
  const random = generator(seed);
  const items: Item[] = [];
  const floats = (name: string, shape: number[], value: () => number): void => {
    const count = shape.reduce((product, each) => product * each, 1);
    items.push({
      name,
      type: FLOAT32,
      shape,
      bytes: Buffer.from(Float32Array.from({ length: count }, value).buffer),
    });
  };
  const zero = (): number => 0;
  const scale = (name: string): void => floats(`${name}_QuantMultA`, [1, 1], () => 127 / 4);
  const matrix = (name: string, rows: number, columns: number): void => {
    const bytes = Buffer.alloc(rows * columns + 4);
    for (let at = 0; at < rows * columns; at++) bytes.writeInt8(Math.trunc((random() * 2 - 1) * 127), at);
    // With this scale, the weights are between -0.3 and 0.3.
    bytes.writeFloatLE(127 / 0.3, rows * columns);
    items.push({ name, type: INTGEMM8, shape: [rows, columns], bytes });
    scale(name);
  };
  const norm = (name: string): void => {
    floats(`${name}_ln_scale`, [1, width], () => 1);
    floats(`${name}_ln_bias`, [1, width], zero);
  };
  const attention = (name: string): void => {
    for (const part of ['q', 'k', 'v', 'o']) {
      matrix(`${name}_W${part}`, width, width);
      floats(`${name}_b${part}`, [1, width], zero);
    }
    norm(`${name}_Wo`);
  };
  const feedForward = (name: string): void => {
    matrix(`${name}_W1`, width, inner);
    floats(`${name}_b1`, [1, inner], zero);
    matrix(`${name}_W2`, inner, width);
    floats(`${name}_b2`, [1, width], zero);
    norm(`${name}_ffn`);
  };

  matrix('Wemb', vocabulary, width);
  floats('none_QuantMultA', [1, 1], () => 127 / 4);
  floats('decoder_ff_logit_out_b', [1, vocabulary], () => random() - 0.5);
  for (let layer = 1; layer <= 6; layer++) {
    attention(`encoder_l${layer}_self`);
    feedForward(`encoder_l${layer}_ffn`);
  }
  for (let layer = 1; layer <= 2; layer++) {
    matrix(`decoder_l${layer}_rnn_W`, width, width);
    matrix(`decoder_l${layer}_rnn_Wf`, width, width);
    floats(`decoder_l${layer}_rnn_bf`, [1, width], zero);
    norm(`decoder_l${layer}_rnn_ffn`);
    attention(`decoder_l${layer}_context`);
    feedForward(`decoder_l${layer}_ffn`);
  }
  const settings = Buffer.from(`${settingsOf(width, inner, vocabulary)}\0`);
  items.push({ name: 'special:model.yml', type: INT8, shape: [settings.length], bytes: settings });
  return file(items);
}

const settingsOf = (
  width: number,
  inner: number,
  vocabulary: number,
): string => `bert-train-type-embeddings: true
bert-type-vocab-size: 2
dec-cell: ssru
dec-cell-base-depth: 2
dec-cell-high-depth: 1
dec-depth: 2
dim-emb: ${width}
dim-rnn: 1024
dim-vocabs:
  - ${vocabulary}
  - ${vocabulary}
enc-cell: gru
enc-cell-depth: 1
enc-depth: 6
enc-type: bidirectional
factors-combine: sum
factors-dim-emb: 0
input-types:
  []
layer-normalization: false
lemma-dim-emb: 0
output-omit-bias: false
right-left: false
skip: false
tied-embeddings: false
tied-embeddings-all: true
tied-embeddings-src: false
transformer-aan-activation: swish
transformer-aan-depth: 2
transformer-aan-nogate: false
transformer-decoder-autoreg: rnn
transformer-decoder-dim-ffn: 0
transformer-decoder-ffn-depth: 0
transformer-depth-scaling: false
transformer-dim-aan: 2048
transformer-dim-ffn: ${inner}
transformer-ffn-activation: relu
transformer-ffn-depth: 2
transformer-guided-alignment-layer: last
transformer-heads: 8
transformer-no-projection: false
transformer-no-bias: false
transformer-no-affine: false
transformer-pool: false
transformer-postprocess: dan
transformer-postprocess-emb: d
transformer-postprocess-top: ""
transformer-preprocess: ""
transformer-rnn-projection: false
transformer-tied-layers:
  []
transformer-train-position-embeddings: false
type: transformer
ulr: false
ulr-dim-emb: 0
ulr-trainable-transformation: false
version: v1.10.26
`;

/** Writes Marian's binary format: headers, names, shapes, then the data at multiples of 256 bytes. */
function file(items: readonly Item[]): Buffer {
  const padded = items.map(({ bytes }) =>
    Buffer.concat([bytes, Buffer.alloc((256 - (bytes.length % 256)) % 256)]),
  );
  const longs = [1, items.length];
  items.forEach(({ name, type, shape }, index) => {
    longs.push(name.length + 1, type, shape.length, padded[index]!.length);
  });
  const head = Buffer.concat([
    Buffer.from(BigUint64Array.from(longs, BigInt).buffer),
    Buffer.from(items.map(({ name }) => `${name}\0`).join('')),
    ...items.map(({ shape }) => Buffer.from(Int32Array.from(shape).buffer)),
  ]);
  const start = (Math.floor((head.length + 8) / 256) + 1) * 256;
  const gap = Buffer.alloc(start - head.length);
  gap.writeBigUInt64LE(BigInt(gap.length - 8));
  return Buffer.concat([head, gap, ...padded]);
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
  const all: [string, number, number][] = [
    ['</s>', 0, 3],
    ['<unk>', 0, 2],
    ...pieces.map((each, index): [string, number, number] => [each, -1 - index / 100, 1]),
  ];
  // With single letters as its vocabulary, the model writes translations with about as many characters as
  // real ones.
  for (let point = 0x100; all.length < size; point++) {
    if (/\p{L}/u.test(String.fromCodePoint(point))) all.push([String.fromCodePoint(point), -20, 1]);
  }
  const body = all.map(([piece, score, kind]) => {
    const text = Buffer.from(piece);
    const number = Buffer.alloc(4);
    number.writeFloatLE(score);
    return bytesField(
      1,
      Buffer.concat([bytesField(1, text), Buffer.from([0x15]), number, intField(3, kind)]),
    );
  });
  const trainer = [
    intField(3, 1),
    intField(4, size),
    intField(40, 1),
    intField(41, -1),
    intField(42, 0),
    intField(43, -1),
  ];
  const normaliser = [bytesField(1, Buffer.from('identity')), intField(3, 1), intField(4, 1), intField(5, 1)];
  return Buffer.concat([
    ...body,
    bytesField(2, Buffer.concat(trainer)),
    bytesField(3, Buffer.concat(normaliser)),
  ]);
}

function varint(value: number): Buffer {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes: number[] = [];
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest > 0n ? low | 0x80 : low);
  } while (rest > 0n);
  return Buffer.from(bytes);
}

const bytesField = (number: number, bytes: Buffer): Buffer =>
  Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);

const intField = (number: number, value: number): Buffer =>
  Buffer.concat([varint(number * 8), varint(value)]);

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
