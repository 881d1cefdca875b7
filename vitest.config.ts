import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** For what hangs; no test is to be fast enough. */
const PATIENCE = { testTimeout: 300_000, hookTimeout: 300_000 };
const CHANCE = new URL('scripts/test-chance.ts', import.meta.url).pathname;

/**
 * One more test file at once than there are cores, since many wait for others' processes. The files of a project that
 * share a process share its modules too, as the rooms do in the program: loading them took a third of the processor.
 */
const AT_ONCE = { maxWorkers: availableParallelism() + 1, isolate: false };

const project = (name: string, root: string, extra: object = {}) => ({
  test: { name, root, include: ['**/*.test.ts'], setupFiles: [CHANCE], ...PATIENCE, ...AT_ONCE, ...extra },
});

export default defineConfig({
  test: {
    projects: [
      project('documents', 'packages/documents'),
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
      }),
      project('prove', 'prove'),
      project('examples', 'examples'),
    ],
  },
});
