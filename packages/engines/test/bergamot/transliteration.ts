/**
 * Converts a small trained model into a model for Bergamot, which uses the toolkit Marian. The original is a test model
 * of the toolkit CTranslate2; it writes Arabic names in Latin letters. `node transliteration.ts FOLDER MODELS` reads
 * `model.bin` (binary version 2) and the two vocabularies from FOLDER, and writes `MODELS/ar-en`. Then
 * `dragoman model seal ar en --folder MODELS` writes the manifest.
 *
 * Terms in this file:
 *
 * - The *source model* is the original model.
 * - A *symbol* is an entry of a vocabulary: a letter, or a special one such as the end symbol. In names of functions
 *   and variables, it is a word.
 * - Each symbol of a text has a vector of numbers. The *place* of a number is its index in the vector. At first, the
 *   vector is the *embedding* of the symbol, which the vocabulary determines; then each layer changes the vectors.
 * - The *encoder* reads the Arabic symbols, and the *decoder* writes the Latin ones. These are the two *sides*.
 * - The *position* of a symbol is its index in the text. Its *encoding*, a vector of sines and cosines, is added to the
 *   embedding.
 * - A *normalization* subtracts the mean of a vector from its numbers and divides them by their standard deviation.
 *   Then it multiplies each number by a scale and adds an offset.
 * - An *attention* adds information about other symbols to a vector. It computes a *query* for this symbol, and a *key*
 *   and a *value* for each symbol. The more similar a key is to the query, the more of its value is added. The numbers
 *   are divided into *heads*, and each head compares its part of the query with its part of the keys.
 * - A *feed-forward layer* computes *inner values* from the normalized vector by a linear function, replaces the
 *   negative ones by 0, and adds a linear function of them to the vector.
 *
 * The converted model computes the same function, up to rounding. The toolkits differ in four points. Therefore the
 * converted model has longer vectors (256 numbers instead of 32) and more layers:
 *
 * - The source model counts positions from 1, and Marian from 0. The first layer of each side therefore replaces the
 *   encoding of the position. Marian could also load encodings, but such a model aborts this build of the engine.
 * - The decoder starts with the embedding of a start symbol in the source model, and with zeros in Marian. The first
 *   layer replaces the zeros by the embedding of the start symbol.
 * - Before an attention within one side, the source model normalizes the vectors for queries, keys and values, but
 *   Marian only for queries. In the converted model, an additional layer before each layer of the source model writes a
 *   normalized copy to other places of the same vector. Keys and values are computed from this copy. Its numbers are
 *   small, so that they hardly change later normalizations.
 * - Marian appends an end symbol to the Arabic text; the source model does not. The vector of this symbol gets a mark,
 *   a large number at a place of its own. The mark makes every attention ignore the symbol.
 *
 * The 32 numbers of the source model always have the mean 0 in the converted model. Additional zeros in the vector then
 * change the result of a normalization only by a constant factor.
 */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Affine } from './affine.ts';
import { type Linear, type Norm, Source } from './ctranslate2.ts';
import { floats, type Item, modelFile, shortlistOf, vocabularyFile } from './marian.ts';

/** The length of the vectors in the source model, the heads of each attention, and the layers of each side. */
const [WIDTH, HEADS, LAYERS] = [32, 8, 6];
/** In the converted model: the length of the vectors, of each head, and the inner values of a feed-forward layer. */
const [WIDE, HEAD, WIDE_INNER] = [256, 32, 384];
/** The number of positions whose encoding is correct. All names are shorter. */
const POSITIONS = 96;

/** The first place of the normalized copy that a layer of the source model reads. */
const PART = (layer: number): number => WIDTH * (layer + 1);
/** The factor that makes the numbers of the normalized copies small. */
const SMALL = 2 ** -8;
/** The place of the end symbol's mark. The next place has the negative mark, so that the mean stays 0. */
const END = 224;
/**
 * The factor by which the mark is added to the keys. With it, the similarity of the end symbol's key to a query is less
 * than -50. Its share in the attention is the exponential function of this, which is practically zero.
 */
