/**
 * Runs the fuzz proof with few requests, and tests that it detects faults planted in the service and in the results.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { isHeld } from '../../bench/figures.ts';
import {
  DocumentError,
  FORMATS,
  type Format,
  rebuild,
  scan,
} from '../../packages/documents/src/documents.ts';
import { faulty, translate, upperCasing } from '../../packages/documents/test/engines.ts';
import { describeApp } from '../../packages/server/src/roles/app.ts';
import { type Checker, createChecker } from '../../packages/server/src/testing/answers.ts';
import { FULL } from '../../scripts/full.ts';
import { createRandom } from '../harness/random.ts';
import { shortRun, testJudgement } from '../harness/testing.ts';
import { drawDocument, unfaithful } from './documents.ts';
import { type FuzzHistory, fuzzProgram, judge } from './fuzz.ts';
import { createRequests, type FuzzRequest } from './requests.ts';
import { verdict } from './run.ts';

/**
 * The seed is fixed, so that a failure is caused by the change under test. `npm run prove -- fuzz` draws a random
 * seed.
 */
const SEED = 4;
const run = { ...shortRun('fuzz', SEED), rest: false };

it.runIf(FULL)(
  'fuzz proof: the service answers 2,000 random requests as described and without a server error',
  async () => {
    const found = await fuzzProgram({ ...run, count: 2_000 });
    expect(found.faults, `seed ${SEED}`).toEqual([]);
    expect(found).toMatchObject({ sent: 2_000, alive: true, ledger: true });
    // Most operations must succeed at least once, which shows that requests get past the first checks of the server.
    expect(found.succeeded.length, `seed ${SEED}`).toBeGreaterThan(found.operations.length * 0.75);
    expect(found.heapGrown).toBeLessThan(16);
  },
);

it.runIf(FULL)(
  'fuzz proof: finds the planted fault: a service that leaks memory with every request',
  async () => {
    const keeping = `
    import { Server } from 'node:http';
    const kept = [], { emit } = Server.prototype;
    Server.prototype.emit = function (name, ...given) {
      if (name === 'request') kept.push(new Array(20_000).fill(kept.length));
      return emit.call(this, name, ...given);
    };`;
    const nodeOptions = `--import data:text/javascript,${encodeURIComponent(keeping)}`;
    const found = await fuzzProgram({ ...run, count: 250, nodeOptions });
    expect(found.faults).toEqual([]);
    const missed = judge(found).filter((figure) => isHeld(figure) === false);
    expect(missed.map(({ name }) => name)).toContain('fuzz, of that, on the heap');
  },
);

it.runIf(FULL)(
  'fuzz proof: finds the planted fault: a service that delays requests with an API key',
  async () => {
    // The planted fault keeps the process busy for a fixed time, because the time of a slow regular expression would
    // depend on the machine.
    const trying = `
    import { Server } from 'node:http';
    const { emit } = Server.prototype;
    let asked = 0;
    Server.prototype.emit = function (name, ...given) {
      if (name === 'request' && given[0].headers.authorization?.startsWith('ApiKey ') && ++asked % 50 === 0) {
        for (const begun = Date.now(); Date.now() - begun < 2_500; ) ;
      }
      return emit.call(this, name, ...given);
    };`;
    const nodeOptions = `--import data:text/javascript,${encodeURIComponent(trying)}`;
    const found = await fuzzProgram({ ...run, count: 250, nodeOptions });
    const missed = judge(found).filter((figure) => isHeld(figure) === false);
    expect(missed.map(({ name }) => name)).toContain('fuzz, answers that took more than 2 s');
  },
);

