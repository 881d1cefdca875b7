/** `npm run prove -- tenants`: nobody sees anything of another account, nor an editor of a task that is not theirs. Flags: `--calls N` (10,000), `--seed N`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { ALL_MARKS } from './editors.ts';
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

export function judge({ calls, lists, operations, shown, before, after }: TenantsHistory): Figure[] {
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
  const seen = shown.flatMap(({ asked, answer, may }) =>
    ALL_MARKS.filter((mark) => answer.text.includes(mark) && !may.includes(mark)).map(
      (mark) => `${asked}: ${mark}`,
    ),
  );
  const changed = shown.filter(({ answer, changes }) => changes && answer.status < 300);
  for (const line of [...seen, ...changed.map(({ asked }) => asked)].slice(0, 10)) {
    process.stderr.write(`${line}\n`);
  }
  // Some of them are shown what they may see: else nothing was asked.
  const isAsked = shown.some(
    ({ answer, may }) => answer.status === 200 && may.some((one) => answer.text.includes(one)),
  );
  const none = (name: string, value: number): Figure => ({
    name: `tenants, ${name}`,
    value,
    goal: '0',
    held: value === 0 && calls.length > 0 && isAsked,
  });
  return [
    { name: 'tenants, operations called', value: operations, unit: 'operations' },
    { name: 'tenants, pairs of calls and lists', value: answers.length, unit: 'calls' },
    none('answers that tell another’s id from nobody’s', apart.length),
    none('calls with another’s id that were answered', opened.length),
    none('answers with anything of another account', leaks.length),
    none('texts shown to editors who neither hold their task nor wrote them', seen.length),
    none('changes by editors who do not hold the task', changed.length),
    none(
      'changes to what the other account reads',
      before.filter((text, index) => text !== after[index]).length,
    ),
  ];
}
