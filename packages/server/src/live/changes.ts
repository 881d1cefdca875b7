/**
 * What a statement changes, for those who look on: read off its SQL, once for each statement. Everything that is
 * written passes here, so that no room has to say what it did, and none can forget to. What is read is the tables, whose
 * account it is and, where the statement names them, which jobs; never a word of what was written.
 *
 * Told after the commit: whoever reads on hearing it, reads what is new.
 */
import type { Database, Queryable, Transaction } from '../database/database.ts';
import type { Statement } from '../database/statements.ts';

/** What a hint can be about. */
export const KINDS = [
  ...(['jobs', 'tasks', 'deliveries', 'chats', 'balance'] as const),
  ...(['engines', 'requests', 'sessions'] as const),
] as const;
export type Kind = (typeof KINDS)[number];

/** Something was changed: of one account, or of nobody's in particular. */
export interface Change {
  kinds: readonly Kind[];
  /** Undefined: of any, or of none. */
  account: string | undefined;
  /** The ids of the jobs that it is about, as far as the statement says. */
  jobs: readonly string[];
  /** Nothing of them but the text of segments, which those who edit write themselves. */
  edits: boolean;
}

/** Which tables are shown where. Those of a job that have no list of their own say only which job it is. */
const TABLES: Readonly<Record<string, Kind | 'job' | 'edit'>> = {
  jobs: 'jobs',
  edited_jobs: 'job',
  edits: 'edit',
  comments: 'job',
  issues: 'job',
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
  engine_states: 'engines',
  engine_tests: 'engines',
  sandbox_requests: 'requests',
  sessions: 'sessions',
  users: 'sessions',
};

/** Leases and what else nobody sees; some of it is written by reading. */
const UNSEEN = [
  ...['work.', 'retention.', 'deliveries.claim', 'deliveries.begin_attempts', 'deliveries.take_probe'],
  ...['editing.keep', 'sessions.insert', 'sessions.touch', 'sessions.forget_ended', 'people.set_profile'],
];

/** How a statement is to be read. */
export interface Reading {
  kinds: readonly Kind[];
  /** The parameter with the account, or accounts; undefined where it is not held to one. */
  account: number | undefined;
  /** The parameter with the job, or jobs. */
  jobs: number | undefined;
  edits: boolean;
  /** It answers with the rows that it changed: without a row, nothing was. */
  answers: boolean;
}

const WRITES = /\b(?:insert\s+into|update|delete\s+from)\s+(\w+)/gi;

/** @returns undefined for a statement that changes nothing that is shown */
export function readingOf({ name, text }: Pick<Statement, 'name' | 'text'>): Reading | undefined {
  if (UNSEEN.some((unseen) => name.startsWith(unseen))) return undefined;
  const shown = [...text.matchAll(WRITES)].flatMap(([, table]) => TABLES[table!.toLowerCase()] ?? []);
  if (shown.length === 0) return undefined;
  const outer = outerOf(text);
  const answers =
    /\breturning\b/i.test(outer) || (/\bselect\b/i.test(outer) && !/\b(insert|update|delete)\b/i.test(outer));
  return {
    kinds: [...new Set(shown.filter((kind) => kind !== 'job' && kind !== 'edit'))],
    account: parameterOf(text, 'account_id'),
    jobs: parameterOf(text, 'job_id'),
    edits: shown.every((kind) => kind === 'edit'),
    answers,
  };
}

/** The statement without what stands in brackets. */
function outerOf(text: string): string {
  let depth = 0;
  let outer = '';
  for (const character of text) {
    if (character === '(') depth++;
    else if (character === ')') depth--;
    else if (depth === 0) outer += character;
  }
  return outer;
}

