/**
 * Today's schema as one readable text, made from the catalogs of a migrated database. `schema.sql` holds it;
 * a test keeps the two equal, `npm run schema` writes it anew.
 */
import { createConnection } from './connections.ts';
import type { Connection } from './database.ts';

const COLUMNS = `
  select c.relname as "table", a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
         a.attnotnull as required, a.attidentity <> '' as identity, pg_get_expr(d.adbin, d.adrelid) as fallback,
         case when co.collname <> 'default' then co.collname end as collation
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    left join pg_collation co on co.oid = a.attcollation
   where a.attnum > 0 and not a.attisdropped
   order by c.relname, a.attnum`;
// Not-null constraints are rows of their own only from PostgreSQL 18 on; the columns say it already.
const CONSTRAINTS = `
  select conrelid::regclass::text as "table", conname as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where connamespace = 'public'::regnamespace and contype <> 'n'
   order by 1, contype desc, 2`;
const INDEXES = `
  select i.indrelid::regclass::text as "table", pg_get_indexdef(i.indexrelid) as definition
    from pg_index i join pg_class c on c.oid = i.indexrelid
   where c.relnamespace = 'public'::regnamespace
     and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
   order by 1, 2`;
const GRANTS = `
  select table_name as "table", string_agg(lower(privilege_type), ', ' order by privilege_type) as privileges
    from information_schema.role_table_grants
   where table_schema = 'public' and grantee = 'dragoman_app' group by 1 order by 1`;

interface Column {
  table: string;
  name: string;
  type: string;
  required: boolean;
  identity: boolean;
  fallback: string | null;
  collation: string | null;
}

/** Reads the schema of a migrated database as text; the same on every PostgreSQL from 15 on. */
export async function describeSchema(connection: Connection): Promise<string> {
  const client = createConnection(connection);
  await client.connect();
  try {
    const columns = await client.query<Column>(COLUMNS);
    const constraints = await client.query<{ table: string; name: string; definition: string }>(CONSTRAINTS);
    const indexes = await client.query<{ table: string; definition: string }>(INDEXES);
    const grants = await client.query<{ table: string; privileges: string }>(GRANTS);
    const tables = [...new Set(columns.rows.map(({ table }) => table))];
    const blocks = tables.map((table) => {
      const own = <T extends { table: string }>(rows: T[]) => rows.filter((row) => row.table === table);
      const lines = [
        ...own(columns.rows).map(describeColumn),
        ...own(constraints.rows).map(({ name, definition }) => `constraint ${name} ${definition}`),
      ];
      return [
        `create table ${table} (\n  ${lines.join(',\n  ')}\n);`,
        ...own(indexes.rows).map(({ definition }) => `${definition.replace(' ON public.', ' ON ')};`),
        ...own(grants.rows).map(({ privileges }) => `grant ${privileges} on ${table} to dragoman_app;`),
      ].join('\n');
    });
    return `-- Today's schema. Made by \`npm run schema\`; a test keeps it equal to the migrations.\n\n${blocks.join('\n\n')}\n`;
  } finally {
    await client.end();
  }
}

function describeColumn(column: Column): string {
  return [
    column.name,
    column.type,
    column.collation === null ? '' : `collate "${column.collation}"`,
    column.required ? 'not null' : '',
    column.identity ? 'generated always as identity' : '',
    column.fallback === null ? '' : `default ${column.fallback}`,
  ]
    .filter((word) => word !== '')
    .join(' ');
}
