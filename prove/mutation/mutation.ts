/**
 * `npm run prove -- mutation`: whether the tests notice when the program is changed. Flags: `--room NAME` (the critical
 * ones, and one of the others by chance), `--sample N` (120) or `--all`, `--seed N`, `--lanes N` (2).
 */
import type { Figure, Flags, Report } from '../../bench/figures.ts';
import { createRandom } from '../random.ts';
import type { Mutant } from './mutants.ts';
import { ROOMS, type Room } from './rooms.ts';
import { listMutants, runMutation, type Tried } from './run.ts';
import { SURVIVORS, type Survivor } from './survivors.ts';

const GOALS = { critical: 90, other: 80 };
/** What two quiet cores try in less than five minutes. */
const SAMPLE = 120;
/** A room with fewer has a share, and no goal for it. */
const ENOUGH = 50;

export interface MutationHistory {
  tried: readonly Tried[];
  /** Every mutant that there is, tried or not. */
  all: readonly Mutant[];
  reasons: readonly Survivor[];
}

export async function proveMutation({ numbers, words }: Flags): Promise<Report> {
  const seed = numbers.seed ?? Math.floor(Math.random() * 2 ** 31);
  const rooms = words.room === undefined ? drawRooms(seed) : { [words.room]: roomNamed(words.room) };
  const tried = await runMutation({
    ...{ rooms, seed, lanes: numbers.lanes ?? 2 },
    sample: words.all === undefined ? (numbers.sample ?? SAMPLE) : undefined,
    say: (line) => process.stderr.write(`${line}\n`),
  });
  const all = listMutants(ROOMS).map(({ mutant }) => mutant);
  return { seed, figures: judge({ tried, all, reasons: SURVIVORS }) };
}

function roomNamed(name: string): Room {
  const room = ROOMS[name];
  if (room === undefined) throw new Error(`There is no ${name}; there is ${Object.keys(ROOMS).join(', ')}.`);
  return room;
}

function drawRooms(seed: number): Record<string, Room> {
  const others = Object.keys(ROOMS).filter((name) => !ROOMS[name]!.critical);
  const drawn = others[createRandom(seed).below(others.length)];
  return Object.fromEntries(
    Object.entries(ROOMS).filter(([name, { critical }]) => critical || name === drawn),
  );
}

export function judge({ tried, all, reasons }: MutationHistory): Figure[] {
  const critical = tried.filter(({ room }) => ROOMS[room]!.critical);
  const others = tried.filter(({ room }) => !ROOMS[room]!.critical);
  const bare = critical.filter(
    (one) => !isKilled(one) && !reasons.some((reason) => isOf(reason, one.mutant)),
  );
  const stale = reasons.filter((reason) => !all.some((mutant) => isOf(reason, mutant)));
  for (const { mutant } of bare) {
    process.stderr.write(`survives: ${mutant.file}:${mutant.line} ${mutant.text} | ${mutant.mutation}\n`);
  }
  for (const { file, line, mutation } of stale) {
    process.stderr.write(`a reason without its mutant: ${file} ${line} | ${mutation}\n`);
  }
  return [
    { name: 'mutation, mutants tried', value: tried.length, unit: `of ${all.length}` },
    {
      name: 'mutation, of them killed by taking too long',
      value: tried.filter(({ fate }) => fate === 'timeout').length,
      unit: 'mutants',
    },
    ...[...Map.groupBy(tried, ({ room }) => room)].map(([room, of]) =>
      shareOf(room, of, ROOMS[room]!.critical),
    ),
    ...(critical.length === 0 ? [] : [shareOf('critical rooms', critical, true, 1)]),
    ...(others.length === 0 ? [] : [shareOf('the rest of the core', others, false, 1)]),
    none('survivors in critical rooms without a written reason', bare.length, tried.length > 0),
    none('written reasons without their mutant', stale.length, true),
  ];
}

function isKilled({ fate }: Tried): boolean {
  return fate === 'killed' || fate === 'timeout';
}

function isOf({ file, line, mutation }: Survivor, mutant: Mutant): boolean {
  return file === mutant.file && line === mutant.text && mutation === mutant.mutation;
}

function shareOf(what: string, tried: readonly Tried[], critical: boolean, enough = ENOUGH): Figure {
  const percent = (100 * tried.filter(isKilled).length) / tried.length;
  const name = `mutation, killed in ${what}`;
  const goal = critical ? GOALS.critical : GOALS.other;
  if (tried.length < enough) return { name, value: percent, unit: `% of ${tried.length}` };
  const value = `${percent.toFixed(1)} % of ${tried.length}`;
  return { name, value, goal: `at least ${goal} %`, held: percent >= goal };
}

function none(name: string, value: number, asked: boolean): Figure {
  return { name: `mutation, ${name}`, value, goal: '0', held: value === 0 && asked };
}
