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
    before: ['a'],
    after: ['a'],
  };
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
  ])('is missed where %s', (_, planted) => {
    expect(allHeld(judge({ ...good, ...planted }))).toBe(false);
  });
});
