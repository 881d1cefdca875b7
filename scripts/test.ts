// Runs the checks of every commit: `npm test`. Lint and types run at the same time as the tests. Arguments are passed to
// Vitest. At the end, prints the processor time of everything that it started.
import { spawn } from 'node:child_process';
import { FULL } from './full.ts';
import { countUnder } from './processor.ts';
import { COMMAND_SECONDS, inReference, timeUnit } from './test-budget.ts';

const ROOT = new URL('../', import.meta.url).pathname;
const started = performance.now();
/** The time of the fixed piece of work, measured again and again while the tests run. */
const units = [timeUnit()];
setInterval(() => units.push(timeUnit()), 20_000).unref();
const count = countUnder(process.pid);
setInterval(count, 1_000).unref();

/** Runs a command. Returns its output, or shows it at once, and whether it succeeded. */
function run(
  command: string,
  args: string[],
  output: 'inherit' | 'pipe',
): Promise<{ ok: boolean; text: string }> {
  const child = spawn(command, args, { cwd: ROOT, stdio: ['inherit', output, output] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (text += chunk));
  return new Promise((resolve) => child.on('close', (status) => resolve({ ok: status === 0, text })));
}

/** Lint and types run one after the other, so that the tests keep most of the processor. */
async function runChecks(): Promise<{ name: string; ok: boolean; text: string }[]> {
  const checks = [];
  for (const name of ['lint', 'types']) checks.push({ name, ...(await run('npm', ['run', name], 'pipe')) });
  return checks;
}

const prepared = await run(process.execPath, ['scripts/prepare-tests.ts'], 'inherit');
if (!prepared.ok) process.exit(1);
const reporters = ['--reporter=default', '--reporter=./scripts/test-reporter.ts'];
const [checks, tests] = await Promise.all([
  runChecks(),
  run('vitest', ['run', ...reporters, ...process.argv.slice(2)], 'inherit'),
]);
for (const { name, ok, text } of checks) console.log(ok ? `${name}: no fault` : `${name} failed:\n${text}`);

const seconds = count();
const counted = inReference(seconds, units.sort((one, other) => one - other)[Math.floor(units.length / 2)]!);
const minutes = (value: number): string => `${(value / 60).toFixed(1)} min`;
console.log(
  `Took ${minutes((performance.now() - started) / 1000)}. Processor time: ${minutes(seconds)}, on the reference machine ` +
    `${minutes(counted)} of ${minutes(COMMAND_SECONDS)}${counted > COMMAND_SECONDS && !FULL ? ': over the budget' : ''}.`,
);
const ok = tests.ok && checks.every((check) => check.ok);
process.exitCode = ok ? 0 : 1;