/** Which parameter holds a column: compared with it, unnested under its name, or inserted into it. */
function parameterOf(text: string, column: 'account_id' | 'job_id'): number | undefined {
  const [, compared] = new RegExp(`\\b${column} = (?:any\\()?\\$(\\d+)`).exec(text) ?? [];
  if (compared !== undefined) return Number(compared);
  const [, unnested] = /\bunnest\(\s*(\$1::smallint\[\][^)]*)\)/.exec(text) ?? [];
  if (unnested !== undefined) {
    if (column === 'account_id') return 2; // part and account lead everywhere
    const [, columns = ''] = /\bas \w+ \((part, account_id[^)]*)\)/.exec(text) ?? [];
    const names = columns.split(',').map((name) => name.trim());
    // Where the rows are told by an id, it is the job's if jobs are joined by it.
    const place = names.indexOf(/\bjob_id = \w+\.id\b/.test(text) ? 'id' : column);
    const [, parameter] = /\$(\d+)/.exec(unnested.split(',')[place] ?? '') ?? [];
    return parameter === undefined ? undefined : Number(parameter);
  }
  const [, into, values] = /\binsert into \w+ \(([^)]*)\)\s*(?:values \(|select )([^)]*)/.exec(text) ?? [];
  if (into === undefined) return undefined;
  const place = into.split(',').findIndex((name) => name.trim() === column);
  const [, parameter] = /^\s*\$(\d+)\s*$/.exec(values!.split(',')[place] ?? '') ?? [];
  return parameter === undefined ? undefined : Number(parameter);
}

const readings = new Map<string, Reading | undefined>();

function remembered(statement: Statement): Reading | undefined {
  if (!readings.has(statement.name)) readings.set(statement.name, readingOf(statement));
  return readings.get(statement.name);
}

/** What a statement changed with these values, an account at a time. */
export function changesOf(reading: Reading, values: readonly unknown[], rows: readonly object[]): Change[] {
  if (reading.answers && rows.length === 0) return [];
  const { kinds, edits } = reading;
  const accounts = reading.account === undefined ? undefined : values[reading.account - 1];
  const jobs = reading.jobs === undefined ? jobsOf(rows) : values[reading.jobs - 1];
  if (!Array.isArray(accounts)) {
    const account = typeof accounts === 'string' ? accounts : undefined;
    return [{ kinds, account, jobs: idsOf(jobs), edits }];
  }
  const byAccount = new Map<string, string[]>();
  for (const [index, account] of (accounts as string[]).entries()) {
    const own = byAccount.get(account) ?? [];
    byAccount.set(account, own);
    if (Array.isArray(jobs) && jobs.length === accounts.length) own.push(...idsOf(jobs[index]));
  }
  return [...byAccount].map(([account, own]) => ({ kinds, account, jobs: own, edits }));
}

function idsOf(given: unknown): string[] {
  const all: unknown[] = Array.isArray(given) ? given : [given];
  return all.filter((one) => typeof one === 'string');
}

/** Where only the answer says which jobs they were. */
function jobsOf(rows: readonly { job_id?: unknown }[]): unknown[] {
  return rows.map(({ job_id: id }) => id);
}

/**
 * The same database, whose changes are told once they are committed.
 * @param heard whether anybody listens: nothing is worked out where nobody does
 */
export function watchChanges(
  database: Database,
  heard: () => boolean,
  tell: (changes: readonly Change[]) => void,
): Database {
  type Written = [reading: Reading, values: readonly unknown[], rows: readonly object[]];
  const say = (written: readonly Written[]) => {
    if (written.length > 0 && heard()) tell(written.flatMap((one) => changesOf(...one)));
  };
  /** Asks, and keeps what is written. */
  function keeping(on: Queryable, keep: (written: Written) => void): Queryable['query'] {
    return async (statement, values = []) => {
      const rows = await on.query(statement, values);
      const reading = remembered(statement);
      if (reading !== undefined) keep([reading, values, rows]);
      return rows;
    };
  }
  return {
    ...database,
    query: keeping(database, (written) => say([written])),
    async transaction(work) {
      let written: Written[] = [];
      const done = await database.transaction((transaction) => {
        written = []; // of the try that is committed
        const watched: Transaction = {
          inTransaction: true,
          query: keeping(transaction, (one) => written.push(one)),
        };
        return work(watched);
      });
      say(written);
      return done;
    },
  };
}
