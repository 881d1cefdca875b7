/** Tests that every SQL statement is restricted to one account, unless this file lists it as an exception. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { allStatements } from './statements.ts';

const SOURCE = join(import.meta.dirname, '..');
/** Tables that statements may use without an account id. Each row of any other table belongs to one account. */
const REFERENCE_TABLES = [
  'editor_slots',
  'accounts',
  'disabled_pairs',
  'keys',
  'migrations',
  'pairs',
  'prices',
  'engine_routes',
  'audit',
  'invitations',
  'recovery_codes',
  'sandbox_requests',
  'second_factors',
  'sessions',
  'sign_ins',
  'user_languages',
  'users',
  'creations',
  'secret_key_mark',
  'timelines',
  'engine_comparisons',
  'engine_minutes',
  'engine_states',
  'engine_tests',
];

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);
const production = files.filter((file) => !file.endsWith('.test.ts') && !file.startsWith('testing/'));

function readAccountTables(): string[] {
  const directory = join(import.meta.dirname, 'migrations');
  const sql = readdirSync(directory).map((file) => readFileSync(join(directory, file), 'utf8'));
  const names = [...sql.join('\n').matchAll(/^create table (\w+)/gm)].map(([, name]) => name!);
  return names.filter((name) => !REFERENCE_TABLES.includes(name));
}
const accountTables = readAccountTables();

/**
 * Returns the tables of accounts that an SQL text uses without restricting them to one account; undefined if there are
 * none. The columns of the account are `part` and `account_id`. A table is restricted when both are compared with
 * parameters or with the same columns of another table. It is also restricted when both are named in `using` or listed
 * first in an insert. Naming the columns elsewhere, as in a select list, restricts nothing.
 */
