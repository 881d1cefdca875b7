/**
 * Runs the test files of a worker process. Measures the processor time of each file, with the processes that it started
 * and its database connections, and sets the file's time limit.
 */
import { readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { relative } from 'node:path';
import { type RunnerTask, type RunnerTestFile, type SerializedConfig, TestRunner } from 'vitest';
import { processesUnder, secondsUnder } from './processor.ts';
import { limitTimes, timeUnit } from './test-budget.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** The processor time of a test file in seconds, and that of the fixed piece of work in milliseconds. */
    processor?: { seconds: number; unit: number };
  }
  interface ProvidedContext {
    /** The time limit of an ordinary test. */
    milliseconds: number;
  }
}

const ROOT = new URL('../', import.meta.url).pathname;
const SAMPLE_MILLISECONDS = 1_000;

export default class MeasuringRunner extends TestRunner {
  readonly #limits: Pick<SerializedConfig, 'testTimeout' | 'hookTimeout'>;
  #before = 0;
  #isFirst = true;
  /** The processor time of each open database connection before the current file, and the latest one. */
  readonly #connections = new Map<number, { before: number; latest: number }>();
  #sampled = 0;

  constructor(config: SerializedConfig) {
    super(config);
    const { testTimeout, hookTimeout } = config;
    this.#limits = { testTimeout, hookTimeout };
  }

  override onCollectStart(file: RunnerTestFile): void {
    super.onCollectStart(file);
    const times = limitTimes(relative(ROOT, file.filepath));
    this.config.testTimeout = this.#limits.testTimeout * times;
    this.config.hookTimeout = this.#limits.hookTimeout * times;
    this.#before = secondsUnder(process.pid);
    this.#connections.clear();
    // The connections of a server that several files share.
    this.#sampleConnections((seconds) => seconds);
  }

  /** The modules that the first file loads are shared by all files of the worker process. */
  onBeforeRunFiles(): void {
    if (this.#isFirst) this.#before = secondsUnder(process.pid);
    this.#isFirst = false;
  }

  override onAfterRunTask(test: Parameters<TestRunner['onAfterRunTask']>[0]): void {
    super.onAfterRunTask(test);
    if (performance.now() - this.#sampled < SAMPLE_MILLISECONDS) return;
    this.#sampled = performance.now();
    this.#sampleConnections(() => 0);
  }

  override async onAfterRunSuite(suite: Parameters<TestRunner['onAfterRunSuite']>[0]): Promise<void> {
    await super.onAfterRunSuite(suite);
    if (!isFile(suite)) return;
    flushCompileCache(); // Vitest ends its worker processes before Node writes the cache.
    const connections = [...this.#connections.values()];
    const database = connections.reduce((sum, { before, latest }) => sum + latest - before, 0);
    const seconds = secondsUnder(process.pid) - this.#before + database;
    suite.meta.processor = { seconds, unit: timeUnit() };
  }

  /** Reads the processor time of the connections to this worker's databases. Their server belongs to no file. */
  #sampleConnections(beforeOfNew: (seconds: number) => number): void {
    for (const { pid, command, seconds } of processesUnder(process.ppid)) {
      if (command !== 'postgres') continue;
      try {
        const title = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        if (title.includes(`dragoman_test_${process.pid}_`)) {
          const before = this.#connections.get(pid)?.before ?? beforeOfNew(seconds);
          this.#connections.set(pid, { before, latest: seconds });
        }
      } catch {
        // The connection was closed in the meantime.
      }
    }
  }
}

const isFile = (task: RunnerTask): task is RunnerTestFile => 'filepath' in task;