const NO_ATTENTION = -40;
/** The place in each head where queries are 1 and keys have the mark. The source model uses the places before it. */
const MASK = WIDTH / HEADS;

/**
 * Places in an embedding, before the first layer moves the numbers. EARLY is the first place of the 32 numbers of the
 * source model, EARLY_END that of the end symbol's mark. PAD is the place of a large number; the next place has its
 * negative. At all these places, the encodings that Marian adds are almost the same for all positions.
 *
 * The two large numbers determine the standard deviation, so that it is almost the same for all symbols. The
 * normalization then divides by a constant, and the first layer can compute linear functions of the embedding.
 */
const [EARLY, EARLY_END, PAD] = [221, 253, 254];
/** The large number at PAD, and the mark of the end symbol before and after the first layer. */
const [PAD_VALUE, EARLY_END_VALUE, END_VALUE] = [1000, 5, 100];
/**
 * Two places from which the first layer reads the position. Embeddings are 0 there, and Marian adds a sine of the
 * position. At RISING, it grows over all {@link POSITIONS}. At ZERO, its frequency is so low that it stays almost 0.
 * The difference between the two does not contain the mean that a normalization subtracts.
 */
const [RISING, ZERO] = [64, 127];
/** The number that Marian adds to the variance in a normalization. */
const EPSILON = 1e-6;

type Vector = Float64Array;

/** Converts a place in the heads of the source model (4 numbers each) to the place in Marian's heads (32 each). */
const inHead = (place: number): number => HEAD * Math.floor(place / MASK) + (place % MASK);

function centered(values: ArrayLike<number>): number[] {
  const all = Array.from(values);
  const mean = all.reduce((sum, value) => sum + value, 0) / all.length;
  return all.map((value) => value - mean);
}

/** Changes a linear function so that the mean of its outputs is always 0. */
function centeredLayer({ weights, bias }: Linear): Linear {
  const columns = weights[0]!.map((_, input) => centered(weights.map((row) => row[input]!)));
  return { weights: weights.map((_, output) => columns.map((each) => each[output]!)), bias: centered(bias) };
}

/**
 * Changes the linear function of keys or values so that it reads the small normalized copy. The copy lacks the scale
 * (`gamma`) and the offset (`beta`) of the normalization, so the new function includes both.
 */
function absorbing({ weights, bias }: Linear, { gamma, beta }: Norm): Linear {
  return {
    weights: weights.map((row) => row.map((weight, input) => (weight * gamma[input]!) / SMALL)),
    bias: weights.map((row, output) =>
      row.reduce((sum, weight, at) => sum + weight * beta[at]!, bias[output]!),
    ),
  };
}

/** The weights of the converted model. */
class Target {
  readonly items: Item[] = [];

  add(name: string, rows: number, columns: number, values: ArrayLike<number>): void {
    this.items.push(floats(name, [rows, columns], values));
  }

  /**
   * Adds a normalization of the 32 numbers of the source model. It sets the numbers at all other places to 0.
   *
   * @param kept one more place whose number is not set to 0
   */
  norm(name: string, suffix: string, { gamma, beta }: Norm, kept?: number): void {
    const [scale, bias] = [new Float64Array(WIDE), new Float64Array(WIDE)];
    gamma.forEach((value, at) => {
      scale[at] = value * Math.sqrt(WIDTH / WIDE);
    });
    bias.set(beta);
    if (kept !== undefined) scale[kept] = 1;
    this.add(`${name}_ln_scale${suffix}`, 1, WIDE, scale);
    this.add(`${name}_ln_bias${suffix}`, 1, WIDE, bias);
  }

  affine(name: string, part: string, { weights, bias, rows, columns }: Affine): void {
    this.add(`${name}_W${part}`, rows, columns, weights);
    this.add(`${name}_b${part}`, 1, columns, bias);
  }

  /**
   * Adds an attention and the normalization before it. Without `parts`, the attention does not change the vectors.
   *
   * @param parts the linear functions of the queries, keys, values and outputs; all weights of missing ones are 0
   */
  attention(name: string, norm: Norm, parts: Partial<Record<'q' | 'k' | 'v' | 'o', Affine>> = {}): void {
    this.norm(`${name}_Wo`, '_pre', norm);
    for (const part of ['q', 'k', 'v', 'o'] as const) {
      this.affine(name, part, parts[part] ?? new Affine(WIDE, WIDE));
    }
  }
}

