/**
 * A lane: one process with one Vitest and one PostgreSQL that stay, and run one test file after another in a test
 * process of its own each, with the mutant that they are told. `run.ts` starts lanes, and ends one that hangs.
 */
import { rmSync } from 'node:fs';
import { createVitest } from 'vitest/node';

export interface LaneRequest {
  mutant: number | undefined;
  project: string;
  /** An absolute path. */
  file: string;
  /** All of the file's where undefined. */
  testIds: string[] | undefined;
  /** How long a test and a hook may take. */
  limitMilliseconds: number;
  /** Where to write which mutants the tests came by. */
  record: string | undefined;
  /** Where it stands which mutants are to be woken in which test, and where to write what came of it. */
  plan: string | undefined;
  progress: string | undefined;
}

export interface LaneAnswer {
  ok: boolean;
  /** Tests that ran, and what they took. */
  tests: { id: string; name: string; milliseconds: number; ok: boolean }[];
  /** What the file takes without its tests: the process, its modules, its hooks. */
  overheadMilliseconds: number;
  errors: string[];
}

const root = process.argv[2]!;
process.chdir(root);
const vitest = await createVitest('test', {
  ...{ root, config: 'vitest.config.ts', watch: false, bail: 1, reporters: [{}], maxWorkers: 1 },
});
await vitest.standalone();
let ending = false;

process.on('message', async (request: LaneRequest) => {
  try {
    const answer = await run(request);
    if (!ending) process.send!(answer);
  } catch (error) {
    if (ending) return;
    process.stderr.write(`${error}\n`);
    process.exit(1);
  }
});
// In the place of Vite's, which ends the process before PostgreSQL is asked.
process.removeAllListeners('SIGTERM').on('SIGTERM', () => end());
// Whoever asked is gone, killed perhaps: nothing of it stays behind.
process.on('disconnect', () => end(root));
if (process.connected) process.send!('ready');
else await end(root);

/** Ends the test process, which may hang, and then PostgreSQL, which is asked to stop. @param directory to be removed */
async function end(directory?: string): Promise<void> {
  if (ending) return;
  ending = true;
  process.kill(-process.pid, 'SIGTERM');
  await vitest.close();
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  process.exit(0);
}

async function run({
  mutant,
  project,
  file,
  testIds,
  limitMilliseconds,
  record,
  plan,
  progress,
}: LaneRequest): Promise<LaneAnswer> {
  set('DRAGOMAN_MUTANT', mutant?.toString());
  set('DRAGOMAN_MUTATION_RECORD', record);
  set('DRAGOMAN_MUTATION_PLAN', plan);
  set('DRAGOMAN_MUTATION_PROGRESS', progress);
  set('DRAGOMAN_MUTATION_LIMIT', String(limitMilliseconds));
  const found = vitest.projects.find(({ name }) => name === project);
  if (found === undefined) throw new Error(`no project ${project}`);
  const specification = found.createSpecification(file, testIds === undefined ? undefined : { testIds });
  const begun = performance.now();
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications([specification]);
  const took = performance.now() - begun;
  const module = testModules.find(({ moduleId }) => moduleId === file);
  const tests = [...(module?.children.allTests() ?? [])].flatMap((test) => {
    const { state } = test.result();
    if (state === 'skipped' || state === 'pending') return [];
    const milliseconds = test.diagnostic()?.duration ?? 0;
    return [{ id: test.id, name: test.fullName, milliseconds, ok: state === 'passed' }];
  });
  const failures = [...(module?.children.allTests('failed') ?? [])].flatMap(
    (test) => test.result().errors ?? [],
  );
  const errors = [...(module?.errors() ?? []), ...failures, ...unhandledErrors];
  return {
    ok: module?.ok() === true && unhandledErrors.length === 0,
    tests,
    overheadMilliseconds: took - tests.reduce((sum, { milliseconds }) => sum + milliseconds, 0),
    errors: errors.map((error) => String((error as { message?: unknown }).message ?? error).slice(0, 300)),
  };
}

function set(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
