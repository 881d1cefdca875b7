/** A few vectors of every kind, everywhere; the wires on a page that has no protection; and the judgement. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { allHeld } from '../../bench/figures.ts';
import { fileFaults, headerFaults, mailFaults } from './papers.ts';
import { runXss, type XssHistory } from './run.ts';
import { KINDS, someVectors, VECTORS } from './vectors.ts';
import { judge } from './xss.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-xss-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('one vector of each kind stays a text, wherever it is shown', async () => {
  const vectors = someVectors(KINDS.length);
  expect(new Set(vectors.map(({ kind }) => kind)).size).toBe(KINDS.length);
  const history = await runXss({ directory, vectors, say: () => {} });
  expect(judge(history).filter((figure) => !allHeld([figure]))).toEqual([]);
});

it('has enough of them, each with a mark of its own', () => {
  expect(VECTORS.length).toBeGreaterThanOrEqual(150);
  expect(new Set(VECTORS.map(({ text }) => text)).size).toBe(VECTORS.length);
  expect(VECTORS.filter(({ text, mark }) => !text.includes(mark))).toEqual([]);
});

describe('the judgement', () => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const good: XssHistory = {
    vectors: 2,
    places: [{ place: 'customer /account', seen: 2 }],
    ...{ trips: [], violations: [], papers: [], mails: 1, planted: 3 },
    taken: { comment: { taken: 2, refused: 0 } },
  };
  const trip = { place: 'customer /account', how: 'ran', what: 'v1v' };

  it('holds where everything stayed a text', () => {
    expect(allHeld(judge(good))).toBe(true);
  });

  it.each<[string, Partial<XssHistory>]>([
    ['something ran', { trips: [trip] }],
    ['a policy had to hold it back', { violations: [trip] }],
    ['a file has a formula', { papers: ['=1+1 is a formula'] }],
    ['some were seen nowhere', { places: [{ place: 'customer /account', seen: 1 }] }],
    ['no place was opened', { places: [] }],
    ['the wires do not trip', { planted: 0 }],
  ])('is missed where %s', (_, planted) => {
    expect(allHeld(judge({ ...good, ...planted }))).toBe(false);
  });
});

describe('papers', () => {
  const head = 'From: a@example.com\r\nTo: b@example.com\r\nContent-Type: text/plain; charset=utf-8';

  it('are good as they are meant to be', () => {
    expect(mailFaults({ raw: `${head}\r\n\r\nBcc: <b>`, to: ['b@example.com'] })).toEqual([]);
    expect(fileFaults('csv', "a,b\n'=1+1,-25\n")).toEqual([]);
    expect(fileFaults('xml', '<a>&lt;script></a>')).toEqual([]);
  });

  it.each([
    ['a line too many', `${head}\r\nBcc: c@example.com\r\n\r\n`, ['b@example.com']],
    ['markup', `${head.replace('plain', 'html')}\r\n\r\n`, ['b@example.com']],
    ['somebody else', `${head}\r\n\r\n`, ['b@example.com', 'c@example.com']],
  ])('of mails are found with %s', (_, raw, to) => {
    expect(mailFaults({ raw, to })).toHaveLength(1);
  });

  it.each([
    ['csv', 'a,=1+1\n'],
    ['csv', 'a," @SUM(1)"\n'],
    ['csv', 'a,＝1+1\n'],
    ['xml', '<a><script xmlns="http://www.w3.org/1999/xhtml">1</script></a>'],
    ['xml', '<a><b></a>'],
  ] as const)('of %s are found with %s', (kind, text) => {
    expect(fileFaults(kind, text)).not.toEqual([]);
  });

  it('that are pages are found', () => {
    expect(headerFaults(new Headers({ 'content-type': 'text/html' }))).toHaveLength(3);
  });
});
