/**
 * Tests that a statement names one part, given as a parameter, so that the tables of accounts can be distributed by
 * `part`: such a statement runs on one node. A part that comes from another table or from an array does not name the
 * node before the statement runs. If a statement has a form for a distributed database, the rule holds for that form. The
 * lists of exceptions may only shrink.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { allStatements } from './statements.ts';

const SOURCE = join(import.meta.dirname, '..');

/** The tables whose rows belong to a part. */
function readTables(): string[] {
  const sql = readFileSync(join(import.meta.dirname, 'migrations/0001_schema.sql'), 'utf8');
  return [...sql.matchAll(/^create table (\w+) \(([\s\S]*?)\n\)/gm)]
    .filter(([, , columns]) => /primary key \([^)]*\bpart\b/.test(columns!))
    .map(([, name]) => name!);
}
const tables = readTables();

/**
 * Returns the tables that a statement uses if it does not speak of one part. It does when each mention of a table
 * compares its part with a parameter. An insert takes its part from a parameter or from such a table.
 */
function breach(sql: string, isOnePart = false): string | undefined {
  const used = [...sql.matchAll(/\b(?:from|join|into|update|using)\s+(\w+)/gi)]
    .map(([, table]) => table!)
    .filter((table) => tables.includes(table));
  const named = [
    /\bpart = \$\d+/g,
    /\binto\s+\w+\s*\(part, \w+_id\b[^)]*\)\s*(?:values\s*\(|select\s+(?:distinct\s+(?:on\s*\([^)]*\)\s*)?)?)(?:\$\d+|\(\$\d+::smallint\[\]\)|(?:\w+\.)?part\b)/gi,
  ].reduce((count, pattern) => count + [...sql.matchAll(pattern)].length, 0);
  const isSplit = sql.includes('::smallint[]') && !isOnePart;
  return used.length > named || (used.length > 0 && isSplit) ? used.join(', ') : undefined;
}

/** Returns true if a statement locks or changes rows. */
const writes = (sql: string): boolean =>
  /\b(?:insert into|delete from|for (?:no key )?update)\b|\bupdate \w+ (?:\w+ )?set\b/i.test(sql);

/** Statements that look over the rows of all parts. They lock and change nothing. */
const OVER_PARTS = [
  'accounts.count_webhook_secrets',
  'accounts.list',
  'accounts.list_sealed_webhook_secrets',
  'accounts.newest_webhook_secret',
  'accounts.overdrawn',
  'chats.due_corrections',
  'deliveries.died',
  'deliveries.due_lanes',
  'deliveries.failing_endpoints',
  'deliveries.failing_hosts',
  'deliveries.list_failing',
  'deliveries.list_owned',
  'editing.chosen_tasks',
  'editing.console_tasks',
  'editing.count_waiting',
  'editing.due_jobs',
  'editing.effort_by_editor',
  'editing.effort_by_job',
  'editing.effort_by_route',
  'editing.expired_claims',
  'editing.find_waiting',
  'editing.held_by',
  'editing.locate',
  'editing.next_tasks',
  'editing.paused_until',
  'editing.queue',
  'editing.task_counts',
  'editing.task_queues',
  'editing.work_claims',
  'editing.work_days',
  'editing.work_issues',
  'jobs.accounts_to_fold',
  'jobs.any',
  'jobs.console_by_number',
  'jobs.console_hours',
  'jobs.console_list',
  'jobs.due_mails',
  'jobs.list_kind_asc',
  'jobs.list_kind_desc',
  'jobs.list_part_asc',
  'jobs.list_part_desc',
  'jobs.list_scan_asc',
  'jobs.list_scan_desc',
  'jobs.list_start_asc',
  'jobs.list_start_desc',
  'jobs.list_status_asc',
  'jobs.list_status_desc',
  'jobs.unjudged',
  'jobs.waiting_pairs',
  'ledger.low_balances',
  'ledger.totals',
  'ledger.verify',
  'memory.pooled_efforts',
  'memory.undelivered_accounts',
  'operations.backlog',
  'operations.open_breakers',
  'work.due_jobs',
  'work.due_messages',
  'work.due_propagations',
];

/** Statements that delete rows of all parts, without the order of locks of other statements. */
const WRITES_OVER_PARTS = ['jobs.end_creation', 'jobs.forget_creations', 'jobs.forget_keys'];

describe('statements of one part', () => {
  beforeAll(async () => {
    const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('testing/'),
    );
    for (const file of files) {
      const path = join(SOURCE, file);
      // Importing main.ts would run the command line.
      if (readFileSync(path, 'utf8').includes("database/statements.ts'")) await import(path);
    }
  });

  const breaches = (writing: boolean) =>
    allStatements()
      .filter(({ name }) => !name.startsWith('test.') && !name.endsWith('.distributed'))
      .filter(({ text, distributed }) => {
        const sql = distributed?.statement.text ?? text;
        return writes(sql) === writing && breach(sql, distributed?.split !== undefined);
      })
      .map(({ name }) => name)
      .sort();

  it('are all statements that lock or change rows, except these', () => {
    expect(breaches(true)).toEqual(WRITES_OVER_PARTS);
  });

  it('are all statements that only read, except these', () => {
    expect(breaches(false)).toEqual(OVER_PARTS);
  });

  it.each([
    ['names no part', 'select uid from jobs where job_id = $1', 'jobs'],
    [
      'takes the part from another table',
      'select body from jobs j join job_texts t on t.part = j.part where j.part = $1',
      'jobs, job_texts',
    ],
    [
      'takes the part from an array',
      'update jobs j set due_at = null from unnest($1::smallint[]) as g (part) where j.part = g.part',
      'jobs',
    ],
    [
      'inserts rows of several parts',
      'insert into events (part, account_id) select part, account_id from unnest($1::smallint[]) as g (part)',
      'events',
    ],
  ])('does not include a statement that %s', (_name, text, used) => {
    expect(breach(text)).toBe(used);
  });

  it.each([
    'select body from jobs j join job_texts t on t.part = $1 where j.part = $1',
    'insert into events (part, account_id, type) values ($1, $2, $3)',
    'insert into events (part, account_id, type) select j.part, j.account_id, $2 from jobs j where j.part = $1',
    'select 1 from accounts where username = $1',
  ])('includes %s', (text) => {
    expect(breach(text)).toBeUndefined();
  });

  it.each([
    ['select 1 from jobs for update', true],
    ['update jobs j set due_at = null', true],
    ['select updated from jobs', false],
  ])('tells whether %s writes', (text, expected) => {
    expect(writes(text)).toBe(expected);
  });
});
