/** Figures: what a benchmark or a proof says, one line each, and the same as one JSON object. */
import { type ReportPage, writeReport } from './report.ts';

/** A measured value, beside the limit that it is a share of. */
export interface Measured {
  name: string;
  value: number;
  unit: string;
  /** What the value is a ratio of, and the ratio; a goal where one was set for it. */
  ratio?: { value: number; against: string; atLeast?: number };
}

/** A promise, and whether it was held. */
export interface Promised {
  name: string;
  value: number | string;
  goal: string;
  held: boolean;
}

export type Figure = Measured | Promised;

export interface Report {
  seed?: number;
  /** How long it took. */
  seconds?: number;
  figures: Figure[];
}

function isPromised(figure: Figure): figure is Promised {
  return 'goal' in figure;
}

/** Whether its goal was held; undefined for a figure that has none. */
export function isHeld(figure: Figure): boolean | undefined {
  if (isPromised(figure)) return figure.held;
  const { ratio } = figure;
  return ratio?.atLeast === undefined ? undefined : ratio.value >= ratio.atLeast;
}

/** Whether nothing was missed. */
export function allHeld(figures: readonly Figure[]): boolean {
  return figures.every((figure) => isHeld(figure) !== false);
}

/** A figure's value and its goal, in words. */
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

/** Three digits that mean something. */
function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The value that `share` of all values stand before, in order; NaN of no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/**
 * Runs the named ones of `all` (none named: every one), prints their figures, and ends the process with 1 when
 * a goal was missed, 2 for a name that there is not. One that throws is a goal missed, and the next one's turn. A run
 * of all is also written down as a page.
 * @param tidy called after each, for what one that throws has left at work
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
    process.stderr.write(`There is no ${unknown.join(', ')}; there is ${Object.keys(all).join(', ')}.\n`);
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
  // A pipe takes 64 KiB at a time, and the exit would not wait for the rest.
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
  process.exit(Object.values(reports).every(({ figures }) => allHeld(figures)) ? 0 : 1);
}

/** One of them, with the time it took. What it throws is a goal missed, and so is what it throws where nobody awaits it. */
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
  const astray: Figure[] = [];
  const stray = (error: unknown) => void astray.push(missed('went astray', 'nothing', error));
  // Node would end all of the run by it.
  process.on('unhandledRejection', stray);
  process.on('uncaughtException', stray);
  try {
    const report = await run(flags).catch(
      (error: unknown): Report => ({ figures: [missed('came to its end', 'yes', error)] }),
    );
    await new Promise((resolve) => setImmediate(resolve)); // what is rejected now is known after this turn
    const figures = [...report.figures, ...astray];
    return { ...report, figures, seconds: (performance.now() - begun) / 1000 };
  } finally {
    process.off('unhandledRejection', stray);
    process.off('uncaughtException', stray);
  }
}

/** How many goals were held, and a line for each that was not. */
export function summarise(reports: Record<string, Report>): string[] {
  const asked = Object.values(reports)
    .flatMap(({ figures }) => figures)
    .filter((figure) => isHeld(figure) !== undefined);
  const missed = asked.filter((figure) => !isHeld(figure));
  return [`${asked.length - missed.length} of ${asked.length} goals held`, ...missed.map(formatFigure)];
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
