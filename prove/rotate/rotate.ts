/** `npm run prove -- rotate`: secrets and keys rolled under load. Flags: `--rolls N` (8), `--seed N`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { type RotateHistory, runRotate } from './run.ts';

export async function proveRotate({ numbers }: Flags): Promise<Report> {
  const seed = numbers.seed ?? Math.floor(Math.random() * 2 ** 31);
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-rotate-'));
  try {
    const say = (line: string) => process.stderr.write(`${line}\n`);
    return { seed, figures: judge(await runRotate({ directory, rolls: numbers.rolls ?? 8, seed, say })) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export function judge({ rolls, asked, received, answers, revoked }: RotateHistory): Figure[] {
  const arrived = new Set(received.map(({ id }) => id));
  const none = (name: string, value: number): Figure => ({
    name: `rotate, ${name}`,
    value,
    goal: '0',
    held: value === 0 && asked.length > 0,
  });
  return [
    { name: 'rotate, rolls of secret and key', value: rolls, unit: 'rolls' },
    { name: 'rotate, deliveries checked', value: received.length, unit: 'deliveries' },
    none('deliveries refused by the verifier', received.filter(({ verified }) => !verified).length),
    none('deliveries that never came', asked.filter((id) => !arrived.has(id)).length),
    none('requests refused though their key was good', answers.filter((status) => status >= 400).length),
    none(
      'revoked keys that still opened a second later',
      revoked.filter((status) => status !== 401).length + Math.max(0, rolls - revoked.length),
    ),
  ];
}
