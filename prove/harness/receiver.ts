/** A receiver of callbacks that responds to every request with 204. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One callback request that arrived. */
export interface Arrival {
  /** The path of the callback's URL without the slash, which is the customer's name for the job or message. */
  name: string;
  webhookId: string;
  body: string;
  /** The time at which the callback arrived, in Unix milliseconds. */
  at: number;
  /** The status of the receiver's response, if there was a response. */
  answer: number | undefined;
  /** True if the connection was reset after the response, so that the sender may not have read it. */
  reset?: boolean;
}

export interface Receiver {
  url: string;
  close(): Promise<void>;
}

/**
 * Starts a receiver.
 *
 * @param arrived called for each callback before the response
 */
export async function startReceiver(
  arrived: (arrival: Arrival, headers: IncomingHttpHeaders) => void,
): Promise<Receiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const arrival = {
        name: (request.url ?? '').slice(1),
        webhookId: String(request.headers['webhook-id']),
        body: Buffer.concat(chunks).toString(),
        at: Date.now(),
        answer: 204,
      };
      arrived(arrival, request.headers);
      response.writeHead(arrival.answer).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
