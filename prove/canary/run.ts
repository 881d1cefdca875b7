/**
 * A canary run: a word that nobody else would write stands in every text, name, note and address that a customer can
 * give, in requests that succeed and in ones that do not, and the program says all that it ever says. Then the
 * account is erased.
 */
import { execFile } from 'node:child_process';
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
import { promisify } from 'node:util';
import { createGunzip } from 'node:zlib';
import type pg from 'pg';
import { writeBackup } from '../../packages/server/src/database/backup.ts';
import { createConnection } from '../../packages/server/src/database/connections.ts';
import { createLog } from '../../packages/server/src/log.ts';
import { openStore } from '../../packages/server/src/program.ts';
import { loadSettings } from '../../packages/server/src/settings.ts';
import { type Credentials, createAccount, startProgram } from '../../scripts/program.ts';

const MAIN = new URL('../../packages/server/src/main.ts', import.meta.url).pathname;
/** In the word as it is; engines change what they do not know, so it looks like a name to them. */
export const CANARY = 'Qanarixyz';

export interface CanaryHistory {
  /** Requests sent, and what they were answered, by status. */
  statuses: Record<number, number>;
  /** How often the canary was found, by place. */
  hits: {
    log: number;
    metrics: number;
    /** Answers to requests that failed, which named the fault and not the text. */
    errors: number;
    /** Before the account was erased: it must have been there to be found. */
    before: number;
    dump: number;
    /** Tables, after PostgreSQL has written them anew; its log of writes is counted apart. */
    tables: number;
    writeAheadLog: number;
  };
  logLines: number;
}

export async function runCanary(directory: string, say: (line: string) => void): Promise<CanaryHistory> {
  const logFile = join(directory, 'said.log');
  const program = await startProgram({
    ...{ directory, logFile },
    environment: {
      ...{ DRAGOMAN_LOG_LEVEL: 'debug', DRAGOMAN_SANDBOX_HOLD: '0', DRAGOMAN_CALLBACK_SCHEDULE: '1' },
      DRAGOMAN_CALLBACK_BREAKER: '1',
      DRAGOMAN_METRICS_TOKEN: 'canary-run',
    },
  });
  const account = await createAccount(directory, 'canary', 100_000, '--chat');
  await importBrand(directory, account);
  const sent = await sendAll(program.url, account);
  say(`${sent.count} requests`);
  // What was accepted is worked on, delivered in vain, and tried again: all of that is said somewhere.
  await triedInVain(program.url, account);
  const headers = { authorization: 'Bearer canary-run' };
  const metrics = await (await fetch(`${program.url}/metrics`, { headers })).text();
  if (!metrics.includes('dragoman_')) throw new Error('there are no metrics to look at');
  const before = await countInDump(directory);
  await promisify(execFile)(process.execPath, [
    MAIN,
    'account',
    'erase',
    'canary',
    '--yes',
    '--data',
    directory,
  ]);
  const dump = await countInDump(directory);
  await program.stop();
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

/** Bodies by path: those that are taken, and those that are refused for each reason there is. */
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
      ...{ ...PAIR, chat_external_id: 'c1', external_id: 'm1', text: NAME, text_format: 'text' },
      ...{ callback_url: HOOK, ...fields },
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
    // Refused.
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

/** Words of a request that an answer to it may name: what stands in its address, and a value that is not one of a list. */
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
      // What was wrong with a text is said without the text; a wrong word of a list may be named.
      if (response.status >= 400 && text.includes(`house of ${CANARY}`)) errors++;
    }
  }
  return { statuses, errors, count: all.length * 2 };
}

/** Waits until the machine's jobs are done and each of their deliveries was tried. */
async function triedInVain(url: string, account: Credentials): Promise<void> {
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
  const args = ['brand', 'import', account.username, file, '--data', directory];
  await promisify(execFile)(process.execPath, [MAIN, ...args]);
}

/** How often it stands in a backup, which is all that the database shows. */
async function countInDump(directory: string): Promise<number> {
  const file = join(directory, `dump-${performance.now()}`);
  await withStore(directory, (connection) => writeBackup(connection, createWriteStream(file)));
  let hits = 0;
  let rest = '';
  for await (const chunk of createReadStream(file).pipe(createGunzip())) {
    const text = rest + (chunk as Buffer).toString('latin1');
    hits += count(text);
    rest = text.slice(-(CANARY.length - 1));
  }
  return hits;
}

/** As an operator does who wants it gone from the disk too. */
async function rewriteTables(directory: string): Promise<void> {
  await withStore(directory, async (connection) => {
    const client = createConnection(connection);
    await client.connect();
    // The planner keeps samples of what stood in columns, too.
    await client.query('analyze');
    await client.query('vacuum full');
    await client.query('checkpoint');
    await client.end();
  });
}

async function withStore<T>(directory: string, work: (connection: pg.PoolConfig) => Promise<T>): Promise<T> {
  const settings = loadSettings({ DRAGOMAN_DATA: directory });
  const store = await openStore(settings, 'command', createLog('silent'));
  try {
    return await work(store.connection);
  } finally {
    await store.close();
  }
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
