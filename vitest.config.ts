import { defineConfig } from 'vitest/config';

const project = (name: string, extra: object = {}) => ({
  test: { name, root: `packages/${name}`, include: ['src/**/*.test.ts', 'test/**/*.test.ts'], ...extra },
});

export default defineConfig({
  test: {
    projects: [project('documents'), project('engines'), project('server')],
  },
});
