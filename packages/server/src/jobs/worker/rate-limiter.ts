/**
 * Chooses the engine lane of a job. Chat uses the interactive lane. While several accounts have running jobs,
 * small jobs use it too, so that they do not wait behind ten thousand jobs of another account.
 *
 * Each account has a leaky bucket: bursts of 4,096 characters, draining 512 a second. Every drafted character
 * counts, in either lane. An account that splits a large text into small jobs soon gets the bulk lane for all
 * of them. After the burst, the account may send about eighty words a second through the interactive lane.
 */
import type { Lane } from '@dragoman/engines';

export interface RateLimiter {
  /**
   * Returns the lane of a job.
   * @param alone true if no other account has running jobs. The job then gets the bulk lane: no other account
   * has to wait for it, and an engine needs more memory for two lanes than for one
   */
  laneFor(accountId: string, characters: number, alone: boolean): Lane;
}

/**
 * The maximum level of the bucket, after adding the job's characters, at which the job gets the interactive
 * lane.
 */
const BURST_CHARACTERS = 4096;
const DRAINED_PER_SECOND = 512;
/** The bucket's capacity. A full bucket is empty again after half a minute. */
const MAX_CHARACTERS = 16 * 1024;
/** When there are more buckets than this, the empty ones are deleted. */
const MAX_BUCKETS = 10_000;

export function createRateLimiter(now: () => number = () => performance.now()): RateLimiter {
  const buckets = new Map<string, { characters: number; at: number }>();

  function levelOf({ characters, at }: { characters: number; at: number }): number {
    return Math.max(0, characters - ((now() - at) / 1000) * DRAINED_PER_SECOND);
  }

  function deleteEmpty(): void {
    for (const [accountId, bucket] of buckets) if (levelOf(bucket) === 0) buckets.delete(accountId);
  }

  return {
    laneFor(accountId, added, alone) {
      const bucket = buckets.get(accountId);
      const characters = (bucket === undefined ? 0 : levelOf(bucket)) + added;
      if (buckets.size >= MAX_BUCKETS) deleteEmpty();
      buckets.set(accountId, { characters: Math.min(characters, MAX_CHARACTERS), at: now() });
      return !alone && characters <= BURST_CHARACTERS ? 'interactive' : 'bulk';
    },
  };
}
