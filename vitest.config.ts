import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** For what hangs; no test is to be fast enough. `expect.poll` would give up after a second by default. */
const MILLISECONDS = 300_000;
const PATIENCE = {
  testTimeout: MILLISECONDS,
  hookTimeout: MILLISECONDS,
  expect: { poll: { timeout: MILLISECONDS } },
};
const CHANCE = new URL('scripts/test-chance.ts', import.meta.url).pathname;

/**
 * One more test file at once than there are cores, since many wait for others' processes. The files of a project that
 * share a process share its modules too, as the rooms do in the program: loading them took a third of the processor.
 */
const AT_ONCE = { maxWorkers: availableParallelism() + 1, isolate: false };

/**
 * Node runs the files as they are, without a transformation by Vite: tests and program run what users run, and the
 * server's tests take a tenth less of the processor. Nothing here uses `vi.mock`, which needs the loader.
 */
const AS_THEY_ARE = { experimental: { viteModuleRunner: false, nodeLoader: false } };

/**
 * Projects run one after another, by default by their names, and the crawl of the web app as one of the last: it takes
 * minutes on one processor while the other has nothing left to do. So the web app's project is first, and the crawl
 * first in it.
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
        globalSetup: '../server/src/testing/cluster.ts',
        experimental: { viteModuleRunner: true }, // JSX and `import.meta.glob` are Vite's
      }),
      project('prove', 'prove'),
      project('examples', 'examples'),
    ],
  },
});
