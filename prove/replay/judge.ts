/** The figures of a replay: how fast confirmed texts reached the waiting segments, and how good these texts are. */
import { type Figure, goalAtMost, goalZero, quantile } from '../../bench/figures.ts';
import { distance } from '../../packages/checks/src/checks.ts';
import type { ReplayedRow, ReplayHistory } from './run.ts';

/** The time in which a confirmed text must reach a segment that waits. */
const PATIENCE_MILLISECONDS = 2_000;
const MOST_DISAGREEMENT = 2;
const MOST_SLOWDOWN = 1.1;
/** A text is bad if an editor would change more than this share of its words. */
const BAD = 0.3;

export function judge(history: ReplayHistory): Figure[] {
  const { rows, confirmations, refused, undelivered, seconds } = history;
  const readings = [...Map.groupBy(rows, readingOf).values()];
  const repeats = rows.length - readings.length;
  return [
    { name: 'replay, segments', value: rows.length, unit: 'segments' },
    { name: 'replay, repeats of an earlier segment', value: percent(repeats, rows.length), unit: '%' },
    { name: 'replay, recorded edits that could not be confirmed', value: refused, unit: 'edits' },
    { name: 'replay, duration', value: Math.round(seconds), unit: 's' },
    goalZero('replay, jobs that were not delivered', undelivered),
    ...judgeArrival(readings),
    ...judgeTexts(readings, rows),
    ...judgeDrafts(rows),
    ...judgeConfirmations(confirmations),
  ];
}

const readingOf = ({ client, tone, source }: ReplayedRow) => JSON.stringify([client, tone, source]);
const percent = (part: number, whole: number) => (whole === 0 ? 0 : (100 * part) / whole);

/** Measures how fast the first confirmed text of each reading reached the segments that were waiting at that time. */
function judgeArrival(readings: readonly ReplayedRow[][]): Figure[] {
  const delays: number[] = [];
  let missing = 0;
  let early = 0;
  for (const rows of readings) {
    const votes = rows.filter((row) => row.confirmedAt !== undefined);
    const first = votes.reduce<ReplayedRow | undefined>(
      (best, row) => (best === undefined || row.confirmedAt! < best.confirmedAt! ? row : best),
      undefined,
    );
    if (first === undefined) continue;
    for (const row of rows) {
      // Repeats in the same job are left out, because the request that confirms one of them also fills the others.
      if (row.uid === first.uid || row.claimedAt <= first.confirmedAt!) continue;
      const delay = delayOf(row, votes, first.confirmedAt!);
      if (delay !== undefined) delays.push(delay);
      else if (row.claimedAt < first.confirmedAt! + PATIENCE_MILLISECONDS) early++;
      else missing++;
    }
  }
  const waiting = delays.length + missing;
  const inTime = delays.filter((delay) => delay <= PATIENCE_MILLISECONDS).length;
  const delayed = delays.filter((delay) => delay > 0);
  return [
    { name: 'replay, waiting repeats of a confirmed segment', value: waiting, unit: 'segments' },
    {
      name: 'replay, of them with this draft before',
      value: delays.length - delayed.length,
      unit: 'segments',
    },
    { name: 'replay, repeats claimed before their text came', value: early, unit: 'segments' },
    {
      name: 'replay, waiting repeats that have the text within 2 s',
      value: `${percent(inTime, waiting).toFixed(2)} %`,
      goal: '100 %',
      held: inTime === waiting && waiting > 0,
    },
    ...[0.5, 0.95, 0.99, 1].flatMap((share): Figure[] => {
      const name = `replay, from a confirmation to its repeats, ${share === 1 ? 'slowest' : `p${100 * share}`}`;
      return delayed.length === 0 ? [] : [{ name, value: Math.round(quantile(delayed, share)), unit: 'ms' }];
    }),
  ];
}

/**
 * Returns the milliseconds until a waiting segment had the text of a vote: 0 if its draft was this text. Undefined if
 * it never had one.
 */
function delayOf(row: ReplayedRow, votes: readonly ReplayedRow[], since: number): number | undefined {
  const times = votes
    .filter((vote) => vote !== row && vote.delivered === row.engine && vote.confirmedAt! < row.claimedAt)
    .map((vote) => vote.confirmedAt!);
  if (row.filledAt !== undefined) times.push(row.filledAt);
  return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - since);
}

/**
 * Compares the texts of votes in segments that nobody opened with the recorded edits. For comparison, measures how much
 * the edits of different editors differ.
 */