function breach(sql: string): string | undefined {
  const touched = [...sql.matchAll(/\b(?:from|join|into|update)\s+(\w+)/gi)]
    .map(([, table]) => table!)
    .filter((table) => accountTables.includes(table));
  const held = [
    /\b(?:\w+\.)?part = (?:\$\d+|\w+\.part)\s+and\s+(?:\w+\.)?account_id = (?:\$\d+|\w+\.account_id)/g,
    /\binto\s+\w+\s*\(part, account_id\b/g,
    /\busing \(part, account_id\b/g,
  ].reduce((count, pattern) => count + [...sql.matchAll(pattern)].length, 0);
  return touched.length > held ? touched.join(', ') : undefined;
}

/**
 * Statements that read several accounts on purpose. They return numbers and queue positions, but no texts of
 * customers.
 */
const ACROSS_ACCOUNTS = [
  'accounts.count_webhook_secrets',
  'accounts.list_sealed_webhook_secrets',
  'accounts.newest_webhook_secret',
  'editing.due_jobs',
  'editing.expired_claims',
  'editing.next_tasks',
  'editing.effort_by_editor',
  'editing.effort_by_job',
  'editing.effort_by_route',
  'editing.locate',
  'editing.paused_until',
  'editing.queue',
  'editing.task_counts',
  'editing.task_queues',
  'editing.chosen_tasks',
  'editing.count_waiting',
  'editing.find_waiting',
  'editing.work_claims',
  'editing.work_days',
  'editing.work_issues',
  'jobs.any',
  'jobs.due_mails',
  'jobs.forget_keys',
  'jobs.unjudged',
  'jobs.accounts_to_fold',
  'jobs.waiting_pairs',
  'chats.due_corrections',
  'deliveries.due_lanes',
  'deliveries.failing_endpoints',
  'deliveries.failing_hosts',
  'ledger.totals',
  'memory.pooled_efforts',
  'memory.undelivered_accounts',
  'ledger.verify',
  'operations.backlog',
  'operations.open_breakers',
  'work.due_jobs',
  'work.due_messages',
  'work.due_propagations',
];

describe('tenant separation', () => {
  beforeAll(async () => {
    // Imports the modules that define statements. Importing main.ts would run the command line.
    const makers = production.filter((file) =>
      readFileSync(join(SOURCE, file), 'utf8').includes("database/statements.ts'"),
    );
    for (const file of makers) await import(join(SOURCE, file));
  });

  it('requires every statement to name the account', () => {
    const breaches = allStatements()
      // Statements named `test.…` belong to other test files, which share this process.
      .filter(
        ({ name }) =>
          !ACROSS_ACCOUNTS.includes(name.replace(/\.distributed$/, '')) && !name.startsWith('test.'),
      )
      .flatMap(({ name, text }) => (breach(text) === undefined ? [] : [`${name}: ${breach(text)}`]));
    expect(allStatements().length).toBeGreaterThan(20);
    expect(breaches).toEqual([]);
  });

  it('has no exception for a statement that does not need an exception', () => {
    const texts = new Map(allStatements().map(({ name, text }) => [name, text]));
    for (const name of ACROSS_ACCOUNTS) expect(breach(texts.get(name) ?? ''), name).toBeDefined();
  });

  it.each([
    ['names no account', 'select uid from jobs where job_id = $1', 'jobs'],
    ['only shows its account', 'select part, account_id, uid from jobs where job_id = $1', 'jobs'],
    ['leaves out the part', 'update balances set available_cents = 0 where account_id = $1', 'balances'],
    ['leaves out the account', 'delete from segments where part = $1 and job_id = $2', 'segments'],
    [
      'joins another account’s table',
      `select body from jobs j join job_texts t on t.job_id = j.job_id
        where j.part = $1 and j.account_id = $2 and j.uid = $3`,
      'jobs, job_texts',
    ],
    ['writes for no account', 'insert into job_texts (job_id, kind, body) values ($1, $2, $3)', 'job_texts'],
    ['turns it around', 'select uid from jobs where part = $1 and account_id <> $2', 'jobs'],
  ])('is violated by a statement that %s', (_name, text, tables) => {
    expect(breach(text)).toBe(tables);
  });

  it.each([
    'select uid from jobs where part = $1 and account_id = $2 and job_id = $3',
    'select body from jobs j join job_texts t using (part, account_id, job_id) where j.part = $1 and j.account_id = $2',
    'insert into job_texts (part, account_id, job_id, kind, body) values ($1, $2, $3, $4, $5)',
    'select 1 from accounts where username = $1',
  ])('is respected by the statement %s', (text) => {
    expect(breach(text)).toBeUndefined();
  });

  it('allows only the database module to use the driver, so that every statement has a name', () => {
    const speaks = (source: string) =>
      /(?:from|import|import\(|require\() ?['"](?:pg|.*\/connections\.ts)['"]/.test(source);
    const loose = production.filter(
      (file) => !file.startsWith('database/') && speaks(readFileSync(join(SOURCE, file), 'utf8')),
    );
    expect(loose).toEqual([]);
    for (const planted of [
      "import pg from 'pg';",
      "await import('pg')",
      'import type { Client } from "pg";',
      "import { createPool } from '../database/connections.ts';",
    ]) {
      expect(speaks(planted), planted).toBe(true);
    }
  });

  it('allows no module to import the store of another module', () => {
    const isForeign = (file: string, to: string) => join(file, '..', to).split('/')[0] !== file.split('/')[0];
    const reaches = (file: string, source: string) =>
      [...source.matchAll(/from '([./\w-]+store\.ts)'/g)].some(([, to]) => isForeign(file, to!));
    const reaching = production.filter((file) => reaches(file, readFileSync(join(SOURCE, file), 'utf8')));
    expect(reaching).toEqual([]);
    expect(reaches('chats/chats.ts', "import { findPage } from '../jobs/list/list-store.ts';")).toBe(true);
    expect(reaches('jobs/create/create.ts', "import { findJob } from '../store.ts';")).toBe(false);
  });

  it("requires part and account_id at the start of every key of an account's table", () => {
    const directory = join(import.meta.dirname, 'migrations');
    for (const file of readdirSync(directory)) {
      const sql = readFileSync(join(directory, file), 'utf8');
      for (const [, name, body] of sql.matchAll(/^create table (\w+) \(([\s\S]*?)\n\)/gm)) {
        if (REFERENCE_TABLES.includes(name!)) continue;
        const keys = [...body!.matchAll(/(primary key|unique|foreign key) \(([^)]*)\)/g)].map(
          ([, , columns]) => columns!,
        );
        expect(keys.length, name).toBeGreaterThan(0);
        for (const columns of keys) expect(columns, name).toMatch(/^part, account_id/);
      }
    }
  });
});
