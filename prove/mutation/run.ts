/**
 * A run of mutants. In a copy of the project every mutant of the wanted rooms is written into its file, asleep. First
 * each test file runs as it is, and what it comes by is written down; then each mutant is woken in turn, and the tests
 * that come by it run, the fastest file first, until one fails.
 */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom } from '../random.ts';
import type { LaneRequest } from './lane.ts';
import { createLane, type Lane } from './lanes.ts';
import { instrument, type Mutant, mutantsOf } from './mutants.ts';
import type { Room } from './rooms.ts';
import type { Progress } from './runner.ts';
import type { Passed, Plan } from './setup.ts';
import { takeSnapshot } from './snapshot.ts';

const PACKAGES = new URL('../../packages/', import.meta.url).pathname;

export interface MutationOptions {
  rooms: Readonly<Record<string, Room>>;
  /** At most so many, drawn by chance; all where undefined. */
  sample: number | undefined;
  seed: number;
  lanes: number;
  say(line: string): void;
}

/** `timeout` is killed as well: the mutant hung, or took many times as long. `uncovered`: no test comes by it. */
export type Fate = 'killed' | 'timeout' | 'survived' | 'uncovered';

export interface Tried {
  room: string;
  mutant: Mutant;
  fate: Fate;
  /** The test that killed it. */
  by: string | undefined;
}

interface Numbered {
  room: string;
  id: number;
  mutant: Mutant;
}

/** A test file as it ran without mutants. */
interface Recorded {
  project: string;
  file: string;
  overheadMilliseconds: number;
  milliseconds: Map<string, number>;
  passed: Passed;
}

const NOTHING = { plan: undefined, progress: undefined };
/** Tests up to so long go first, then those up to the next. One that is longer still has a process for each mutant. */
const PHASES_MILLISECONDS = [100, 1_000, 4_000];
/** A mutant is not tried on more tests than these take, be the machine busy; the fastest go first. */
const MOST_MILLISECONDS = 240_000;
/** A test that takes this much more than it did, and as many times as long, hangs. */
const LEAST_LIMIT_MILLISECONDS = 10_000;
const TIMES = 8;

/** Every mutant of the rooms, in the order of the files. */
export function listMutants(rooms: Readonly<Record<string, Room>>): { room: string; mutant: Mutant }[] {
  return Object.entries(rooms).flatMap(([room, { files }]) =>
    files.flatMap((file) =>
      mutantsOf(file, readFileSync(join(PACKAGES, file), 'utf8')).map((mutant) => ({ room, mutant })),
    ),
  );
}

