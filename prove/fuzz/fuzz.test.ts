/** The fuzz run, short; and that it finds what it looks for. `npm run prove -- fuzz --n N` sends as many as wanted. */
import { beforeAll, describe, expect, it } from 'vitest';
import { allHeld, isHeld } from '../../bench/figures.ts';
import { DocumentError, type Format, rebuild, scan } from '../../packages/documents/src/documents.ts';
import { clumsy, shouting, translate } from '../../packages/documents/test/engines.ts';
import { describeApp } from '../../packages/server/src/app.ts';
import { type Checker, createChecker } from '../../packages/server/src/testing/answers.ts';
import { createRandom } from '../random.ts';
import { drawDocument, unfaithful } from './documents.ts';
import { type FuzzHistory, fuzzProgram, judge } from './fuzz.ts';
import { createRequests, type FuzzRequest } from './requests.ts';
import { verdict } from './run.ts';

/** The same in every run, so that a failure is the change's own; the long run draws its own seed. */
const SEED = 4;

it('5,000 requests: no fault of the server, every answer as described', async () => {
  const found = await fuzzProgram({ count: 5_000, seed: SEED, say() {}, rest: false });
  expect(found.faults, `seed ${SEED}`).toEqual([]);
  expect(found).toMatchObject({ sent: 5_000, alive: true, ledger: true });
  // It gets through the first checks: nearly every operation has been done.
  expect(found.succeeded.length, `seed ${SEED}`).toBeGreaterThan(found.operations.length * 0.75);
  expect(found.heapGrown).toBeLessThan(16);
});

it('tells of a program that keeps something of every request', async () => {
  const keeping = `
    import { Server } from 'node:http';
    const kept = [], { emit } = Server.prototype;
    Server.prototype.emit = function (name, ...given) {
      if (name === 'request') kept.push(new Array(2_000).fill(kept.length));
      return emit.call(this, name, ...given);
    };`;
  const nodeOptions = `--import data:text/javascript,${encodeURIComponent(keeping)}`;
  const found = await fuzzProgram({ count: 2_000, seed: SEED, say() {}, rest: false, nodeOptions });
  expect(found.faults).toEqual([]);
  const missed = judge(found).filter((figure) => isHeld(figure) === false);
  expect(missed.map(({ name }) => name)).toContain('fuzz, of that, on the heap');
});

it('tells of a program that an Authorization header holds up', async () => {
  const trying = `
    import { Server } from 'node:http';
    const { emit } = Server.prototype;
    Server.prototype.emit = function (name, ...given) {
      if (name === 'request') /[ ]+$/.test((given[0].headers.authorization ?? '').replace('x', '').repeat(8) + 'x');
      return emit.call(this, name, ...given);
    };`;
  const nodeOptions = `--import data:text/javascript,${encodeURIComponent(trying)}`;
  const found = await fuzzProgram({ count: 500, seed: SEED, say() {}, rest: false, nodeOptions });
  const missed = judge(found).filter((figure) => isHeld(figure) === false);
  expect(missed.map(({ name }) => name)).toContain('fuzz, answers that took more than 2 s');
});

