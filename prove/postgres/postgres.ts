/**
 * `npm run prove -- postgres` runs the service on Debian's PostgreSQL as it comes, and on servers and poolers that are not
 * supported. Flags: `--tasks N` (default 100).
 */
import { type Figure, type Flags, goalAtMost, goalZero, type Report } from '../../bench/figures.ts';
import { runProof } from '../harness/run.ts';
import { type PostgresHistory, runPostgres, TEXTS, type Visit } from './run.ts';

/** With JIT compilation, which PostgreSQL does by default, one reading took 3 to 5 s. */
const QUEUE_MILLISECONDS = 1_000;
/** One sentence with the remedy after a colon. */
const SENTENCE = /^[A-Z][^\n]*: [^\n]*\.\n$/;

export async function provePostgres(flags: Flags): Promise<Report> {
  return runProof('postgres', flags, async (options) =>
    judge(await runPostgres({ ...options, tasks: flags.numbers.tasks ?? 100 })),
  );
}

export function judge({ visits }: PostgresHistory): Figure[] {
  const supported = visits.filter(({ isSupported }) => isSupported);
  const others = visits.filter(({ isSupported }) => !isSupported);
  const measured = supported.length > 0 && others.length > 0;
  const slowest = Math.max(...supported.flatMap(({ queue = [Number.POSITIVE_INFINITY] }) => queue));
  return [
    { name: 'postgres, servers and poolers', value: visits.length, unit: 'places' },
    goalZero(
      'postgres, supported places without correct translations',
      supported.filter((visit) => !isTranslated(visit)).length,
      measured,
    ),
    goalAtMost("postgres, slowest reading of the editors' queue", slowest, QUEUE_MILLISECONDS, ' ms', 0),
    goalZero(
      'postgres, other places not refused in one sentence',
      others.filter(({ refusal }) => !SENTENCE.test(refusal)).length,
      measured,
    ),
    goalZero('postgres, places that keep a lock', visits.filter(({ locks }) => locks > 0).length, measured),
  ];
}

/** Returns true if every text has a translation with its signs that no engine changes. */
function isTranslated({ translations = [] }: Visit): boolean {
  const kept = (text: string) => text.match(/[^\x20-\x7f]+/gu)?.filter((sign) => !/\p{L}/u.test(sign)) ?? [];
  return TEXTS.every((text, index) => {
    const translation = translations[index] ?? '';
    return translation.includes('casa') && kept(text).every((sign) => translation.includes(sign));
  });
}
