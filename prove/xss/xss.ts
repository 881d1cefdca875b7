/**
 * `npm run prove -- xss` checks that everything that users and programs write stays text, wherever it is shown.
 * Flags: `--vectors N` (default all).
 */
import { execFileSync } from 'node:child_process';
import { type Figure, type Flags, goalZero, type Report } from '../../bench/figures.ts';
import { runProof } from '../harness/run.ts';
import { runXss, type XssHistory } from './run.ts';
import { someVectors, VECTORS } from './vectors.ts';

const ROOT = new URL('../..', import.meta.url);

export async function proveXss(flags: Flags): Promise<Report> {
  // Builds the web app, so that the proof tests the current sources.
  execFileSync('npm', ['run', 'build'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  const { figures } = await runProof('xss', flags, async (options) => {
    const vectors = someVectors(flags.numbers.vectors ?? VECTORS.length);
    return judge(await runXss({ ...options, vectors }));
  });
  return { figures };
}

export function judge(history: XssHistory): Figure[] {
  const { vectors, places, trips, violations, faults, mails, planted, taken } = history;
  const lines = new Set(
    [...trips, ...violations].map(({ place, how, what }) => `${place}: ${how} ${what}\n`),
  );
  for (const line of [...lines].slice(0, 20)) process.stderr.write(line);
  for (const fault of faults.slice(0, 20)) process.stderr.write(`${fault}\n`);
  const seen = places.reduce((sum, place) => sum + place.seen, 0);
  const sum = (of: 'taken' | 'refused') => Object.values(taken).reduce((all, one) => all + one[of], 0);
  return [
    { name: 'xss, vectors', value: vectors, unit: 'vectors' },
    { name: 'xss, put somewhere one by one', value: sum('taken'), unit: 'values' },
    { name: 'xss, refused at the door', value: sum('refused'), unit: 'values' },
    { name: 'xss, places opened', value: places.length, unit: 'places' },
    { name: 'xss, vectors seen at places', value: seen, unit: 'vectors × places' },
    { name: 'xss, mails', value: mails, unit: 'mails' },
    goalZero('xss, tripwires', trips.length, seen > 0),
    goalZero('xss, violations of the policy of a page', violations.length, seen > 0),
    goalZero('xss, faults of files and mails', faults.length, seen > 0),
    {
      name: 'xss, every vector was seen',
      value: Math.max(0, ...places.map((place) => place.seen)),
      goal: String(vectors),
      held: places.some((place) => place.seen === vectors),
    },
    { name: 'xss, tripwires of a page without protection', value: planted, goal: '> 0', held: planted > 0 },
  ];
}
