/** Runs `apertium-apy`, Apertium's web service, to compare its speed with Dragoman's. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import { apertiumApy } from './tools.ts';

const MODES = '/usr/share/apertium/modes';
/** The timeout of a request. A request may wait until all other requests are translated. */
const TIMEOUT_SECONDS = '600';
const START_MILLISECONDS = 30_000;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

export interface Apy {
  /** Translates all texts with `clients` concurrent requests. Returns the duration in seconds. */
  translateAll(texts: readonly string[], clients: number): Promise<number>;
  stop(): Promise<void>;
}

/**
 * Starts the web service and waits until its pipeline is loaded.
 *
 * @throws Error when `apertium-apy` cannot be installed
 */
export async function startApy(): Promise<Apy> {
  const tool = apertiumApy();
  const port = await freePort();
  const child = spawn(tool, ['-p', String(port), '-t', TIMEOUT_SECONDS, MODES], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  ended.catch(() => {});
  // Both services are measured with the same HTTP client, so the client's own time does not favour one of them.
  const pool = new Pool(`http://127.0.0.1:${port}`);
  const translate = async (q: string) => {
    const body = new URLSearchParams({ langpair: 'eng|spa', q, markUnknown: 'no' }).toString();
    const response = await pool.request({ path: '/translate', method: 'POST', headers: FORM, body });
    if (response.statusCode !== 200) throw new Error(`apertium-apy answered ${response.statusCode}`);
    await response.body.dump();
  };
  const stop = async () => {
    await pool.destroy();
    child.kill('SIGTERM');
    await ended;
  };
  const started = performance.now();
  for (;;) {
    const loaded = await translate('It was a cold night.').then(
      () => true,
      () => false,
    );
    if (loaded) break;
    if (child.exitCode !== null || performance.now() - started > START_MILLISECONDS) {
      if (child.exitCode === null) await stop();
      throw new Error('apertium-apy did not start');
    }
    await wait(50);
  }
  return {
    stop,
    async translateAll(texts, clients) {
      const left = [...texts];
      const began = performance.now();
      const client = async () => {
        for (let text = left.pop(); text !== undefined; text = left.pop()) await translate(text);
      };
      await Promise.all(Array.from({ length: clients }, client));
      return (performance.now() - began) / 1000;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
