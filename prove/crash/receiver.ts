/** Where the callbacks of a crash run arrive: it takes everything, and keeps it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Delivered } from './history.ts';

export async function startReceiver() {
  const delivered: Delivered[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      delivered.push({
        name: (request.url ?? '').slice(1),
        webhookId: String(request.headers['webhook-id']),
        body: Buffer.concat(chunks).toString(),
        at: Date.now(),
      });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    delivered,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
