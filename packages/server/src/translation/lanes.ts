/**
 * Which of an engine's lanes a job takes. Chat has the live one to itself as long as nobody else works: a small job
 * takes it too where it would otherwise stand between the sentences of somebody's ten thousand.
 *
 * Small is an account, not a job: every character that an account has drafted, whatever the lane, counts against it and
 * is forgotten by and by. So who cuts a large text into small jobs soon has the bulk lane for all of them, where turns
 * go by characters; what can be had of the live lane besides is what is forgotten, some eighty words a second.
 */
import type { Lane } from '@dragoman/engines';

export interface Lanes {
  /** @param alone no other account has work in hand: nobody is in its way, and a second lane would cost memory */
  laneFor(accountId: string, characters: number, alone: boolean): Lane;
}

/** Characters that an account may have on its count, with those of the job. */
const SMALL_CHARACTERS = 4096;
const FORGOTTEN_A_SECOND = 512;
/** More are not remembered: half a minute after its last job every account is small. */
const MOST_CHARACTERS = 16 * 1024;
/** Accounts on record, before those are dropped of whom all is forgotten. */
const MOST_ACCOUNTS = 10_000;

export function createLanes(now: () => number = () => performance.now()): Lanes {
  const counts = new Map<string, { characters: number; at: number }>();

  function left({ characters, at }: { characters: number; at: number }): number {
    return Math.max(0, characters - ((now() - at) / 1000) * FORGOTTEN_A_SECOND);
  }

  function forget(): void {
    for (const [accountId, count] of counts) if (left(count) === 0) counts.delete(accountId);
  }

  return {
    laneFor(accountId, own, alone) {
      const count = counts.get(accountId);
      const characters = (count === undefined ? 0 : left(count)) + own;
      if (counts.size >= MOST_ACCOUNTS) forget();
      counts.set(accountId, { characters: Math.min(characters, MOST_CHARACTERS), at: now() });
      return !alone && characters <= SMALL_CHARACTERS ? 'live' : 'bulk';
    },
  };
}
