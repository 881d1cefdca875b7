/**
 * A translation service for tests on 127.0.0.1. It checks keys and requests like the real services, and
 * "translates" by swapping the case of a-z outside tags. protocols.ts defines the protocols; this file
 * simulates faults.
 */

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: the body depends on the protocol
  body: any;
}

export interface HttpResult {
  status: number;
  json?: unknown;
  /** The body of a response that is not JSON. */
  body?: string;
  headers?: Record<string, string>;
}

/** A simulated fault of a translation call. Calls for languages and health never fail. */
export type Fault =
  | { status: number; headers?: Record<string, string>; body?: string }
  /** No response (`stall`), a truncated response, or a broken connection (`reset`). */
  | 'stall'
  | 'stall in the body'
  | 'reset';

export interface Protocol {
  key: string;
  answer(request: ReceivedRequest, translate: (texts: string[], marked: boolean) => string[]): HttpResult;
  /** Whether the request asks for a translation. */
  translates(request: ReceivedRequest): boolean;
}

export interface TestService {
  url: string;
  key: string;
  requests: ReceivedRequest[];
  /** Sets the faults of the next translation calls. */
  plant(...faults: Fault[]): void;
  /** Sets a function that changes the translations of each later call. Null removes the function. */
  bend(how: ((texts: string[], request: ReceivedRequest) => string[]) | null): void;
  /** Answers each translation call whose body contains `text` with this status. */
  refuse(text: string, status: number): void;
  /** Returns the largest number of calls that ran at the same time. */
  most(): number;
  /** Stops the server until `start` opens it again at the same address. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

const services: TestService[] = [];

/** Stops all test servers; for `afterAll`. */
export async function stopServices(): Promise<void> {
  await Promise.all(services.splice(0).map((each) => each.stop()));
}

export async function serve(protocol: Protocol): Promise<TestService> {
  const requests: ReceivedRequest[] = [];
  const faults: Fault[] = [];
  let refused: { text: string; status: number } | null = null;
  let bending: ((texts: string[], request: ReceivedRequest) => string[]) | null = null;
  let open = 0;
  let most = 0;
  const server = createServer((request, response) => {
    open++;
    most = Math.max(most, open);
    response.on('close', () => open--);
    read(request).then((one) => {
      let fault: Fault | undefined;
      if (protocol.translates(one)) {
        requests.push(one);
        fault = faults.shift();
        if (refused !== null && JSON.stringify(one.body).includes(refused.text)) fault ??= refused;
      }
      if (fault !== undefined) return spoil(response, fault);
      const translate = (texts: string[], marked: boolean): string[] => {
        const targets = texts.map((text) => (marked ? swapMarked(text) : swap(text)));
        return bending?.(targets, one) ?? targets;
      };
      const { status, json, body, headers } = protocol.answer(one, translate);
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(body ?? (json === undefined ? '' : JSON.stringify(json)));
    });
  });
  async function listen(port: number): Promise<void> {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  }
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const service: TestService = {
    url: `http://127.0.0.1:${port}`,
    key: protocol.key,
    requests,
    plant: (...planted) => void faults.push(...planted),
    bend: (how) => {
      bending = how;
    },
    refuse: (text, status) => {
      refused = { text, status };
    },
    most: () => most,
    start: () => listen(port),
    async stop() {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  services.push(service);
  return service;
}

async function read(request: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

function spoil(response: ServerResponse, fault: Fault): void {
  if (fault === 'stall') return;
  if (fault === 'reset') return void response.destroy();
  if (fault === 'stall in the body') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
    return void response.write('{"tr');
  }
  response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers });
  response.end(fault.body ?? '{"error":"planted"}');
}

export const swap = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );

/**
 * Swaps the case of letters outside tags, entities and untranslatable elements. Writes special characters as
 * entities, like the services.
 */
export const swapMarked = (text: string): string =>
  text
    .replace(/(<(code|k)\b[^>]*>[\s\S]*?<\/\2>|<[^>]*>|&#?\w+;)|([^<&]+)/g, (_, fixed, _name, words) =>
      fixed === undefined ? swap(words) : fixed,
    )
    .replaceAll("'", '&#39;')
    .replace(/"(?=[^<>]*(?:<|$))/g, '&quot;');
