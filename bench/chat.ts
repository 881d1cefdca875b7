/**
 * `npm run bench -- chat` measures the time that the service adds to the translation of a chat message. The time runs
 * from the POST of the message to the arrival of its callback, minus the engine's time for the same text. Messages
 * are sent at fixed rates of 1, 20 and 50 per second.
 *
 * It also measures how many deliveries per second a worker sends from a full outbox. The worker is compared with a bare
 * loop of undici, which posts the same bodies to the same receiver over as many connections. Worker and loop run in
 * turn.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent } from 'undici';
import { scan, segments } from '../packages/documents/src/documents.ts';
import type { Engine } from '../packages/engines/src/engine.ts';
import { createAccount } from '../packages/server/src/accounts/accounts.ts';
import { createLog } from '../packages/server/src/base/log.ts';
import { createMessageSettler } from '../packages/server/src/chats/chats.ts';
import { openStore, type Store } from '../packages/server/src/roles/program.ts';
import { loadSettings } from '../packages/server/src/settings/settings.ts';
import { urlOf } from '../packages/server/src/testing/programs.ts';
import { createEngines } from '../packages/server/src/translation/engines.ts';
import { createLeaseQueue } from '../packages/server/src/work/queue.ts';
import { type Program, startProgram } from '../scripts/program.ts';
import { type Figure, type Flags, median, type Report } from './figures.ts';
import { startSink } from './sink.ts';
import { englishText } from './text.ts';

const LOADS = [
  { rate: 1, seconds: 20 },
  { rate: 20, seconds: 15, goals: { p50: 15, p99: 60 } },
  { rate: 50, seconds: 10 },
] as const;
const CHATS = 100;
const DELIVERIES = 4_000;
const RECEIVERS = 8;
const DELIVERY_GOAL = 0.35;

export async function benchChat({ numbers }: Flags): Promise<Report> {
  const rounds = numbers.rounds ?? 3;
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
  const settings = loadSettings({ DRAGOMAN_DATA: directory });
  // PostgreSQL is started by the benchmark process, so that it continues to run when a measured service ends.
  const store = await openStore(settings, 'serve', createLog('silent'));
  const environment = { DATABASE_URL: urlOf(store.connection) };
  const program = await startProgram({ directory, environment });
  const engines = createEngines(settings);
  try {
    const { production_key: key } = await createAccount(store.database, store.vault, 'command', {
      username: 'bench',
      email: undefined,
      balanceCents: 0,
      dialect: 'spec',
      chat: true,
    });
    const client = await createChatClient(program, key);
    const figures: Figure[] = [];
    try {
      // Before the measurement, some messages warm the pipeline and the compiler.
      await client.send(20, 3, 'warm');
      for (const load of LOADS) {
        const sent = await client.send(load.rate, load.seconds, `at ${load.rate}`);
        const alone = await timeAlone(
          engines[0]!,
          sent.map(({ text }) => text),
        );
        const added = sent.map(({ milliseconds }, i) => milliseconds - alone[i]!).sort((a, b) => a - b);
        process.stderr.write(
          `${load.rate}/s: ${median(added).toFixed(1)} ms over ${median(alone).toFixed(1)} ms of the engine\n`,
        );
        for (const share of ['p50', 'p99'] as const) {
          const value =
            added[Math.min(added.length - 1, Math.floor(added.length * (share === 'p50' ? 0.5 : 0.99)))]!;
          const name = `chat, ${load.rate} messages/s, added to the translation, ${share}`;
          const goal = 'goals' in load ? load.goals[share] : undefined;
          figures.push(
            goal === undefined
              ? { name, value, unit: 'ms' }
              : { name, value: `${value.toFixed(1)} ms`, goal: `≤ ${goal} ms`, held: value <= goal },
          );
        }
      }
    } finally {
      await client.close();
    }
    await program.stop();
    figures.push(await benchDeliveries({ directory, environment }, store, rounds));
    return { figures };
  } finally {
    for (const engine of engines) await engine.stop();
    if (program.child.exitCode === null) await program.stop();
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The data directory and the database that all programs of this benchmark share. */
interface Where {
  directory: string;
  environment: Record<string, string>;
}

interface Sent {
  text: string;
  milliseconds: number;
}

