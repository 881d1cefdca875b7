/**
 * The scenario of slow clients: hundreds of connections send slowly or nothing at all, while an ordinary
 * client sends requests. After that, it measures an account with thousands of webhook secrets, and an account
 * with texts that take seconds to read.
 */
import { connect, type Socket } from 'node:net';
import { createAccount, startProgram } from '../../scripts/program.ts';
import type { RunOptions } from '../harness/run.ts';
import { runSecrets, type SecretsHistory } from './secrets.ts';
import { runTexts, type TextsHistory } from './texts.ts';

/** The behaviour of a slow client after it has connected. */
export type Slowness = 'says nothing' | 'trickles its headers' | 'trickles its body';

export interface SlowHistory {
  /** The milliseconds until the server closed each connection. Infinity if the server never closed it. */
  closed: Record<Slowness, number[]>;
  /** The milliseconds of each request of the ordinary client, without slow clients and with them. */
  alone: number[];
  beside: number[];
  secrets: SecretsHistory;
  texts: TextsHistory;
}

export interface SlowOptions extends RunOptions {
  /** The number of slow clients of each kind. */
  clients: number;
}

const REQUESTS = 1_000;
/** The time to wait for a connection to be closed. It is longer than the longest limit of the service. */
const PATIENCE_MILLISECONDS = 45_000;
const TRICKLE_MILLISECONDS = 500;

const WORDS: Record<Slowness, { first: string; each: string }> = {
  'says nothing': { first: '', each: '' },
  'trickles its headers': { first: 'POST /tapi/v2/translation/ HTTP/1.1\r\nhost: localhost\r\n', each: 'x' },
  'trickles its body': {
    first: 'POST /tapi/v2/translation/ HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n',
    each: ' ',
  },
};

export async function runSlow({ directory, clients, say }: SlowOptions): Promise<SlowHistory> {
  const program = await startProgram({ directory });
  const { production_key } = await createAccount(directory, 'slow');
  const ask = async () => {
    const begun = performance.now();
    const response = await fetch(`${program.url}/tapi/v2/translation/?limit=1`, {
      headers: { authorization: `ApiKey ${production_key}` },
    });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`an ordinary request was answered ${response.status}`);
    return performance.now() - begun;
  };
  const times = async () => {
    const all: number[] = [];
    for (let n = 0; n < REQUESTS; n++) all.push(await ask());
    return all;
  };
  await times(); // The first requests are not measured: they warm up the service.
  const alone = await times();
  const kinds = Object.keys(WORDS) as Slowness[];
  say(`opening ${clients * kinds.length} slow connections`);
  const closing = kinds.map((kind) =>
    Promise.all(Array.from({ length: clients }, () => beSlow(program.port, kind, production_key))),
  );
  const beside = await times();
  const closed = Object.fromEntries(
    await Promise.all(closing.map(async (one, index) => [kinds[index], await one] as const)),
  ) as SlowHistory['closed'];
  say('signing with few of many secrets');
  const secrets = await runSecrets(directory, program);
  say('reading long texts');
  const texts = await runTexts(directory, program);
  // `runTexts` killed the service but not PostgreSQL. A new service is therefore started and stopped, which also stops
  // PostgreSQL.
  await (await startProgram({ directory })).stop();
  return { closed, alone, beside, secrets, texts };
}

/**
 * Opens a connection that behaves like a slow client.
 *
 * @returns milliseconds until the server closed the connection
 */
function beSlow(port: number, kind: Slowness, key: string): Promise<number> {
  const { first, each } = WORDS[kind];
  const begun = performance.now();
  return new Promise((resolve) => {
    const socket: Socket = connect(port, '127.0.0.1');
    const end = (milliseconds: number) => {
      clearInterval(trickle);
      clearTimeout(patience);
      socket.destroy();
      resolve(milliseconds);
    };
    const trickle = setInterval(() => each !== '' && socket.write(each), TRICKLE_MILLISECONDS);
    const patience = setTimeout(() => end(Number.POSITIVE_INFINITY), PATIENCE_MILLISECONDS);
    socket.on('error', () => {}); // A reset also closes the connection.
    socket.on('close', () => end(performance.now() - begun));
    socket.resume();
    if (first === '') return;
    const open = kind === 'trickles its body' ? `authorization: ApiKey ${key}\r\n\r\n` : '';
    socket.write(first + open);
  });
}
