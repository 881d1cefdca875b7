/**
 * Limits the requests of each API key, so that one program cannot take the capacity that other customers need. Each key
 * has a leaky bucket: it holds ten seconds of requests and drains at the limit.
 *
 * Each API process counts for itself. With N API processes, a key can therefore send up to N times its limit. A shared
 * count would cost a round trip to the database for each request, although the limit should protect the database. A
 * count for each process is enough, because a flood only uses up the capacity of the process that it reaches.
 */
import type { Caller } from '../base/account.ts';
import { ApiError } from '../base/errors.ts';

export interface KeyRateLimiter {
  /**
   * Counts a request of a key.
   * @returns the headers that tell the client its limit; none if the key has no limit
   * @throws ApiError `rate_limited` with the same headers when the key has sent too many requests
   */
  count(caller: Pick<Caller, 'keyId' | 'requestsPerSecond'>): Record<string, string>;
}

/** A key may send at once as many requests as its limit allows in this number of seconds. */
const BURST_SECONDS = 10;
/**
 * When there are this many buckets, the empty ones are deleted. This changes nothing, because a new bucket is empty
 * too.
 */
const MANY_BUCKETS = 10_000;

interface Bucket {
  /** The number of requests in the bucket at the moment `at`. */
  level: number;
  /** Milliseconds. */
  at: number;
  /** The limit in requests a second. */
  limit: number;
}

/** @param usual the limit of accounts without a limit of their own, in requests a second; 0 for no limit */
export function createKeyRateLimiter(
  usual: number,
  now: () => number = () => performance.now(),
): KeyRateLimiter {
  const buckets = new Map<string, Bucket>();
  let cleanAt = MANY_BUCKETS;

  const levelOf = ({ level, at, limit }: Bucket) => Math.max(0, level - ((now() - at) / 1000) * limit);

  function deleteEmpty(): void {
    for (const [keyId, bucket] of buckets) if (levelOf(bucket) === 0) buckets.delete(keyId);
    // If most buckets are in use, the next deletion waits until there are twice as many buckets.
    cleanAt = Math.max(MANY_BUCKETS, 2 * buckets.size);
  }

  return {
    count({ keyId, requestsPerSecond }) {
      const limit = requestsPerSecond ?? usual;
      if (limit === 0) return {};
      const size = limit * BURST_SECONDS;
      const bucket = buckets.get(keyId);
      const before = bucket === undefined ? 0 : levelOf(bucket);
      const isAllowed = before + 1 <= size;
      const level = isAllowed ? before + 1 : before;
      if (buckets.size >= cleanAt) deleteEmpty();
      buckets.set(keyId, { level, at: now(), limit });
      // `ratelimit-policy` has the quota and its window in seconds. `ratelimit` has the rest of the quota and the
      // seconds until all of it is available (draft-ietf-httpapi-ratelimit-headers-10).
      const headers = {
        'ratelimit-policy': `"key";q=${size};w=${BURST_SECONDS}`,
        ratelimit: `"key";r=${Math.floor(size - level)};t=${Math.ceil(level / limit)}`,
      };
      if (isAllowed) return headers;
      throw new ApiError(
        'rate_limited',
        `This key has sent too many requests. It may send ${limit} a second, and ${size} at once.`,
        { ...headers, 'retry-after': String(Math.max(1, Math.ceil((before + 1 - size) / limit))) },
      );
    },
  };
}
