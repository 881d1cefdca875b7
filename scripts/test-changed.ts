// Runs the tests that the changes since `main` can break: `npm run test:changed`. Commits and the working tree count.
import { execFileSync, spawnSync } from 'node:child_process';
import { readImports, selectTests } from './test-selection.ts';

const ROOT = new URL('../', import.meta.url).pathname;
const git = (...args: string[]): string[] =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');

const [base] = git('merge-base', 'HEAD', 'main');
const changed = [...git('diff', '--name-only', base!), ...git('ls-files', '--others', '--exclude-standard')];
const { tests, leftOut } = selectTests(changed, readImports(ROOT));
for (const path of leftOut) console.log(`Too many tests use ${path} to run them here; \`npm test\` does.`);
if (tests.length === 0) {
  console.log('No test belongs to the changes.');
  process.exit();
}
const run = (command: string, ...args: string[]): void => {
  const { status } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
};
run(process.execPath, 'scripts/prepare-tests.ts');
run('vitest', 'run', ...tests);
