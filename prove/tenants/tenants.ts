/** `npm run prove -- tenants`: nobody sees anything of another account. Flags: `--calls N` (10,000), `--seed N`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { type Answered, CANARY, runTenants, type TenantsHistory } from './run.ts';

export async function proveTenants({ numbers }: Flags): Promise<Report> {
  const seed = numbers.seed ?? Math.floor(Math.random() * 2 ** 31);
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-tenants-'));
  try {
    const say = (line: string) => process.stderr.write(`${line}\n`);
    return {
      seed,
      figures: judge(await runTenants({ directory, calls: numbers.calls ?? 10_000, seed, say })),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What tells two answers apart by more than their moment and their number. */
const bytesOf = ({ status, headers, text }: Answered) =>
  JSON.stringify([status, headers.filter(([name]) => name !== 'date' && name !== 'x-request-id'), text]);

export function judge({ calls, lists, operations, before, after }: TenantsHistory): Figure[] {
  const apart = calls.filter(({ foreign, unknown }) => bytesOf(foreign) !== bytesOf(unknown));
  const opened = calls.filter(({ foreign }) => foreign.status < 400);
  const answers = [...calls.map(({ asked, foreign }) => ({ asked, answer: foreign })), ...lists];
  // A link to the next page, or a sentence, may repeat what the caller asked.
  const leaks = answers.filter(({ asked, answer }) => {
    const words = decodeURIComponent(asked).match(new RegExp(`\\S*${CANARY}[^\\s&?/]*`, 'g')) ?? [];
    return words
      .reduce((text, word) => text.replaceAll(word.split('=').at(-1)!, ''), answer.text)
      .includes(CANARY);
  });
  for (const { asked, foreign, unknown } of apart.slice(0, 10)) {
    process.stderr.write(`${asked}: ${bytesOf(foreign)} and ${bytesOf(unknown)}\n`);
  }
  for (const { asked, answer } of leaks.slice(0, 10))
    process.stderr.write(`${asked}: ${answer.text.slice(0, 300)}\n`);
  const none = (name: string, value: number): Figure => ({
    name: `tenants, ${name}`,
    value,
    goal: '0',
    held: value === 0 && calls.length > 0,
  });
  return [
    { name: 'tenants, operations called', value: operations, unit: 'operations' },
    { name: 'tenants, pairs of calls and lists', value: answers.length, unit: 'calls' },
    none('answers that tell another’s id from nobody’s', apart.length),
    none('calls with another’s id that were answered', opened.length),
    none('answers with anything of another account', leaks.length),
    none(
      'changes to what the other account reads',
      before.filter((text, index) => text !== after[index]).length,
    ),
  ];
}
