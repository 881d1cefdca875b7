/**
 * A copy of the project to mutate, in a directory that is thrown away: sources are copied, libraries are linked. The
 * working tree is only read, so it may change meanwhile.
 */
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const ROOT = new URL('../..', import.meta.url).pathname;
const PACKAGES = ['checks', 'client', 'documents', 'engines', 'server'];

export function takeSnapshot(directory: string): void {
  const left = new Set(['node_modules', 'dist']);
  for (const name of PACKAGES) {
    const folder = join('packages', name);
    const filter = (source: string) => !left.has(basename(source));
    cpSync(join(ROOT, folder), join(directory, folder), { recursive: true, filter });
    linkLibraries(join(ROOT, folder, 'node_modules'), join(directory, folder, 'node_modules'), directory);
  }
  for (const name of [
    'docs',
    'scripts',
    'examples',
    'package.json',
    'tsconfig.json',
    'CHANGELOG.md',
    'README.md',
  ]) {
    cpSync(join(ROOT, name), join(directory, name), { recursive: true });
  }
  linkLibraries(join(ROOT, 'node_modules'), join(directory, 'node_modules'), directory);
  cpSync(join(ROOT, 'vitest.config.ts'), join(directory, 'vitest.original.ts'));
  writeFileSync(join(directory, 'vitest.config.ts'), CONFIG);
}

/** The project's own configuration, with a setup file more, and a runner. */
const CONFIG = `
import config from './vitest.original.ts';

const setup = ${JSON.stringify(join(ROOT, 'prove/mutation/setup.ts'))};
const runner = ${JSON.stringify(join(ROOT, 'prove/mutation/runner.ts'))};
const wanted = ${JSON.stringify(PACKAGES)};
const projects = config.test.projects
  .filter(({ test }) => wanted.includes(test.name))
  .map((project) => ({ test: { ...project.test, runner, setupFiles: [...project.test.setupFiles, setup] } }));
export default { test: { projects } };
`;

function linkLibraries(from: string, to: string, directory: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of list(from)) {
    if (name === '@dragoman') {
      mkdirSync(join(to, name), { recursive: true });
      for (const own of list(join(from, name))) {
        if (PACKAGES.includes(own)) symlinkSync(join(directory, 'packages', own), join(to, name, own));
      }
    } else if (!name.startsWith('.vite')) symlinkSync(join(from, name), join(to, name));
  }
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
