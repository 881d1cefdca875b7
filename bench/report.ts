/** The report of a whole run: every figure beside its goal, with the day, the machine and the commit it was made on. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { type Figure, isHeld, type Report, wordsOf } from './figures.ts';

export interface ReportPage {
  /** Where it is written. */
  file: URL;
  title: string;
  /** What stands below the title, for its reader. */
  lead: string;
  /** Why figures are missed, by the beginnings of their names. */
  reasons: Record<string, string>;
}

const GIB = 1024 ** 3;

/** Writes the page. @param begun when the run began */
export function writeReport(page: ReportPage, reports: Record<string, Report>, begun: Date): void {
  const run = (command: string, ...args: string[]) => execFileSync(command, args).toString().trim();
  const changed = run('git', 'status', '--porcelain', '--untracked-files=no') === '' ? '' : ', with changes';
  const where = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, ${Math.round(totalmem() / GIB)} GiB, Linux ${release()}, Node ${process.version}`;
  const made = `${begun.toISOString().slice(0, 16).replace('T', ' ')} UTC, commit ${run('git', 'rev-parse', '--short=12', 'HEAD')}${changed}; ${where}.`;
  writeFileSync(page.file, describeReport(page, reports, made));
}

/** @param made when, on what, of what commit */
export function describeReport(
  { title, lead, reasons }: Pick<ReportPage, 'title' | 'lead' | 'reasons'>,
  reports: Record<string, Report>,
  made: string,
): string {
  const all = Object.values(reports).flatMap(({ figures }) => figures);
  const asked = all.filter((figure) => isHeld(figure) !== undefined);
  const held = asked.filter((figure) => isHeld(figure)).length;
  const parts = Object.entries(reports).map(([name, { seed, seconds, figures }]) =>
    [
      `## ${name}`,
      '',
      ...howItRan(seed, seconds),
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
    `Made ${made}${lengthOf(reports)}`,
    '',
    `**${held} of ${asked.length} goals held.** A figure without a goal is there to be compared.`,
    '',
    ...parts,
  ].join('\n');
}

/** How long all of them took. */
function lengthOf(reports: Record<string, Report>): string {
  const seconds = Object.values(reports).reduce((sum, report) => sum + (report.seconds ?? 0), 0);
  return seconds === 0 ? '' : ` All of it took ${(seconds / 60).toFixed(0)} min.`;
}

function howItRan(seed: number | undefined, seconds: number | undefined): string[] {
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
