/** What the tests of the embedded server share: data directories, programs that hold one, and cleaning up. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createConnection } from '../connections.ts';
import { type Embedded, type EmbeddedOptions, startEmbedded } from '../embedded.ts';
import { isAlive, signal } from './processes.ts';
import { readRecord } from './server.ts';

export interface HeldEvent {
  event: 'log' | 'ready' | 'stopping' | 'stopped' | 'refused';
  connection: Embedded['connection'];
  owned: boolean;
  code: string;
  message: string;
}

/** A user without rights, who owns nothing on any machine. */
export const STRANGER = 65534;
const HOLDER = fileURLToPath(new URL('./holder.ts', import.meta.url));

/** Waits for a state of the world that sends no event. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(5);
}

export async function query(embedded: Pick<Embedded, 'connection'>, sql: string): Promise<unknown[]> {
  const client = createConnection(embedded.connection);
  await client.connect();
  try {
    const { rows } = await client.query({ text: sql, rowMode: 'array' });
    return rows.flat();
  } finally {
    await client.end().catch(() => {});
  }
}

/** Keeps a value in the database, for later tests of whether it is still there. */
export async function keep(embedded: Pick<Embedded, 'connection'>, value: number): Promise<void> {
  await query(embedded, 'DROP TABLE IF EXISTS kept');
  await query(embedded, `CREATE TABLE kept AS SELECT ${value} AS n`);
}

/** As `query`, again until it is answered. */
export async function queryWhenUp(embedded: Pick<Embedded, 'connection'>, sql: string): Promise<unknown[]> {
  for (;;) {
    try {
      return await query(embedded, sql);
    } catch {
      await sleep(5);
    }
  }
}

/** Another process with an embedded server. */
export class Holder {
  readonly #child: ChildProcess;
  readonly #events: HeldEvent[] = [];
  readonly #ended: Promise<number | null>;
  #over = false;

  constructor(options: object, uid?: number) {
    this.#child = spawn(process.execPath, [HOLDER, JSON.stringify(options)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      // A group of its own, so that a test can kill it with all it started in that group.
      detached: true,
      ...(uid !== undefined && { uid, gid: uid }),
    });
    this.#child.stdin!.on('error', () => {}); // it may have ended before it is asked to
    this.#ended = once(this.#child, 'close').then(([code]) => {
      this.#over = true;
      return code;
    });
    createInterface({ input: this.#child.stdout! }).on('line', (line) => this.#events.push(JSON.parse(line)));
  }

  /** The first event of one of these kinds, waited for. */
  async event(...kinds: HeldEvent['event'][]): Promise<HeldEvent> {
    const find = () => this.#events.find(({ event }) => kinds.includes(event));
    await until(() => find() !== undefined || this.#over);
    const found = find();
    if (found === undefined) throw new Error(`ended with ${JSON.stringify(this.#events)}`);
    return found;
  }

  askToStop(): void {
    this.#child.stdin!.write('stop\n');
  }

  async stop(): Promise<void> {
    this.askToStop();
    await this.event('stopped');
    await this.#ended;
  }

  ended(): Promise<number | null> {
    return this.#ended;
  }

  async kill(): Promise<void> {
    if (!this.#over) process.kill(-this.#child.pid!, 'SIGKILL');
    await this.#ended;
  }
}

/** One test file's directories, servers and programs, all gone at the end. */
export class Ground {
  readonly root = mkdtempSync(join(tmpdir(), 'embedded-'));
  readonly #embedded: Embedded[] = [];
  readonly #holders: Holder[] = [];
  readonly #directories: string[] = [];
  #shared: string | undefined;
  #count = 0;

  /** A new data directory path; nothing is there yet. */
  empty(...below: string[]): string {
    this.#count += 1;
    const path = join(this.root, String(this.#count), ...below, 'data');
    this.#directories.push(path);
    return path;
  }

  /**
   * A data directory with a stopped cluster, the same for every test that leaves it so: copies and their
   * removal took two thirds of the time. A test that failed and left it running costs the next one a new one.
   */
  async prepared(): Promise<string> {
    if (this.#shared === undefined || existsSync(join(this.#shared, 'server.json'))) {
      this.#shared = this.empty();
      await (await this.start(this.#shared)).stop();
    }
    return this.#shared;
  }

  /** A copy of it, for tests that need their own or another place. */
  async copied(...below: string[]): Promise<string> {
    const from = await this.prepared();
    const path = this.empty(...below);
    mkdirSync(path, { recursive: true });
    cpSync(join(from, 'postgres'), join(path, 'postgres'), { recursive: true });
    return path;
  }

  async start(dataDir: string, options: Partial<EmbeddedOptions> = {}): Promise<Embedded> {
    const embedded = await startEmbedded({ dataDir, role: 'serve', ...options });
    this.#embedded.push(embedded);
    return embedded;
  }

  hold(dataDir: string, options: object = {}, uid?: number): Holder {
    const holder = new Holder({ dataDir, role: 'serve', ...options }, uid);
    this.#holders.push(holder);
    return holder;
  }

  async clean(): Promise<void> {
    for (const holder of this.#holders) await holder.kill();
    for (const embedded of this.#embedded) await embedded.stop();
    for (const directory of this.#directories) {
      const server = readRecord(directory);
      if (server === undefined) continue;
      signal(server, 'SIGQUIT');
      await until(() => !isAlive(server));
    }
    rmSync(this.root, { recursive: true, force: true, maxRetries: 3 });
  }
}
