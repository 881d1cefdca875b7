/**
 * Sends long texts of one account while another account sends requests. Then kills the service while scanner
 * processes are busy.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { createAccount, type Program } from '../../scripts/program.ts';
import { scannersBelow } from '../soak/watch.ts';

export interface TextsHistory {
  /**
   * The number of requests of the other account, and how many of them were answered before the request with
   * the first long text.
   */
  others: number;
  answeredFirst: number;
  /** For each scanner process that was busy when the service was killed, the seconds until it ended. */
  ended: number[];
}

/** The number of long texts: as many as the account may have in the scanner processes and in their queue. */
const LONG_TEXTS = 3;
const OTHERS = 20;
const TEXT_BYTES = 10 * 1024 * 1024;
const PARAGRAPH = '<p>The house stands near the river, and the <b>garden</b> is green.</p>\n';
/**
 * The maximum time to wait until a scanner process ends. A process that still runs then has not noticed that the
 * service was killed.
 */
const PATIENCE_MILLISECONDS = 10_000;

/** Runs the scenario. At the end, the service is killed. */
export async function runTexts(directory: string, program: Program): Promise<TextsHistory> {
  const one = await createAccount(directory, 'long-texts');
  const other = await createAccount(directory, 'short-texts');
  let answered = 0;
  const countLong = () => {
    const text = PARAGRAPH.repeat(Math.floor(TEXT_BYTES / PARAGRAPH.length));
    const sent = Array.from({ length: LONG_TEXTS }, () =>
      post(program, '/tapi/v2/wordcount/', one.production_key, { text, text_format: 'html' }).then(
        () => answered++,
        () => {}, // The request fails, because the service was killed.
      ),
    );
    return Promise.all(sent);
  };
  const counted = countLong();
  await busy(program);
  let answeredFirst = 0;
  for (let n = 0; n < OTHERS; n++) {
    const text = `Your order number ${n} was sent to the house near the river this morning.`;
    const body = { text, target_language: 'es' };
    await post(program, '/sandbox/tapi/v2/mt_translation/', other.sandbox_key, body);
    if (answered === 0) answeredFirst++;
  }
  await counted;
  void countLong();
  await busy(program);
  const scanners = scannersBelow(program.child.pid!);
  await program.kill();
  const killed = performance.now();
  const ended = await Promise.all(
    scanners.map(async (pid) => {
      while (isAlive(pid) && performance.now() - killed < PATIENCE_MILLISECONDS) await wait(20);
      return isAlive(pid) ? Number.POSITIVE_INFINITY : (performance.now() - killed) / 1000;
    }),
  );
  return { others: OTHERS, answeredFirst, ended };
}

/**
 * Waits until two scanner processes are busy: each has used half a second of processor time, which is more
 * than a start needs.
 */
async function busy(program: Program): Promise<void> {
  const working = () => scannersBelow(program.child.pid!).filter((pid) => ticksOf(pid) > 50);
  while (working().length < 2) await wait(20);
}

async function post(program: Program, path: string, key: string, body: object): Promise<void> {
  const response = await fetch(program.url + path, {
    method: 'POST',
    headers: { authorization: `ApiKey ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 201) throw new Error(`${path} was answered ${response.status}: ${text}`);
}

/**
 * Returns the fields of `/proc/PID/stat` from the process state on. The state follows the name in parentheses
 * (proc(5)).
 */
function statOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

const ticksOf = (pid: number) => Number(statOf(pid)[11] ?? 0);
/** Returns true if a process runs. A zombie (`Z`) has ended. */
const isAlive = (pid: number) => !['Z', 'X', undefined].includes(statOf(pid)[0]);