export async function runMutation({ rooms, sample, seed, lanes, say }: MutationOptions): Promise<Tried[]> {
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-mutation-'));
  const running: Lane[] = [];
  try {
    takeSnapshot(directory);
    const all: Numbered[] = listMutants(rooms).map((one, id) => ({ ...one, id }));
    writeMutants(directory, all);
    const wanted = draw(all, sample, seed);
    say(`${wanted.length} of ${all.length} mutants of ${Object.keys(rooms).join(', ')}`);
    for (let lane = 0; lane < lanes; lane++) running.push(createLane(directory));

    const files = new Map(wanted.map(({ room }) => [room, testFilesOf(directory, rooms[room]!)]));
    const recorded = new Map<string, Recorded>();
    await share([...new Set([...files.values()].flat())], running, async (file, lane) => {
      recorded.set(file, await record(directory, file, lane));
    });
    say(`${recorded.size} test files recorded`);

    const tried: Tried[] = [];
    const done = (one: Tried) => {
      tried.push(one);
      const { fate, mutant } = one;
      if (fate === 'survived' || fate === 'uncovered')
        say(`${fate}: ${mutant.file}:${mutant.line} ${mutant.text} | ${mutant.mutation}`);
      if (tried.length % 50 === 0) say(`${tried.length} of ${wanted.length} tried`);
    };
    const portions = [...Map.groupBy(wanted, ({ room }) => room)].flatMap(([room, mutants]) =>
      portionsOf(mutants, lanes).map((portion) => ({ room, portion })),
    );
    await share(portions, running, async ({ room, portion }, lane) => {
      await tryPortion(
        directory,
        portion,
        files.get(room)!.map((file) => recorded.get(file)!),
        lane,
        done,
      );
    });
    const order = new Map(all.map(({ mutant }, index) => [mutant, index]));
    return tried.sort((a, b) => order.get(a.mutant)! - order.get(b.mutant)!);
  } finally {
    await Promise.all(running.map((lane) => lane.stop()));
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Each lane takes the next piece of work when it is done with one. */
async function share<Work>(
  work: readonly Work[],
  lanes: readonly Lane[],
  doOne: (one: Work, lane: Lane) => Promise<void>,
): Promise<void> {
  const left = [...work];
  await Promise.all(
    lanes.map(async (lane) => {
      for (let one = left.shift(); one !== undefined; one = left.shift()) await doOne(one, lane);
    }),
  );
}

function writeMutants(directory: string, all: readonly Numbered[]): void {
  for (const [file, mutants] of Map.groupBy(all, ({ mutant }) => mutant.file)) {
    const path = join(directory, 'packages', file);
    const source = readFileSync(path, 'utf8');
    writeFileSync(
      path,
      instrument(
        source,
        mutants.map(({ mutant }) => mutant),
        mutants[0]!.id,
      ),
    );
  }
}

function draw(all: readonly Numbered[], sample: number | undefined, seed: number): Numbered[] {
  const left = [...all];
  const random = createRandom(seed);
  while (sample !== undefined && left.length > sample) left.splice(random.below(left.length), 1);
  return left;
}

function testFilesOf(directory: string, { tests }: Room): string[] {
  const root = join(directory, 'packages');
  return tests.flatMap((test) => {
    const found = globSync(test.endsWith('.test.ts') ? test : `${test}*.test.ts`, { cwd: root });
    if (found.length === 0) throw new Error(`there is no test ${test}`);
    return found.sort().map((file) => join(root, file));
  });
}

/** Small enough that the lanes end at about the same time. */
function portionsOf(mutants: readonly Numbered[], lanes: number): Numbered[][] {
  const size = Math.max(10, Math.min(120, Math.ceil(mutants.length / lanes)));
  const count = Math.ceil(mutants.length / size);
  return Array.from({ length: count }, (_, at) => mutants.filter((_one, index) => index % count === at));
}

async function record(directory: string, file: string, lane: Lane): Promise<Recorded> {
  const project = file.slice(join(directory, 'packages/').length).split('/')[0]!;
  const folder = join(directory, 'recorded');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${file.replaceAll('/', '_')}.json`);
  const limitMilliseconds = 300_000;
  const request: LaneRequest = {
    mutant: undefined,
    project,
    file,
    testIds: undefined,
    limitMilliseconds,
    record: path,
    ...NOTHING,
  };
  const answer = await lane.ask(request, 600_000);
  if (answer?.ok !== true)
    throw new Error(`without mutants, ${file} fails: ${answer?.errors.join('; ') ?? 'hangs'}`);
  return {
    project,
    file,
    overheadMilliseconds: answer.overheadMilliseconds,
    milliseconds: new Map(answer.tests.map(({ id, milliseconds }) => [id, milliseconds])),
    passed: JSON.parse(readFileSync(path, 'utf8')) as Passed,
  };
}

/** Many mutants in one process first; then, in a process of their own each, those that this cannot decide. */
async function tryPortion(
  directory: string,
  portion: readonly Numbered[],
  files: readonly Recorded[],
  lane: Lane,
  done: (tried: Tried) => void,
): Promise<void> {
  const undecided = new Map(portion.map((one) => [one.id, one]));
  const doubtful = new Set<number>();
  const unrepeatable = new Set<string>();
  let least = 0;
  for (const most of PHASES_MILLISECONDS) {
    for (const recorded of files) {
      const tests = [...recorded.milliseconds].filter(([, took]) => took >= least && took < most);
      for (;;) {
        const plan: Plan = {};
        for (const [test] of tests) {
          if (unrepeatable.has(test)) continue;
          const met = recorded.passed.tests[test] ?? [];
          const ids = met.filter((id) => undecided.has(id) && !doubtful.has(id));
          if (ids.length > 0) plan[test] = ids;
        }
        if (Object.keys(plan).length === 0) break;
        const { decided, doubts, once, again } = await tryPlan(directory, plan, recorded, most, lane);
        if (once !== undefined) unrepeatable.add(once);
        for (const [id, { fate, by }] of decided) {
          done({ room: undecided.get(id)!.room, mutant: undecided.get(id)!.mutant, fate, by });
          undecided.delete(id);
        }
        for (const id of doubts) doubtful.add(id);
        if (!again) break;
      }
    }
    least = most;
  }
  for (const one of undecided.values()) {
    const isAlone = (test: string) => doubtful.has(one.id) || unrepeatable.has(test);
    done(await attempt(one, files, isAlone, lane));
  }
}

/**
 * @returns `again` where mutants of the plan are left and this process could not go on; `once`: a test that fails when
 *   it is repeated, for which each mutant has to have a process of its own
 */
async function tryPlan(directory: string, plan: Plan, recorded: Recorded, most: number, lane: Lane) {
  const { project, file, overheadMilliseconds } = recorded;
  const paths = {
    plan: join(directory, `plan-${++plans}.json`),
    progress: join(directory, `progress-${plans}`),
  };
  writeFileSync(paths.plan, JSON.stringify(plan));
  writeFileSync(paths.progress, '');
  const runs = Object.entries(plan).reduce(
    (sum, [test, ids]) => sum + ids.length * recorded.milliseconds.get(test)!,
    0,
  );
  const limitMilliseconds = LEAST_LIMIT_MILLISECONDS + TIMES * Math.max(most, overheadMilliseconds / TIMES);
  const patience = 3 * limitMilliseconds + TIMES * (overheadMilliseconds + 2 * runs);
  const testIds = Object.keys(plan);
  const request = {
    mutant: undefined,
    project,
    file,
    testIds,
    limitMilliseconds,
    record: undefined,
    ...paths,
  };
  const answer = await lane.ask(request, patience);
  const decided = new Map<number, { fate: Fate; by: string }>();
  const doubts = new Set<number>();
  let open: { id: number; test: string } | undefined;
  let stopped = false;
  let once: string | undefined;
  for (const line of readFileSync(paths.progress, 'utf8').split('\n')) {
    if (line === '') continue;
    const { id, what, test } = JSON.parse(line) as Progress;
    if (what === 'stopped') stopped = true;
    else if (what === 'unrepeatable') once = test;
    else if (what === 'start') open = { id, test };
    else {
      open = undefined;
      if (what === 'doubtful') doubts.add(id);
      else if (what !== 'survived') decided.set(id, { fate: what, by: test });
    }
  }
  if (answer === undefined && open !== undefined) decided.set(open.id, { fate: 'timeout', by: open.test });
  const broken = answer === undefined || stopped;
  return { decided, doubts, once, again: once !== undefined || (broken && decided.size + doubts.size > 0) };
}

let plans = 0;

interface Candidate {
  recorded: Recorded;
  testIds: string[];
  milliseconds: number;
  longest: number;
}

/** The tests of a file that a mutant has to be tried on in a process of its own: all, where hooks or loading met it. */
function candidateOf(
  recorded: Recorded,
  id: number,
  isAlone: (test: string) => boolean,
): Candidate | undefined {
  const { passed, milliseconds, overheadMilliseconds } = recorded;
  const all = [...milliseconds.keys()];
  const left = (test: string) => isAlone(test) || milliseconds.get(test)! >= PHASES_MILLISECONDS.at(-1)!;
  const met = all.filter((test) => passed.tests[test]?.includes(id));
  const testIds = passed.file.includes(id) ? all : met.filter(left);
  if (testIds.length === 0) return undefined;
  const times = testIds.map((test) => milliseconds.get(test)!);
  const sum = times.reduce((total, time) => total + time, 0);
  return { recorded, testIds, milliseconds: overheadMilliseconds + sum, longest: Math.max(...times) };
}

async function attempt(
  { room, id, mutant }: Numbered,
  files: readonly Recorded[],
  isAlone: (test: string) => boolean,
  lane: Lane,
): Promise<Tried> {
  const candidates = files
    .flatMap((recorded) => candidateOf(recorded, id, isAlone) ?? [])
    .sort((a, b) => a.milliseconds - b.milliseconds);
  let spent = 0;
  for (const { recorded, testIds, milliseconds, longest } of candidates) {
    spent += milliseconds;
    if (spent > MOST_MILLISECONDS && spent > milliseconds) break;
    const { project, file, overheadMilliseconds } = recorded;
    const limitMilliseconds = LEAST_LIMIT_MILLISECONDS + TIMES * Math.max(longest, overheadMilliseconds);
    const request: LaneRequest = {
      mutant: id,
      project,
      file,
      testIds,
      limitMilliseconds,
      record: undefined,
      ...NOTHING,
    };
    const answer = await lane.ask(request, 3 * limitMilliseconds + TIMES * milliseconds);
    if (answer === undefined) return { room, mutant, fate: 'timeout', by: file };
    if (!answer.ok) {
      const slow = answer.errors.some((error) => / timed out in \d+ms/.test(error));
      const by = answer.tests.find(({ ok }) => !ok)?.name ?? file;
      return { room, mutant, fate: slow ? 'timeout' : 'killed', by };
    }
  }
  const met = files.some(({ passed }) => [passed.file, ...Object.values(passed.tests)].flat().includes(id));
  return { room, mutant, fate: met ? 'survived' : 'uncovered', by: undefined };
}
