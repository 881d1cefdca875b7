/**
 * `npm run prove -- addresses` checks the address guard with a table of addresses. The name resolver and the
 * sockets are simulated, so no packet is sent. `--json` prints every row with its verdict and reason.
 */
import { type Figure, type Flags, goalZero, type Report } from '../../bench/figures.ts';
import { examine, type Finding, isLiteral } from './examine.ts';
import { ROWS, type Verdict } from './rows.ts';

export interface AddressReport extends Report {
  rows: { url: string; why: string; verdict: Verdict; reason: string; dialled: string[]; faults: string[] }[];
}

const LEAST_ROWS = 200;

export async function proveAddresses(_: Flags): Promise<AddressReport> {
  const findings = await Promise.all(ROWS.map((row) => examine(row)));
  const wrong = findings.filter(({ faults }) => faults.length > 0);
  for (const { row, faults } of wrong)
    process.stderr.write(`${row.url} (${row.why}): ${faults.join('; ')}\n`);
  return {
    figures: [
      {
        name: 'addresses, rows',
        value: findings.length,
        goal: `at least ${LEAST_ROWS}`,
        held: findings.length >= LEAST_ROWS,
      },
      ...counts(findings),
      goalZero('addresses, wrong verdicts', wrong.length),
    ],
    rows: findings.map(({ row, verdict, reason, dialled, faults }) => ({
      url: row.url,
      why: row.why,
      verdict,
      reason,
      dialled,
      faults,
    })),
  };
}

const WORDS: Record<Verdict, string> = {
  creation: 'refused when they are given',
  connect: 'refused before anything is dialled',
  cut: 'cut before a byte is sent',
  nowhere: 'with nothing to dial',
  reached: 'reached',
};

function counts(findings: readonly Finding[]): Figure[] {
  const by = Map.groupBy(findings, ({ verdict }) => verdict);
  return [
    ...Object.entries(WORDS).map(([verdict, words]) => ({
      name: `addresses, ${words}`,
      value: by.get(verdict as Verdict)?.length ?? 0,
      unit: 'rows',
    })),
    {
      name: 'addresses, of them written as literals',
      value: findings.filter(({ row }) => isLiteral(row)).length,
      unit: 'rows',
    },
  ];
}
