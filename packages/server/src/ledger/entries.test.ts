/** Tests of the statement with one line for each job. */
import { expect, it } from 'vitest';
import { joinByJob } from './entries.ts';
import type { StatementLine } from './ledger.ts';

/** Returns a line of a statement, `minute` minutes after the first. */
function line(
  minute: number,
  kind: string,
  uid: string | null,
  amount: number,
  change: number,
  memo: string | null = null,
): StatementLine {
  const at = new Date(Date.UTC(2026, 0, 1, 0, minute));
  return { at, kind, uid, memo, amount, change, balance: 0, discounts: [], edited_words: null };
}

it('a job has one entry with the held and the charged amount, at the time of its last transfer', () => {
  const lines = [
    line(0, 'top_up', null, 100, 100),
    line(1, 'hold', 'done', 12, -12),
    line(2, 'hold', 'open', 5, -5),
    line(3, 'hold', 'canceled', 7, -7),
    line(4, 'void', 'canceled', 7, 7),
    line(5, 'top_up', null, 100, 100),
    line(6, 'capture', 'done', 12, 0),
    line(7, 'hold', 'partly', 40, -40),
    line(8, 'release', 'partly', 4, 4),
    line(8, 'capture', 'partly', 36, 0),
  ];
  const entries = joinByJob(lines).map(({ uid, kind, onHold, charged, change }) => [
    uid,
    kind,
    onHold,
    charged,
    change,
  ]);
  expect(entries).toEqual([
    [null, 'top_up', 0, 0, 100],
    ['open', 'hold', 5, 0, -5],
    ['canceled', 'void', 0, 0, 0],
    [null, 'top_up', 0, 0, 100],
    ['done', 'capture', 0, 12, -12],
    ['partly', 'capture', 0, 36, -36],
  ]);
});

it('a job whose hold is outside the period has the change 0 for its capture, and a negative charge for its refund', () => {
  expect(joinByJob([line(0, 'capture', 'a', 12, 0)])).toMatchObject([{ onHold: 0, charged: 12, change: 0 }]);
  expect(joinByJob([line(0, 'refund', 'a', 12, 12)])).toMatchObject([
    { onHold: 0, charged: -12, change: 12 },
  ]);
});

it('an entry keeps the reasons of all refunds of its job', () => {
  const lines = [
    line(0, 'capture', 'a', 2, 0),
    line(1, 'refund', 'a', 2, 2, 'late'),
    line(2, 'hold', 'a', 10, -10),
    line(3, 'capture', 'a', 10, 0),
  ];
  expect(joinByJob(lines)).toMatchObject([{ kind: 'capture', memo: 'late', charged: 10, change: -8 }]);
  const again = line(4, 'refund', 'a', 10, 10, 'wrong');
  expect(joinByJob([...lines, again])).toMatchObject([{ memo: 'late; wrong', charged: 0, change: 2 }]);
});

it('an upgraded job has one entry with both charges', () => {
  const lines = [line(0, 'hold', 'a', 2, -2), line(1, 'capture', 'a', 2, 0), line(2, 'hold', 'a', 10, -10)];
  expect(joinByJob(lines)).toMatchObject([{ kind: 'hold', onHold: 10, charged: 2, change: -12 }]);
});

it('an entry keeps its discounts after a refund of a part, and loses them when nothing is left', () => {
  const discounts = [{ kind: 'exact' as const, words: 4, share: 50 }];
  const lines = [
    { ...line(0, 'hold', 'a', 20, -20), discounts },
    { ...line(1, 'capture', 'a', 20, 0), discounts },
    line(2, 'refund', 'a', 5, 5),
  ];
  expect(joinByJob(lines)).toMatchObject([{ charged: 15, discounts }]);
  expect(joinByJob([...lines, line(3, 'refund', 'a', 15, 15)])).toMatchObject([
    { charged: 0, discounts: [] },
  ]);
  expect(joinByJob([lines[0]!, line(1, 'void', 'a', 20, 20)])).toMatchObject([{ onHold: 0, discounts: [] }]);
});

it('an entry has the words of the delivery that was charged, and loses them when nothing is left', () => {
  const edited_words = { opened: 4, voted: 8 };
  const lines = [line(0, 'hold', 'a', 20, -20), { ...line(1, 'capture', 'a', 20, 0), edited_words }];
  expect(joinByJob(lines)).toMatchObject([{ charged: 20, edited_words }]);
  expect(joinByJob([...lines, line(2, 'refund', 'a', 5, 5)])).toMatchObject([{ charged: 15, edited_words }]);
  expect(joinByJob([...lines, line(2, 'refund', 'a', 20, 20)])).toMatchObject([{ edited_words: null }]);
  expect(joinByJob(lines.slice(0, 1))).toMatchObject([{ edited_words: null }]);
});
