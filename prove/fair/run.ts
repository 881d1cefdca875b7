/**
 * A fairness run: accounts with very different loads on one worker, everything real: HTTP, PostgreSQL, Apertium, a
 * receiver. The engine is watched on its way, because a large document shows nothing until it is done.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { englishText } from '../../bench/text.ts';
import { createApertium, type Engine } from '../../packages/engines/src/engines.ts';
import { createAccount } from '../../packages/server/src/accounts/accounts.ts';
import { createLog } from '../../packages/server/src/log.ts';
import { openStore } from '../../packages/server/src/program.ts';
import { startServer } from '../../packages/server/src/serve.ts';
import { loadSettings } from '../../packages/server/src/settings.ts';

export interface FairOptions {
  directory: string;
  seed: number;
  /** Words of each of the loads that compete. */
  words: number;
  /** Jobs that the small account sends, alone and beside the others. */
  probes: number;
  say(line: string): void;
}

export interface FairHistory {
  /** Characters that the engine was asked for, by load, while all of them waited for more. */
  served: Record<string, number>;
  /** Milliseconds from the request of a small job to its callback. */
  alone: number[];
  beside: number[];
}

/** Names that mark whose text it is, in every sentence. */
const LOADS = [
  { name: 'messages', mark: 'Ann', words: 12 },
  { name: 'pages', mark: 'Bob', words: 500 },
  { name: 'document', mark: 'Eve', words: Number.POSITIVE_INFINITY },
] as const;
const CLIENTS = 8;
const BETWEEN_MILLISECONDS = 100;

export async function runFair(options: FairOptions): Promise<FairHistory> {
  const { directory, say } = options;
  const settings = loadSettings({
    DRAGOMAN_DATA: directory,
    DRAGOMAN_PORT: '0',
    DRAGOMAN_ALLOWED_NETWORKS: '127.0.0.0/8',
  });
  const log = createLog('silent');
  const store = await openStore(settings, 'serve', log);
  const receiver = await startReceiver();
  const served = Object.fromEntries(LOADS.map(({ name }) => [name, 0]));
  const engines = () => [watched(createApertium({ memoryMebibytes: 2048 }), served)];
  const api = await startServer({ store, settings, role: 'api', engines, log });
  let worker = await startServer({ store, settings, role: 'worker', engines, log });
  try {
    const accounts = await Promise.all(
      [...LOADS.map(({ name }) => name), 'small'].map(async (username) => {
        const fields = { username, email: undefined, balanceCents: 0, dialect: 'spec', chat: false } as const;
        return [username, (await createAccount(store.database, store.vault, fields)).production_key] as const;
      }),
    );
    const keys = Object.fromEntries(accounts);
    const order = (account: string, uid: string, text: string) =>
      create(api.url!, keys[account]!, { uid, text, callback_url: `${receiver.url}/${uid}` });
    const probe = async (round: string): Promise<number[]> => {
      const taken: Promise<number>[] = [];
      for (let count = 0; count < options.probes; count++) {
        const uid = `${round}-${count}`;
        const sent = performance.now();
        const arrived = receiver.next(uid);
        await order('small', uid, `${englishText(12, options.seed + taken.length)} ${uid}.`);
        taken.push(arrived.then((at) => at - sent));
        await wait(BETWEEN_MILLISECONDS);
      }
      return Promise.all(taken);
    };

    await until(async () => {
      const response = await fetch(`${api.url}/readyz`);
      return response.status === 200;
    });
    await probe('warm');
    say('the small account alone');
    const alone = await probe('alone');

    await worker.stop();
    say('the others send what they have');
    for (const load of LOADS) await send(load, options, (uid, text) => order(load.name, uid, text));
    worker = await startServer({ store, settings, role: 'worker', engines, log });
    await until(async () => LOADS.every(({ name }) => served[name]! > 0));
    const before = { ...served };
    say('the small account beside them');
    const beside = await probe('beside');
    const until25 = options.words * 1.5; // characters: while less than about a third of each load is served
    await until(async () => LOADS.some(({ name }) => served[name]! - before[name]! > until25));
    const during = Object.fromEntries(LOADS.map(({ name }) => [name, served[name]! - before[name]!]));
    return { served: during, alone, beside };
  } finally {
    await worker.stop(0);
    await api.stop(0);
    await receiver.close();
    await store.close();
  }
}

/** Sends a load in jobs of its size; every sentence bears its mark. */
async function send(
  load: (typeof LOADS)[number],
  { words, seed }: FairOptions,
  order: (uid: string, text: string) => Promise<void>,
): Promise<void> {
  const all = englishText(words, seed + load.mark.charCodeAt(0)).replaceAll(/\.(?=\s|$)/g, ` ${load.mark}.`);
  const texts: string[] = [];
  let text = '';
  let count = 0;
  for (const sentence of all.split(/(?<=\.)\s+/)) {
    text += `${text === '' ? '' : ' '}${sentence}`;
    count += sentence.split(' ').length;
    if (count >= load.words) {
      texts.push(text);
      text = '';
      count = 0;
    }
  }
  if (text !== '') texts.push(text);
  let next = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (next < texts.length) {
        const index = next++;
        await order(`${load.name}-${index}`, texts[index]!);
      }
    }),
  );
}

/** Counts by mark what the engine is asked for. */
function watched(engine: Engine, served: Record<string, number>): Engine {
  const draft = engine.draft.bind(engine);
  return Object.assign(engine, {
    async draft(request: Parameters<Engine['draft']>[0]) {
      const drafts = await draft(request);
      for (const { pieces } of request.segments) {
        const text = pieces.map((piece) => ('text' in piece ? piece.text : '')).join('');
        const load = LOADS.find(({ mark }) => text.includes(` ${mark}`));
        if (load !== undefined) served[load.name]! += text.length;
      }
      return drafts;
    },
  });
}

async function create(url: string, key: string, fields: object): Promise<void> {
  const response = await fetch(`${url}/tapi/v2/mt_translation/`, {
    method: 'POST',
    headers: { authorization: `ApiKey ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...fields, source_language: 'en', target_language: 'es' }),
  });
  if (response.status !== 201) throw new Error(`a job was refused: ${await response.text()}`);
  await response.body?.cancel();
}

async function until(question: () => Promise<boolean>): Promise<void> {
  while (!(await question())) await wait(20);
}

async function startReceiver() {
  const arrivals = new Map<string, PromiseWithResolvers<number>>();
  const arrival = (name: string) => {
    const known = arrivals.get(name) ?? Promise.withResolvers<number>();
    arrivals.set(name, known);
    return known;
  };
  const server = createServer((request, response) => {
    arrival((request.url ?? '').slice(1)).resolve(performance.now());
    request.resume();
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    next: (name: string) => arrival(name).promise,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
