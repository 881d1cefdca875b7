/** How the cost of a request grows when what it carries is doubled: the processor's time, not the clock's. */

/** Sends one request and resolves when its answer has been read. */
export type Send = () => Promise<unknown>;

/** Milliseconds of the processor that this thread takes, server and client alike, while `times` requests are answered. */
async function processorTime(send: Send, times: number): Promise<number> {
  const before = process.threadCpuUsage();
  for (let sent = 0; sent < times; sent += 1) await send();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** Some systems count the processor in steps of 4 ms, so that less than this says little. */
const ENOUGH_MILLISECONDS = 48;
/**
 * Garbage that is collected meanwhile counts as well, and so does what other processes take of the caches: of each
 * length the least of some rounds is taken, and of more where the ratio is too large.
 */
const ROUNDS = { least: 3, most: 9 };

async function timeOfOne(send: Send): Promise<number> {
  for (let times = 1; ; times *= 2) {
    const time = await processorTime(send, times);
    if (time >= ENOUGH_MILLISECONDS) return time / times;
  }
}

/**
 * What doubling multiplies the work by: 2 where it is in proportion to the length, 4 where it grows with the square.
 * @param sendOf a request that carries so many bytes
 * @param most a ratio of at least this is measured again and again before it is believed
 * @param little a request of twice the length that takes fewer milliseconds counts as 1
 */
export async function ratioOf(
  sendOf: (length: number) => Send,
  { length, most, little }: { length: number; most: number; little: number },
): Promise<number> {
  const twice = sendOf(2 * length);
  if ((await processorTime(twice, 1)) < little) return 1;
  const once = sendOf(length);
  const least = { once: Number.POSITIVE_INFINITY, twice: Number.POSITIVE_INFINITY };
  for (let round = 1; ; round += 1) {
    least.once = Math.min(least.once, await timeOfOne(once));
    least.twice = Math.min(least.twice, await timeOfOne(twice));
    const ratio = least.twice / least.once;
    if (round >= ROUNDS.most || (round >= ROUNDS.least && ratio < most)) return ratio;
  }
}
