/** Asks a Citus cluster for the plan of each statement of the program. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { allStatements } from '../../packages/server/src/database/statements.ts';

/**
 * Where a statement runs: on the coordinator alone (`local`), on one node, on all nodes, in several steps with results
 * between the nodes, or nowhere.
 */
export type Place = 'local' | 'one' | 'all' | 'steps' | 'refused';

export interface PlannedStatement {
  name: string;
  place: Place;
  /** Why it is refused. */
  reason?: string;
}

const SOURCE = join(import.meta.dirname, '../../packages/server/src');

/** Any value of each type. Plans need values only to find the node of a part. */
const VALUES: Record<string, string> = {
  smallint: '7',
  integer: '1',
  bigint: '1',
  real: '1',
  'double precision': '1',
  boolean: 'true',
  uuid: "'00000000-0000-7000-8000-000000000001'",
  text: "'x'",
  jsonb: "'{}'",
  bytea: "'\\x00'",
  'timestamp with time zone': "'2026-01-01'",
  interval: "'1 second'",
};

function literalOf(type: string): string {
  const element = type.replace(/\[\]$/, '');
  const value = VALUES[element] ?? 'null';
  return type === element ? `${value}::${type}` : `array[${value}]::${type}`;
}

/** Plans all statements of the program that plan: `select`, `insert`, `update` and `delete`. */
export async function planStatements(client: pg.Client): Promise<PlannedStatement[]> {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('testing/'),
  );
  for (const file of files) {
    const path = join(SOURCE, file);
    // Importing main.ts would run the command line.
    if (readFileSync(path, 'utf8').includes("database/statements.ts'")) await import(path);
  }
  await client.query('set plan_cache_mode = force_custom_plan');
  const planned: PlannedStatement[] = [];
  for (const { name, text, distributed } of allStatements()) {
    // The database module tries its connections with a temporary table, which does not exist here.
    if (name.startsWith('database.trial') || name.endsWith('.distributed')) continue;
    if (/^\s*(?:select|insert|update|delete|with|\()/.test(text))
      planned.push(await plan(client, name, distributed?.statement.text ?? text));
  }
  return planned;
}

async function plan(client: pg.Client, name: string, text: string): Promise<PlannedStatement> {
  try {
    await client.query(`prepare planned as ${text}`);
    const { rows } = await client.query<{ types: string[] }>(
      `select parameter_types::text[] as types from pg_prepared_statements where name = 'planned'`,
    );
    const values = rows[0]!.types.map(literalOf);
    // Citus cannot explain a prepared insert of selected rows with parameters, although it runs it.
    const run = /^(?:with[\s\S]*\)\s*)?insert into[^;]*\bselect\b/.test(text)
      ? text.replaceAll(/\$(\d+)/g, (_, number) => `(${values[number - 1]})`)
      : `execute planned${values.length > 0 ? `(${values.join(', ')})` : ''}`;
    const { rows: lines } = await client.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${run}`);
    return { name, place: placeOf(lines.map((line) => line['QUERY PLAN']).join('\n')) };
  } catch (error) {
    return { name, place: 'refused', reason: (error as Error).message };
  } finally {
    await client.query('deallocate all');
  }
}

/** Reads from the text of a plan where its statement runs. */
export function placeOf(text: string): Place {
  if (!text.includes('Citus')) return 'local';
  const tasks = [...text.matchAll(/Task Count: (\d+)/g)].map(([, count]) => Number(count));
  if (Math.max(...tasks, 0) > 1) return 'all';
  return /Distributed Subplan|INSERT \.\.\. SELECT/.test(text) ? 'steps' : 'one';
}
