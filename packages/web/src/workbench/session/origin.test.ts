import { expect, test } from 'vitest';
import { hasLowConfidence, targetOriginOf } from './origin.ts';
import type { Match, Segment } from './task.ts';

const segment = (fields: Partial<Segment>): Segment => ({
  position: 0,
  unit: 0,
  source: [{ text: 'One house.' }],
  target: null,
  draft: [{ text: 'Ein Haus.' }],
  origin: 'machine',
  route: 'apertium:eng-deu',
  status: 'open',
  revision: 0,
  mine: true,
  notes: [],
  draft_notes: [],
  codes: {},
  filled: false,
  changed: false,
  asked: false,
  unsure: false,
  acknowledged: [],
  comments: 0,
  issues: [],
  ...fields,
});
const of = (fields: Partial<Segment>, text = 'Ein Haus.', matches: Match[] = []) =>
  targetOriginOf({ segment: segment(fields), target: text === '' ? [] : [{ text }] }, matches);
const match = (kind: Match['kind'], score: number): Match => ({
  memory: '',
  source: [{ text: 'One big house.' }],
  target: [{ text: 'Ein großes Haus.' }],
  score,
  kind,
  origin: 'job',
  created_at: '',
});

test('targetOriginOf returns the origin of the draft while the target equals the draft', () => {
  expect(of({})).toEqual({ from: 'machine', engine: 'apertium' });
  for (const [route, engine] of [
    ['llm:en-de@model', 'llm'],
    ['llm:gemma:en-de@model:12b', 'llm:gemma'],
    ['deepl:en-de', 'deepl'],
    ['fake', 'fake'],
    [null, ''],
  ] as const) {
    expect(of({ route })).toEqual({ from: 'machine', engine });
  }
  expect(of({ origin: 'memory', route: 'memory:exact' })).toEqual({ from: 'exact', score: 100 });
  expect(of({ origin: 'memory', route: 'memory:vote' })).toEqual({
    from: 'vote',
    agree: 1,
    by: [],
    rule: false,
  });
  expect(of({ origin: 'memory', route: 'memory:context' })).toEqual({ from: 'context', score: 101 });
  expect(of({ origin: 'memory', route: 'memory:82' })).toEqual({ from: 'fuzzy', score: 82 });
  expect(of({ origin: 'memory', route: 'memory:other' })).toEqual({ from: 'memory' });
  expect(of({ origin: 'supplied', route: 'supplied' })).toEqual({ from: 'supplied' });
  expect(of({ origin: 'kept', route: 'kept:language', kept: 'language' })).toEqual({ from: 'kept' });
});

test('targetOriginOf returns the confidence of the engine, and hasLowConfidence tells whether it is below 50 %', () => {
  for (const mean of [0, 0.494, 0.496, 1]) {
    const confidence = { mean, minimum: 0 };
    const origin = of({ confidence });
    expect(origin).toEqual({ from: 'machine', engine: 'apertium', confidence });
    expect(hasLowConfidence(origin)).toBe(mean < 0.495);
  }
  expect(hasLowConfidence(of({}))).toBe(false);
  expect(hasLowConfidence(of({ origin: 'memory', route: 'memory:82' }))).toBe(false);
});

test('targetOriginOf returns the score of the match that the editor chose', () => {
  const matches = [match('fuzzy', 95)];
  expect(of({}, 'Ein großes Haus.', matches)).toEqual({ from: 'fuzzy', score: 95 });
  expect(of({}, 'Ein großes Haus.', [match('context', 100)])).toEqual({ from: 'context', score: 101 });
});

test('targetOriginOf returns the origin of the draft together with “edited” when a person changed the target', () => {
  expect(of({}, 'Ein Heim.', [match('fuzzy', 95)])).toEqual({
    from: 'edited',
    draft: { from: 'machine', engine: 'apertium' },
  });
  expect(of({ draft: null, origin: 'none', route: null }, 'Ein Heim.')).toEqual({
    from: 'edited',
    draft: undefined,
  });
});

test('targetOriginOf returns the editors who confirmed the text of a vote, and whether it is a rule', () => {
  const vote = { vote: '', target: [{ text: 'Ein Heim.' }], agree: 2, by: ['Ann', 'Bob'], rule: true };
  const shown = { from: 'vote', agree: 2, by: ['Ann', 'Bob'], rule: true };
  expect(of({ vote: { ...vote, state: 'next' } }, 'Ein Heim.')).toEqual(shown);
  expect(of({ vote: { ...vote, state: 'next' } })).toMatchObject({ from: 'machine' });
  const filled = { origin: 'memory', route: 'memory:vote', draft: vote.target } as const;
  expect(of({ ...filled, vote: { ...vote, state: 'filled' } }, 'Ein Heim.')).toEqual(shown);
});

test('targetOriginOf returns “repeat” for a copied target until someone edits it', () => {
  const filled = { filled: true, target: [{ text: 'Ein Heim.' }] };
  expect(of(filled, 'Ein Heim.')).toEqual({ from: 'repeat' });
  expect(of(filled, 'Ein Heim!')).toMatchObject({ from: 'edited' });
});

test('targetOriginOf returns undefined while there is neither a draft nor a target', () => {
  expect(of({ draft: null, origin: 'none', route: null }, '')).toBeUndefined();
});