function judgeTexts(readings: readonly ReplayedRow[][], rows: readonly ReplayedRow[]): Figure[] {
  const byVote = rows.filter((row) => row.byVote);
  const words = (some: readonly ReplayedRow[]) => some.reduce((sum, row) => sum + row.words, 0);
  const unopened = compareTexts(byVote.map((row) => [row.delivered, row.edit]));
  const neighbors = readings.flatMap(neighborsOf);
  const editors = compareTexts(
    neighbors
      .filter(([before, row]) => before.editor !== row.editor)
      .map(([before, row]) => [before.edit, row.edit]),
  );
  const voted = compareTexts(
    readings
      .flatMap((some) => neighborsOf(some.filter((row) => row.byVote)))
      .map(([before, row]) => [before.delivered, row.delivered]),
  );
  const delivered = compareTexts(neighbors.map(([before, row]) => [before.delivered, row.delivered]));
  const disagreement = percent(voted.differing, voted.pairs);
  return [
    {
      name: 'replay, words that nobody opened',
      value: percent(words(byVote), words(rows)),
      unit: '% of the words',
    },
    ...describe('editor against editor', editors),
    ...describe('unopened text against the recorded edit', unopened),
    {
      name: 'replay, bad unopened texts',
      value: `${percent(unopened.bad, unopened.pairs).toFixed(1)} %`,
      goal: `at most ${percent(editors.bad, editors.pairs).toFixed(1)} %, as editor against editor`,
      held: unopened.pairs > 0 && unopened.bad * editors.pairs <= editors.bad * unopened.pairs,
    },
    {
      name: 'replay, disagreement among all delivered repeats',
      value: percent(delivered.differing, delivered.pairs),
      unit: '%',
    },
    {
      name: 'replay, disagreement among delivered repeats that nobody opened',
      value: `${disagreement.toFixed(2)} %`,
      goal: `at most ${MOST_DISAGREEMENT} %`,
      held: voted.pairs > 0 && disagreement <= MOST_DISAGREEMENT,
    },
  ];
}

/** Returns pairs of successive rows: each row except the first, with the row before it. */
function neighborsOf(rows: readonly ReplayedRow[]): [before: ReplayedRow, row: ReplayedRow][] {
  return rows.slice(1).map((row, index) => [rows[index]!, row]);
}

interface Compared {
  pairs: number;
  differing: number;
  /** The number of pairs in which more than {@link BAD} of the words change. */
  bad: number;
  /** The number of words that change, and the number of all words of the wanted texts. */
  changes: number;
  words: number;
}

/** Compares each text with the text that an editor wanted, and counts the words that differ. */
function compareTexts(pairs: readonly (readonly [text: string, wanted: string])[]): Compared {
  const compared: Compared = { pairs: pairs.length, differing: 0, bad: 0, changes: 0, words: 0 };
  for (const [text, wanted] of pairs) {
    const changes = distance(text, wanted, 'word');
    const words = distance('', wanted, 'word');
    if (text !== wanted) compared.differing++;
    if (changes > BAD * words) compared.bad++;
    compared.changes += changes;
    compared.words += words;
  }
  return compared;
}

function describe(what: string, { pairs, differing, bad, changes, words }: Compared): Figure[] {
  if (pairs === 0) return [];
  return [
    { name: `replay, ${what}, different`, value: percent(differing, pairs), unit: '%' },
    { name: `replay, ${what}, bad`, value: percent(bad, pairs), unit: '%' },
    { name: `replay, ${what}, changes`, value: percent(changes, words), unit: '% of the words' },
  ];
}

/** The minimum similarity, in percent, of each group of matches. */
const BANDS = [
  ['a match of 100 %', 100],
  ['a match of 85 to 99 %', 85],
  ['a match of 75 to 84 %', 75],
  ['a match of 60 to 74 %', 60],
  ['no match', Number.NEGATIVE_INFINITY],
] as const;

/**
 * How much editors would change in the drafts that they saw, in the text of the memory and in the draft of
 * the engine.
 */
function judgeDrafts(rows: readonly ReplayedRow[]): Figure[] {
  const scoreOf = ({ match }: ReplayedRow) => match?.score ?? 0;
  const bands = Map.groupBy(rows, (row) => BANDS.find(([, least]) => scoreOf(row) >= least)![0]);
  return BANDS.flatMap(([band]): Figure[] => {
    const some = bands.get(band);
    if (some === undefined) return [];
    const changes = (textOf: (row: ReplayedRow) => string) => {
      const compared = compareTexts(some.map((row) => [textOf(row), row.edit]));
      return percent(compared.changes, compared.words);
    };
    const chosen = changes(({ draft }) => draft);
    const alone = [
      ['engine', changes(({ engine }) => engine)] as const,
      ...(band === 'no match' ? [] : [['memory', changes(({ match }) => match!.text)] as const]),
    ];
    return [
      { name: `replay, ${band}, segments`, value: some.length, unit: 'segments' },
      ...alone.map(([name, value]) => ({
        name: `replay, ${band}, changes of the ${name} alone`,
        value,
        unit: '% of the words',
      })),
      ...alone.map(([name, value]) => ({
        name: `replay, ${band}, changes of the chosen draft`,
        value: chosen,
        unit: '% of the words',
        ...(value === 0 ? {} : { ratio: { value: chosen / value, against: `the ${name} alone` } }),
      })),
    ];
  });
}

function judgeConfirmations({ on, off }: ReplayHistory['confirmations']): Figure[] {
  const [slowOn, slowOff] = [quantile(on, 0.99), quantile(off, 0.99)];
  return [
    { name: 'replay, confirmations with votes on and off', value: on.length + off.length, unit: 'requests' },
    { name: 'replay, confirmation with votes off, p99', value: slowOff, unit: 'ms' },
    { name: 'replay, confirmation with votes on, p99', value: slowOn, unit: 'ms' },
    goalAtMost('replay, p99 with votes on as a multiple of votes off', slowOn / slowOff, MOST_SLOWDOWN),
  ];
}