/** The scale 1 and the offset 0. */
const PLAIN: Norm = { gamma: new Array(WIDTH).fill(1), beta: new Array(WIDTH).fill(0) };

/**
 * Converts the linear functions of an attention.
 *
 * @param from the first place of the numbers from which keys and values are computed
 */
function attention(query: Linear, key: Linear, value: Linear, output: Linear, from: number) {
  const q = Affine.of(WIDE, WIDE, query, 0, inHead, Math.sqrt(HEAD / MASK));
  const k = Affine.of(WIDE, WIDE, key, from, inHead);
  for (let head = 0; head < HEADS; head++) {
    q.bias[HEAD * head + MASK] = 1;
    k.add(END, HEAD * head + MASK, NO_ATTENTION);
  }
  const o = new Affine(WIDE, WIDE);
  const { weights, bias } = centeredLayer(output);
  weights.forEach((row, to) => {
    row.forEach((weight, input) => {
      o.add(inHead(input), to, weight);
    });
  });
  o.bias.set(bias);
  return { q, k, v: Affine.of(WIDE, WIDE, value, from, inHead), o };
}

/** Adds the feed-forward layer that writes the small normalized copy for a layer of the source model. */
function addCopy(target: Target, name: string, layer: number): void {
  const [first, second] = [new Affine(WIDE, WIDE_INNER), new Affine(WIDE_INNER, WIDE)];
  for (let at = 0; at < WIDTH; at++) {
    // Two inner values for each number, x and -x, because a feed-forward layer replaces negative inner values by 0.
    for (const [inner, sign] of [[2 * at, 1] as const, [2 * at + 1, -1] as const]) {
      first.add(at, inner, sign);
      second.add(inner, PART(layer) + at, sign * SMALL);
    }
  }
  target.norm(`${name}_ffn`, '_pre', PLAIN);
  target.affine(name, '1', first);
  target.affine(name, '2', second);
}

function addFeedForward(target: Target, name: string, source: Source, from: string): void {
  target.norm(`${name}_ffn`, '_pre', source.norm(`${from}/layer_norm`));
  target.affine(name, '1', Affine.of(WIDE, WIDE_INNER, source.linear(`${from}/linear_0`)));
  target.affine(name, '2', Affine.of(WIDE_INNER, WIDE, centeredLayer(source.linear(`${from}/linear_1`))));
}

/**
 * Adds two layers for each layer of the source model, and the last normalization. The first of the two layers writes
 * the normalized copy; the second computes what the layer of the source model computes.
 */
function addLayers(target: Target, source: Source, side: 'encoder' | 'decoder'): void {
  for (let layer = 0; layer < LAYERS; layer++) {
    const from = `${side}/layer_${layer}`;
    const [copy, name] = [0, 1].map((which) => `${side}_l${2 + 2 * layer + which}`) as [string, string];
    target.attention(`${copy}_self`, PLAIN);
    if (side === 'decoder') target.attention(`${copy}_context`, PLAIN);
    addCopy(target, `${copy}_ffn`, layer);
    const norm = source.norm(`${from}/self_attention/layer_norm`);
    const own = `${from}/self_attention/linear`;
    const [query, key, value] = source.linears(`${own}_0`, 3) as [Linear, Linear, Linear];
    const inputs = [absorbing(key, norm), absorbing(value, norm)] as const;
    target.attention(
      `${name}_self`,
      norm,
      attention(query, ...inputs, source.linear(`${own}_1`), PART(layer)),
    );
    if (side === 'decoder') {
      const cross = `${from}/attention/linear`;
      const [keys, values] = source.linears(`${cross}_1`, 2) as [Linear, Linear];
      target.attention(
        `${name}_context`,
        source.norm(`${from}/attention/layer_norm`),
        attention(source.linear(`${cross}_0`), keys, values, source.linear(`${cross}_2`), 0),
      );
    }
    addFeedForward(target, `${name}_ffn`, source, `${from}/ffn`);
  }
  target.norm(`${side}_top`, '', source.norm(`${side}/layer_norm`), END);
}

