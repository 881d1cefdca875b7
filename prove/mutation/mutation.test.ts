/** What is mutated, and how; that a weak test is found out; and the judgement with faults planted. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { instrument, type Mutant, mutantsOf } from './mutants.ts';
import { judge, type MutationHistory } from './mutation.ts';
import { ROOMS } from './rooms.ts';
import { listMutants, runMutation, type Tried } from './run.ts';
import { changesOfSql } from './sql.ts';
import { SURVIVORS } from './survivors.ts';

describe('mutants', () => {
  it.each([
    [
      'export const f = (a: number) => a < 2;',
      ['< → <=', '< → >=', '2 → 3', 'a < 2 → true', 'a < 2 → false'],
    ],
    [
      'export const f = (a?: string) => a ?? 1 + b;',
      ['?? → &&', '+ → -', '1 → 2', 'return a ?? 1 + b → undefined'],
    ],
    [
      'if (!a) throw new Error("away");',
      ['!a → true', '!a → false', '!x → x', 'throw new Error("away"); → nothing'],
    ],
    ['await f(true);', ['await f(true); → nothing', 'await f(true) → not awaited', 'true → false']],
    ["const MOVES = { from: ['new'] } as const;", ["['new'] → []", "'new' → ''"]],
    ['const all = x.every((one) => one);', ['every → some', 'return one → undefined']],
    [
      'const pattern = /^[^a]+$/;',
      [
        '/^[^a]+$/ without ^',
        '/^[^a]+$/ without $',
        '[^ → [ at 2 of /^[^a]+$/',
        '+ → once at 6 of /^[^a]+$/',
      ],
    ],
    [
      'import a from "b"; type A = "b" | true; log.warn({ a: 1 }, "a b c d");',
      ['log.warn({ a: 1 }, "a b c d"); → nothing'],
    ],
  ])('of %s', (source, mutations) => {
    const made = mutantsOf('a.ts', source).map(({ mutation }) => mutation);
    expect(made.toSorted()).toEqual(mutations.toSorted());
  });

  it.each([
    ['select 1 from jobs where part = $1 and account_id = $2 and uid = $3', ['uid = $3 → true']],
    [
      "select 1 from jobs where (a < $1 or b is null) and status in ('new', 'failed') for update skip locked",
      [
        '(a < $1 or b is null) → true',
        "status in ('new', 'failed') → true",
        '< → <=',
        'or → and',
        'is null → is not null',
        'for update skip locked → nothing',
        'skip locked → nothing',
        "'new' → ''",
        "'failed' → ''",
      ],
    ],
    [
      'select 1 where at between $1 and $2 and not exists (select)',
      ['at between $1 and $2 → true', 'not exists (select) → true', 'not exists → exists'],
    ],
  ])('of SQL: %s', (sql, mutations) => {
    expect(
      changesOfSql(sql)
        .map(({ mutation }) => mutation)
        .toSorted(),
    ).toEqual(mutations.toSorted());
  });

  it('are all in one file, and one at a time is alive', () => {
    const source = 'function f(a: number, out: string[]) { if (a > 1) out.push(`${a}`); return a * 2; }';
    const mutants = mutantsOf('a.ts', source);
    const written = instrument(source, mutants, 10);
    const run = (alive: number) => {
      const code = stripTypeScriptTypes(written);
      vi.stubGlobal('__mutants', {
        is: (...ids: number[]) => ids.includes(alive),
        sql: (made: unknown) => made,
      });
      // biome-ignore lint/security/noGlobalEval: the text is made here
      const f = (0, eval)(`(() => { ${code}; return f; })()`) as (a: number, out: string[]) => number;
      const out: string[] = [];
      return `${f(1, out)} ${f(2, out)} ${out}`;
    };
    const results = mutants.map(({ mutation }, index) => [mutation, run(10 + index)]);
    expect(run(-1)).toBe('2 4 2');
    expect(Object.fromEntries(results)).toEqual({
      ...{
        '> → >=': '2 4 1,2',
        '> → <=': '2 4 1',
        '1 → 2': '2 4 ',
        'a > 1 → true': '2 4 1,2',
        'a > 1 → false': '2 4 ',
      },
      ...{ 'out.push(`${a}`); → nothing': '2 4 ', '* → /': '0.5 1 2', '2 → 3': '3 6 2' },
      'return a * 2 → undefined': 'undefined undefined 2',
      '`${a}` → ``': '2 4 ',
    });
    vi.unstubAllGlobals();
  });

  it('can be made of every room', () => {
    for (const name of Object.keys(ROOMS)) {
      const own = listMutants({ [name]: ROOMS[name]! });
      expect(own.length, name).toBeGreaterThan(50);
    }
  });
});

it('a test that looks at something else lets every mutant live; the right one kills them', async () => {
  const files = ['checks/src/distance.ts'];
  const run = (test: string) =>
    runMutation({
      ...{
        rooms: { one: { critical: true, files, tests: [`checks/src/${test}`] } },
        sample: 6,
        seed: 3,
        lanes: 1,
      },
      say: () => {},
    });
  expect((await run('distance.test.ts')).filter(({ fate }) => fate === 'killed').length).toBeGreaterThan(3);
  expect((await run('glossary.test.ts')).map(({ fate }) => fate)).not.toContain('killed');
});

it('a lane whose parent is gone ends a test that hangs, what was set up for it, and the copy of the project', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-lane-'));
  const write = (name: string, text: string) => writeFileSync(join(directory, name), text);
  const trace = (name: string) => JSON.stringify(`${directory}.${name}`);
  const fs = `import { writeFileSync } from 'node:fs';`;
  symlinkSync(new URL('../../node_modules', import.meta.url).pathname, join(directory, 'node_modules'));
  write(
    'vitest.config.ts',
    `export default { test: { projects: [{ test: { name: 'one', globalSetup: 'setup.ts' } }] } };`,
  );
  write('setup.ts', `${fs} export default () => () => writeFileSync(${trace('ended')}, '');`);
  const hangs = `async () => { writeFileSync(${trace('begun')}, ''); await new Promise(() => {}); }`;
  write('one.test.ts', `import { it } from 'vitest'; ${fs} it('hangs', ${hangs}, 300_000);`);
  const lane = spawn(process.execPath, [new URL('lane.ts', import.meta.url).pathname, directory], {
    ...{ stdio: ['ignore', 'ignore', 'ignore', 'ipc'], detached: true },
  });
  await once(lane, 'message');
  lane.send({ project: 'one', file: join(directory, 'one.test.ts'), limitMilliseconds: 300_000 });
  await vi.waitUntil(() => existsSync(`${directory}.begun`), { timeout: 300_000 });
  lane.disconnect();
  await once(lane, 'exit');
  expect([existsSync(directory), existsSync(`${directory}.ended`)]).toEqual([false, true]);
  for (const name of ['begun', 'ended']) rmSync(`${directory}.${name}`, { force: true });
});

describe('the judgement', () => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const mutant = (line: number): Mutant => ({
    ...{ file: 'a.ts', line, text: `line ${line}`, mutation: '< → <=', start: 0, end: 1, replacement: '' },
    kind: 'expression',
  });
  const all = Array.from({ length: 100 }, (_, line) => mutant(line));
  const tried = (survivors: number, room: string): Tried[] =>
    all.map((one, index) => ({
      room,
      mutant: one,
      fate: index < survivors ? 'survived' : 'killed',
      by: undefined,
    }));
  const reason = (line: number) => ({
    file: 'a.ts',
    line: `line ${line}`,
    mutation: '< → <=',
    why: 'the same',
  });
  const good: MutationHistory = { tried: tried(1, 'ledger'), all, reasons: [reason(0)] };

  it('holds where nearly all are killed, and the others have their reason', () => {
    expect(allHeld(judge(good))).toBe(true);
    const other = Object.keys(ROOMS).find((name) => !ROOMS[name]!.critical)!;
    expect(allHeld(judge({ tried: tried(15, other), all, reasons: [] }))).toBe(true);
  });

  it.each<[string, Partial<MutationHistory>]>([
    ['too many survive', { tried: tried(11, 'ledger'), reasons: all.map((_, line) => reason(line)) }],
    ['one survives without a reason', { reasons: [] }],
    ['one is not covered, without a reason', { tried: [{ ...good.tried[1]!, fate: 'uncovered' }] }],
    ['a reason has no mutant any more', { reasons: [...good.reasons, reason(100)] }],
    ['nothing was tried', { tried: [] }],
  ])('is missed where %s', (_, planted) => {
    expect(allHeld(judge({ ...good, ...planted }))).toBe(false);
  });

  it('has a reason, in words, for mutants of critical rooms only, each once', () => {
    const files = Object.values(ROOMS).flatMap(({ critical, files }) => (critical ? files : []));
    for (const { file, why } of SURVIVORS) {
      expect(files).toContain(file);
      expect(why.split(' ').length, why).toBeGreaterThan(3);
    }
    const keys = SURVIVORS.map(({ file, line, mutation }) => JSON.stringify([file, line, mutation]));
    expect(new Set(keys).size).toBe(keys.length);
  });
});
