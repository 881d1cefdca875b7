/** Tests that every function that changes rows shown on a page reports the change (`Queryable.changed`). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Node, parseSource, type Source, tablesOf } from '../../../../scripts/tidy.ts';
import type { ChangeKind } from './changes.ts';
import { allStatements } from './statements.ts';

/** The tables that pages show, and for each table the kind of change that a write to it must report. */
const SHOWN: Record<string, ChangeKind> = {
  jobs: 'jobs',
  edited_jobs: 'job',
  edits: 'edit',
  comments: 'job',
  issues: 'job',
  queries: 'job',
  unsure_marks: 'edit',
  term_proposals: 'job',
  segments: 'edit',
  tasks: 'tasks',
  claims: 'tasks',
  task_skips: 'tasks',
  deliveries: 'deliveries',
  attempts: 'deliveries',
  breakers: 'deliveries',
  chats: 'chats',
  messages: 'chats',
  balances: 'balance',
  transfers: 'balance',
  engine_comparisons: 'engines',
  engine_states: 'engines',
  engine_tests: 'engines',
  sandbox_requests: 'requests',
  sessions: 'sessions',
  users: 'sessions',
};

/**
 * Statements that write to these tables but change nothing that a page shows, each with the reason.
 * `module.` stands for all statements whose names begin with it.
 */
const SILENT: Record<string, string> = {
  'deliveries.claim': 'reported at the end of the attempt',
  'deliveries.take_probe': 'a lease',
  'editing.count_try': 'no page shows it',
  'editing.due_again': 'checked by workers only',
  'editing.take_due_job': 'a lease',
  'editing.due_now': 'checked by workers only',
  'editing.keep': 'a lease',
  'jobs.claim_mails': 'no page shows it',
  'jobs.delete_mail_requests': 'no page shows it',
  'jobs.request_mail': 'no page shows it',
  'people.insert': 'a new user has no session',
  'people.link': 'ends no session',
  'people.set_owner': 'ends no session',
  'people.set_password': 'endSessions reports the sessions that it ends',
  'people.set_role': 'endSessions reports the sessions that it ends',
  'people.set_profile': 'ends no session',
  'people.unlink': 'endSessions reports the sessions that it ends',
  'people.set_unconfirmed': 'is shown on no page',
  'retention.': 'old data, deleted in bulk, and accounts whose users can no longer sign in',
  'sessions.forget_ended': 'these sessions have already ended',
  'sessions.insert': 'ends no session',
  'sessions.rotate': 'ends no session',
  'sessions.touch': 'ends no session',
  'work.': 'leases',
};

/**
 * Kinds of changes that belong to no account. Every other kind must be reported with its account, or the
 * account's pages miss the change.
 */
const OF_NO_ACCOUNT: readonly ChangeKind[] = ['engines', 'requests', 'sessions'];
const callOf = (kind: ChangeKind) => `.changed('${kind}'${OF_NO_ACCOUNT.includes(kind) ? '' : ', '}`;

const isSilent = (name: string) => Object.keys(SILENT).some((key) => covers(key, name));
const covers = (key: string, name: string) => (key.endsWith('.') ? name.startsWith(key) : name === key);

const ROOT = join(import.meta.dirname, '..');

const kindsOf = (text: string): ChangeKind[] => [
  ...new Set(tablesOf({ path: '', name: '', text }).written.flatMap((table) => SHOWN[table] ?? [])),
];

/** Returns the names and values of a file's constants. */
function constantsOf(program: Node): { name: unknown; value: Node | null }[] {
  return (program.body as Node[])
    .map((node) => (node.declaration ?? node) as Node)
    .flatMap((node) => (node.declarations ?? []) as { id: Node; init: Node | null }[])
    .map(({ id, init }) => ({ name: id.name, value: init }));
}

/** A constant that is a statement, or one of its functions. */
interface Constant {
  statement: unknown;
  /** The name of the function, such as `run`. */
  runsBy?: string;
  /** The changes that the function reports. */
  reported: unknown[];
}

/** Reads the value of a constant, such as `statement('…').reporting('jobs').run`. */
function readConstant(value: Node | null | undefined): Constant | undefined {
  const { callee, object, property } = (value ?? {}) as { callee?: Node; object?: Node; property?: Node };
  if (object !== undefined) {
    const inner = readConstant(object);
    return inner && { ...inner, runsBy: property!.name as string };
  }
  const values = ((value?.arguments ?? []) as Node[]).map((node) => node.value);
  if (callee?.name === 'statement') return { statement: values[0], reported: [] };
  const inner = callee && readConstant(callee);
  return inner && { ...inner, reported: [...inner.reported, ...values] };
}

