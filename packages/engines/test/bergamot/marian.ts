/** Writes files in the formats of Marian models: binary weights with settings, and SentencePiece vocabularies. */

export const FLOAT32 = 0x404;
const INT8 = 0x101;

export interface Item {
  name: string;
  /** Marian's type number of the values. */
  type: number;
  shape: number[];
  bytes: Buffer;
}

export const floats = (name: string, shape: number[], values: ArrayLike<number>): Item => ({
  name,
  type: FLOAT32,
  shape,
  bytes: Buffer.from(Float32Array.from(values).buffer),
});

/** Marian's options that these models have in common. Marian does not load a model that lacks one. */
const SETTINGS = {
  type: 'transformer',
  version: 'v1.10.26',
  'bert-train-type-embeddings': true,
  'bert-type-vocab-size': 2,
  'dec-cell': 'ssru',
  'dec-cell-base-depth': 2,
  'dec-cell-high-depth': 1,
  'dim-rnn': 1024,
  'enc-cell': 'gru',
  'enc-cell-depth': 1,
  'enc-depth': 6,
  'enc-type': 'bidirectional',
  'factors-combine': 'sum',
  'factors-dim-emb': 0,
  'input-types': '[]',
  'layer-normalization': false,
  'lemma-dim-emb': 0,
  'output-omit-bias': false,
  'right-left': false,
  skip: false,
  'tied-embeddings': false,
  'tied-embeddings-all': true,
  'tied-embeddings-src': false,
  'transformer-aan-activation': 'swish',
  'transformer-aan-depth': 2,
  'transformer-aan-nogate': false,
  'transformer-decoder-autoreg': 'rnn',
  'transformer-decoder-dim-ffn': 0,
  'transformer-decoder-ffn-depth': 0,
  'transformer-depth-scaling': false,
  'transformer-dim-aan': 2048,
  'transformer-ffn-activation': 'relu',
  'transformer-ffn-depth': 2,
  'transformer-guided-alignment-layer': 'last',
  'transformer-heads': 8,
  'transformer-no-projection': false,
  'transformer-no-bias': false,
  'transformer-no-affine': false,
  'transformer-pool': false,
  'transformer-postprocess': 'dan',
  'transformer-postprocess-emb': 'd',
  'transformer-postprocess-top': '""',
  'transformer-preprocess': '""',
  'transformer-rnn-projection': false,
  'transformer-tied-layers': '[]',
  'transformer-train-position-embeddings': false,
  ulr: false,
  'ulr-dim-emb': 0,
  'ulr-trainable-transformation': false,
};

/**
 * Returns a model file: headers, names, shapes, then the data at multiples of 256 bytes.
 * @param settings options that differ from {@link SETTINGS}, as YAML values
 */
export function modelFile(weights: readonly Item[], settings: Record<string, unknown>): Buffer {
  const lines = Object.entries({ ...SETTINGS, ...settings }).map(([name, value]) => `${name}: ${value}\n`);
  const bytes = Buffer.from(`${lines.join('')}\0`);
  const items = [...weights, { name: 'special:model.yml', type: INT8, shape: [bytes.length], bytes }];
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

/**
 * Returns a SentencePiece vocabulary. Its first ids are `</s>` and `<unk>`; the pieces follow.
 * @param pieces texts with their scores (log probabilities); a text starts with `▁` if a space precedes it
 */
export function vocabularyFile(pieces: readonly (readonly [string, number])[]): Buffer {
  const all: (readonly [string, number, number])[] = [
    ['</s>', 0, 3],
    ['<unk>', 0, 2],
    ...pieces.map(([piece, score]) => [piece, score, 1] as const),
  ];
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
    intField(4, all.length),
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

/** The number at the start of a shortlist, by which Marian knows its binary form. */
const SHORTLIST_MAGIC = 0xf11a48d5013417f5n;

/**
 * Returns a shortlist file: for each id of the source vocabulary, the ids of the target vocabulary that the model may write
 * when the text has this source id. Marian checks the ids only if it is asked to, and Bergamot does not ask.
 * @param first the first ids of the target vocabulary, which the model may always write
 */
export function shortlistFile(first: number, lists: readonly (readonly number[])[]): Buffer {
  const ends = [0];
  for (const list of lists) ends.push(ends.at(-1)! + list.length);
  const best = Math.max(...lists.map((list) => list.length));
  const longs = [SHORTLIST_MAGIC, 0n, ...[first, best, ends.length, ends.at(-1)!, ...ends].map(BigInt)];
  return Buffer.concat([
    Buffer.from(BigUint64Array.from(longs).buffer),
    Buffer.from(Uint32Array.from(lists.flatMap((list) => [...list].sort((a, b) => a - b))).buffer),
  ]);
}

/**
 * Returns a shortlist: each Arabic symbol allows the Latin letters of all names that contain it.
 *
 * @param names Arabic names, each with the letters that the model writes for it
 */
export function shortlistOf(
  names: readonly (readonly [string, string])[],
  pieces: readonly string[],
  letters: readonly string[],
): Buffer {
  const own = pieces.map((piece) => {
    const written = new Set(names.flatMap(([name, latin]) => (name.includes(piece) ? [...latin] : [])));
    return letters.flatMap((letter, at) => (written.has(letter) ? [at + 2] : []));
  });
  // The end symbol and the unknown symbol are always allowed.
  return shortlistFile(2, [[], [], ...own, ...own]);
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
