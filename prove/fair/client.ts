// A separate process with the customers of a fairness run and the receiver of their callbacks. Being separate, it
// does not disturb the measured process. It executes one order of its parent process at a time and reports the
// result.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent } from 'undici';
import { englishText } from '../../bench/text.ts';

export interface Customer {
  key: string;
  /** The host of the customer's callbacks: an address of this machine that no other customer uses. */
  host: string;
}

/**
 * An order to create jobs of `wordsAJob` words each, with `words` words in total. Every sentence contains `mark`, a
 * word that identifies the load.
 */
export interface Load extends Customer {
  order: 'load';
  url: string;
  name: string;
  mark: string;
  seed: number;
  words: number;
  wordsAJob: number;
}

/**
 * An order to create small jobs and chat messages at a fixed rate, even if responses are late. The customers take
 * turns.
 */
export interface Probe {
  order: 'probe';
  url: string;
  round: string;
  seed: number;
  customers: Customer[];
  /** The number of jobs, which is also the number of messages. */
  count: number;
}

/** The milliseconds from each request to its callback. */
export interface Probed {
  jobs: number[];
  messages: number[];
}

const CONNECTIONS = 32;
const SMALL_WORDS = 12;
/** The time between two requests. Jobs and messages alternate, so there are five of each per second. */
const BETWEEN_MILLISECONDS = 100;
const PAIR = { source_language: 'en', target_language: 'es' };

if (import.meta.main) {
  const agent = new Agent({ connections: CONNECTIONS });
  const arrivals = new Map<string, (at: number) => void>();
  const receiver = createServer((request, response) => {
    arrivals.get(request.url!)?.(performance.now());
    request.resume();
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '0.0.0.0', resolve));
  const { port } = receiver.address() as AddressInfo;

  async function create(address: string, { key, host }: Customer, name: string, body: object): Promise<void> {
    const { statusCode, body: answer } = await agent.request({
      origin: new URL(address).origin,
      path: new URL(address).pathname,
      method: 'POST',
      headers: { authorization: `ApiKey ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...PAIR, ...body, callback_url: `http://${host}:${port}/${name}` }),
    });
    const text = await answer.text();
    if (statusCode !== 201) throw new Error(`${name} was refused: ${text}`);
  }

  const createJob = (url: string, customer: Customer, uid: string, text: string) =>
    create(`${url}/tapi/v2/mt_translation/`, customer, uid, { uid, text });
  const createMessage = (url: string, customer: Customer, id: string, text: string) =>
    create(`${url}/v2/chats/messages`, customer, id, {
      chat_external_id: id,
      external_id: id,
      text,
      text_format: 'text',
    });

  async function load({ url, name, mark, seed, words, wordsAJob, ...customer }: Load): Promise<number> {
    const texts = cut(englishText(words, seed).replaceAll(/\.(?=\s|$)/g, ` ${mark}.`), wordsAJob);
    const next = texts.entries();
    const send = async () => {
      for (const [index, text] of next) await createJob(url, customer, `${name}-${index}`, text);
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, send));
    return texts.length;
  }

  async function timed(name: string, make: () => Promise<void>): Promise<number> {
    const arrived = new Promise<number>((resolve) => arrivals.set(`/${name}`, resolve));
    const sent = performance.now();
    await make();
    const at = await arrived;
    arrivals.delete(`/${name}`);
    return at - sent;
  }

  async function probe({ url, round, seed, customers, count }: Probe): Promise<Probed> {
    const jobs: Promise<number>[] = [];
    const messages: Promise<number>[] = [];
    const begun = performance.now();
    for (let n = 0; n < 2 * count; n++) {
      await wait(Math.max(0, begun + n * BETWEEN_MILLISECONDS - performance.now()));
      const customer = customers[n % customers.length]!;
      const name = `${round}-${n}`;
      // Each text is unique, so the cache never has its translation.
      const text = `${englishText(SMALL_WORDS, seed + n).replace(/\.\s*$/, '')}, number ${name}.`;
      const [times, make] = n % 2 === 0 ? [jobs, createJob] : [messages, createMessage];
      times.push(timed(name, () => make(url, customer, name, text)));
    }
    return { jobs: await Promise.all(jobs), messages: await Promise.all(messages) };
  }

  process.on('message', (order: Load | Probe) => {
    const done: Promise<number | Probed> = order.order === 'load' ? load(order) : probe(order);
    done.then(
      (answer) => process.send!({ answer }),
      (error: Error) => process.send!({ error: error.message }),
    );
  });
  process.on('disconnect', () => process.exit());
  process.send!({ answer: 'ready' });
}

/** Divides a text into parts of at least `words` words. Each part consists of whole sentences. */
function cut(text: string, words: number): string[] {
  const texts: string[] = [];
  let sentences: string[] = [];
  let count = 0;
  for (const sentence of text.split(/(?<=\.)\s+/)) {
    sentences.push(sentence);
    count += sentence.split(' ').length;
    if (count < words) continue;
    texts.push(sentences.join(' '));
    sentences = [];
    count = 0;
  }
  if (sentences.length > 0) texts.push(sentences.join(' '));
  return texts;
}
