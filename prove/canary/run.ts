/**
 * Shows whether texts of customers leak. A unique word (the canary) is in every text, name, note and address
 * that a customer can send. Some requests succeed and others are refused, at log level `debug`. Then the
 * account is erased. The word is counted in the log, the metrics, the error responses and the database,
 * before and after the erasure.
 */
import {
  createReadStream,
  createWriteStream,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { writeBackup } from '../../packages/server/src/database/backup.ts';
import { type Credentials, createAccount, runCommand } from '../../scripts/program.ts';
import { withDatabase, withStore } from '../harness/database.ts';
import { startService } from '../harness/service.ts';

/** The unique word. It looks like a name, because engines do not translate names. */
export const CANARY = 'Qanarixyz';

export interface CanaryHistory {
  /** The number of responses for each status. */
  statuses: Record<number, number>;
  /** The number of times that the word was found, by place. */
  hits: {
    log: number;
    metrics: number;
    /** The number of error responses that repeat the text. */
    errors: number;
    /** The number of occurrences in the database before the erasure. If it were 0, the run would prove nothing. */
    before: number;
    dump: number;
    /**
     * The number of occurrences in the table files after `vacuum full`. The write-ahead log is counted
     * separately.
     */
    tables: number;
    writeAheadLog: number;
  };
  logLines: number;
}

export async function runCanary(directory: string, say: (line: string) => void): Promise<CanaryHistory> {
  const logFile = join(directory, 'program.log');
  const service = await startService(
    directory,
    {
      DRAGOMAN_LOG_LEVEL: 'debug',
      DRAGOMAN_SANDBOX_HOLD: '0',
      DRAGOMAN_CALLBACK_SCHEDULE: '1',
      DRAGOMAN_CALLBACK_BREAKER: '1',
      DRAGOMAN_METRICS_TOKEN: 'canary-run',
    },
    logFile,
  );
  const account = await createAccount(directory, 'canary', 100_000, { chat: true });
  await importBrand(directory, account);
  const sent = await sendAll(service.url, account);
  say(`${sent.count} requests`);
  // Translations, failed deliveries and retries also write to the log, so the run waits for them.
  await untilTried(service.url, account);
  const headers = { authorization: 'Bearer canary-run' };
  const metrics = await (await fetch(`${service.url}/metrics`, { headers })).text();
  if (!metrics.includes('dragoman_')) throw new Error('there are no metrics to look at');
  const before = await countInDump(directory);
  await runCommand(directory, 'account', 'erase', 'canary', '--yes');
  const dump = await countInDump(directory);
  await service.stop();
  await rewriteTables(directory);
  const log = readFileSync(logFile, 'utf8');
  const cluster = join(directory, 'postgres');
  return {
    statuses: sent.statuses,
    hits: {
      log: count(log),
      metrics: count(metrics),
      errors: sent.errors,
      before,
      dump,
      tables: countInFiles(join(cluster, 'base')),
      writeAheadLog: countInFiles(join(cluster, 'pg_wal')),
    },
    logLines: log.split('\n').length - 1,
  };
}

const NAME = `The house of ${CANARY} is big.`;
const HOOK = `http://127.0.0.1:9/${CANARY}?token=${CANARY}`;
const PAIR = { source_language: 'en', target_language: 'es' };

/** Returns requests that succeed, and one request for each reason of a refusal. */
function requests(): [method: string, path: string, body: string][] {
  const job = (fields: object) => JSON.stringify({ ...PAIR, text: NAME, callback_url: HOOK, ...fields });
  const human = '/tapi/v2/translation/';
  const machine = '/tapi/v2/mt_translation/';
  const html = `<p title="${CANARY}">${NAME} <b>${CANARY}</b> <span class="notranslate">${CANARY}</span></p>`;
  const srt = `1\n00:00:01,000 --> 00:00:02,000\n${NAME}\n`;
  const xliff = (inner: string) =>
    `<xliff version="1.2"><file original="${CANARY}" source-language="en" datatype="plaintext"><body>${inner}</body></file></xliff>`;
  const unit = `<trans-unit id="1"><source>${NAME}</source><note>${CANARY}</note></trans-unit>`;
  const message = (fields: object) =>
    JSON.stringify({
      ...PAIR,
      chat_external_id: 'c1',
      external_id: 'm1',
      text: NAME,
      text_format: 'text',
      callback_url: HOOK,
      ...fields,
    });
  return [
    ['POST', human, job({ uid: 'c-human', instructions: NAME, topics: [] })],
    ['POST', machine, job({ uid: 'c-text' })],
    ['POST', machine, job({ uid: 'c-html', text_format: 'html', text: html })],
    ['POST', machine, job({ uid: 'c-srt', text_format: 'srt', text: srt })],
    ['POST', machine, job({ uid: 'c-xliff', text_format: 'xliff', text: xliff(unit) })],
    ['POST', human, job({ uid: 'c-brand', brand: 'canary-brand', target_text: NAME })],
    [
      'PATCH',
      human,
      JSON.stringify({
        objects: [
          { ...PAIR, text: NAME },
          { ...PAIR, text: NAME },
        ],
      }),
    ],
    ['POST', '/v2/chats/messages', message({})],
    ['POST', '/tapi/v2/wordcount/', JSON.stringify({ text: NAME })],
    ['POST', '/api/v1/quote/', job({})],
    // The server must refuse the following requests.
    ['POST', human, `{"text": "${NAME}`],
    ['POST', human, job({ text: `${NAME}\u0000` })],
    ['POST', human, job({ target_language: 'xx' })],
    ['POST', human, job({ text_format: 'xliff' })],
    ['POST', human, job({ text_format: 'xliff', text: xliff(`<trans-unit><source>${NAME}</trans-unit>`) })],
    ['POST', human, job({ text_format: 'srt' })],
    ['POST', human, job({ uid: 'c-human' })],
    ['POST', human, job({ callback_url: `ftp://${CANARY}/` })],
    [
      'POST',
      human,
      job({ text_format: 'html', text: html, target_text: `<p>${CANARY}</p><p>${CANARY}</p>` }),
    ],
    ['POST', machine, job({ text: [NAME], instructions: { note: NAME } })],
    ['POST', '/v2/chats/messages', message({ text_format: 'pdf', text: NAME })],
    ['PATCH', human, JSON.stringify({ objects: [{ ...PAIR, text: { inner: NAME } }] })],
    ['PATCH', `${machine}c-text/`, JSON.stringify({ status: NAME })],
    ['GET', `${human}?uid__contains=${CANARY}`, ''],
    ['GET', `/${CANARY}/${CANARY}?${CANARY}=${CANARY}`, ''],
    ['POST', '/api/session', JSON.stringify({ email: `${CANARY}@example.com`, password: CANARY })],
  ];
}

async function sendAll(url: string, account: Credentials) {
  const statuses: Record<number, number> = {};
  let errors = 0;
  const all = requests();
  for (const [method, path, body] of all) {
    for (const prefix of path.startsWith('/api/') ? [''] : ['', '/sandbox']) {
      const key = prefix === '' ? account.production_key : account.sandbox_key;
      const response = await fetch(`${url}${prefix}${path}`, {
        method,
        headers: {
          authorization: `ApiKey ${key}`,
          'content-type': 'application/json',
          'user-agent': CANARY,
          'x-forwarded-for': CANARY,
        },
        ...(body === '' ? {} : { body }),
      });
      const text = await response.text();
      statuses[response.status] = (statuses[response.status] ?? 0) + 1;
      // An error message may repeat an invalid value of a fixed list, but never the text of a customer.
      if (response.status >= 400 && text.includes(`house of ${CANARY}`)) errors++;
    }
  }
  return { statuses, errors, count: all.length * 2 };
}

/** Waits until the machine jobs are completed and each of their deliveries was attempted. */
async function untilTried(url: string, account: Credentials): Promise<void> {
  const headers = { authorization: `ApiKey ${account.production_key}` };
  const read = async <T>(path: string): Promise<T[]> => {
    const body = await (await fetch(`${url}${path}`, { headers })).json();
    return (body as { objects: T[] }).objects;
  };
  for (;;) {
    const jobs = await read<{ status: string }>('/tapi/v2/mt_translation/?limit=0');
    const deliveries = await read<{ attempts: number }>('/api/v1/deliveries/');
    const done = jobs.every(({ status }) => status === 'completed');
    if (done && deliveries.length >= jobs.length && deliveries.every(({ attempts }) => attempts >= 1)) return;
    await wait(50);
  }
}

async function importBrand(directory: string, account: Credentials): Promise<void> {
  const file = join(directory, 'brand.json');
  const term = { source: CANARY, target: CANARY, note: CANARY };
  const es = { tone: 'Formal', instructions: NAME, glossary: [term] };
  writeFileSync(file, JSON.stringify({ external_id: 'canary-brand', name: CANARY, languages: { es } }));
  await runCommand(directory, 'brand', 'import', account.username, file);
}

/** Counts the occurrences of the word in a backup, which contains all rows. */
async function countInDump(directory: string): Promise<number> {
  const file = join(directory, `dump-${performance.now()}`);
  await withStore(directory, ({ connection }) => writeBackup(connection, createWriteStream(file)));
  let hits = 0;
  let rest = '';
  for await (const chunk of createReadStream(file).pipe(createGunzip())) {
    const text = rest + (chunk as Buffer).toString('latin1');
    hits += count(text);
    rest = text.slice(-(CANARY.length - 1));
  }
  return hits;
}

/** Rewrites all tables, as an operator does to remove erased data from the disk. */
async function rewriteTables(directory: string): Promise<void> {
  await withDatabase(directory, async (query) => {
    // `analyze` replaces the samples of column values that are stored for the query planner.
    for (const sql of ['analyze', 'vacuum full', 'checkpoint']) await query(sql);
  });
}

function countInFiles(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile())
    .reduce((sum, path) => sum + count(readFileSync(path, 'latin1')), 0);
}

function count(text: string): number {
  return text.toLowerCase().split(CANARY.toLowerCase()).length - 1;
}