/** Returns the encoding of a position in vectors of this length. Both toolkits use this formula. */
function encodingOf(position: number, width: number): number[] {
  const half = width / 2;
  const angles = Array.from(
    { length: half },
    (_, at) => position * Math.exp((-at * Math.log(10_000)) / (half - 1)),
  );
  return [...angles.map(Math.sin), ...angles.map(Math.cos)];
}

/** Sets the number at a place, and its negative at the next place. */
function setPair(vector: number[] | Vector, place: number, value: number): void {
  vector[place] = value;
  vector[place + 1] = -value;
}

/**
 * Returns the embedding of a symbol in the converted model, without the encoding of its position.
 *
 * @param values the embedding in the source model
 * @param end the mark of the end symbol; 0 for other symbols
 */
function earlyWord(values: readonly number[], end = 0): number[] {
  const word: number[] = new Array(WIDE).fill(0);
  centered(values).forEach((value, at) => {
    word[EARLY + at] = value * Math.sqrt(WIDTH);
  });
  word[EARLY_END] = end;
  return padded(word);
}

/** Sets the two large numbers of an embedding so that the sum of the squares is the same for all symbols. */
function padded(word: readonly number[]): number[] {
  const out = word.with(PAD, 0).with(PAD + 1, 0);
  const square = out.reduce((sum, value) => sum + value ** 2, 0);
  setPair(out, PAD, Math.sqrt(PAD_VALUE ** 2 - square / 2));
  return out;
}

/**
 * Returns the vector that a symbol must have after the first layer.
 *
 * @param word the result of {@link earlyWord}
 * @param position its position as Marian counts it, from 0
 */
function lateWord(word: readonly number[], position: number): number[] {
  const late: number[] = new Array(WIDE).fill(0);
  centered(encodingOf(position + 1, WIDTH)).forEach((value, at) => {
    late[at] = value + word[EARLY + at]!;
  });
  setPair(late, END, (word[EARLY_END]! * END_VALUE) / EARLY_END_VALUE);
  return late;
}

const plus = (one: ArrayLike<number>, two: ArrayLike<number>): number[] =>
  Array.from(one, (value, at) => value + two[at]!);

/**
 * The feed-forward layer that moves the numbers of an embedding to the places that the other layers read. Its input is
 * {@link earlyWord} with Marian's encoding of the position, and its output is {@link lateWord}.
 */
class FirstLayer {
  readonly first = new Affine(WIDE, WIDE_INNER);
  readonly second = new Affine(WIDE_INNER, WIDE);
  /** The number of inner values in use. */
  #used = 0;
  /** The standard deviation of an embedding, which is almost the same for all symbols. */
  readonly #deviation = PAD_VALUE * Math.sqrt(2 / WIDE);

