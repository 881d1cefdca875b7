/**
 * Keeps the server of one data directory running while this process owns it.
 *
 * - `opening`: a left-over server is adopted or stopped, or a new one started; leaves to `running` or fails.
 * - `running`: an unexpected end of the server leads back to `opening`, after a growing pause.
 * - `stopping`: entered once; the server is stopped and not started again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from './identity.ts';
import { isAlive, type KnownProcess, signal } from './processes.ts';
import {
  adopt,
  clearStale,
  findLeftOver,
  launch,
  type Running,
  readRecord,
  removeRecord,
  stopServer,
} from './server.ts';

export interface ServerPlan {
  dataDir: string;
  cluster: string;
  socketDir: string;
  version: string;
  command: Command;
  log: (line: string) => void;
}

/** Called after each unexpected end, with how it ended and how many restarts there were before. */
export type ExitListener = (event: { how: string; restarts: number }) => void;

const FIRST_PAUSE_MS = 50;
/** With its recovery, a server that was killed shall be back within ten seconds, however often it was killed before. */
const LONGEST_PAUSE_MS = 5_000;
/** After so long a life an end is a new misfortune, not the same one again. */
const STABLE_MS = 10_000;

export class Supervisor {
  readonly #plan: ServerPlan;
  readonly #listeners = new Set<ExitListener>();
  readonly #stop = new AbortController();
  #running: Running | undefined;
  #restarting: Promise<void> | undefined;
  #restarts = 0;

  constructor(plan: ServerPlan) {
    this.#plan = plan;
  }

  get restarts(): number {
    return this.#restarts;
  }

  get running(): boolean {
    return this.#running !== undefined && isAlive(this.#running.process);
  }

  onExit(listener: ExitListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @throws EmbeddedError `start` or `in_use` */
  async open(): Promise<void> {
    this.#keep(await openServer(this.#plan, this.#stop.signal));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    // A restart under way ends first: it may have just started the server that is to be stopped.
    await this.#restarting;
    if (this.#running !== undefined) {
      await stopServer(this.#running.process, this.#plan.log);
      endedWithUs.delete(this.#running.process);
    }
    this.#running = undefined;
    removeRecord(this.#plan.dataDir);
  }

  #keep(running: Running): void {
    this.#running = running;
    const since = performance.now();
    stopAtExit(running.process);
    void running.ended.then((how) => {
      endedWithUs.delete(running.process);
      if (this.#stop.signal.aborted) return;
      this.#running = undefined;
      this.#plan.log(`the server ended unexpectedly (${how}); it is started again`);
      for (const listener of this.#listeners) listener({ how, restarts: this.#restarts });
      this.#restarting = this.#restart(performance.now() - since);
    });
  }

  #pauseMs = FIRST_PAUSE_MS;

  async #restart(livedMs: number): Promise<void> {
    if (livedMs > STABLE_MS) this.#pauseMs = FIRST_PAUSE_MS;
    while (!this.#stop.signal.aborted) {
      const pause = sleep(this.#pauseMs, undefined, { ref: false, signal: this.#stop.signal });
      await pause.catch(() => {});
      this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
      if (this.#stop.signal.aborted) return;
      try {
        const running = await openServer(this.#plan, this.#stop.signal);
        this.#restarts += 1;
        this.#plan.log(`the server runs again (restart ${this.#restarts})`);
        this.#keep(running);
        return;
      } catch (error) {
        this.#plan.log((error as Error).message);
      }
    }
  }
}

async function openServer(plan: ServerPlan, stop: AbortSignal): Promise<Running> {
  const { dataDir, cluster, socketDir, version, command, log } = plan;
  const leftOver = findLeftOver(dataDir, cluster);
  if (leftOver !== undefined) {
    const record = readRecord(dataDir);
    const wanted = [command.file, ...command.args];
    if (record?.pid === leftOver.pid && sameWords(record.command, wanted)) {
      const adopted = await adopt(record, socketDir, stop);
      if (adopted !== undefined) {
        log(`took over the running server, process ${leftOver.pid}`);
        return adopted;
      }
    }
    log(`stopping the server that was left over, process ${leftOver.pid}`);
    await stopServer(leftOver, log);
  }
  await clearStale(dataDir, cluster, socketDir);
  return launch(dataDir, socketDir, version, command, stop);
}

function sameWords(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((word, index) => word === b[index]);
}

const endedWithUs = new Set<KnownProcess>();
let hooked = false;

/** A program that ends without `stop` (an uncaught error, `process.exit`) asks the server to end as well. */
function stopAtExit(one: KnownProcess): void {
  endedWithUs.add(one);
  if (hooked) return;
  hooked = true;
  process.on('exit', () => {
    for (const each of endedWithUs) signal(each, 'SIGINT');
  });
}
