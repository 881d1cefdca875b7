import { describe, expect, it } from 'vitest';
import { type Imports, reaches, readImports, selectTests } from './test-selection.ts';

const S = 'packages/server/src';
const PLANTED: Imports = new Map(
  Object.entries({
    [`${S}/jobs/store.ts`]: [],
    [`${S}/jobs/jobs.ts`]: [`${S}/jobs/store.ts`],
    [`${S}/jobs/jobs.test.ts`]: [`${S}/testing/harness.ts`],
    [`${S}/chats/chats.ts`]: [`${S}/jobs/jobs.ts`],
    [`${S}/chats/chats.test.ts`]: [`${S}/chats/chats.ts`],
    [`${S}/chats/orders.test.ts`]: [`${S}/jobs/jobs.ts`],
    [`${S}/testing/harness.ts`]: [`${S}/jobs/jobs.ts`],
    [`${S}/access/access.test.ts`]: [`${S}/testing/harness.ts`],
    'prove/money/run.ts': [`${S}/jobs/store.ts`],
    'prove/money/money.test.ts': ['prove/money/run.ts', 'fast-check'],
    'packages/web/test/votes.test.ts': [],
    'packages/web/test/workbench-votes.test.ts': [],
    'packages/web/test/workbench-rows.test.ts': [],
    'packages/web/test/queue.test.ts': [],
  }),
);
const select = (...changed: string[]) => selectTests(changed, PLANTED).tests;

describe('selectTests', () => {
  it('selects the tests of the module, and those that use the file through its module or a helper', () => {
    expect(select(`${S}/jobs/store.ts`)).toEqual([
      'packages/server/src/chats/orders.test.ts',
      'packages/server/src/jobs/jobs.test.ts',
      'prove/money/money.test.ts',
    ]);
  });

  it('selects a changed test, also without a change of what it tests', () => {
    expect(select(`${S}/chats/orders.test.ts`)).toContain(`${S}/chats/orders.test.ts`);
    expect(select('docs/errors.md')).toEqual([]);
  });

  it('selects browser tests by their names', () => {
    const tests = ['votes', 'workbench-rows', 'workbench-votes'].map(
      (it) => `packages/web/test/${it}.test.ts`,
    );
    expect(select('packages/web/src/workbench/rows/Votes.tsx')).toEqual(tests);
  });

  it('leaves out the users of a file that many tests use, and says so', () => {
    const users = Array.from(
      { length: 30 },
      (_, n) => [`${S}/a${n}/a.test.ts`, [`${S}/testing/harness.ts`]] as const,
    );
    const imports = new Map([...PLANTED, ...users]);
    const found = selectTests([`${S}/testing/harness.ts`], imports);
    expect(found).toEqual({ tests: [], leftOut: [`${S}/testing/harness.ts`] });
  });

  it('selects only some of the tests for a change of any one module of this repository', () => {
    const imports = readImports(new URL('../', import.meta.url).pathname);
    const all = [...imports.keys()].filter((path) => path.endsWith('.test.ts'));
    const counts = ['jobs/worker/worker.ts', 'editing/editing.ts', 'brands/store.ts', 'access/keys.ts'].map(
      (path) => selectTests([`${S}/${path}`], imports).tests.length,
    );
    expect(all.length).toBeGreaterThan(300);
    for (const count of counts) {
      expect(count).toBeGreaterThan(0);
      expect(count).toBeLessThan(60);
    }
  });
});

describe('reaches', () => {
  it('follows imports of imports, up to a package', () => {
    expect(reaches(PLANTED, `${S}/access/access.test.ts`, `${S}/jobs/store.ts`)).toBe(true);
    expect(reaches(PLANTED, 'prove/money/money.test.ts', 'fast-check')).toBe(true);
    expect(reaches(PLANTED, `${S}/access/access.test.ts`, 'fast-check')).toBe(false);
  });
});
