/** Writes the report of a whole run: every figure with its goal, the date, the machine and the commit. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { type Figure, isHeld, type Report, wordsOf } from './figures.ts';

export interface ReportPage {
  file: URL;
  title: string;
  /** The first sentence of the page, below its title. */
  lead: string;
  /** The reasons for missed goals, by the first words of a figure's name. */
  reasons: Record<string, string>;
}

const GIB = 1024 ** 3;

/**
 * Writes the report page.
 *
 * @param begun the time at which the run started
 */
export function writeReport(page: ReportPage, reports: Record<string, Report>, begun: Date): void {
  const run = (command: string, ...args: string[]) => execFileSync(command, args).toString().trim();
  const changed = run('git', 'status', '--porcelain', '--untracked-files=no') === '' ? '' : ', with changes';
  const where = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, ${Math.round(totalmem() / GIB)} GiB, Linux ${release()}, Node ${process.version}`;
  const made = `${begun.toISOString().slice(0, 16).replace('T', ' ')} UTC, commit ${run('git', 'rev-parse', '--short=12', 'HEAD')}${changed}; ${where}.`;
  writeFileSync(page.file, describeReport(page, reports, made));
}

/**
 * Returns the report page as Markdown.
 *
 * @param made the date, the commit and the machine
 */
export function describeReport(
  { title, lead, reasons }: Pick<ReportPage, 'title' | 'lead' | 'reasons'>,
  reports: Record<string, Report>,
  made: string,
): string {
  const all = Object.values(reports).flatMap(({ figures }) => figures);
  const goals = all.filter((figure) => isHeld(figure) !== undefined);
  const held = goals.filter((figure) => isHeld(figure)).length;
  const parts = Object.entries(reports).map(([name, { seed, seconds, figures }]) =>
    [
      `## ${name}`,
      '',
      ...describeRun(seed, seconds),
      '| figure | value | goal | |',
      '| --- | --- | --- | --- |',
      ...figures.map((figure) => row(figure, reasons)),
      '',
    ].join('\n'),
  );
  return [
    `# ${title}`,
    '',
    lead,
    '',
    `Made ${made}${describeDuration(reports)}`,
    '',
    `**${held} of ${goals.length} goals held.** A figure without a goal is there to be compared.`,
    '',
    ...parts,
  ].join('\n');
}

function describeDuration(reports: Record<string, Report>): string {
  const seconds = Object.values(reports).reduce((sum, report) => sum + (report.seconds ?? 0), 0);
  return seconds === 0 ? '' : ` All of it took ${(seconds / 60).toFixed(0)} min.`;
}

function describeRun(seed: number | undefined, seconds: number | undefined): string[] {
  const words = [
    ...(seed === undefined ? [] : [`Seed ${seed}.`]),
    ...(seconds === undefined ? [] : [`Took ${seconds.toFixed(0)} s.`]),
  ];
  return words.length === 0 ? [] : [words.join(' '), ''];
}

function row(figure: Figure, reasons: Record<string, string>): string {
  const { value, goal } = wordsOf(figure);
  const held = isHeld(figure);
  const reason = Object.entries(reasons).find(([name]) => figure.name.startsWith(name))?.[1];
  const verdict =
    held === undefined ? '' : held ? 'held' : `**missed**${reason === undefined ? '' : `: ${reason}`}`;
  return `| ${[figure.name, value, goal ?? '', verdict].map(asCell).join(' | ')} |`;
}

function asCell(cell: string): string {
  return cell.replaceAll('|', '\\|');
}
