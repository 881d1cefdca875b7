/** The run at the tenant walls, short; and its judgement with faults planted. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { type Answered, CANARY, runTenants, type TenantsHistory } from './run.ts';
import { judge } from './tenants.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-tenants-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('a stranger is told nothing, at any operation', async () => {
  const history = await runTenants({ directory, calls: 300, seed: 1, say: () => {} });
  expect(judge(history).filter((figure) => !allHeld([figure]))).toEqual([]);
});

describe('the judgement', () => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const no: Answered = { status: 404, headers: [['date', 'now']], text: '{"error":"Not found"}' };
  const good: TenantsHistory = {
    operations: 1,
    calls: [
      { asked: `GET /a/${CANARY}-1 as key`, foreign: no, unknown: { ...no, headers: [['date', 'then']] } },
    ],
    lists: [{ asked: `GET /a?uid=${CANARY}-1`, answer: { ...no, text: `{"next":"?uid=${CANARY}-1"}` } }],
    shown: [
      {
        ...{ asked: 'GET /task by who has left', may: ['zeichen0.'], changes: false },
        answer: { ...no, status: 200, text: '{"segments":["zeichen0."]}' },
      },
      { asked: 'POST /comments by who has left', may: ['zeichen0.'], changes: true, answer: no },
    ],
    before: ['a'],
    after: ['a'],
  };
  const showing = (index: number, answer: Partial<Answered>) =>
    good.shown.with(index, { ...good.shown[index]!, answer: { ...good.shown[index]!.answer, ...answer } });
  const called = (foreign: Partial<Answered>) => [{ ...good.calls[0]!, foreign: { ...no, ...foreign } }];

  it('holds where nothing tells them apart', () => {
    expect(allHeld(judge(good))).toBe(true);
  });

  it.each<[string, Partial<TenantsHistory>]>([
    ['a status tells', { calls: called({ status: 403 }) }],
    ['a header tells', { calls: called({ headers: [['x-hint', '1']] }) }],
    ['a word tells', { calls: called({ text: '{"error":"Not yours"}' }) }],
    [
      'it is answered',
      { calls: [{ asked: 'x', foreign: { ...no, status: 200 }, unknown: { ...no, status: 200 } }] },
    ],
    ['a list leaks', { lists: [{ asked: 'GET /a', answer: { ...no, text: `{"text":"The ${CANARY}"}` } }] }],
    ['something was changed', { after: ['b'] }],
    ['nothing was called', { calls: [] }],
    ['an editor is shown a segment of another', { shown: showing(0, { text: 'zeichen0. zeichen1.' }) }],
    ['an editor without a task is shown the memory', { shown: showing(1, { text: 'zeichenspeicher' }) }],
    ['an editor who has left writes in the job', { shown: showing(1, { status: 201 }) }],
    ['no editor asked', { shown: [] }],
  ])('is missed where %s', (_, planted) => {
    expect(allHeld(judge({ ...good, ...planted }))).toBe(false);
  });
});
