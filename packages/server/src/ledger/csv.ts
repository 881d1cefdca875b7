/** A statement for a spreadsheet. Pure. */
import { stringify } from 'csv-stringify/sync';
import type { Statement } from './ledger.ts';

export function statementAsCsv({ opening, lines, closing }: Statement): string {
  return stringify([
    ['at', 'kind', 'uid', 'memo', 'amount', 'change', 'balance'],
    ['', 'opening', '', '', '', '', opening],
    ...lines.map(({ at, kind, uid, memo, amount, change, balance }) => [
      at.toISOString(),
      kind,
      plain(uid),
      plain(memo),
      amount,
      change,
      balance,
    ]),
    ['', 'closing', '', '', '', '', closing],
  ]);
}

/** What begins as a formula does, in wide letters too, as a uid or a memo may, is marked as text. Numbers stay numbers. */
function plain(text: string | null): string | null {
  return text !== null && /^\s*[=+\-@\t\r＝＋－＠]/.test(text) ? `'${text}` : text;
}
