/** Gives the event loop turns during long work, so that one customer's text delays no other request. */
import { setImmediate } from 'node:timers/promises';

/** The work between two turns, in pieces of segments: some milliseconds for hashes. */
const WORK_PER_TURN = 5_000;

/**
 * Returns a function to await at each step of a long work, with the size of the step in pieces.
 * @param signal ends the work: the function then rejects with its reason at the next turn
 */
export function createTurns(signal?: AbortSignal): (pieces: number) => Promise<void> {
  let done = 0;
  return async (pieces) => {
    done += pieces;
    if (done < WORK_PER_TURN) return;
    done = 0;
    await nextTurn(signal);
  };
}

/** Lets the event loop serve other work. @throws the reason of `signal` when it is aborted */
export async function nextTurn(signal?: AbortSignal): Promise<void> {
  await setImmediate();
  signal?.throwIfAborted();
}

/** Divides a list into batches, each with the work of about one turn. @param piecesOf the size of an element in pieces */
export function* inBatches<One>(
  all: readonly One[],
  piecesOf: (one: One) => number,
): Generator<readonly One[]> {
  let batch: One[] = [];
  let pieces = 0;
  for (const one of all) {
    batch.push(one);
    pieces += piecesOf(one);
    if (pieces < WORK_PER_TURN) continue;
    yield batch;
    batch = [];
    pieces = 0;
  }
  if (batch.length > 0) yield batch;
}

/**
 * Yields a file in slices of 64 Ki characters, one slice in each turn of the event loop. Parsing 8 million
 * characters at once would delay every other request by a second.
 */
export async function* inSlices(text: string, length = 64 * 1024): AsyncGenerator<string> {
  for (let at = 0; at < text.length; ) {
    // A slice ends after a whole character: a parser that reads bytes would damage the two halves of an emoji.
    const isCut = isHighSurrogate(text.charCodeAt(at + length - 1));
    const end = at + length + Number(isCut);
    yield text.slice(at, end);
    at = end;
    await nextTurn();
  }
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
