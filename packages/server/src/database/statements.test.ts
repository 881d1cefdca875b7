import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AccountRef } from '../base/account.ts';
import { columnsOf, positionalValues, type Runner, statement, type Values } from './statements.ts';

describe('a statement with named parameters', () => {
  const made = statement('test.named', 'select :one::int, :two_names, :one');

  it('numbers its parameters in order of their first occurrence', () => {
    expect(made.text).toBe('select $1::int, $2, $1');
    expect(positionalValues(made, { two_names: null, one: 1, other: 3 })).toEqual([1, null]);
  });

  it('cannot run when a parameter has no value', () => {
    expect(() => positionalValues(made, { one: 1 })).toThrow('test.named: no value for :two_names');
  });

  it('leaves positional parameters unchanged', () => {
    const text = "select $1, ':not_a_parameter'";
    const numbered = statement('test.numbered', text);
    expect(numbered.text).toBe(text);
    expect(positionalValues(numbered, ['a', 'b'])).toEqual(['a', 'b']);
  });
});

describe('the functions of a statement', () => {
  const account = { part: 3, accountId: 'a' } as AccountRef;
  const OF_ACCOUNT =
    'select name from jobs where part = :part and account_id = :account_id and job_id = :jobId';
  const made = statement<{ name: string }, { account: AccountRef; jobId: string }>('test.run', OF_ACCOUNT);
  const given = { account, jobId: 'j' };
  /** Answers every statement with these rows. */
  const answering = (...rows: object[]): Runner => ({ query: async () => rows as never });

  it('take the part and the id of the account, and the other values by name', () => {
    expect(made.text).toBe('select name from jobs where part = $1 and account_id = $2 and job_id = $3');
    expect(positionalValues(made, given)).toEqual([3, 'a', 'j']);
    expect(positionalValues(made, { ...given, part: 4 })).toEqual([3, 'a', 'j']);
    expect(() => positionalValues(made, { jobId: 'j' })).toThrow('test.run: no value for :part');
  });

  it('run the statement with its values', async () => {
    const calls: [name: string, values: Values | undefined][] = [];
    const on: Runner = {
      query: async ({ name }, values) => {
        calls.push([name, values]);
        return [];
      },
    };
    await made.run(on, given);
    await statement('test.without_values', 'select 1').run(on);
    expect(calls).toEqual([
      ['test.run', given],
      ['test.without_values', undefined],
    ]);
  });

  it('return rows, the first row, or whether there is one', async () => {
    const two = answering({ name: 'one' }, { name: 'two' });
    expect(await made.rows(two, given)).toEqual([{ name: 'one' }, { name: 'two' }]);
    expect(await made.first(two, given)).toEqual({ name: 'one' });
    expect(await made.first(answering(), given)).toBeUndefined();
    expect(await made.found(two, given)).toBe(true);
    expect(await made.found(answering(), given)).toBe(false);
  });

  it('report the changes of the account and the job, if there are rows or they are ignored', async () => {
    const changes: unknown[][] = [];
    const reporting = made.reporting('jobs', 'edit');
    const reported = [
      ['jobs', account, 'j'],
      ['edit', account, 'j'],
    ];
    const on = (...rows: object[]) => ({
      ...answering(...rows),
      changed: (...change: unknown[]) => void changes.push(change),
    });
    await reporting.found(on(), given);
    await reporting.first(on(), given);
    expect(changes).toEqual([]);
    await reporting.run(on(), given);
    expect(changes.splice(0)).toEqual(reported);
    await reporting.found(on({ name: 'one' }), given);
    expect(changes.splice(0)).toEqual(reported);
    await made.run(on({ name: 'one' }), given);
    expect(changes).toEqual([]);
  });

  it('report changes of a list only with an account, and changes of a job only with its id', () => {
    const ofAccount = statement<never, { account: AccountRef }>('test.of_account', 'select 1');
    const ofNone = statement('test.of_none', 'select 1');
    ofAccount.reporting('jobs', 'engines');
    ofNone.reporting('engines');
    // @ts-expect-error: the type check fails here if the values need no job.
    ofAccount.reporting('edit');
    // @ts-expect-error: the type check fails here if the values need no account.
    ofNone.reporting('jobs');
  });

  it('return the only column of the rows', async () => {
    expect(await made.values(answering({ name: 'one' }, { name: 'two' }), given)).toEqual(['one', 'two']);
    expect(await made.value(answering({ name: 'one' }), given)).toBe('one');
    await expect(made.value(answering(), given)).rejects.toThrow(TypeError);
    expect(await made.firstValue(answering({ name: null }), given)).toBeNull();
    expect(await made.firstValue(answering(), given)).toBeUndefined();
  });
});

it('columnsOf returns one array per column', () => {
  const rows = [{ id: 1 }, { id: 2 }];
  expect(columnsOf(rows, { id: (row) => row.id, twice: ({ id }) => 2 * id })).toEqual({
    id: [1, 2],
    twice: [2, 4],
  });
});

// The driver refuses a name that one connection has already prepared with a different text. Which connection of
// the pool serves a statement depends on timing, so a test with this fault fails only now and then.
describe('the statements that a test writes itself', () => {
  const repeated = (source: string) => {
    const texts = new Map<string, string>();
    return [...source.matchAll(/\bname: '(test\.[\w.]+)',\s*text: ?(`[^`]*`|'[^'\n]*'|"[^"\n]*"|\w+)/g)]
      .filter(([, name, text]) => (texts.get(name!) ?? text) !== texts.set(name!, text!).get(name!))
      .map(([, name]) => name);
  };

  it('have one text per name in each file', () => {
    const directory = join(import.meta.dirname, '..');
    const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    );
    const found = files.flatMap((file) =>
      repeated(readFileSync(join(directory, file), 'utf8')).map((name) => `${file}: ${name}`),
    );
    expect(found).toEqual([]);
  });

  it('are found when a name has two texts', () => {
    const [one, two] = [
      "{ name: 'test.x', text: 'select 1' }",
      "{\n  name: 'test.x',\n  text: `select 2`,\n}",
    ];
    expect(repeated(`${one} ${two}`)).toEqual(['test.x']);
    expect(repeated(`${one} ${one}`)).toEqual([]);
  });
});
