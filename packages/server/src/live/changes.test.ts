import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { allStatements } from '../database/statements.ts';
import { changesOf, type Reading, readingOf } from './changes.ts';

const SOURCE = join(import.meta.dirname, '..');
const read = new Map<string, Reading | undefined>();

beforeAll(async () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('testing/'),
  );
  for (const file of files) {
    if (readFileSync(join(SOURCE, file), 'utf8').includes("database/statements.ts'")) {
      await import(join(SOURCE, file));
    }
  }
  for (const one of allStatements()) read.set(one.name, readingOf(one));
});

describe('what a statement changes', () => {
  it.each([
    ['jobs.insert', { kinds: ['jobs'], account: 2, jobs: 3 }],
    ['jobs.move', { kinds: ['jobs'], account: 2, jobs: 3 }],
    ['jobs.upgrade', { kinds: ['jobs'], account: 2, jobs: 3 }],
    ['editing.first_edit', { kinds: [], account: 2, jobs: 3, edits: true }],
    ['editing.next_edit', { kinds: [], account: 2, jobs: 3, edits: true }],
    ['editing.insert_comment', { kinds: [], account: 2, jobs: 4 }],
    ['editing.move', { kinds: ['tasks'], account: 2, jobs: 3 }],
    ['editing.insert_tasks', { kinds: ['tasks'], account: 2, jobs: 3 }],
    ['editing.claim_named', { kinds: ['tasks'], account: 13, jobs: undefined }],
    ['editing.claim_next', { kinds: ['tasks'], account: undefined, jobs: undefined }],
    ['editing.expire', { kinds: ['tasks'], account: undefined, jobs: undefined, answers: true }],
    ['deliveries.finish_answered', { kinds: ['deliveries'], account: 2, jobs: undefined }],
    ['deliveries.insert_events', { kinds: ['deliveries'], account: 2 }],
    ['chats.move_all', { kinds: ['chats'], account: 2 }],
    ['chats.settle', { kinds: ['chats'], account: 2 }],
    ['ledger.hold', { kinds: ['balance'], account: 2 }],
    ['ledger.top_up', { kinds: ['balance'], account: 2 }],
    ['sessions.end', { kinds: ['sessions'] }],
    ['people.set_disabled', { kinds: ['sessions'] }],
  ])('reads %s', (name, expected) => {
    expect(read.get(name)).toMatchObject(expected);
  });

  it('knows whose it is, wherever the statement is held to an account', () => {
    const held = allStatements().filter(
      ({ name, text }) => read.get(name) !== undefined && /\bpart = \$\d|\$1::smallint\[\]/.test(text),
    );
    expect(held.length).toBeGreaterThan(20);
    for (const { name } of held) expect(read.get(name)?.account, name).toBeDefined();
  });

  it.each([
    'work.claim_jobs',
    'work.extend_deliveries',
    'deliveries.claim',
    'editing.keep',
    'sessions.touch',
    'jobs.find',
    'audit.insert',
  ])('sees nothing to be shown in %s', (name) => {
    expect(read.get(name)).toBeUndefined();
  });

  it('tells nothing where no row was changed', () => {
    const reading = read.get('editing.expire')!;
    expect(changesOf(reading, [1, 'open', ['claimed']], [])).toEqual([]);
    expect(changesOf(reading, [1, 'open', ['claimed']], [{ job_id: 'j' }])).toEqual([
      { kinds: ['tasks'], account: undefined, jobs: ['j'], edits: false },
    ]);
  });

  it('tells of many accounts one by one, each with its own jobs', () => {
    const values = [
      [1, 2, 1],
      ['a', 'b', 'a'],
      ['j1', 'j2', 'j3'],
    ];
    expect(changesOf(read.get('jobs.move')!, values, [{}])).toEqual([
      { kinds: ['jobs'], account: 'a', jobs: ['j1', 'j3'], edits: false },
      { kinds: ['jobs'], account: 'b', jobs: ['j2'], edits: false },
    ]);
  });
});
