/**
 * The limits of the tests. Processor time is counted in seconds of a reference machine: a fixed piece of work is timed
 * in the same run, so that a slow or busy machine changes nothing.
 */
import { FULL } from './full.ts';

/** The processor time in milliseconds that {@link workUnit} takes on the reference machine: two quiet cores of a cloud host. */
const REFERENCE_MILLISECONDS = 9;

/** The maximum processor time in seconds of one test file, and of the whole command. */
export const FILE_SECONDS = 15;
export const COMMAND_SECONDS = 16 * 60;

/**
 * The files that may take more, with their limit in seconds. The list and its numbers may only shrink. A
 * run names the listed files that no longer need their entry. All of them load pages of the web app for each of their
 * many tests; the numbers were measured on a busy machine.
 */
export const EXPENSIVE: Readonly<Record<string, number>> = {
  'packages/web/test/console-flows.test.ts': 35,
  'packages/web/test/crawl.test.ts': 65,
  'packages/web/test/translate.test.ts': 45,
  'packages/web/test/workbench-shortcuts.test.ts': 25,
};

/** The files whose tests run for long, with the factor by which their time limit is longer, and the reason. */
export const LONG: Readonly<Record<string, readonly [times: number, reason: string]>> = {
  'packages/web/test/crawl.test.ts': [10, 'one test opens all pages of a role, some forty'],
  'packages/server/src/package.test.ts': [5, 'installs the packages of a release with npm'],
};

/** The time limit of an ordinary test in milliseconds, on the reference machine. It only ends tests that hang. */
const ORDINARY_MILLISECONDS = 180_000;
/** The full run tries forty times the examples and runs short proofs. */
const FULL_TIMES = 5;
/** The limit grows with the time that a busy machine takes, up to this factor. */
const MOST_TIMES = 5;

/** Returns the time limit in milliseconds of an ordinary test on this machine. */
export function timeLimit(): number {
  const run = (times: number) => Array.from({ length: times }, workUnit);
  run(3); // The first ones are slower, because they are not compiled yet.
  const start = performance.now();
  run(5);
  const factor = (performance.now() - start) / 5 / REFERENCE_MILLISECONDS;
  return Math.round(
    ORDINARY_MILLISECONDS * Math.min(MOST_TIMES, Math.max(1, factor)) * (FULL ? FULL_TIMES : 1),
  );
}

/** Returns the factor by which the time limit of a file is longer. @param path relative to the repository */
export const limitTimes = (path: string): number => LONG[path]?.[0] ?? 1;

const ROWS = Array.from({ length: 2_000 }, (_, id) => ({
  id,
  name: `row ${id}`,
  words: [id, (id * 7) % 13],
}));

/** The fixed piece of work: writes, reads and sorts a list. */
function workUnit(): void {
  for (let times = 0; times < 10; times += 1) {
    const rows: typeof ROWS = JSON.parse(JSON.stringify(ROWS));
    rows.sort((one, other) => one.words[1]! - other.words[1]! || (one.name < other.name ? -1 : 1));
  }
}

/** Returns the processor time in milliseconds that this machine now needs for the fixed piece of work. */
export function timeUnit(): number {
  const times = Array.from({ length: 3 }, () => {
    const before = process.threadCpuUsage();
    workUnit();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

/** Converts processor time of this machine to seconds of the reference machine. @param unit from {@link timeUnit} */
export const inReference = (seconds: number, unit: number): number =>
  (seconds * REFERENCE_MILLISECONDS) / unit;

/** The processor time of a test file in seconds, and the time of the fixed piece of work after it. */
export interface Measured {
  path: string;
  project: string;
  seconds: number;
  unit: number;
}

interface Cost {
  path: string;
  seconds: number;
}

/**
 * Compares test files with their budgets. `files` are all files, and `over` those that exceed their budget, both the most
 * expensive first. `needless` are the listed files that could do without their entry.
 */
export function checkBudgets(
  measured: readonly Measured[],
  listed: Readonly<Record<string, number>> = EXPENSIVE,
): {
  total: number;
  projects: { name: string; seconds: number }[];
  files: Cost[];
  over: Cost[];
  needless: string[];
} {
  const units = measured.map(({ unit }) => unit).sort((one, other) => one - other);
  const median = units[Math.floor(units.length / 2)] ?? REFERENCE_MILLISECONDS;
  const files = measured
    .map(({ path, project, seconds }) => ({ path, project, seconds: inReference(seconds, median) }))
    .sort((one, other) => other.seconds - one.seconds);
  const projects = new Map<string, number>();
  for (const { project, seconds } of files) projects.set(project, (projects.get(project) ?? 0) + seconds);
  return {
    total: files.reduce((sum, { seconds }) => sum + seconds, 0),
    projects: [...projects].map(([name, seconds]) => ({ name, seconds })),
    files,
    over: files.filter(({ path, seconds }) => seconds > (listed[path] ?? FILE_SECONDS)),
    // A file close to its budget keeps its entry, because no two runs take the same time.
    needless: files
      .filter(({ path, seconds }) => listed[path] !== undefined && seconds < (FILE_SECONDS * 2) / 3)
      .map(({ path }) => path),
  };
}
