/** The figures of a benchmark or a proof, printed one a line or as one JSON object. */
import { type ReportPage, writeReport } from './report.ts';

/** A measured value, and its ratio to a limit. */
export interface Measured {
  name: string;
  value: number;
  unit: string;
  /** The limit's name and the ratio to it, with the goal if there is one. */
  ratio?: { value: number; against: string; atLeast?: number };
}

/** A value with a goal. */
export interface Promised {
  name: string;
  value: number | string;
  goal: string;
  held: boolean;
}

export type Figure = Measured | Promised;

export interface Report {
  seed?: number;
  /** The duration. */
  seconds?: number;
  figures: Figure[];
}

/** Returns a figure with the goal 0. @param measured whether there was anything to count; without it the goal is missed */
export function goalZero(name: string, value: number, measured = true): Promised {
  return { name, value, goal: '0', held: value === 0 && measured };
}

/** Returns a figure with an upper limit. @param unit printed after the number, with its space */
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

/** Whether a figure's goal was held; undefined without a goal. */
export function isHeld(figure: Figure): boolean | undefined {
  if (isPromised(figure)) return figure.held;
  const { ratio } = figure;
  return ratio?.atLeast === undefined ? undefined : ratio.value >= ratio.atLeast;
}

/** Whether no goal was missed. */
export function allHeld(figures: readonly Figure[]): boolean {
  return figures.every((figure) => isHeld(figure) !== false);
}

/** Describes a figure's value and goal in words. */
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

/** Writes three significant digits. */
function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Returns the quantile of `share` (0 to 1); NaN without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/**
 * Runs the benchmarks or proofs that the command line names (none named: all), and prints their figures. One that throws
 * counts as a missed goal. A run of all writes the report page too. Ends the process with status 1 when a goal was
 * missed, and 2 for an unknown name.
 * @param tidy called after each, to end processes that a failed one left running
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
  // A pipe takes 64 KiB at a time, and `process.exit` does not wait for the rest.
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
  process.exit(Object.values(reports).every(({ figures }) => allHeld(figures)) ? 0 : 1);
}

/** Runs one and measures its time. An error counts as a missed goal, also one of a promise that nothing awaits. */
export async function runOne(
  name: string,
  run: (flags: Flags) => Promise<Report>,
  flags: Flags,
): Promise<Report> {
  const begun = performance.now();
  const missed = (what: string, goal: string, error: unknown): Promised => {
    process.stderr.write(`${(error as Error)?.stack ?? error}\n`);
    const [value] = String((error as Error)?.message ?? error).split('\n');
    return { name: `${name}, ${what}`, value: value!, goal, held: false };
  };
  const unhandled: Figure[] = [];
  const onUnhandled = (error: unknown) => void unhandled.push(missed('unhandled errors', 'none', error));
  // Without a listener, Node would end the whole run.
  process.on('unhandledRejection', onUnhandled);
  process.on('uncaughtException', onUnhandled);
  try {
    const report = await run(flags).catch(
      (error: unknown): Report => ({ figures: [missed('completed', 'yes', error)] }),
    );
    await new Promise((resolve) => setImmediate(resolve)); // rejections are reported after this turn
    const figures = [...report.figures, ...unhandled];
    return { ...report, figures, seconds: (performance.now() - begun) / 1000 };
  } finally {
    process.off('unhandledRejection', onUnhandled);
    process.off('uncaughtException', onUnhandled);
  }
}

/** Returns a line with the number of held goals, and one for each missed goal. */
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
  /** `--name N`, whole numbers. */
  numbers: Record<string, number>;
  /** `--name WORD`; empty for a `--name` alone. */
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
