/** Prints the figures of a benchmark or proof, one on each line or as one JSON object. */
import { OperatorError } from '../packages/server/src/base/errors.ts';
import { type ReportPage, writeReport } from './report.ts';

/** A measured value, which may be compared with another measurement. */
export interface Measured {
  name: string;
  value: number;
  unit: string;
  /** The ratio to the measurement `against`. `atLeast` is the lowest ratio that meets the goal, if there is one. */
  ratio?: { value: number; against: string; atLeast?: number };
}

/** A value that must meet a goal. */
export interface Promised {
  name: string;
  value: number | string;
  goal: string;
  held: boolean;
}

export type Figure = Measured | Promised;

export interface Report {
  seed?: number;
  /** The duration of the run in seconds. */
  seconds?: number;
  figures: Figure[];
}

/**
 * Returns a figure with the goal 0.
 *
 * @param measured false if there was nothing to count; the goal is then missed
 */
export function goalZero(name: string, value: number, measured = true): Promised {
  return { name, value, goal: '0', held: value === 0 && measured };
}

/**
 * Returns a figure with an upper limit.
 *
 * @param unit printed after the number, including its leading space
 */
export function goalAtMost(name: string, value: number, goal: number, unit = '', digits = 2): Promised {
  return {
    name,
    value: `${value.toFixed(digits)}${unit}`,
    goal: `at most ${goal}${unit}`,
    held: value <= goal,
  };
}

function isPromised(figure: Figure): figure is Promised {
  return 'goal' in figure;
}

/** Returns true if a figure's goal was reached, or undefined if the figure has no goal. */
export function isHeld(figure: Figure): boolean | undefined {
  if (isPromised(figure)) return figure.held;
  const { ratio } = figure;
  return ratio?.atLeast === undefined ? undefined : ratio.value >= ratio.atLeast;
}

/** Returns true if no goal was missed. */
export function allHeld(figures: readonly Figure[]): boolean {
  return figures.every((figure) => isHeld(figure) !== false);
}

/** Returns a figure's value and goal as text. */
export function wordsOf(figure: Figure): { value: string; goal?: string } {
  if (isPromised(figure)) return { value: String(figure.value), goal: figure.goal };
  const { value, unit, ratio } = figure;
  const words = `${round(value)} ${unit}`;
  if (ratio === undefined) return { value: words };
  return {
    value: `${words}, ratio ${ratio.value.toFixed(2)} against ${ratio.against}`,
    ...(ratio.atLeast === undefined ? {} : { goal: String(ratio.atLeast) }),
  };
}

export function formatFigure(figure: Figure): string {
  const { value, goal } = wordsOf(figure);
  const verdict = goal === undefined ? '' : `, goal ${goal}, ${isHeld(figure) ? 'held' : 'missed'}`;
  return `${figure.name}: ${value}${verdict}`;
}

/** Formats a number with three significant digits. */
function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Returns a quantile of the values. `share` is between 0 and 1. Returns NaN if there are no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/**
 * Runs the benchmarks or proofs that the command line names, or all if it names none, and prints their figures. An
 * exception counts as a missed goal. A run without names also writes the report page. Ends the process with status 1
 * when a goal was missed, and with status 2 for an unknown name.
 *
 * @param tidy called after each run, to end processes that a failed run left behind
 */
export async function runNamed(
  all: Record<string, (flags: Flags) => Promise<Report>>,
  page: ReportPage,
  tidy: () => Promise<void> = async () => {},
): Promise<void> {
  const begun = new Date();
  const flags = readFlags(process.argv.slice(2));
  const unknown = flags.names.filter((name) => !(name in all));
  if (unknown.length > 0) {
    process.stderr.write(`Unknown: ${unknown.join(', ')}. Known: ${Object.keys(all).join(', ')}.\n`);
    process.exit(2);
  }
  const reports: Record<string, Report> = {};
  for (const name of flags.names.length > 0 ? flags.names : Object.keys(all)) {
    process.stderr.write(`── ${name}\n`);
    const report = await runOne(name, all[name]!, flags);
    reports[name] = report;
    await tidy();
    process.stderr.write(`── ${name} took ${report.seconds!.toFixed(0)} s\n`);
    if (flags.json) continue;
    for (const figure of report.figures) process.stdout.write(`${formatFigure(figure)}\n`);
    if (report.seed !== undefined) process.stdout.write(`seed: ${report.seed}\n`);
  }
  if (flags.names.length === 0) writeReport(page, reports, begun);
  for (const line of summarise(reports)) process.stderr.write(`${line}\n`);
  const text = flags.json ? `${JSON.stringify(reports)}\n` : '';
  // `process.exit` would discard output that is not written yet, because a pipe accepts only 64 KiB at a
  // time.
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
  process.exit(Object.values(reports).every(({ figures }) => allHeld(figures)) ? 0 : 1);
}

/**
 * Runs one benchmark or proof and measures its duration. An error, or an unhandled rejection, counts as a missed goal.
 */
export async function runOne(
  name: string,
  run: (flags: Flags) => Promise<Report>,
  flags: Flags,
): Promise<Report> {
  const begun = performance.now();
  const missed = (what: string, goal: string, error: unknown): Promised => {
    // A wrong file or option is reported without a stack trace, which would not help the user.
    const described = error instanceof OperatorError ? error.message : ((error as Error)?.stack ?? error);
    process.stderr.write(`${described}\n`);
    const [value] = String((error as Error)?.message ?? error).split('\n');
    return { name: `${name}, ${what}`, value: value!, goal, held: false };
  };
  const unhandled: Figure[] = [];
  const onUnhandled = (error: unknown) => void unhandled.push(missed('unhandled errors', 'none', error));
  // Without a listener for unhandled errors, Node.js would end the whole run.
  process.on('unhandledRejection', onUnhandled);
  process.on('uncaughtException', onUnhandled);
  try {
    const report = await run(flags).catch(
      (error: unknown): Report => ({ figures: [missed('completed', 'yes', error)] }),
    );
    // Node.js reports unhandled rejections after the current turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    const figures = [...report.figures, ...unhandled];
    return { ...report, figures, seconds: (performance.now() - begun) / 1000 };
  } finally {
    process.off('unhandledRejection', onUnhandled);
    process.off('uncaughtException', onUnhandled);
  }
}

/** Returns one line with the number of goals reached, and one line for each missed goal. */
export function summarise(reports: Record<string, Report>): string[] {
  const goals = Object.values(reports)
    .flatMap(({ figures }) => figures)
    .filter((figure) => isHeld(figure) !== undefined);
  const missed = goals.filter((figure) => !isHeld(figure));
  return [`${goals.length - missed.length} of ${goals.length} goals held`, ...missed.map(formatFigure)];
}

export interface Flags {
  names: string[];
  json: boolean;
  /** The flags of the form `--name N` with a whole number. */
  numbers: Record<string, number>;
  /** The flags of the form `--name WORD`. The word is empty for `--name` without a value. */
  words: Record<string, string>;
}

function readFlags(args: readonly string[]): Flags {
  const flags: Flags = { names: [], json: false, numbers: {}, words: {} };
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    const name = arg.slice(2);
    if (arg === '--json') flags.json = true;
    else if (!arg.startsWith('--')) flags.names.push(arg);
    else if (args[i + 1] === undefined || args[i + 1]!.startsWith('--')) flags.words[name] = '';
    else if (Number.isNaN(Number(args[i + 1]))) flags.words[name] = args[++i]!;
    else flags.numbers[name] = Number(args[++i]);
  }
  return flags;
}
