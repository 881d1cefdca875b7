/** Checks the files and mails that leave the web app. */
import { parse } from 'csv-parse/sync';
import { SaxesParser } from 'saxes';
import type { ReceivedMail } from '../../packages/server/src/testing/mailbox.ts';
import type { Filled } from './fill.ts';

/** Matches text that a spreadsheet reads as a formula, also after spaces and in full-width letters. */
const FORMULA = /^\s*[=+\-@＝＋－＠\t\r]/;
const NUMBER = /^[+-]?\d+([.,]\d+)?$/;
const HEADERS = new Set(
  'auto-submitted content-transfer-encoding content-type date from message-id mime-version subject to'.split(
    ' ',
  ),
);

/**
 * Downloads the exports and checks them, and checks the mails.
 *
 * @returns one sentence for each fault
 */
export async function exportFaults(
  url: string,
  { cookies }: Filled,
  mails: readonly ReceivedMail[],
): Promise<string[]> {
  const faults = mails.flatMap(mailFaults);
  const files: [role: keyof Filled['cookies'], path: string, kind: 'csv' | 'xml' | 'json'][] = [
    ['customer', '/api/account/ledger.csv', 'csv'],
    ['customer', '/api/account/memory/export', 'xml'],
    ['operator', '/api/console/accounts/acme/memory/export', 'xml'],
    ['operator', '/api/console/accounts/acme/brands/acme/export?format=csv&language=es', 'csv'],
    ['operator', '/api/console/accounts/acme/brands/acme/export?format=tbx&language=es', 'xml'],
    ['operator', '/api/console/accounts/acme/brands/acme/export?format=json', 'json'],
  ];
  for (const [role, path, kind] of files) {
    const response = await fetch(url + path, {
      headers: { cookie: cookies[role], 'sec-fetch-site': 'same-origin' },
    });
    const text = await response.text();
    if (response.status !== 200) faults.push(`${path} answered ${response.status}`);
    faults.push(...headerFaults(response.headers).map((fault) => `${path}: ${fault}`));
    faults.push(...fileFaults(kind, text).map((fault) => `${path}: ${fault}`));
  }
  return faults;
}

/** Checks the headers of an export: it must be downloaded and not opened, and its type must not be guessed. */
export function headerFaults(headers: Headers): string[] {
  const faults: string[] = [];
  if (headers.get('x-content-type-options') !== 'nosniff') faults.push('its type may be guessed');
  if (/html|svg/.test(headers.get('content-type') ?? '')) faults.push('it is a page');
  const attached = headers.get('content-disposition') ?? '';
  if (!/^attachment; filename="[\w.@+-]+"$/.test(attached))
    faults.push(`it is not an attachment: ${attached}`);
  return faults;
}

export function fileFaults(kind: 'csv' | 'xml' | 'json', text: string): string[] {
  if (kind === 'json') {
    JSON.parse(text);
    return [];
  }
  if (kind === 'csv') {
    const rows = parse(text, { relax_column_count: true }) as string[][];
    return rows
      .flat()
      .filter((cell) => FORMULA.test(cell) && !NUMBER.test(cell))
      .map((cell) => `${cell} is a formula`);
  }
  const faults: string[] = [];
  const parser = new SaxesParser();
  parser.on('error', ({ message }) => faults.push(message));
  parser.on('opentag', ({ name }) => {
    if (/script|img|svg|iframe/i.test(name)) faults.push(`there is a <${name}>`);
  });
  parser.write(text).close();
  return faults;
}

/** Checks that a mail is plain text to one address and has only the expected headers. */
export function mailFaults({ raw, to }: Pick<ReceivedMail, 'raw' | 'to'>): string[] {
  const [head = ''] = raw.split('\r\n\r\n');
  const lines = head.split(/\r\n(?![ \t])/);
  const faults = lines
    .map((line) => line.slice(0, line.indexOf(':')).toLowerCase())
    .filter((name) => !HEADERS.has(name))
    .map((name) => `a mail has the header ${name}`);
  if (!/^content-type: text\/plain/im.test(head)) faults.push('a mail is not plain text');
  if (to.length !== 1 || !/^[\w-]+@example\.com$/.test(to[0]!))
    faults.push(`a mail went to ${to.join(', ')}`);
  return faults;
}
