import { defineConfig } from 'vitest/config';

/** For what hangs; no test is to be fast enough. */
const PATIENCE = { testTimeout: 300_000, hookTimeout: 300_000 };
const CHANCE = new URL('scripts/test-chance.ts', import.meta.url).pathname;

const project = (name: string, root: string, extra: object = {}) => ({
  test: { name, root, include: ['**/*.test.ts'], setupFiles: [CHANCE], ...PATIENCE, ...extra },
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
