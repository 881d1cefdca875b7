/**
 * Completes the model of a hidden Markov tagger (`*.prob`), so that `apertium-tagger` keeps no state between segments.
 *
 * The model lists sets of tags (ambiguity classes). For a word whose set is not listed, the tagger uses the smallest
 * listed set that contains it. `find_similar_ambiguity_class` in Apertium 3.8.3 also assigns that set to its "open
 * class", the possible tags of an unknown word, until the process ends. So the word of one customer changed how the
 * unknown words of later customers were analysed, in up to 275 of 1,200 sentences (Galician to Spanish).
 *
 * The completed model lists every set for which that assignment can happen, with the probabilities of the set that the
 * tagger would have used instead. These are the subsets of those listed sets that have fewer tags than the open class:
 * 91 to 879 more sets in the 23 models of the default packages.
 */

import { UnknownFormat } from './unknown-format.ts';

/**
 * Maximum size of a set whose subsets are added, because a set of n tags has 2^n subsets. The largest one in the
 * default packages has 7 tags.
 */
const MAX_TAGS = 12;

/**
 * Returns the model with the missing sets of tags.
 * @throws UnknownFormat when the file is not such a model
 */
export function completeTaggerModel(file: Buffer): Buffer {
  const model = readModel(file);
  const missing = missingSets(model);
  const sets = [...model.sets, ...missing.keys()].map((key) => key.split(',').map(Number));
  const added: Buffer[] = [];
  [...missing].forEach(([key, similar], index) => {
    for (const tag of key.split(',')) {
      const probability = model.emissions.get(`${tag} ${similar}`);
      if (probability === undefined) throw new UnknownFormat('a tag of a set has no probability');
      added.push(number(Number(tag)), number(model.sets.length + index), probability);
    }
  });
  const emissions = [...model.emissions].flatMap(([key, probability]) => [
    ...key.split(' ').map((each) => number(Number(each))),
    probability,
  ]);
  return Buffer.concat([
    file.subarray(0, model.setsAt),
    list(sets.map((tags) => list(tags.map(number)))),
    number(model.tags),
    number(sets.length),
    file.subarray(model.transitionsAt, model.emissionsAt),
    number((emissions.length + added.length) / 3),
    ...emissions,
    ...added,
    file.subarray(model.end),
  ]);
}

interface Model {
  /** Number of tags. */
  tags: number;
  /** Number of tags of an unknown word. */
  openClassSize: number;
  /** The listed sets. Each one is its tags in ascending order, such as `3,17`. */
  sets: string[];
  /** Probabilities that a tag emits a set, as 8 bytes. A key is a tag and the index of a set. */
  emissions: Map<string, Buffer>;
  /** Offsets in the file. */
  setsAt: number;
  transitionsAt: number;
  emissionsAt: number;
  end: number;
}

function readModel(file: Buffer): Model {
  const reader = new Reader(file);
  const pair = (): void => {
    reader.number();
    reader.number();
  };
  const openClassSize = reader.list(() => reader.number()).length;
  reader.list(pair); // forbidden pairs of tags
  reader.list(() => reader.text()); // names of the tags
  reader.list(() => {
    reader.text();
    reader.number();
  }); // indexes of the tags
  reader.list(() => {
    reader.number();
    reader.list(() => reader.number());
  }); // enforced pairs of tags
  reader.list(() => reader.text()); // preferred analyses
  reader.list(() => {
    reader.text();
    reader.number();
  }); // constants
  const setsAt = reader.at;
  const sets = reader.list(() => reader.list(() => reader.number()).join());
  const tags = reader.number();
  if (reader.number() !== sets.length) throw new UnknownFormat('the number of sets differs');
  const transitionsAt = reader.at;
  reader.take(8 * tags * tags);
  const emissionsAt = reader.at;
  const emissions = new Map(
    reader.list(() => [`${reader.number()} ${reader.number()}`, reader.take(8)] as const),
  );
  return { tags, openClassSize, sets, emissions, setsAt, transitionsAt, emissionsAt, end: reader.at };
}

/**
 * Returns the missing sets, each with the index of the set that is used instead: the smallest one that contains it, and
 * among sets of equal size the first one.
 */
function missingSets({ sets, openClassSize }: Model): Map<string, number> {
  const listed = new Set(sets);
  const missing = new Map<string, number>();
  sets
    .map((key, index) => ({ tags: key.split(','), index }))
    .filter(({ tags }) => tags.length < openClassSize)
    .sort((a, b) => a.tags.length - b.tags.length)
    .forEach(({ tags, index }) => {
      if (tags.length > MAX_TAGS) throw new UnknownFormat(`a set has ${tags.length} tags`);
      for (const key of subsets(tags)) {
        if (!listed.has(key) && !missing.has(key)) missing.set(key, index);
      }
    });
  return missing;
}

/** Returns all subsets but the empty one. */
function subsets(tags: readonly string[]): string[] {
  return Array.from({ length: 2 ** tags.length }, (_, bits) =>
    tags.filter((_tag, index) => (bits >> index) % 2 === 1),
  ).flatMap((each) => (each.length === 0 ? [] : [each.join()]));
}

/** Reads lttoolbox's format: numbers of 1 to 4 bytes, whose first two bits are the number of further bytes. */
class Reader {
  at = 0;
  readonly #file: Buffer;

  constructor(file: Buffer) {
    this.#file = file;
  }

  number(): number {
    const first = this.take(1)[0]!;
    return this.take(first >> 6).reduce((sum, byte) => sum * 256 + byte, first % 64);
  }

  list<T>(read: () => T): T[] {
    const length = this.number();
    if (length > this.#file.length) throw new UnknownFormat('a list is longer than the file');
    return Array.from({ length }, read);
  }

  text(): void {
    this.list(() => this.number());
  }

  take(length: number): Buffer {
    const bytes = this.#file.subarray(this.at, this.at + length);
    if (bytes.length < length) throw new UnknownFormat('the file ends too early');
    this.at += length;
    return bytes;
  }
}

function number(value: number): Buffer {
  const further = [2 ** 6, 2 ** 14, 2 ** 22].filter((limit) => value >= limit).length;
  const bytes = Buffer.alloc(further + 1);
  bytes.writeUIntBE(value, 0, further + 1);
  bytes[0]! += further * 64;
  return bytes;
}

const list = (items: readonly Buffer[]): Buffer => Buffer.concat([number(items.length), ...items]);
