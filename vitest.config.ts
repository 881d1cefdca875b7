import { defineConfig } from 'vitest/config';

const project = (name: string, root: string, extra: object = {}) => ({
  test: { name, root, include: ['**/*.test.ts'], ...extra },
});

export default defineConfig({
  test: {
    projects: [
      project('documents', 'packages/documents'),
      project('engines', 'packages/engines'),
      project('server', 'packages/server', {
        globalSetup: 'src/testing/cluster.ts',
        testTimeout: 60_000,
        hookTimeout: 60_000,
      }),
      project('client', 'packages/client', {
        globalSetup: '../server/src/testing/cluster.ts',
        testTimeout: 60_000,
        hookTimeout: 60_000,
      }),
      project('prove', 'prove'),
    ],
  },
});
