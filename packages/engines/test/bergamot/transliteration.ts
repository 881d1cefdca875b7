/**
 * Converts a small trained model to Marian's format: the test model of CTranslate2 that writes Arabic names in Latin
 * letters. `node transliteration.ts FOLDER MODELS` reads `model.bin` (binary version 2) and the two vocabularies from
 * FOLDER, and writes `MODELS/ar-en`. Then `dragoman model seal ar en --folder MODELS` writes the manifest.
 *
 * The converted model computes the same function, up to rounding. The toolkits differ in four points. Therefore the
 * converted model is wider (256 values instead of 32) and has more layers:
 *
 * - The source model counts positions from 1, and Marian from 0. Marian's trained positions abort this build. The first
 *   layer of each side therefore replaces the encoding of the position.
 * - Marian starts the decoder with an embedding of zeros. The first layer replaces it by the start symbol.
 * - Marian normalizes only the queries of a self-attention, not its keys and values. A layer before each layer of the
 *   source model writes the normalized values into a part of their own, from which keys and values are read. They are
 *   small there, so that they hardly change later normalizations.
 * - Marian appends an end symbol to the source text. It gets a mark that makes every attention to it zero.
 *
 * A normalization subtracts the mean and divides by the standard deviation. The 32 values of the source model always
 * have the mean zero here, so that additional zeros change only a constant factor.
 */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Linear, type Norm, Source } from './ctranslate2.ts';
import { floats, type Item, modelFile, vocabularyFile } from './marian.ts';

/** Width, heads and layers of the source model. */
const [WIDTH, HEADS, LAYERS] = [32, 8, 6];
/** Width of Marian's model, of each of its heads, and of its feed-forward layers. */
const [WIDE, HEAD, WIDE_INNER] = [256, 32, 384];
/** The number of positions with the right encoding. Names are shorter. */
const POSITIONS = 96;

/** The place of a layer's normalized input, and the factor that makes it small. */
const PART = (layer: number): number => WIDTH * (layer + 1);
const SMALL = 2 ** -8;
/** The place of the mark of the end symbol. The next place has its negative copy, so that the mean stays zero. */
const END = 224;
/** The weight of this mark in the keys. It makes the exponent in the softmax less than -50, so the attention is zero. */
const NO_ATTENTION = -40;
/** The place in each head where a query is 1. The source model uses the places before it. */
const MASK = WIDTH / HEADS;

/**
 * Places of an embedding before the first layer, where Marian's encodings are almost the same at all positions: the
 * values of the source model, the mark of the end symbol, and two opposite numbers. These numbers are so large that all
 * words have almost the same standard deviation. The first layer can therefore compute linear functions.
 */
const [EARLY, EARLY_END, PAD] = [221, 253, 254];
const [PAD_VALUE, EARLY_END_VALUE, END_VALUE] = [1000, 5, 100];
/** Places with a sine of low frequency, which grows with the position, and with one that is almost zero. */
const [RISING, ZERO] = [64, 127];
const EPSILON = 1e-6;

type Vector = Float64Array;

/** A linear layer of Marian's model, with the value 0 where nothing is set. */
class Affine {
  readonly rows: number;
  readonly columns: number;
  readonly weights: Vector;
  readonly bias: Vector;

  constructor(rows: number, columns: number) {
    [this.rows, this.columns] = [rows, columns];
    [this.weights, this.bias] = [new Float64Array(rows * columns), new Float64Array(columns)];
  }

  add(row: number, column: number, value: number): void {
    this.weights[row * this.columns + column]! += value;
  }

  /** Returns the outputs for the given inputs. */
  apply(input: readonly number[]): number[] {
    const output = Array.from(this.bias);
    input.forEach((value, row) => {
      for (let column = 0; column < this.columns; column++) {
        output[column]! += value * this.weights[row * this.columns + column]!;
      }
    });
    return output;
  }

  /** Copies a layer: its inputs from row `from`, its outputs to the columns `to`, all times `factor`. */
  static of(rows: number, columns: number, layer: Linear, from = 0, to = same, factor = 1): Affine {
    const affine = new Affine(rows, columns);
    layer.weights.forEach((weights, output) => {
      weights.forEach((weight, input) => {
        affine.add(from + input, to(output), weight * factor);
      });
      affine.bias[to(output)]! += layer.bias[output]! * factor;
    });
    return affine;
  }
}

const same = (place: number): number => place;
/** The place in Marian's heads of a value in the heads of the source model. */
const inHead = (place: number): number => HEAD * Math.floor(place / MASK) + (place % MASK);

/** Subtracts the mean. */
function centered(values: ArrayLike<number>): number[] {
  const all = Array.from(values);
  const mean = all.reduce((sum, value) => sum + value, 0) / all.length;
  return all.map((value) => value - mean);
}

/** Changes a layer so that the mean of its outputs is zero. */
function centeredLayer({ weights, bias }: Linear): Linear {
  const columns = weights[0]!.map((_, input) => centered(weights.map((row) => row[input]!)));
  return { weights: weights.map((_, output) => columns.map((each) => each[output]!)), bias: centered(bias) };
}

/** Changes a layer so that it reads the small normalized values, which have no scale and offset yet. */
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

  /** A normalization of the 32 values of the source model. @param kept a place whose value is also kept */
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

  /** An attention with its normalization. Parts that are not given are zero, so that it adds nothing. */
  attention(name: string, norm: Norm, parts: Partial<Record<'q' | 'k' | 'v' | 'o', Affine>> = {}): void {
    this.norm(`${name}_Wo`, '_pre', norm);
    for (const part of ['q', 'k', 'v', 'o'] as const) {
      this.affine(name, part, parts[part] ?? new Affine(WIDE, WIDE));
    }
  }
}

