/** The figures of a replay: how fast confirmed texts reached the waiting segments, and how good these texts are. */
import { type Figure, goalAtMost, goalZero, quantile } from '../../bench/figures.ts';
import { distance } from '../../packages/checks/src/checks.ts';
import type { ReplayedRow, ReplayHistory } from './run.ts';

/** The time in which a confirmed text must reach a segment that waits. */
const PATIENCE_MILLISECONDS = 2_000;
const MOST_DISAGREEMENT = 2;
const MOST_SLOWDOWN = 1.1;
/** The drafts that the service chooses must not need more changes than those of the engine. A few come from chance. */
const MOST_EFFORT = 1.05;
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

/**
 * Measures how fast the first confirmed text of each reading reached the segments that editors had not claimed by then. For
 * segments that were drafted later, the time counts from their draft.
 */
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
      const since = Math.max(first.confirmedAt!, row.draftedAt);
      const delay = delayOf(row, votes, since);
      if (delay !== undefined) delays.push(delay);
      else if (row.claimedAt < since + PATIENCE_MILLISECONDS) early++;
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
    .filter((vote) => vote !== row && vote.delivered === row.chosen && vote.confirmedAt! < row.claimedAt)
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

/** The bands of similarity in which the service compares drafts, by their lowest percentage. */
const BANDS = [
  ['a match of 100 %', 100],
  ['a match of 95 to 99 %', 95],
  ['a match of 85 to 94 %', 85],
  ['a match of 75 to 84 %', 75],
] as const;

/** A segment with the words that an editor would change in each text that could be its draft. */
interface Drafts {
  score: number;
  words: number;
  memory: number;
  engine: number;
  chosen: number;
}
const TEXTS = ['memory', 'engine', 'chosen'] as const;

/**
 * Compares the memory's text, the engine's draft and the chosen one with the recorded edits, by similarity. Measures the
 * last wave, whose drafts were chosen by the figures of the waves before.
 */
function judgeDrafts(rows: readonly ReplayedRow[]): Figure[] {
  // An exact match has no engine's draft of its own. That of the same source in an earlier wave is used.
  const engines = new Map(rows.filter(({ engine }) => engine).map((row) => [readingOf(row), row.engine!]));
  const last = rows.reduce((most, { wave }) => Math.max(most, wave), 0);
  const drafts = rows.flatMap((row): Drafts[] => {
    const { wave, memory, chosen, edit } = row;
    const engine = row.engine ?? engines.get(readingOf(row));
    if (wave < last || memory === undefined || engine === undefined) return [];
    const changesOf = (text: string) => distance(text, edit, 'word');
    return [
      {
        score: memory.score,
        words: distance('', edit, 'word'),
        memory: changesOf(memory.text),
        engine: changesOf(engine),
        chosen: changesOf(chosen),
      },
    ];
  });
  const bands = Map.groupBy(drafts, ({ score }) => BANDS.find(([, least]) => score >= least)![0]);
  const similar = sumsOf(drafts.filter(({ score }) => score < 100));
  return [
    ...BANDS.flatMap(([band]) => describeDrafts(band, bands.get(band) ?? [])),
    ...(similar.engine === 0
      ? []
      : [
          goalAtMost(
            'replay, changes of the chosen drafts below 100 % as a multiple of the engine’s',
            similar.chosen / similar.engine,
            MOST_EFFORT,
          ),
        ]),
  ];
}

function describeDrafts(band: string, drafts: readonly Drafts[]): Figure[] {
  if (drafts.length === 0) return [];
  const sums = sumsOf(drafts);
  const chosenAgainst = (other: 'memory' | 'engine'): Figure => ({
    name: `replay, ${band}, changes of the chosen draft`,
    value: percent(sums.chosen, sums.words),
    unit: '% of the words',
    ...(sums[other] === 0
      ? {}
      : { ratio: { value: sums.chosen / sums[other], against: `the ${other} alone` } }),
  });
  return [
    { name: `replay, ${band}, segments`, value: drafts.length, unit: 'segments' },
    ...TEXTS.map((text): Figure => {
      const nearest = drafts.filter((one) => one[text] <= Math.min(one.memory, one.engine));
      const name = text === 'chosen' ? 'the chosen draft' : `the ${text}`;
      const value = percent(nearest.length, drafts.length);
      return { name: `replay, ${band}, ${name} is nearest to the edit`, value, unit: '% of the segments' };
    }),
    ...(['memory', 'engine'] as const).map(
      (text): Figure => ({
        name: `replay, ${band}, changes of the ${text} alone`,
        value: percent(sums[text], sums.words),
        unit: '% of the words',
      }),
    ),
    chosenAgainst('memory'),
    chosenAgainst('engine'),
  ];
}

/** Returns the sums of the words and of their changes. */
function sumsOf(drafts: readonly Drafts[]): Omit<Drafts, 'score'> {
  const sum = (key: keyof Drafts) => drafts.reduce((total, one) => total + one[key], 0);
  return { words: sum('words'), memory: sum('memory'), engine: sum('engine'), chosen: sum('chosen') };
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
