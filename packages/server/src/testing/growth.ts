/** Measures how the processor time of a request grows when its content is doubled. */

/** A function that sends one request and resolves when the answer has been read. */
export type Send = () => Promise<unknown>;

/** Returns the processor time in milliseconds of this thread, server and client together, for `times` requests. */
async function processorTime(send: Send, times: number): Promise<number> {
  const before = process.threadCpuUsage();
  for (let sent = 0; sent < times; sent += 1) await send();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/**
 * The shortest processor time that is measured. Some systems count processor time in steps of 4 ms, so a shorter time
 * would not be exact enough.
 */
const ENOUGH_MILLISECONDS = 48;
/**
 * Minimum and maximum number of rounds. Only the fastest round counts, because garbage collection and other processes
 * slow down the others. After the minimum, further rounds run only while the ratio is too large.
 */
const ROUNDS = { least: 3, most: 25 };

async function timeOfOne(send: Send): Promise<number> {
  for (let times = 1; ; times *= 2) {
    const time = await processorTime(send, times);
    if (time >= ENOUGH_MILLISECONDS) return time / times;
  }
}

/**
 * Returns the factor by which doubling the content multiplies the processor time: 2 for linear growth, 4 for
 * quadratic.
 * @param sendOf returns a request whose content has `length` bytes
 * @param most the factor that is too large; when a measurement reaches it, further rounds run
 * @param rounds the most rounds
 * @param little a processor time in milliseconds; if a request of twice the length takes less, the factor counts as 1
 */
export async function ratioOf(
  sendOf: (length: number) => Send,
  {
    length,
    most,
    little,
    rounds = ROUNDS.most,
  }: { length: number; most: number; little: number; rounds?: number },
): Promise<number> {
  const twice = sendOf(2 * length);
  if ((await processorTime(twice, 1)) < little) return 1;
  const once = sendOf(length);
  const least = { once: Number.POSITIVE_INFINITY, twice: Number.POSITIVE_INFINITY };
  for (let round = 1; ; round += 1) {
    least.once = Math.min(least.once, await timeOfOne(once));
    least.twice = Math.min(least.twice, await timeOfOne(twice));
    const ratio = least.twice / least.once;
    if (round >= rounds || (round >= ROUNDS.least && ratio < most)) return ratio;
  }
}
