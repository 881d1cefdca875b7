/**
 * Prints the processor time of the test files: by project, of the most expensive files, and of those over their budget.
 * `COSTS=1000` prints more of the most expensive files. In the full run, files over their budget fail it, except
 * files whose tests do more in the full run.
 */
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { FULL } from './full.ts';
import { checkBudgets, FILE_SECONDS } from './test-budget.ts';
import { reaches, readImports } from './test-selection.ts';

/** How many of the most expensive files are printed. */
const COSTS = Number(process.env.COSTS ?? 10);
const ROOT = new URL('../', import.meta.url).pathname;
/** The modules whose users do more in the full run. */
const DOES_MORE = ['scripts/full.ts', 'fast-check'];

export default class BudgetReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const measured = modules.flatMap((module) => {
      const { processor } = module.meta();
      return processor === undefined
        ? []
        : [{ path: relative(ROOT, module.moduleId), project: module.project.name, ...processor }];
    });
    const { total, projects, files, over, needless } = checkBudgets(measured);
    const list = projects.map(({ name, seconds }) => `${name} ${seconds.toFixed()} s`).join(', ');
    console.log(`Processor time of the test files on the reference machine: ${total.toFixed()} s (${list}).`);
    console.log('The most expensive files:');
    for (const { path, seconds } of files.slice(0, COSTS))
      console.log(`  ${seconds.toFixed(1).padStart(6)} s  ${path}`);
    for (const { path, seconds } of over) {
      console.log(`  over its budget (${FILE_SECONDS} s): ${path}, ${seconds.toFixed()} s`);
    }
    for (const path of needless) console.log(`  needs no entry in the list of exceptions: ${path}`);
    if (!FULL) return;
    const imports = readImports(ROOT);
    const failing = over.filter(({ path }) => !DOES_MORE.some((target) => reaches(imports, path, target)));
    if (failing.length > 0) process.exitCode = 1;
  }
}