  /**
   * @param words the embeddings of all symbols except the end symbol; the layer is exact for their mean
   * @param from the position of the first symbol: 0 in the encoder, 1 in the decoder, which starts without a symbol
   * @param start the embedding of the start symbol, in the decoder
   */
  constructor(words: readonly number[][], from: number, start?: readonly number[]) {
    for (let place = 0; place < WIDE; place++) if (place !== PAD && place !== PAD + 1) this.#move(place);
    this.#inner(PAD, 1, 0, [[PAD, -this.#deviation]]);
    this.#inner(PAD + 1, -1, 0, [[PAD + 1, this.#deviation]]);
    this.#addPositions(padded(words.reduce(plus).map((sum) => sum / words.length)), from);
    if (start === undefined) return;
    // At the start of the decoder, the input is only the encoding of position 0: zeros and ones, which the
    // normalization turns into -1 and 1. This inner value is then 4 - 1 = 3, but 0 for every symbol. Therefore it adds
    // the start symbol only there.
    const inner = this.#inner(PAD, -1, 4, []);
    this.#missing(encodingOf(0, WIDE), lateWord(start, 0)).forEach((value, at) => {
      this.second.add(inner, at, value / 3);
    });
  }

  /** Sets the number at a place to 0, and adds it at its new place if it has one. */
  #move(place: number): void {
    const outputs: [number, number][] = [[place, -this.#deviation]];
    if (place >= EARLY && place < EARLY + WIDTH) outputs.push([place - EARLY, this.#deviation]);
    if (place === EARLY_END) {
      const factor = (this.#deviation * END_VALUE) / EARLY_END_VALUE;
      outputs.push([END, factor], [END + 1, -factor]);
    }
    // A negative inner value would be replaced by 0. This offset makes the inner value positive for all symbols.
    const offset = 1 / 8;
    this.#inner(place, 1, offset, outputs);
    for (const [to, factor] of outputs) this.second.bias[to]! -= factor * offset;
  }

  /**
   * Adds an inner value: the normalized input at `place`, times `sign`, plus `offset`.
   *
   * @param outputs the places to which the inner value is added, each with its factor
   * @returns the index of the inner value
   */
  #inner(place: number, sign: number, offset: number, outputs: readonly [number, number][]): number {
    const inner = this.#used++;
    this.first.add(place, inner, sign);
    this.first.bias[inner] = offset;
    for (const [to, factor] of outputs) this.second.add(inner, to, factor);
    return inner;
  }

  /**
   * Replaces Marian's encoding of the position by that of the source model. For one embedding, the mean of all symbols,
   * this computes what must be added at each position. The layer adds it as a piecewise linear function of the number
   * from which it reads the position: each inner value changes the slope at one position.
   *
   * @param word the mean embedding
   */
  #addPositions(word: readonly number[], from: number): void {
    const table = Array.from({ length: POSITIONS }, (_, at) => {
      const early = plus(word, encodingOf(from + at, WIDE));
      const normal = normalized(early);
      const read = normal[RISING]! - normal[ZERO]!;
      return { read, output: this.#missing(early, lateWord(word, from + at)) };
    });
    table[0]!.output.forEach((value, at) => {
      this.second.bias[at]! += value;
    });
    let slopes: number[] = new Array(WIDE).fill(0);
    for (let at = 0; at + 1 < POSITIONS; at++) {
      const [here, next] = [table[at]!, table[at + 1]!];
      const inner = this.#inner(RISING, 1, -here.read, []);
      this.first.add(ZERO, inner, -1);
      const now = here.output.map((value, to) => (next.output[to]! - value) / (next.read - here.read));
      now.forEach((slope, to) => {
        this.second.add(inner, to, slope - slopes[to]!);
      });
      slopes = now;
    }
  }

  /** Returns what the layer must still add to its output for the input `early`, so that the output is `late`. */
  #missing(early: readonly number[], late: readonly number[]): number[] {
    const inner = this.first.apply(normalized(early)).map((value) => Math.max(0, value));
    const output = plus(early, this.second.apply(inner));
    return late.map((value, at) => value - output[at]!);
  }
}

function normalized(values: readonly number[]): number[] {
  const all = centered(values);
  const deviation = Math.sqrt(all.reduce((sum, value) => sum + value ** 2, 0) / all.length + EPSILON);
  return all.map((value) => value / deviation);
}

/**
 * Adds the embeddings and the first layer of a side.
 *
 * @param words the embeddings; the first is that of the end symbol
 * @param start the embedding of the start symbol, in the decoder
 */
function addWords(target: Target, side: string, words: readonly number[][], start?: readonly number[]): void {
  // Marian multiplies the embeddings by the square root of their length.
  target.add(
    `${side}_Wemb`,
    words.length,
    WIDE,
    words.flat().map((value) => value / Math.sqrt(WIDE)),
  );
  const { first, second } = new FirstLayer(words.slice(1), start === undefined ? 0 : 1, start);
  target.attention(`${side}_l1_self`, PLAIN);
  if (start !== undefined) target.attention(`${side}_l1_context`, PLAIN);
  target.add(`${side}_l1_ffn_ffn_ln_scale_pre`, 1, WIDE, new Array(WIDE).fill(1));
  target.add(`${side}_l1_ffn_ffn_ln_bias_pre`, 1, WIDE, new Array(WIDE).fill(0));
  target.affine(`${side}_l1_ffn`, '1', first);
  target.affine(`${side}_l1_ffn`, '2', second);
}

/** Adds the embeddings and the first layers of both sides, and the output layer, which rates each Latin letter. */
function addEnds(target: Target, source: Source, pieces: number, letters: number): void {
  const symbols = source.rows('encoder/embeddings/weight').map((row) => earlyWord(row));
  // A vocabulary of the source model starts with <blank>, <s> (start) and </s> (end), and ends with <unk> (unknown
  // symbol). A vocabulary of Marian starts with </s> and <unk>.
  const known = symbols.slice(3, pieces + 3);
  const end = earlyWord(new Array(WIDTH).fill(0), EARLY_END_VALUE);
  // Marian's vocabulary has each Arabic symbol twice: with a space before it, and without.
  addWords(target, 'encoder', [end, symbols[pieces + 3]!, ...known, ...known]);

  const outputs = [2, letters + 3, ...Array.from({ length: letters }, (_, at) => at + 3)];
  const words = source.rows('decoder/embeddings/weight').map((row) => earlyWord(row));
  const inputs = outputs.map((row) => words[row]!);
  addWords(target, 'decoder', inputs, words[1]!);
  const { weights, bias } = source.linear('decoder/projection');
  const wide = outputs.flatMap((row) => [...weights[row]!, ...new Array(WIDE - WIDTH).fill(0)]);
  target.add('decoder_ff_logit_out_Wt', outputs.length, WIDE, wide);
  const biases = outputs.map((row) => bias[row]!);
  target.add('decoder_ff_logit_out_b', 1, outputs.length, biases);
}

/**
 * Writes the model and its two vocabularies into `models/ar-en`, with the names that `sealModel` expects.
 *
 * @param names see {@link shortlistOf}; without them, the model gets no shortlist
 */
export async function convertTransliteration(
  folder: string,
  models: string,
  names?: readonly (readonly [string, string])[],
): Promise<void> {
  const source = new Source(await readFile(join(folder, 'model.bin')));
  const lettersOf = async (name: string): Promise<string[]> =>
    (await readFile(join(folder, name), 'utf8')).split('\n').slice(3).filter(Boolean);
  const pieces = await lettersOf('source_vocabulary.txt');
  const letters = await lettersOf('target_vocabulary.txt');
  const target = new Target();
  addEnds(target, source, pieces.length, letters.length);
  addLayers(target, source, 'encoder');
  addLayers(target, source, 'decoder');
  const sizes = [2 * pieces.length + 2, letters.length + 2];
  const model = modelFile(target.items, {
    'enc-depth': 2 * LAYERS + 1,
    'dec-depth': 2 * LAYERS + 1,
    'dim-emb': WIDE,
    'dim-vocabs': `[${sizes.join()}]`,
    'tied-embeddings-all': false,
    'transformer-decoder-autoreg': 'self-attention',
    'transformer-dim-ffn': WIDE_INNER,
    'transformer-heads': HEADS,
    'transformer-preprocess': 'n',
    'transformer-postprocess': 'a',
    'transformer-postprocess-top': 'n',
  });
  const place = join(models, 'ar-en');
  await mkdir(place, { recursive: true });
  const scored = (all: readonly string[]) => all.map((piece): [string, number] => [piece, -1]);
  const inputs = [...pieces.map((piece) => `▁${piece}`), ...pieces];
  await writeFile(join(place, 'model.aren.float32.bin'), model);
  await writeFile(join(place, 'srcvocab.aren.spm'), vocabularyFile(scored(inputs)));
  await writeFile(join(place, 'trgvocab.aren.spm'), vocabularyFile(scored(letters)));
  if (names === undefined) return;
  await writeFile(join(place, 'lex.50.50.aren.s2t.bin'), shortlistOf(names, pieces, letters));
}

if (import.meta.main) {
  const [folder, models] = process.argv.slice(2);
  if (folder === undefined || models === undefined) {
    throw new Error('Usage: node transliteration.ts FOLDER MODELS');
  }
  await convertTransliteration(folder, models);
}