describe('fuzz proof: verdict on a response', () => {
  let checker: Checker;
  beforeAll(async () => {
    checker = createChecker(await describeApp());
  });
  const asked: FuzzRequest = {
    method: 'GET',
    path: '/tapi/v2/translation/',
    headers: {},
    body: undefined,
    scope: '',
  };
  const json = new Headers({ 'content-type': 'application/json' });
  const empty = {
    meta: { limit: 20, offset: 0, next: null, previous: null, total_count: 0 },
    objects: [] as unknown[],
  };
  const of = (status: number, body: unknown) =>
    verdict(checker, asked, { status, headers: json, text: JSON.stringify(body) });

  it('is undefined for a response that matches the API description', () => {
    expect(of(200, empty)).toBeUndefined();
    expect(of(400, { error: 'limit: must be a whole number.' })).toBeUndefined();
  });

  it('is undefined for an empty body that the service accepted', () => {
    const sent = { ...asked, method: 'POST', path: '/chats', takesBody: true, body: Buffer.alloc(0) };
    const created = { status: 200, headers: json, text: JSON.stringify({ id: '0', created: 0 }) };
    expect(verdict({ ...checker, answer() {} }, sent, created)).toBeUndefined();
  });

  it.each([
    ['a fault of the server', 500, { error: 'Server error' }],
    ['a shape that is not described', 200, { ...empty, objects: [{ uid: 7 }] }],
    ['a field too many', 200, { ...empty, debug: true }],
    ['a status that is not described', 302, {}],
    ['an error that is no sentence', 400, {}],
  ])('finds the planted fault: %s', (_, status, body) => {
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
      'a comment that is lost',
      'vtt',
      'WEBVTT\n\nNOTE a\n\n00:01.000 --> 00:02.000\nA',
      'WEBVTT\n\n00:01.000 --> 00:02.000\nB',
    ],
    ['a noncharacter', 'html', '<p>The &#xFFFF; house</p>', '<p>LA \uffff CASA</p>'],
    ['a reference that is lost', 'html', '<p>The &#xFFFF; house</p>', '<p>LA CASA</p>'],
    [
      'a translation that is no XLIFF',
      'xliff',
      '<xliff><trans-unit><source>a</source></trans-unit></xliff>',
      '<xliff>',
    ],
  ])('finds the planted fault in a translated document: %s', (_, text_format, text, translated_text) => {
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

  it.each([
    ['a body that is nested too deeply', `{"text":${'['.repeat(64)}${']'.repeat(64)}}`, {}],
    ['a body with too many values', `[${'0,'.repeat(100_000)}0]`, {}],
    ['a noncharacter', undefined, { translated_text: 'a\uffffb' }],
    ['a noncharacter of another plane', undefined, { translated_text: '\u{1ffff}' }],
    ['NUL', undefined, { brand: '\0' }],
    ['the uid .', undefined, { uid: '.' }],
    ['the uid ..', undefined, { uid: '..' }],
  ])('finds the planted fault that the service accepted: %s', (_, body, job) => {
    const looseChecker: Checker = { ...checker, answer() {} };
    const answer = { status: 200, headers: json, text: JSON.stringify({ ...empty, objects: [job] }) };
    const sent = { ...asked, takesBody: true, body: body === undefined ? undefined : Buffer.from(body) };
    expect(verdict(looseChecker, sent, answer)).toMatch(/accepted|noncharacter|cannot be a segment/);
    expect(verdict(looseChecker, sent, { ...answer, status: 400 })).toBeUndefined();
  });

  it('finds the planted fault: a missing response', () => {
    expect(verdict(checker, asked, new Error('socket hang up'))).toMatch(/no answer/);
  });
});

const good: FuzzHistory = {
  sent: 9,
  statuses: { 200: 9 },
  faults: [],
  hangs: 0,
  succeeded: ['a'],
  operations: ['a'],
  alive: true,
  ledger: true,
  lateness: 20,
  grown: -3,
  heapGrown: 1,
};

testJudgement(judge, good, [
  ['an answer is a fault', { faults: ['500'] }],
  ['an answer hangs', { hangs: 1 }],
  ['the event loop is late', { lateness: 300 }],
  ['its lateness is not known', { lateness: Number.NaN }],
  ['memory grows', { grown: 100 }],
  ['the heap grows', { heapGrown: 20 }],
  ['the server is down', { alive: false }],
  ['the ledger does not verify', { ledger: false }],
  ['nothing was sent', { sent: 0 }],
]);

it.each([
  ['upper case', () => upperCasing],
  ['rubbish, with codes lost and doubled', faulty],
])('document processing keeps hostile documents intact when the engine answers with %s', (_, engineOf) => {
  const random = createRandom(SEED);
  for (let index = 1; index <= 400; index += 1) {
    const drawn = drawDocument(random, FORMATS);
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

it('fuzz proof: the generator makes requests of every kind, and the same requests for the same seed', async () => {
  const document = await describeApp();
  const world = {
    keys: { production: 'a:b', sandbox: 'a:c' },
    callback: 'http://127.0.0.1:9999/',
    ids: new Map([['production Jobs', [{ uid: 'one' }]]]),
    documents: new Map(),
  };
  const made = (seed: number) => {
    const next = createRequests(document, createRandom(seed));
    return Array.from({ length: 1_000 }, () => next(world));
  };
  expect(made(7)).toEqual(made(7));
  const requests = made(8);
  expect(requests.filter(({ path }) => path.includes('/translation/one')).length).toBeGreaterThan(40);
  expect(requests.filter(({ path }) => path.startsWith('/sandbox/')).length).toBeGreaterThan(100);
  expect(requests.filter(({ body }) => body?.includes('\\u0000')).length).toBeGreaterThan(2);
  expect(world.documents.size).toBeGreaterThan(12);
  expect(new Set(requests.map(({ method }) => method)).size).toBeGreaterThan(4);
});
