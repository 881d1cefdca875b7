/**
 * A receiver of callbacks that runs in its own thread. It answers 204 on several ports and measures how long a number
 * of requests takes.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

export interface Sink {
  urls: string[];
  /** Resolves with the milliseconds between the first and the last of the next `count` requests. */
  count(count: number): Promise<number>;
  close(): Promise<unknown>;
}

export async function startSink(ports: number): Promise<Sink> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { ports } });
  const message = () => new Promise<unknown>((resolve) => worker.once('message', resolve));
  const urls = (await message()) as string[];
  return {
    urls,
    async count(count) {
      worker.postMessage(count);
      return (await message()) as number;
    },
    close: () => worker.terminate(),
  };
}

if (!isMainThread) await serve((workerData as { ports: number }).ports);

async function serve(ports: number): Promise<void> {
  let left = 0;
  let first: number | undefined;
  const urls: string[] = [];
  for (let i = 0; i < ports; i++) {
    const server = createServer((request, response) => {
      request.resume();
      request.on('end', () => {
        response.writeHead(204).end();
        first ??= performance.now();
        if (--left === 0) parentPort!.postMessage(performance.now() - first);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    urls.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  }
  parentPort!.on('message', (count: number) => {
    left = count;
    first = undefined;
  });
  parentPort!.postMessage(urls);
}
