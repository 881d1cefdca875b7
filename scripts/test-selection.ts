/** Selects the test files that a change can break, by the imports of the source files. */
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The imports of each file: paths relative to the repository, and names of packages. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** Reads the imports of every TypeScript file of the repository. */
export function readImports(root: string): Imports {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const exclude = (path: string) => /(?:^|\/)(?:node_modules|dist|\.\w+)$/.test(path);
  const own = new Map(
    globSync('packages/*/package.json', { cwd: root }).flatMap((path) => {
      const { name, exports = {} } = JSON.parse(read(path)) as { name: string; exports?: string | object };
      const entries = Object.entries(typeof exports === 'string' ? { '.': exports } : exports);
      return entries.map(([entry, file]) => [join(name, entry), join(dirname(path), file)] as const);
    }),
  );
  return new Map(
    globSync('**/*.{ts,tsx}', { cwd: root, exclude }).map((path) => {
      const named = [...read(path).matchAll(/\b(?:from|import) ?\(?'([^'\n]+)'/g)].map(([, name]) => name!);
      const resolve = (name: string) =>
        name.startsWith('.') ? join(dirname(path), name) : (own.get(name) ?? name);
      return [path, [...new Set(named.map(resolve))]];
    }),
  );
}

/** Returns whether a file imports another file or package, also through other files. */
export function reaches(imports: Imports, from: string, target: string): boolean {
  return follow([from], (path) => imports.get(path) ?? []).has(target);
}

/** Returns these paths and all paths that follow from them. */
function follow(start: readonly string[], next: (path: string) => readonly string[]): Set<string> {
  const found = new Set(start);
  for (const path of found) for (const other of next(path)) found.add(other);
  return found;
}

const isTest = (path: string): boolean => /\.test\.tsx?$/.test(path);
/** Helpers of tests. They may be followed, except those that most tests use. */
const isHelper = (path: string): boolean => /^(?:packages\/[\w-]+\/test|prove)\//.test(path) && !isTest(path);
const isHarness = (path: string): boolean => /\/(?:testing|harness)\//.test(path);

/** Returns the folder whose tests belong to a file: the folder of a module, a package, or a proof. */
function moduleOf(path: string): string {
  const [, module] =
    /^(packages\/(?:server|web)\/src(?:\/[\w-]+(?=\/))?|packages\/[\w-]+|prove\/[\w-]+)\//.exec(path) ?? [];
  return module ?? dirname(path);
}

/** A file in use by more test files than this is left to `npm test`. */
const MOST_USERS = 25;

export interface Selection {
  tests: string[];
  /** The changed files whose users are too many. Only the tests of their modules are selected. */
  leftOut: string[];
}

/**
 * Selects the tests of the changed files' modules, and the tests that use a changed file directly, through its own module
 * or through a helper of tests. Other modules and the harness of the server's tests are not followed, because they
 * lead to all tests.
 */
export function selectTests(changed: readonly string[], imports: Imports): Selection {
  const tests = [...imports.keys()].filter(isTest);
  const selected = new Set<string>();
  const leftOut: string[] = [];
  for (const path of changed) {
    const module = moduleOf(path);
    const affected = follow([path], (one) =>
      [...imports.keys()].filter(
        (other) => moduleOf(other) === module && !isTest(other) && imports.get(other)!.includes(one),
      ),
    );
    const users = tests.filter((test) => {
      const used = follow([test], (one) =>
        one === test || (isHelper(one) && !isHarness(one)) ? (imports.get(one) ?? []) : [],
      );
      return [...used].some((one) => affected.has(one));
    });
    if (users.length > MOST_USERS) leftOut.push(path);
    const own = tests.filter((test) => moduleOf(test) === module || showsPage(test, path));
    for (const test of users.length > MOST_USERS ? own : [...own, ...users]) selected.add(test);
  }
  return { tests: [...selected].sort(), leftOut };
}

/**
 * Returns whether a test opens the pages of a file in a browser. Such a test imports no page, so its name says what it
 * tests: `votes.test.ts`, `workbench-votes.test.ts` and `workbench-rows.test.ts` test `workbench/rows/Votes.tsx`.
 */
function showsPage(test: string, path: string): boolean {
  const [, folder, inner, file] =
    /^packages\/web\/src\/(?:([\w-]+)\/(?:([\w-]+)\/)?)?(\w+)\.(?:tsx|module\.css)$/.exec(path) ?? [];
  if (file === undefined || !test.startsWith('packages/web/test/')) return false;
  const name = basename(test, '.test.ts');
  const kebab = file.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
  return [folder, kebab, `${folder}-${kebab}`, `${folder}-${inner}`].includes(name);
}
