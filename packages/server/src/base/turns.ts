/** Gives the event loop turns during long work, so that one customer's text delays no other request. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** The work between two turns, in pieces of segments: some milliseconds for hashes. */
const WORK_PER_TURN = 5_000;

/** Returns a function to await after each step of a long work, with the size of the step in pieces. */
export function createTurns(): (pieces: number) => Promise<void> {
  let done = 0;
  return async (pieces) => {
    done += pieces;
    if (done < WORK_PER_TURN) return;
    done = 0;
    await nextTurn();
  };
}

const SLICE_LENGTH = 64 * 1024;

/**
 * Yields a file in slices of 64 Ki characters, one slice in each turn of the event loop. Parsing 8 million
 * characters at once would delay every other request by a second.
 */
export async function* inSlices(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += SLICE_LENGTH) {
    yield text.slice(at, at + SLICE_LENGTH);
    await nextTurn();
  }
}
