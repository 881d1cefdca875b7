/**
 * Runs the XSS proof with one vector of every kind, tests the checks of exports, and tests that the proof misses a
 * goal for each planted fault.
 */
import { describe, expect, it } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { FULL } from '../../scripts/full.ts';
import { shortRun, testJudgement } from '../harness/testing.ts';
import { fileFaults, headerFaults, mailFaults } from './exports.ts';
import { runXss, type XssHistory } from './run.ts';
import { KINDS, someVectors, VECTORS } from './vectors.ts';
import { judge } from './xss.ts';

const run = shortRun('xss');

it.runIf(FULL)('XSS proof: one hostile string of each kind is shown as text everywhere', async () => {
  const vectors = someVectors(KINDS.length);
  expect(new Set(vectors.map(({ kind }) => kind)).size).toBe(KINDS.length);
  const history = await runXss({ ...run, vectors });
  expect(judge(history).filter((figure) => !allHeld([figure]))).toEqual([]);
});

it('XSS proof: there are at least 150 different hostile strings, each with its own mark', () => {
  expect(VECTORS.length).toBeGreaterThanOrEqual(150);
  expect(new Set(VECTORS.map(({ text }) => text)).size).toBe(VECTORS.length);
  expect(VECTORS.filter(({ text, mark }) => !text.includes(mark))).toEqual([]);
});

const good: XssHistory = {
  vectors: 2,
  places: [{ place: 'customer /account', seen: 2 }],
  trips: [],
  violations: [],
  faults: [],
  mails: 1,
  planted: 3,
  taken: { comment: { taken: 2, refused: 0 } },
};
const trip = { place: 'customer /account', how: 'ran', what: 'v1v' };

testJudgement(judge, good, [
  ['a script ran', { trips: [trip] }],
  ['a preview connects before any request', { trips: [{ ...trip, how: 'connected' }] }],
  ['a policy had to block it', { violations: [trip] }],
  ['a file has a formula', { faults: ['=1+1 is a formula'] }],
  ['some vectors were not shown', { places: [{ place: 'customer /account', seen: 1 }] }],
  ['no place was opened', { places: [] }],
  ['the tripwires do not work', { planted: 0 }],
]);

describe('checks of exports in the XSS proof', () => {
  const head = 'From: a@example.com\r\nTo: b@example.com\r\nContent-Type: text/plain; charset=utf-8';

  it('accept correct files and mails', () => {
    expect(mailFaults({ raw: `${head}\r\n\r\nBcc: <b>`, to: ['b@example.com'] })).toEqual([]);
    expect(fileFaults('csv', "a,b\n'=1+1,-25\n")).toEqual([]);
    expect(fileFaults('xml', '<a>&lt;script></a>')).toEqual([]);
  });

  it.each([
    ['an additional header', `${head}\r\nBcc: c@example.com\r\n\r\n`, ['b@example.com']],
    ['markup', `${head.replace('plain', 'html')}\r\n\r\n`, ['b@example.com']],
    ['a second recipient', `${head}\r\n\r\n`, ['b@example.com', 'c@example.com']],
  ])('find the planted fault in a mail: %s', (_, raw, to) => {
    expect(mailFaults({ raw, to })).toHaveLength(1);
  });

  it.each([
    ['csv', 'a,=1+1\n'],
    ['csv', 'a," @SUM(1)"\n'],
    ['csv', 'a,＝1+1\n'],
    ['xml', '<a><script xmlns="http://www.w3.org/1999/xhtml">1</script></a>'],
    ['xml', '<a><b></a>'],
  ] as const)('find the planted fault in a %s file: %s', (kind, text) => {
    expect(fileFaults(kind, text)).not.toEqual([]);
  });

  it('find the planted fault: an export that browsers would open as a page', () => {
    expect(headerFaults(new Headers({ 'content-type': 'text/html' }))).toHaveLength(3);
  });
});
