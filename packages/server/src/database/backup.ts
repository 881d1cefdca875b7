/**
 * Backups: a snapshot of every table in PostgreSQL's copy format, in one compressed file. `pg_dump` is not used, because
 * the embedded server comes without it. Later versions of this program can read the file.
 *
 * Unpacked, the file has these lines:
 *
 *   {"dragoman":"backup","format":1,"migration":1,"made_at":"2026-11-21T08:00:00.000Z"}
 *   {"table":"accounts","columns":["part","account_id",…]}
 *   rows in PostgreSQL's text format, one per line, then a line `\.`
 *   … the other tables …
 *   {"end":true,"rows":{"accounts":3,…}}
 */
import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { createConnection } from './connections.ts';
import type { Connection } from './database.ts';
import { countVersionsBehind, migrate } from './migrate.ts';
import { readVersion } from './migrations.ts';

const FORMAT = 1;
/** The line that ends the rows of a table. A row with this text is written as `\\.`. */
const END_OF_ROWS = '\\.';

/** Thrown when a backup or a restore fails. The message is shown to the operator. */
export class BackupError extends Error {
  override name = 'BackupError';
}

/** Number of rows by table. */
export type Rows = Record<string, number>;

interface Header {
  dragoman: 'backup';
  format: number;
  migration: number;
  made_at: string;
}

interface Table {
  name: string;
  /** Names of the columns, without generated columns. */
  columns: string[];
}

/**
 * Writes a snapshot of the whole database while it is in use.
 * @param connection a connection as the owner of the schema
 * @param target the stream to which the file is written; this function ends the stream
 */
export async function writeBackup(connection: Connection, target: NodeJS.WritableStream): Promise<Rows> {
  return withClient(connection, async (client) => {
    await client.query('begin transaction isolation level repeatable read read only');
    if (!(await isMade(client))) {
      throw new BackupError('The database contains no Dragoman data: check DATABASE_URL.');
    }
    const rows: Rows = {};
    async function* lines() {
      const header: Header = {
        dragoman: 'backup',
        format: FORMAT,
        migration: await readVersion(client),
        made_at: new Date().toISOString(),
      };
      yield `${JSON.stringify(header)}\n`;
      for (const { name, columns } of await readTables(client)) {
        yield `${JSON.stringify({ table: name, columns })}\n`;
        const copying = client.query(copyTo(`copy ${quote(name)} (${columns.map(quote)}) to stdout`));
        for await (const chunk of copying) yield chunk as Buffer;
        rows[name] = copying.rowCount ?? 0;
        yield `${END_OF_ROWS}\n`;
      }
      yield `${JSON.stringify({ end: true, rows })}\n`;
    }
    await pipeline(lines, createGzip({ level: 6 }), target);
    await client.query('commit');
    return rows;
  });
}

/**
 * Fills an empty database from a backup in one transaction, and migrates the database to this version of the
 * program.
 * @param connection a connection as the owner of the schema
 * @throws BackupError when the database is not empty or the backup is incomplete; then nothing changes
 */
export async function readBackup(connection: Connection, source: NodeJS.ReadableStream): Promise<Rows> {
  const lines = readLines(source.pipe(createGunzip()));
  source.on('error', (error) => void lines.throw(error));
  const header = headerOf(await next(lines));
  await prepare(connection, header);
  const rows = await withClient(connection, async (client) => {
    await client.query('begin');
    // A distributed database drops and adds foreign keys only on one connection to each node.
    await client.query(`set local citus.multi_shard_modify_mode = 'sequential'`);
    const putBack = await withoutReferences(client);
    const restored = await copyTables(client, lines);
    await putBack();
    await setSequences(client);
    await client.query('commit');
    return restored;
  });
  await migrate(connection);
  return rows;
}

/** Creates the schema of the backup in an empty database. */
async function prepare(connection: Connection, { migration }: Header): Promise<void> {
  await countVersionsBehind(connection); // Throws if this program cannot use the database.
  await withClient(connection, async (client) => {
    if (!(await isMade(client))) return;
    const newest = await readVersion(client);
    for (const { name } of await readTables(client)) {
      const { rowCount } = await client.query(`select from ${quote(name)} limit 1`);
      if (rowCount !== 0)
        throw new BackupError(`The database is not empty (${name}): restore into a new one.`);
    }
    if (newest > migration) {
      throw new BackupError(
        `The database is at migration ${newest}, the backup at ${migration}: restore into a new one.`,
      );
    }
  });
  await migrate(connection, { upTo: migration });
}