/** Sends chat messages, receives their callbacks, and measures the time from sending to callback. */
async function createChatClient(program: Program, key: string) {
  const arrived = new Map<string, (at: number) => void>();
  const receiver = createServer((request, response) => {
    const at = performance.now();
    request.resume();
    request.on('end', () => response.writeHead(204).end());
    arrived.get(request.url!)?.(at);
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const agent = new Agent({ connections: 32 });

  async function one(id: string, chat: string, text: string): Promise<Sent> {
    const arrival = new Promise<number>((resolve) => arrived.set(`/${id}`, resolve));
    const started = performance.now();
    const answer = await agent.request({
      origin: program.url,
      path: '/v2/chats/messages',
      method: 'POST',
      headers: { authorization: `ApiKey ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        chat_external_id: chat,
        external_id: id,
        text,
        text_format: 'text',
        source_language: 'en',
        target_language: 'es',
        callback_url: `${address}/${id}`,
      }),
    });
    const refusal = await answer.body.text();
    if (answer.statusCode !== 201) throw new Error(`a message was refused: ${refusal}`);
    return { text, milliseconds: (await arrival) - started };
  }

  return {
    /** Sends messages at a fixed rate, without waiting for the responses. */
    async send(rate: number, seconds: number, mark: string): Promise<Sent[]> {
      const sending: Promise<Sent>[] = [];
      const started = performance.now();
      for (let n = 0; n < rate * seconds; n++) {
        await wait(Math.max(0, started + (n * 1000) / rate - performance.now()));
        // Each text is unique, so that no cache has its translation.
        const text = `${englishText(1, n).split('. ')[0]}, number ${n} ${mark}.`;
        sending.push(one(`${mark.replace(' ', '-')}-${n}`, `chat-${n % CHATS}`, text));
      }
      return Promise.all(sending);
    },
    async close() {
      await agent.close();
      receiver.closeAllConnections();
      receiver.close();
    },
  };
}

/** Returns the milliseconds that the engine alone takes for each text, one text after another. */
async function timeAlone(engine: Engine, texts: readonly string[]): Promise<number[]> {
  const times: number[] = [];
  const draft = (text: string) =>
    engine.draft({ from: 'en', to: 'es', segments: segments(scan(text, 'text'), 'en'), lane: 'interactive' });
  await draft('It was a cold night.');
  for (const text of texts) {
    const started = performance.now();
    await draft(text);
    times.push(performance.now() - started);
  }
  return times;
}

/** Measures how fast a worker sends a full outbox of translated messages. Each message is in a different chat. */
async function benchDeliveries(where: Where, store: Store, rounds: number): Promise<Figure> {
  const sink = await startSink(RECEIVERS);
  const { senderPerHost } = loadSettings({});
  const agent = new Agent({ connections: senderPerHost });
  const service: number[] = [];
  const bare: number[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      const body = await fillOutbox(where, store, sink.urls, round);
      const counted = sink.count(DELIVERIES);
      const worker = await startProgram(where);
      service.push((DELIVERIES * 1000) / (await counted));
      await worker.stop();
      bare.push(await postAll(agent, sink.urls, body, senderPerHost, sink.count(DELIVERIES)));
      process.stderr.write(
        `deliveries: ${service.at(-1)!.toFixed(0)}/s beside ${bare.at(-1)!.toFixed(0)}/s\n`,
      );
    }
  } finally {
    await agent.close();
    await sink.close();
  }
  return {
    name: `chat, deliveries of a full outbox to ${RECEIVERS} hosts`,
    value: median(service),
    unit: 'deliveries/s',
    ratio: {
      value: median(service) / median(bare),
      against: `a bare loop of undici, ${senderPerHost} connections a host`,
      atLeast: DELIVERY_GOAL,
    },
  };
}

/**
 * Creates messages while no worker runs, and stores their translations and deliveries as a worker would.
 *
 * @returns the body of one of the deliveries
 */
async function fillOutbox(where: Where, store: Store, urls: string[], round: number): Promise<string> {
  const { database, vault } = store;
  const username = `outbox-${round}`;
  const { production_key: key } = await createAccount(database, vault, 'command', {
    username,
    email: undefined,
    balanceCents: 0,
    dialect: 'spec',
    chat: true,
  });
  const api = await startProgram({ ...where, role: 'api' });
  const agent = new Agent({ connections: 64 });
  let next = 0;
  let body = '';
  const client = async () => {
    for (let n = next++; n < DELIVERIES; n = next++) {
      const answer = await agent.request({
        origin: api.url,
        path: '/v2/chats/messages',
        method: 'POST',
        headers: { authorization: `ApiKey ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          chat_external_id: `${n}`,
          external_id: '1',
          text: `The house number ${n} is big.`,
          text_format: 'text',
          source_language: 'en',
          target_language: 'es',
          callback_url: urls[n % urls.length],
        }),
      });
      body = await answer.body.text();
      if (answer.statusCode !== 201) throw new Error(`a message was refused: ${body}`);
    }
  };
  await Promise.all(Array.from({ length: 64 }, client));
  await agent.close();
  await api.stop();
  const queue = createLeaseQueue(database, 'messages', 60, createLog('silent'));
  const settler = createMessageSettler(database, () => source, { withOutbox: (run) => run() });
  const source = { vendor: 'dragoman', chatBaseUrl: 'http://127.0.0.1' };
  for (let left = DELIVERIES; left > 0; ) {
    const leases = await queue.claim(64);
    left -= leases.length;
    await Promise.all(
      leases.map(async (lease) => {
        const leased = (await settler.open(lease))!;
        const outcome = { kind: 'translated', translated: leased.message.body } as const;
        await settler.settle({ lease, leased, outcome });
      }),
    );
  }
  return body;
}

async function postAll(
  agent: Agent,
  urls: readonly string[],
  body: string,
  connections: number,
  counted: Promise<number>,
): Promise<number> {
  let next = 0;
  const loop = async (url: URL) => {
    while (next++ < DELIVERIES) {
      const { origin, pathname: path } = url;
      const headers = { 'content-type': 'application/json' };
      const answer = await agent.request({ origin, path, method: 'POST', headers, body });
      await answer.body.dump();
    }
  };
  const loops = urls.flatMap((url) => Array.from({ length: connections }, () => loop(new URL(url))));
  await Promise.all(loops);
  return (DELIVERIES * 1000) / (await counted);
}
