import { stringify } from 'csv-stringify/sync';
import type { LedgerStatement } from './ledger.ts';

/** Returns a statement as CSV, with the byte order mark by which spreadsheets recognise UTF-8. */
export function statementAsCsv({ opening, lines, closing }: LedgerStatement): string {
  const rows = [
    ['at', 'kind', 'uid', 'memo', 'amount', 'change', 'balance', 'discounts', 'opened_words', 'voted_words'],
    ['', 'opening', '', '', '', '', opening, '', '', ''],
    ...lines.map(({ at, kind, uid, memo, amount, change, balance, discounts, edited_words }) => [
      at.toISOString(),
      kind,
      asText(uid),
      asText(memo),
      amount,
      change,
      balance,
      discounts.map(({ kind, words, share }) => `${words} ${kind} ${share}%`).join('; '),
      edited_words?.opened,
      edited_words?.voted,
    ]),
    ['', 'closing', '', '', '', '', closing, '', '', ''],
  ];
  return stringify(rows, { bom: true });
}

/**
 * Puts an apostrophe before texts that a spreadsheet would read as formulas, also with fullwidth characters.
 * Numbers are written without an apostrophe.
 */
function asText(text: string | null): string | null {
  return text !== null && /^\s*[=+\-@\t\r＝＋－＠]/.test(text) ? `'${text}` : text;
}