async function copyTables(client: pg.Client, lines: AsyncGenerator<Buffer>): Promise<Rows> {
  const rows: Rows = {};
  for (;;) {
    const section = parse(await next(lines));
    if (section.end === true) {
      if (JSON.stringify(section.rows) !== JSON.stringify(rows)) {
        throw new BackupError('The rows in the file do not match its summary.');
      }
      return rows;
    }
    const { table, columns } = section as { table?: unknown; columns?: unknown };
    if (typeof table !== 'string' || !isNames(columns)) throw notABackup();
    const copying = client.query(copyFrom(`copy ${quote(table)} (${columns.map(quote)}) from stdin`));
    // The error is caught from the start, because PostgreSQL may refuse a row while later rows are still
    // being sent.
    let refused: Error | undefined;
    const ended = once(copying, 'finish').catch((error: Error) => {
      refused = error;
    });
    let count = 0;
    for (;;) {
      const line = await next(lines).catch((error) => {
        copying.destroy();
        throw error;
      });
      if (line.length === END_OF_ROWS.length && line.toString('latin1') === END_OF_ROWS) break;
      count++;
      if (refused === undefined && !copying.write(Buffer.concat([line, NEWLINE]))) {
        await Promise.race([once(copying, 'drain').catch(() => {}), ended]);
      }
    }
    copying.end();
    await ended;
    if (refused !== undefined) throw new BackupError(`${table}: ${refused.message}`);
    rows[table] = count;
  }
}

/** Sets each sequence so that it continues after the highest value in the backup. */
async function setSequences(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ sequence: string; table: string; column: string }>(
    `select pg_get_serial_sequence(quote_ident(c.relname), a.attname) as sequence, c.relname as table,
            a.attname as column
       from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attidentity <> ''`,
  );
  for (const { sequence, table, column } of rows) {
    await client.query(
      `select setval($1, greatest((select max(${quote(column)}) from ${quote(table)}), 0) + 1, false)`,
      [sequence],
    );
  }
}

/** Returns all tables of the schema except `migrations`, which is filled when the schema is migrated. */
async function readTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
       from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> 'migrations'
        and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      group by c.relname order by c.relname`,
  );
  return rows;
}

/**
 * Drops the foreign keys. Some tables refer to each other in circles, so no order of loading would satisfy all keys.
 * @returns a function that creates the foreign keys again, which checks every row
 */
async function withoutReferences(client: pg.Client): Promise<() => Promise<void>> {
  const { rows } = await client.query<{ table: string; name: string; definition: string }>(
    `select r.relname as table, c.conname as name, pg_get_constraintdef(c.oid) as definition
       from pg_constraint c join pg_class r on r.oid = c.conrelid
      where c.contype = 'f' and r.relnamespace = 'public'::regnamespace`,
  );
  for (const { table, name } of rows) {
    await client.query(`alter table ${quote(table)} drop constraint ${quote(name)}`);
  }
  return async () => {
    for (const { table, name, definition } of rows) {
      await client.query(`alter table ${quote(table)} add constraint ${quote(name)} ${definition}`);
    }
  };
}

/** Returns whether the database has a schema, which is true if at least one migration was applied. */
async function isMade(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ made: boolean }>(
    `select to_regclass('migrations') is not null as made`,
  );
  return rows[0]!.made;
}

async function withClient<T>(connection: Connection, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = createConnection({ ...connection, application_name: 'dragoman backup' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end(); // The end of the session also ends an open transaction.
  }
}

const NEWLINE = Buffer.from('\n');

/** Yields lines without their line ends. @throws BackupError when the stream ends early */
async function* readLines(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let begun: Buffer[] = [];
  try {
    for await (const chunk of source) {
      let start = 0;
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
        yield Buffer.concat([...begun, chunk.subarray(start, end)]);
        begun = [];
        start = end + 1;
      }
      if (start < chunk.length) begun.push(chunk.subarray(start));
    }
  } catch (error) {
    if ((error as { code?: string }).code?.startsWith('Z_')) throw notABackup();
    throw error;
  }
}

async function next(lines: AsyncGenerator<Buffer>): Promise<Buffer> {
  const { value, done } = await lines.next();
  if (done === true) throw notABackup();
  return value;
}

function parse(line: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line.toString());
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // The line is not JSON, so it is not the header of a backup.
  }
  throw notABackup();
}

function headerOf(line: Buffer): Header {
  const header = parse(line) as Partial<Header>;
  if (header.dragoman !== 'backup' || !Number.isSafeInteger(header.migration)) throw notABackup();
  if (header.format !== FORMAT) {
    throw new BackupError(`The backup has format ${header.format}; this program reads format ${FORMAT}.`);
  }
  return header as Header;
}

function notABackup(): BackupError {
  return new BackupError('The file is not a complete backup.');
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}

function quote(name: string): string {
  return pg.escapeIdentifier(name);
}
