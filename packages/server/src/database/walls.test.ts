/** The tenant walls, in every SQL text of the project. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { allStatements, statement } from './statements.ts';

const SOURCE = join(import.meta.dirname, '..');
/** Small tables that are read everywhere; everything else in the schema belongs to an account. */
const REFERENCE_TABLES = ['accounts', 'keys', 'pairs', 'migrations'];

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);
const production = files.filter((file) => !file.endsWith('.test.ts') && !file.startsWith('testing/'));

function accountTables(): string[] {
  const directory = join(import.meta.dirname, 'migrations');
  const sql = readdirSync(directory).map((file) => readFileSync(join(directory, file), 'utf8'));
  const names = [...sql.join('\n').matchAll(/^create table (\w+)/gm)].map(([, name]) => name!);
  return names.filter((name) => !REFERENCE_TABLES.includes(name));
}

/**
 * What is wrong with one SQL text: the account's tables that it names, when it does not compare or write both
 * `part` and `account_id`. Across accounts a statement may only count or find whose turn it is.
 */
function breach(sql: string): string | undefined {
  const touched = accountTables().filter((table) =>
    new RegExp(`\\b(from|join|into|update|delete from)\\s+${table}\\b`, 'i').test(sql),
  );
  const names = (column: string) => new RegExp(`\\b${column}\\b`).test(sql);
  return touched.length > 0 && !(names('part') && names('account_id')) ? touched.join(', ') : undefined;
}

/** Statements that look across accounts on purpose; they show numbers and turns, never an account's text. */
const ACROSS_ACCOUNTS = ['operations.backlog'];

describe('tenant walls', () => {
  beforeAll(async () => {
    // Only rooms make statements; importing main.ts would run the command line.
    const makers = production.filter((file) =>
      readFileSync(join(SOURCE, file), 'utf8').includes("database/statements.ts'"),
    );
    for (const file of makers) await import(join(SOURCE, file));
  });

  it('has every statement start from its account', () => {
    const breaches = allStatements()
      .filter(({ name }) => !ACROSS_ACCOUNTS.includes(name))
      .flatMap(({ name, text }) => (breach(text) === undefined ? [] : [`${name}: ${breach(text)}`]));
    expect(allStatements().length).toBeGreaterThan(20);
    expect(breaches).toEqual([]);
  });

  it('catches a planted breach', () => {
    const planted = statement('planted.breach', 'select uid from jobs where job_id = $1');
    expect(breach(planted.text)).toBe('jobs');
    expect(breach('update balances set available_cents = 0 where account_id = $1')).toBe('balances');
    expect(breach('select 1 from accounts where username = $1')).toBeUndefined();
  });

  it('finds no SQL outside named statements', () => {
    const loose = production.filter((file) => {
      if (/^database\/(database|migrate|embedded|schema)/.test(file)) return false;
      return /\.query\(\s*[`'"]/.test(readFileSync(join(SOURCE, file), 'utf8'));
    });
    expect(loose).toEqual([]);
  });

  it('has part, then account_id, lead every key of an account’s table', () => {
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
