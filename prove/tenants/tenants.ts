/**
 * `npm run prove -- tenants` checks that no user sees anything of another account, and that no editor sees a task
 * that another editor has claimed or that is not claimed. Flags: `--calls N` (default 10,000), `--seed N`.
 */
import { type Figure, type Flags, goalZero, type Report } from '../../bench/figures.ts';
import { runProof } from '../harness/run.ts';
import { ALL_MARKS } from './editors.ts';
import { type Answered, CANARY, runTenants, type TenantsHistory } from './run.ts';

export async function proveTenants(flags: Flags): Promise<Report> {
  return runProof('tenants', flags, async (options) =>
    judge(await runTenants({ ...options, calls: flags.numbers.calls ?? 10_000 })),
  );
}

/** Prints up to ten violations on stderr. */
function print(lines: readonly string[]): void {
  for (const line of lines.slice(0, 10)) process.stderr.write(`${line}\n`);
}

/** Returns everything of a response except its time and its request id. */
const bytesOf = ({ status, headers, text }: Answered) =>
  JSON.stringify([status, headers.filter(([name]) => name !== 'date' && name !== 'x-request-id'), text]);

export function judge({ calls, lists, operations, shown, before, after }: TenantsHistory): Figure[] {
  const apart = calls.filter(({ foreign, unknown }) => bytesOf(foreign) !== bytesOf(unknown));
  const opened = calls.filter(({ foreign }) => foreign.status < 400);
  const answers = [...calls.map(({ asked, foreign }) => ({ asked, answer: foreign })), ...lists];
  // A link to the next page, or an error message, may repeat the words of the request.
  const leaks = answers.filter(({ asked, answer }) => {
    const words = decodeURIComponent(asked).match(new RegExp(`\\S*${CANARY}[^\\s&?/]*`, 'g')) ?? [];
    return words
      .reduce((text, word) => text.replaceAll(word.split('=').at(-1)!, ''), answer.text)
      .includes(CANARY);
  });
  print(apart.map(({ asked, foreign, unknown }) => `${asked}: ${bytesOf(foreign)} and ${bytesOf(unknown)}`));
  print(leaks.map(({ asked, answer }) => `${asked}: ${answer.text.slice(0, 300)}`));
  const seen = shown.flatMap(({ asked, answer, may }) =>
    ALL_MARKS.filter((mark) => answer.text.includes(mark) && !may.includes(mark)).map(
      (mark) => `${asked}: ${mark}`,
    ),
  );
  const changed = shown.filter(({ answer, changes }) => changes && answer.status < 300);
  print([...seen, ...changed.map(({ asked }) => asked)]);
  const rewritten = before.filter((text, index) => text !== after[index]);
  // The goal is reached only if the editors also saw texts that they may see. Otherwise the calls would prove nothing.
  const measured =
    calls.length > 0 &&
    shown.some(({ answer, may }) => answer.status === 200 && may.some((one) => answer.text.includes(one)));
  return [
    { name: 'tenants, operations called', value: operations, unit: 'operations' },
    { name: 'tenants, pairs of calls and lists', value: answers.length, unit: 'calls' },
    goalZero('tenants, answers that tell another’s id from nobody’s', apart.length, measured),
    goalZero('tenants, calls with another’s id that were answered', opened.length, measured),
    goalZero('tenants, answers with anything of another account', leaks.length, measured),
    goalZero(
      'tenants, texts shown to editors who neither hold their task nor wrote them',
      seen.length,
      measured,
    ),
    goalZero('tenants, changes by editors who do not hold the task', changed.length, measured),
    goalZero('tenants, changes to what the other account reads', rewritten.length, measured),
  ];
}
