import { expect, it } from 'vitest';
import { attentionOf, type Situation } from './attention.ts';

const now = new Date('2027-01-01T12:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
const calm: Situation = {
  now,
  engines: [],
  queues: [],
  hosts: [],
  dead: [],
  overdrawn: [],
  low: [],
  tasks: [],
  requests: 0,
};
const kinds = (situation: Partial<Situation>) =>
  attentionOf({ ...calm, ...situation }).map(({ kind, severity, subject }) => [kind, severity, subject]);

it('the attention list is empty when no operator needs to act', () => {
  const engines = [{ engine: 'apertium', state: 'closed', since: null } as const];
  const queues = [{ source_language: 'en', target_language: 'es', waiting: 3, oldest: 10 }];
  expect(kinds({ engines, queues })).toEqual([]);
});

it('the attention list is ordered by severity, then by kind, then by age with the oldest problem first', () => {
  const pair = (target_language: string, oldest: number) => ({
    source_language: 'en',
    target_language,
    waiting: 1,
    oldest,
  });
  expect(
    kinds({
      requests: 2,
      low: [{ username: 'short', cents: 5 }],
      tasks: [
        { source_language: 'en', target_language: 'ja', late: 2, reported: 1, unserved: 2 },
        { source_language: 'en', target_language: 'it', late: 0, reported: 0, unserved: 0 },
      ],
      overdrawn: [
        { username: 'little', balance: -1 },
        { username: 'much', balance: -100 },
      ],
      dead: [{ username: 'dead', dead: 1, since: ago(10) }],
      hosts: [
        { username: 'acme', host: 'new', since: ago(10), waiting: 1 },
        { username: 'acme', host: 'old', since: ago(4_000), waiting: 1 },
      ],
      queues: [pair('es', 100), pair('de', 400), pair('fr', 500)],
      engines: [
        { engine: 'half', state: 'half-open', since: null },
        { engine: 'gone', state: 'away', since: null },
      ],
    }),
  ).toEqual([
    ['engine', 'bad', 'gone'],
    ['queue', 'bad', 'en>fr'],
    ['queue', 'bad', 'en>de'],
    ['host', 'bad', 'old'],
    ['dead', 'bad', 'dead'],
    ['reported', 'bad', ''],
    ['late', 'bad', 'en>ja'],
    ['engine', 'look', 'half'],
    ['queue', 'look', 'en>es'],
    ['host', 'look', 'new'],
    ['unserved', 'look', 'en>ja'],
    ['overdrawn', 'look', 'much'],
    ['overdrawn', 'look', 'little'],
    ['low', 'look', 'short'],
    ['requests', 'look', ''],
  ]);
});
