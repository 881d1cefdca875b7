/**
 * Keeps the server of one data directory running while this process owns the server. States:
 *
 * - `opening`: an orphaned server is taken over or stopped, or a new server is started. The next state is
 *   `running`; if no server could be started, an error is thrown.
 * - `running`: the server runs. After an unexpected exit and a growing delay, the next state is `opening`.
 * - `stopping`: the final state. The server is stopped and not restarted.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, type ProcessRef, signal } from './processes.ts';
import {
  adopt,
  clearStale,
  findOrphan,
  launch,
  type RunningServer,
  readRecord,
  removeRecord,
  type ServerPlan,
  stopServer,
} from './server.ts';

/** Called after each unexpected exit, with the number of restarts so far. */
export type ExitListener = (event: { how: string; restarts: number }) => void;

const FIRST_DELAY_MS = 50;
/**
 * The maximum delay before a restart. It is short enough that a killed server runs again within ten seconds,
 * including its recovery, however often it was killed before.
 */
const MAX_DELAY_MS = 5_000;
/** After a server has run for this time, the delay before its restart starts again at the minimum. */
const STABLE_MS = 10_000;

export class Supervisor {
  readonly #plan: ServerPlan;
  readonly #listeners = new Set<ExitListener>();
  readonly #stop = new AbortController();
  #server: RunningServer | undefined;
  #restarting: Promise<void> | undefined;
  #restarts = 0;
  #delayMs = FIRST_DELAY_MS;

  constructor(plan: ServerPlan) {
    this.#plan = plan;
  }

  get restarts(): number {
    return this.#restarts;
  }

  get running(): boolean {
    return this.#server !== undefined && isAlive(this.#server.process);
  }

  onExit(listener: ExitListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Starts the server, or takes over a server that an earlier owner left running.
   * @throws EmbeddedPostgresError `start` or `in_use`
   */
  async open(): Promise<void> {
    this.#supervise(await openServer(this.#plan, this.#stop.signal));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    // A restart in progress may have just started a server, which must be stopped too.
    await this.#restarting;
    if (this.#server !== undefined) {
      await stopServer(this.#server.process, this.#plan.log);
      stoppedAtExit.delete(this.#server.process);
    }
    this.#server = undefined;
    removeRecord(this.#plan.dataDir);
  }

  #supervise(server: RunningServer): void {
    this.#server = server;
    const since = performance.now();
    stopAtExit(server.process);
    void server.ended.then((how) => {
      stoppedAtExit.delete(server.process);
      if (this.#stop.signal.aborted) return;
      this.#server = undefined;
      this.#plan.log(`the server exited unexpectedly (${how}); restarting it`);
      for (const listener of this.#listeners) listener({ how, restarts: this.#restarts });
      this.#restarting = this.#restart(performance.now() - since);
    });
  }

  async #restart(uptimeMs: number): Promise<void> {
    if (uptimeMs > STABLE_MS) this.#delayMs = FIRST_DELAY_MS;
    while (!this.#stop.signal.aborted) {
      const delay = sleep(this.#delayMs, undefined, { ref: false, signal: this.#stop.signal });
      await delay.catch(() => {});
      this.#delayMs = Math.min(this.#delayMs * 2, MAX_DELAY_MS);
      if (this.#stop.signal.aborted) return;
      try {
        const server = await openServer(this.#plan, this.#stop.signal);
        this.#restarts += 1;
        this.#plan.log(`the server is running again (restart ${this.#restarts})`);
        this.#supervise(server);
        return;
      } catch (error) {
        this.#plan.log((error as Error).message);
      }
    }
  }
}

async function openServer(plan: ServerPlan, stop: AbortSignal): Promise<RunningServer> {
  const { dataDir, cluster, address, command, log } = plan;
  const orphan = findOrphan(dataDir, cluster);
  if (orphan !== undefined) {
    const record = readRecord(dataDir);
    const wanted = [command.file, ...command.args];
    if (record?.pid === orphan.pid && haveSameWords(record.command, wanted)) {
      const adopted = await adopt(record, address, stop);
      if (adopted !== undefined) {
        log(`adopted the running server, process ${orphan.pid}`);
        return adopted;
      }
    }
    log(`stopping the server of a previous owner, process ${orphan.pid}`);
    await stopServer(orphan, log);
  }
  await clearStale(plan);
  return launch(plan, stop);
}

function haveSameWords(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((word, index) => word === b[index]);
}

const stoppedAtExit = new Set<ProcessRef>();
let registered = false;

/**
 * Stops the server when this process exits without `stop`, for example after an uncaught error or
 * `process.exit`.
 */
function stopAtExit(server: ProcessRef): void {
  stoppedAtExit.add(server);
  if (registered) return;
  registered = true;
  process.on('exit', () => {
    for (const each of stoppedAtExit) signal(each, 'SIGINT');
  });
}