describe('the verdict', () => {
  let checker: Checker;
  beforeAll(async () => {
    checker = createChecker(await describeApp());
  });
  const asked: FuzzRequest = {
    method: 'GET',
    path: '/tapi/v2/translation/',
    headers: {},
    body: undefined,
    room: '',
  };
  const json = new Headers({ 'content-type': 'application/json' });
  const empty = {
    meta: { limit: 20, offset: 0, next: null, previous: null, total_count: 0 },
    objects: [] as unknown[],
  };
  const of = (status: number, body: unknown) =>
    verdict(checker, asked, { status, headers: json, text: JSON.stringify(body) });

  it('is nothing for an answer as described', () => {
    expect(of(200, empty)).toBeUndefined();
    expect(of(400, { error: 'limit: must be a whole number.' })).toBeUndefined();
  });

  it.each([
    ['a fault of the server', 500, { error: 'Server error' }],
    ['a shape that is not described', 200, { ...empty, objects: [{ uid: 7 }] }],
    ['a field too many', 200, { ...empty, debug: true }],
    ['a status that is not described', 302, {}],
    ['an error that is no sentence', 400, {}],
  ])('tells of %s', (_, status, body) => {
    expect(of(status, body)).toMatch(/GET \/tapi/);
  });

  it.each([
    ['a tag that is lost', 'html', '<p>The <b>house</b></p>', '<p>LA CASA</p>'],
    [
      'a time that moved',
      'srt',
      '1\n00:00:01,000 --> 00:00:02,000\nA\n',
      '1\n00:00:01,000 --> 00:00:02,500\nB\n',
    ],
    [
      'a translation that is no XLIFF',
      'xliff',
      '<xliff><trans-unit><source>a</source></trans-unit></xliff>',
      '<xliff>',
    ],
  ])('tells of %s', (_, text_format, text, translated_text) => {
    const documents = new Map([[text, { text, text_format }]]);
    const job = { text, text_format, translated_text };
    const looseChecker: Checker = { ...checker, answer() {} };
    const answer = { status: 200, headers: json, text: JSON.stringify({ ...empty, objects: [job] }) };
    expect(verdict(looseChecker, asked, answer, documents)).toContain('became');
    const same = {
      ...answer,
      text: JSON.stringify({ ...empty, objects: [{ ...job, translated_text: text }] }),
    };
    if (text_format !== 'xliff') expect(verdict(looseChecker, asked, same, documents)).toBeUndefined();
  });

  it('tells of no answer at all', () => {
    expect(verdict(checker, asked, new Error('socket hang up'))).toMatch(/no answer/);
  });
});

describe('the judgement', () => {
  const good: FuzzHistory = {
    ...{ sent: 9, statuses: { 200: 9 }, faults: [], hangs: 0, succeeded: ['a'], operations: ['a'] },
    ...{ alive: true, ledger: true, lateness: 20, grown: -3, heapGrown: 1 },
  };

  it('holds where nothing is wrong', () => {
    expect(allHeld(judge(good))).toBe(true);
  });

  it.each<[string, Partial<FuzzHistory>]>([
    ['an answer is a fault', { faults: ['500'] }],
    ['an answer hangs', { hangs: 1 }],
    ['the event loop is late', { lateness: 300 }],
    ['nobody knows how late it is', { lateness: Number.NaN }],
    ['memory grows', { grown: 100 }],
    ['the heap grows', { heapGrown: 20 }],
    ['the server is down', { alive: false }],
    ['the ledger is unsound', { ledger: false }],
    ['nothing was sent', { sent: 0 }],
  ])('is missed where %s', (_, planted) => {
    expect(allHeld(judge({ ...good, ...planted }))).toBe(false);
  });
});

it.each([
  ['upper case', () => shouting],
  ['rubbish, with codes lost and doubled', clumsy],
])('keeps every drawn document whole when an engine answers %s', (_, engineOf) => {
  const random = createRandom(SEED);
  for (let index = 1; index <= 1_000; index += 1) {
    const drawn = drawDocument(random, ['text', 'html', 'srt', 'xliff']);
    let result = drawn.text;
    try {
      const document = scan(drawn.text, drawn.text_format as Format);
      result = rebuild(document, translate(document, 'en', engineOf(index)), 'es');
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      continue;
    }
    expect(unfaithful(drawn, result), JSON.stringify({ drawn, result })).toBeUndefined();
  }
});

it('the same seed makes the same requests, and they are of every kind', async () => {
  const document = await describeApp();
  const world = {
    keys: { production: 'a:b', sandbox: 'a:c' },
    callback: 'http://127.0.0.1:9999/',
    places: new Map([['production Jobs', [{ uid: 'one' }]]]),
    documents: new Map(),
  };
  const made = (seed: number) => {
    const next = createRequests(document, createRandom(seed));
    return Array.from({ length: 2_000 }, () => next(world));
  };
  expect(made(7)).toEqual(made(7));
  const requests = made(8);
  expect(requests.filter(({ path }) => path.includes('/translation/one')).length).toBeGreaterThan(100);
  expect(requests.filter(({ path }) => path.startsWith('/sandbox/')).length).toBeGreaterThan(200);
  expect(requests.filter(({ body }) => body?.includes('\\u0000')).length).toBeGreaterThan(10);
  expect(world.documents.size).toBeGreaterThan(50);
  expect(new Set(requests.map(({ method }) => method)).size).toBeGreaterThan(4);
});