const PLAIN: Norm = { gamma: new Array(WIDTH).fill(1), beta: new Array(WIDTH).fill(0) };

/** Returns an attention of the source model. @param from the first row of the keys' and values' inputs */
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

/** Adds the feed-forward layer that writes the normalized values into their part. */
function addCopy(target: Target, name: string, layer: number): void {
  const [first, second] = [new Affine(WIDE, WIDE_INNER), new Affine(WIDE_INNER, WIDE)];
  for (let at = 0; at < WIDTH; at++) {
    // Two values, because the activation function makes negative ones zero.
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

/** Adds the two layers of Marian's model for each layer of the source model, and the last normalization. */
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

/** Returns the encoding of a position, counted from 0, as Marian and the source model compute it. */
function encodingOf(position: number, width: number): number[] {
  const half = width / 2;
  const angles = Array.from(
    { length: half },
    (_, at) => position * Math.exp((-at * Math.log(10_000)) / (half - 1)),
  );
  return [...angles.map(Math.sin), ...angles.map(Math.cos)];
}

/** Sets a value and its negative copy. */
function setPair(vector: number[] | Vector, place: number, value: number): void {
  vector[place] = value;
  vector[place + 1] = -value;
}

/** Returns a word before the first layer, without its position. */
function earlyWord(values: readonly number[], end = 0): number[] {
  const word: number[] = new Array(WIDE).fill(0);
  centered(values).forEach((value, at) => {
    word[EARLY + at] = value * Math.sqrt(WIDTH);
  });
  word[EARLY_END] = end;
  return padded(word);
}

/** Sets the two large numbers, so that the sum of the squares is the same for all words. */
function padded(word: readonly number[]): number[] {
  const out = word.with(PAD, 0).with(PAD + 1, 0);
  const square = out.reduce((sum, value) => sum + value ** 2, 0);
  setPair(out, PAD, Math.sqrt(PAD_VALUE ** 2 - square / 2));
  return out;
}

/** Returns a word after the first layer. @param position from 0, in the count of Marian */
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

/** The feed-forward layer that turns {@link earlyWord} with Marian's position into {@link lateWord}. */
class FirstLayer {
  readonly first = new Affine(WIDE, WIDE_INNER);
  readonly second = new Affine(WIDE_INNER, WIDE);
  #used = 0;
  readonly #deviation = PAD_VALUE * Math.sqrt(2 / WIDE);

  /** @param words all words, to compute their mean @param from the first position of a word */
  constructor(words: readonly number[][], from: number, start?: readonly number[]) {
    for (let place = 0; place < WIDE; place++) if (place !== PAD && place !== PAD + 1) this.#move(place);
    this.#inner(PAD, 1, 0, [[PAD, -this.#deviation]]);
    this.#inner(PAD + 1, -1, 0, [[PAD + 1, this.#deviation]]);
    this.#addPositions(padded(words.reduce(plus).map((sum) => sum / words.length)), from);
    if (start === undefined) return;
    // Without a word, the normalized values are 1 and -1, so that this inner value is 3. It is 0 for all words.
    const inner = this.#inner(PAD, -1, 4, []);
    this.#missing(encodingOf(0, WIDE), lateWord(start, 0)).forEach((value, at) => {
      this.second.add(inner, at, value / 3);
    });
  }

  /** Subtracts the value of a place, and adds it to its place after the layer. */
  #move(place: number): void {
    const outputs: [number, number][] = [[place, -this.#deviation]];
    if (place >= EARLY && place < EARLY + WIDTH) outputs.push([place - EARLY, this.#deviation]);
    if (place === EARLY_END) {
      const factor = (this.#deviation * END_VALUE) / EARLY_END_VALUE;
      outputs.push([END, factor], [END + 1, -factor]);
    }
    // This offset keeps the inner value positive, so that the activation function does not change it.
    const offset = 1 / 8;
    this.#inner(place, 1, offset, outputs);
    for (const [to, factor] of outputs) this.second.bias[to]! -= factor * offset;
  }

  /** Adds an inner value: what it reads, its offset, and what it adds to the outputs. */
  #inner(place: number, sign: number, offset: number, outputs: readonly [number, number][]): number {
    const inner = this.#used++;
    this.first.add(place, inner, sign);
    this.first.bias[inner] = offset;
    for (const [to, factor] of outputs) this.second.add(inner, to, factor);
    return inner;
  }

  /**
   * Adds a piecewise linear function of the position, so that the mean word becomes exact at every position. Each inner
   * value changes the slope at one position.
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

  /** Returns the difference between what the layer computes for a word and what it should. */
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

/** Adds the embeddings and the first layer of a side. @param start the start symbol, in the decoder */
function addWords(target: Target, side: string, words: readonly number[][], start?: readonly number[]): void {
  // Marian multiplies the embeddings by the square root of the width.
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

/** Adds the embeddings of both sides, their first layers, and the output layer. */
function addEnds(target: Target, source: Source, pieces: number, letters: number): void {
  const symbols = source.rows('encoder/embeddings/weight').map((row) => earlyWord(row));
  // The vocabularies of the source model start with <blank>, <s> and </s>. <unk> is after the last letter.
  const known = symbols.slice(3, pieces + 3);
  const end = earlyWord(new Array(WIDTH).fill(0), EARLY_END_VALUE);
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

/** Writes the model and its two vocabularies into `models/ar-en`, with the names that `sealModel` expects. */
export async function convertTransliteration(folder: string, models: string): Promise<void> {
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
}

if (import.meta.main) {
  const [folder, models] = process.argv.slice(2);
  if (folder === undefined || models === undefined) {
    throw new Error('Usage: node transliteration.ts FOLDER MODELS');
  }
  await convertTransliteration(folder, models);
}