/** Returns whether SQL returns rows of its own. Those of a `with` do not count: they are in parentheses. */
function returnsRows(text: string): boolean {
  let own = text;
  for (let all = ''; all !== own; ) {
    all = own;
    own = all.replace(/\([^()]*\)/g, ' ');
  }
  const [command] = /\b(select|insert|update|delete)\b/i.exec(own) ?? [];
  return command?.toLowerCase() === 'select' || /\breturning\b/i.test(own);
}

/**
 * Returns whether every use of a statement in a file reports a kind of change. Functions other than `run` report only if
 * there are rows.
 */
function isReported(
  { code, program }: Source,
  { name: statement, text }: { name: string; text: string },
  kind: ChangeKind,
): boolean | undefined {
  const all = constantsOf(program).map(({ name, value }) => ({ name, ...readConstant(value) }));
  const constant = all.find((one) => one.statement === statement);
  if (constant === undefined) return undefined;
  if (constant.runsBy !== undefined) {
    return constant.reported!.includes(kind) && (constant.runsBy === 'run' || returnsRows(text));
  }
  const uses = new RegExp(`\\b${constant.name}\\b`);
  const declares = new RegExp(`^const ${constant.name}\\b`);
  const users = (program.body as Node[])
    .map(({ start, end }) => code.slice(start, end))
    .filter((declaration) => uses.test(declaration) && !declares.test(declaration));
  return users.length > 0 && users.every((user) => user.includes(callOf(kind)));
}

/**
 * Returns the statements that change rows shown on a page, but are run by a function that does not report the
 * change.
 */
function unsaid(statements: readonly { name: string; text: string }[], sources: readonly Source[]): string[] {
  return statements.flatMap((one) =>
    kindsOf(one.text)
      .filter((kind) => {
        const found = sources.map((source) => isReported(source, one, kind));
        return !found.includes(true) || found.includes(false);
      })
      .map((kind) => `${one.name}: ${kind}`),
  );
}

describe('live updates', () => {
  let sources: Source[];
  beforeAll(async () => {
    const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?<!\.test)\.ts$/.test(file) && !file.startsWith('testing/'))
      .map((file) => ({ file, code: readFileSync(join(ROOT, file), 'utf8') }))
      .filter(({ code }) => code.includes("database/statements.ts'"));
    sources = files.map(({ file, code }) => parseSource(file, code));
    for (const { file } of files) await import(join(ROOT, file));
  });

  /** Skips statements of other test files, which share this process. */
  const written = () =>
    allStatements().filter(({ name, text }) => kindsOf(text).length > 0 && !name.startsWith('test.'));

  it('are reported by every function that changes rows shown on a page', () => {
    const watched = written().filter(({ name }) => !isSilent(name));
    expect(watched.length).toBeGreaterThan(50);
    expect(unsaid(watched, sources)).toEqual([]);
  });

  it('may be missing only for the statements of a fixed list, and every statement of the list exists', () => {
    const names = written().map(({ name }) => name);
    expect(Object.keys(SILENT).filter((key) => !names.some((name) => covers(key, name)))).toEqual([]);
  });

  it('are reported as missing when a planted function changes a table without an update', () => {
    const text = 'with gone as (delete from claims where a = $1) update jobs set x = 1';
    const planted = (body: string) =>
      unsaid(
        [{ name: 'planted', text }],
        [parseSource('planted.ts', `const ONE = statement<Row>('planted', \`…\`);\n${body}`)],
      );
    const runs = 'export async function run(on) { await on.query(ONE);';
    expect(planted(`${runs} on.changed('jobs', account); on.changed('tasks', account); }`)).toEqual([]);
    expect(planted(`${runs} on.changed('jobs', account); }`)).toEqual(['planted: tasks']);
    expect(planted(`${runs} on.changed('jobs', account); on.changed('tasks'); }`)).toEqual([
      'planted: tasks',
    ]);
    expect(planted(`${runs} }`)).toEqual(['planted: tasks', 'planted: jobs']);
    expect(planted('')).toEqual(['planted: tasks', 'planted: jobs']);
    const made = (functions: string, sql = text) =>
      unsaid(
        [{ name: 'planted', text: sql }],
        [parseSource('planted.ts', `export const one = statement<Row>('planted', \`…\`)${functions};`)],
      );
    expect(made(`.reporting('jobs', 'tasks').run`)).toEqual([]);
    expect(made(`.reporting('jobs').run`)).toEqual(['planted: tasks']);
    expect(made('.run')).toEqual(['planted: tasks', 'planted: jobs']);
    const both = `.reporting('jobs', 'tasks')`;
    const inner = 'with gone as (delete from claims where (a) = $1 returning a) update jobs set x = 1';
    for (const reads of ['.found', '.value']) {
      expect(made(`${both}${reads}`, inner)).toEqual(['planted: tasks', 'planted: jobs']);
      expect(made(`${both}${reads}`, `${inner} returning x`)).toEqual([]);
      expect(made(`${both}${reads}`, `with done as (${text}) select count(*) from done`)).toEqual([]);
    }
  });
});
