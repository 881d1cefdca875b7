/**
 * The environment of the worker processes that run the browser tests. It is the environment of Node. Its only purpose
 * is to stop what the test files of a process shared, after the last file.
 */
import type { Environment } from 'vitest/runtime';
import { stopShared } from './shared.ts';

export default {
  name: 'worker',
  viteEnvironment: 'ssr',
  setup: () => ({ teardown: stopShared }),
} satisfies Environment;
