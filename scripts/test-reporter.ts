/**
 * Prints the processor time of the test files, and the files over their budget. In the full run, these files fail it, except
 * files whose tests do more in the full run.
 */
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { FULL } from './full.ts';
import { checkBudgets, FILE_SECONDS } from './test-budget.ts';
import { reaches, readImports } from './test-selection.ts';

const ROOT = new URL('../', import.meta.url).pathname;
/** The modules whose users do more in the full run. */
const DOES_MORE = ['scripts/full.ts', 'fast-check'];

export default class BudgetReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const measured = modules.flatMap((module) => {
      const { processor } = module.meta();
      return processor === undefined ? [] : [{ path: relative(ROOT, module.moduleId), ...processor }];
    });
    const { total, over, needless } = checkBudgets(measured);
    console.log(`Processor time of the test files: ${total.toFixed()} s on the reference machine.`);
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
