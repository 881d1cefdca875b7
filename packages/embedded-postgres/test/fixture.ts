/** Shared helpers of these tests: data directories, programs with an embedded server, and cleanup. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createClient } from '../src/client.ts';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../src/embedded-postgres.ts';
import { isAlive, signal } from '../src/processes.ts';
import { readRecord } from '../src/server.ts';

export interface ProgramEvent {
  event: 'log' | 'ready' | 'stopping' | 'stopped' | 'refused';
  connection: EmbeddedPostgres['connection'];
  owned: boolean;
  code: string;
  message: string;
}

/** The id of a user without privileges, who owns no files on usual machines. */
export const NOBODY = 65534;
const PROGRAM = fileURLToPath(new URL('./program.ts', import.meta.url));
const NAMES = { user: 'test_owner', database: 'test' };

/** Polls until a condition is true. It is used for states that cause no event. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(5);
}

type Connectable = Pick<EmbeddedPostgres, 'connection'>;

export async function query({ connection }: Connectable, sql: string): Promise<unknown[]> {
  const client = createClient(connection);
  await client.connect();
  try {
    const { rows } = await client.query({ text: sql, rowMode: 'array' });
    return rows.flat();
  } finally {
    await client.end().catch(() => {});
  }
}

/** Stores a value, so that a test can check later whether it survived. */
export async function storeValue(server: Connectable, value: number): Promise<void> {
  await query(server, 'DROP TABLE IF EXISTS stored');
  await query(server, `CREATE TABLE stored AS SELECT ${value} AS n`);
}

/** Repeats a query until it succeeds, and returns its result. */
export async function queryWhenUp(server: Connectable, sql: string): Promise<unknown[]> {
  for (;;) {
    try {
      return await query(server, sql);
    } catch {
      await sleep(5);
    }
  }
}

/** A separate process that runs an embedded server. */
export class TestProgram {
  readonly #child: ChildProcess;
  readonly #events: ProgramEvent[] = [];
  readonly #ended: Promise<number | null>;
  #over = false;

  constructor(options: object, uid?: number) {
    this.#child = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      // The program gets its own process group, so that a test can kill it together with its children in that
      // group.
      detached: true,
      ...(uid !== undefined && { uid, gid: uid }),
    });
    // A write fails if the program exits before it reads `stop`, which is no error here.
    this.#child.stdin!.on('error', () => {});
    this.#ended = once(this.#child, 'close').then(([code]) => {
      this.#over = true;
      return code;
    });
    createInterface({ input: this.#child.stdout! }).on('line', (line) => this.#events.push(JSON.parse(line)));
  }

  /** Waits for the first event of one of these kinds. */
  async event(...kinds: ProgramEvent['event'][]): Promise<ProgramEvent> {
    const find = () => this.#events.find(({ event }) => kinds.includes(event));
    await until(() => find() !== undefined || this.#over);
    const found = find();
    if (found === undefined) throw new Error(`exited after ${JSON.stringify(this.#events)}`);
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

/** Creates the directories, servers and programs of one test file, and removes them afterwards. */
export class Fixture {
  readonly root = mkdtempSync(join(tmpdir(), 'embedded-'));
  readonly #servers: EmbeddedPostgres[] = [];
  readonly #programs: TestProgram[] = [];
  readonly #directories: string[] = [];
  #shared: string | undefined;
  #count = 0;

  /** Returns the path of a new data directory, which does not exist yet. */
  newDataDir(...below: string[]): string {
    this.#count += 1;
    const path = join(this.root, String(this.#count), ...below, 'data');
    this.#directories.push(path);
    return path;
  }

  /**
   * Returns a data directory with a stopped cluster. Tests share it, because one directory for each test made the
   * tests three times as slow. When a test has failed to stop the server, the next test gets a new data directory.
   */
  async sharedCluster(): Promise<string> {
    if (this.#shared === undefined || existsSync(join(this.#shared, 'server.json'))) {
      this.#shared = this.newDataDir();
      await (await this.start(this.#shared)).stop();
    }
    return this.#shared;
  }

  /** Returns a copy of the shared cluster, for tests that change it or need another path. */
  async copiedCluster(...below: string[]): Promise<string> {
    const from = await this.sharedCluster();
    const path = this.newDataDir(...below);
    mkdirSync(path, { recursive: true });
    cpSync(join(from, 'postgres'), join(path, 'postgres'), { recursive: true });
    return path;
  }

  async start(dataDir: string, options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
    const server = await startEmbeddedPostgres({ dataDir, role: 'serve', ...NAMES, ...options });
    this.#servers.push(server);
    return server;
  }

  startProgram(dataDir: string, options: object = {}, uid?: number): TestProgram {
    const program = new TestProgram({ dataDir, role: 'serve', ...NAMES, ...options }, uid);
    this.#programs.push(program);
    return program;
  }

  async clean(): Promise<void> {
    for (const program of this.#programs) await program.kill();
    for (const server of this.#servers) await server.stop();
    for (const directory of this.#directories) {
      const server = readRecord(directory);
      if (server === undefined) continue;
      signal(server, 'SIGQUIT');
      await until(() => !isAlive(server));
    }
    rmSync(this.root, { recursive: true, force: true, maxRetries: 3 });
  }
}
