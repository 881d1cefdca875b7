/**
 * `npm run prove -- xss`: whatever people and programs write stays a text, wherever it is shown. Flags: `--vectors N`
 * (all of them).
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { runXss, type XssHistory } from './run.ts';
import { someVectors, VECTORS } from './vectors.ts';

const ROOT = new URL('../..', import.meta.url);

export async function proveXss({ numbers }: Flags): Promise<Report> {
  // What is proved is the web app as it stands here, not as it was when it was last built, or none.
  execFileSync('npm', ['run', 'build'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-xss-'));
  try {
    const say = (line: string) => process.stderr.write(`${line}\n`);
    const vectors = someVectors(numbers.vectors ?? VECTORS.length);
    return { figures: judge(await runXss({ directory, vectors, say })) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export function judge(history: XssHistory): Figure[] {
  const { vectors, places, trips, violations, papers, mails, planted, taken } = history;
  const lines = new Set(
    [...trips, ...violations].map(({ place, how, what }) => `${place}: ${how} ${what}\n`),
  );
  for (const line of [...lines].slice(0, 20)) process.stderr.write(line);
  for (const fault of papers.slice(0, 20)) process.stderr.write(`${fault}\n`);
  const seen = places.reduce((sum, place) => sum + place.seen, 0);
  const sum = (of: 'taken' | 'refused') => Object.values(taken).reduce((all, one) => all + one[of], 0);
  const none = (name: string, value: number): Figure => ({
    name: `xss, ${name}`,
    value,
    goal: '0',
    held: value === 0 && seen > 0,
  });
  return [
    { name: 'xss, vectors', value: vectors, unit: 'vectors' },
    { name: 'xss, put somewhere one by one', value: sum('taken'), unit: 'values' },
    { name: 'xss, refused at the door', value: sum('refused'), unit: 'values' },
    { name: 'xss, places opened', value: places.length, unit: 'places' },
    { name: 'xss, vectors seen at places', value: seen, unit: 'vectors × places' },
    { name: 'xss, mails', value: mails, unit: 'mails' },
    none('tripwires', trips.length),
    none('violations of the policy of a page', violations.length),
    none('faults of files and mails', papers.length),
    {
      name: 'xss, every vector was seen',
      value: Math.max(0, ...places.map((place) => place.seen)),
      goal: String(vectors),
      held: places.some((place) => place.seen === vectors),
    },
    { name: 'xss, tripwires of a page without protection', value: planted, goal: '> 0', held: planted > 0 },
  ];
}
