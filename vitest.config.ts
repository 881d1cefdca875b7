import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { timeLimit } from './scripts/test-budget.ts';
import { useTools } from './scripts/test-tools.ts';

useTools();
/**
 * The programs of the tests, their scanner processes and the tests themselves compile each module once. A scanner process
 * then needs a third of the processor time to start. It is the program's own cache.
 */
process.env.NODE_COMPILE_CACHE ??= new URL('node_modules/.cache/dragoman', import.meta.url).pathname;

/** Limits only end tests that hang. By default `expect.poll` would give up after a second. */
const MILLISECONDS = timeLimit();
const PATIENCE = {
  testTimeout: MILLISECONDS,
  hookTimeout: MILLISECONDS,
  expect: { poll: { timeout: MILLISECONDS } },
  provide: { milliseconds: MILLISECONDS },
};
const CHANCE = new URL('scripts/test-chance.ts', import.meta.url).pathname;
const RUNNER = new URL('scripts/test-runner.ts', import.meta.url).pathname;

/**
 * Runs one more test file at a time than there are cores, because many tests wait for other processes. The
 * files of a project that run in one process also share its loaded modules, as the program does. Loading them
 * for each file took a third of the processor time.
 */
const AT_ONCE = {
  maxWorkers: availableParallelism() + 1,
  isolate: false,
  // With V8's default of 16 MB for new objects, collecting garbage took a seventh of the processor time.
  execArgv: ['--max-semi-space-size=64'],
};

/**
 * Node runs the source files without a transformation by Vite. So tests run the same code as users, and the
 * server's tests take a tenth less processor time. No test uses `vi.mock`, which needs Vite's loader.
 */
const AS_THEY_ARE = { experimental: { viteModuleRunner: false, nodeLoader: false } };

/**
 * By default, projects run one after another in the order of their names. Then the crawl of the web app would
 * be one of the last files, and keep one core busy for minutes while the others are idle. So the web app's
 * project runs first, and the crawl is its first file.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ project, moduleId }: TestSpecification) =>
      moduleId.endsWith('/crawl.test.ts') ? 0 : project.name === 'web' ? 1 : 2;
    return sorted.sort((one, other) => rank(one) - rank(other));
  }
}

const project = (name: string, root: string, extra: object = {}) => ({
  test: {
    name,
    root,
    include: ['**/*.test.ts'],
    setupFiles: [CHANCE],
    runner: RUNNER,
    ...PATIENCE,
    ...AT_ONCE,
    ...AS_THEY_ARE,
    ...extra,
  },
});

export default defineConfig({
  test: {
    teardownTimeout: MILLISECONDS,
    sequence: { sequencer: LongestFirst },
    projects: [
      project('documents', 'packages/documents'),
      project('embedded-postgres', 'packages/embedded-postgres'),
      project('engines', 'packages/engines'),
      project('checks', 'packages/checks'),
      project('server', 'packages/server', {
        globalSetup: 'src/testing/cluster.ts',
      }),
      project('client', 'packages/client', {
        globalSetup: '../server/src/testing/cluster.ts',
      }),
      project('web', 'packages/web', {
        environment: './test/worker.ts',
        globalSetup: '../server/src/testing/cluster.ts',
        experimental: { viteModuleRunner: true }, // JSX and `import.meta.glob` need Vite
      }),
      project('prove', 'prove'),
      project('examples', 'examples'),
      project('scripts', 'scripts'),
    ],
  },
});
