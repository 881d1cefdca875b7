/** Reads the probabilities of the tokens of a language model's answer (`logprobs` in the OpenAI API). */

import { type Confidence, confidenceOf } from '../confidence.ts';
import { field } from './remote.ts';

/** Where a translation stands in the content of an answer, in UTF-16 code units. */
export type Span = readonly [from: number, to: number];

interface Token {
  bytes: Buffer;
  logarithm: number;
}

/**
 * Returns the confidence of each translation in an answer, from the tokens that overlap it. A token may be a part of a
 * character, so its place is counted in bytes. Returns an empty list if the tokens are malformed or are not those of the
 * answer.
 *
 * @param spans the places of the translations, in ascending order
 * @param most the maximum number of tokens that the request allowed
 */
export function confidencesOf(
  logprobs: unknown,
  content: string,
  spans: readonly Span[],
  most: number,
): readonly (Confidence | undefined)[] {
  const tokens = readTokens(field(logprobs, 'content'), most);
  const start = tokens && startOf(content, tokens);
  if (tokens === undefined || start === undefined) return [];
  const byteOf = byteCounter(content, start);
  let next = 0;
  let at = 0;
  return spans.map(([from, to]) => {
    const [first, end] = [byteOf(from), byteOf(to)];
    for (; next < tokens.length && at + tokens[next]!.bytes.length <= first; next++) {
      at += tokens[next]!.bytes.length;
    }
    const logarithms: number[] = [];
    for (let index = next, begin = at; index < tokens.length && begin < end; index++) {
      logarithms.push(tokens[index]!.logarithm);
      begin += tokens[index]!.bytes.length;
    }
    return confidenceOf(logarithms);
  });
}

/** Returns the tokens that have text; undefined if the list is malformed. */
function readTokens(list: unknown, most: number): Token[] | undefined {
  if (!Array.isArray(list) || list.length > most) return undefined;
  const tokens: Token[] = [];
  for (const one of list) {
    const [token, bytes, logarithm] = [field(one, 'token'), field(one, 'bytes'), field(one, 'logprob')];
    if (typeof token !== 'string' || typeof logarithm !== 'number' || !(logarithm <= 0)) return undefined;
    const text = Array.isArray(bytes) ? Buffer.from(bytes) : Buffer.from(token);
    if (text.length > 0) tokens.push({ bytes: text, logarithm });
  }
  return tokens;
}

/**
 * Returns the byte of the tokens at which the content begins; undefined if the tokens have another text. Tokens of the
 * model's reasoning may stand before the content, and the token that ends the answer after it.
 */
function startOf(content: string, tokens: readonly Token[]): number | undefined {
  const all = Buffer.concat(tokens.map(({ bytes }) => bytes));
  const own = Buffer.from(content);
  const last = all.length - own.length;
  const end = tokens.at(-1)?.bytes.length ?? 0;
  return [0, last, last - end].find(
    (start) => start >= 0 && all.subarray(start, start + own.length).equals(own),
  );
}

/** Returns the function that converts ascending offsets in a text into bytes, and adds `start`. */
function byteCounter(content: string, start: number): (offset: number) => number {
  let [bytes, counted] = [start, 0];
  return (offset) => {
    bytes += Buffer.byteLength(content.slice(counted, offset));
    counted = offset;
    return bytes;
  };
}

/** Returns the places of the values of each key `target` in a JSON text. The quotes are not included. */
export function spansOfTargets(json: string): Span[] {
  const spans: Span[] = [];
  let isTarget = false;
  for (let quote = json.indexOf('"'); quote >= 0; ) {
    const from = quote + 1;
    let to = from;
    while (to < json.length && json[to] !== '"') to += json[to] === '\\' ? 2 : 1;
    if (isTarget) spans.push([from, to]);
    COLON.lastIndex = to + 1;
    isTarget = json.slice(from, to) === 'target' && COLON.test(json);
    quote = json.indexOf('"', to + 1);
  }
  return spans;
}

const COLON = /\s*:/y;
