/**
 * Sends many requests that are generated from the API description, and checks each response against the description.
 */
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OpenApi } from '../../packages/server/src/http/openapi.ts';
import { type Checker, createChecker } from '../../packages/server/src/testing/answers.ts';
import { createRandom } from '../harness/random.ts';
import { unfaithful } from './documents.ts';
import { createRequests, type FuzzRequest, type Ids, type World } from './requests.ts';

export interface FuzzOptions {
  url: string;
  /** The API keys in the form `user:key`. */
  keys: { production: string; sandbox: string };
  count: number;
  seed: number;
  say(line: string): void;
}

export interface FuzzResult {
  sent: number;
  /** The number of responses for each status. */
  statuses: Record<number, number>;
  /** Wrong responses with their requests, at most {@link MAX_FAULTS}. */
  faults: string[];
  /** The number of responses that took longer than {@link HANG_MILLISECONDS}. */
  hangs: number;
  /** The operations that succeeded at least once. */
  succeeded: string[];
}

export interface FuzzAnswer {
  status: number;
  headers: Headers;
  text: string;
}

const AT_A_TIME = 16;
const MAX_FAULTS = 20;
export const HANG_MILLISECONDS = 2_000;
/**
 * The maximum number of ids for a scope, and from one response, so that a long list does not replace all other ids.
 */
const MAX_IDS = 100;
const MAX_OF_ANSWER = 3;

export async function runFuzz(options: FuzzOptions): Promise<FuzzResult> {
  const document = (await (await fetch(`${options.url}/openapi.json`)).json()) as OpenApi;
  const checker = createChecker(document);
  const next = createRequests(document, createRandom(options.seed));
  const receiver = createServer((callback, response) => {
    callback.resume().on('end', () => response.writeHead(204).end());
  });
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  const callback = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const world: World = { keys: options.keys, callback, ids: new Map(), documents: new Map() };
  const agent = new Agent({ keepAlive: true, maxSockets: AT_A_TIME });
  const result: FuzzResult = { sent: 0, statuses: {}, faults: [], hangs: 0, succeeded: [] };
  const succeeded = new Set<string>();

  async function client(): Promise<void> {
    while (result.sent < options.count && result.faults.length < MAX_FAULTS) {
      const sent = ++result.sent;
      if (sent % 10_000 === 0) options.say(`${sent} requests`);
      const asked = next(world);
      const begun = performance.now();
      const answer = await send(options.url, agent, asked).catch((error: Error) => error);
      if (performance.now() - begun > HANG_MILLISECONDS) result.hangs++;
      const fault = verdict(checker, asked, answer, world.documents);
      if (fault !== undefined) result.faults.push(fault);
      if (answer instanceof Error) continue;
      result.statuses[answer.status] = (result.statuses[answer.status] ?? 0) + 1;
      if (answer.status < 300) succeeded.add(operationOf(document, asked));
      learn(world, asked, answer);
    }
  }

  await Promise.all(Array.from({ length: AT_A_TIME }, client));
  agent.destroy();
  receiver.closeAllConnections();
  receiver.close();
  succeeded.delete('');
  return { ...result, succeeded: [...succeeded].sort() };
}

/**
 * Returns what is wrong with a response: none came, a server error, a body that does not
 * match its OpenAPI schema, or a translation that broke its document. Returns undefined for a correct response.
 */
export function verdict(
  checker: Checker,
  asked: FuzzRequest,
  answer: FuzzAnswer | Error,
  documents: World['documents'] = new Map(),
): string | undefined {
  const line = `${asked.method} ${asked.path.slice(0, 200)} ${asked.body?.toString().slice(0, 300) ?? ''}`;
  if (answer instanceof Error) return `no answer (${answer.message}): ${line}`;
  if (answer.status >= 500) return `${answer.status}: ${line}\n${answer.text.slice(0, 300)}`;
  try {
    checker.answer({ method: asked.method, path: asked.path, ...answer });
    const broken = brokenIn(answer, documents) ?? wronglyAccepted(asked, answer);
    return broken && `${broken}\nasked: ${line}`;
  } catch (error) {
    return `${(error as Error).message}\nasked: ${line}`;
  }
}

/** Matches NUL and the noncharacters of Unicode, which no stored text may have. */
const UNUSABLE = /[\0\u{fdd0}-\u{fdef}]|[\u{fffe}\u{ffff}]|[\u{1fffe}\u{1ffff}]/u;
const MOST_DEPTH = 64;
const MOST_VALUES = 100_000;

/**
 * Returns why the server should have refused a request that it accepted: because of its body, or because of a value
 * in the response. Returns undefined for a correct answer.
 */
function wronglyAccepted(
  { body, takesBody }: FuzzRequest,
  { status, headers, text }: FuzzAnswer,
): string | undefined {
  if (status >= 300) return undefined;
  const excess = body === undefined || takesBody !== true ? undefined : excessOf(body);
  if (excess !== undefined) return `a body was accepted with ${excess}`;
  if (!headers.get('content-type')?.startsWith('application/json') || text === '') return undefined;
  let found: string | undefined;
  JSON.parse(text, (name, value: unknown) => {
    if (typeof value !== 'string') return value;
    if (UNUSABLE.test(value)) found = `${name} holds NUL or a noncharacter`;
    if (name === 'uid' && (value === '.' || value === '..'))
      found = `the uid ${value} cannot be a segment of a path`;
    return value;
  });
  return found;
}

/**
 * Returns the limit that the body of an accepted request exceeds. The body is empty or valid JSON, because the server
 * accepted it.
 */
function excessOf(body: Buffer): string | undefined {
  if (body.length === 0) return undefined;
  const open: { value: unknown; depth: number }[] = [{ value: JSON.parse(body.toString()), depth: 0 }];
  for (let values = 0; open.length > 0; ) {
    const { value, depth } = open.pop()!;
    if (typeof value !== 'object' || value === null) continue;
    if (depth === MOST_DEPTH) return `more than ${MOST_DEPTH} levels`;
    const inside = Object.values(value);
    values += inside.length;
    if (values > MOST_VALUES) return `more than ${MOST_VALUES} values`;
    for (const one of inside) open.push({ value: one, depth: depth + 1 });
  }
  return undefined;
}

/**
 * Finds the first document in a response that was damaged by its translation, and describes the damage. Returns
 * undefined if no document is damaged.
 */
function brokenIn({ headers, text }: FuzzAnswer, documents: World['documents']): string | undefined {
  if (!headers.get('content-type')?.startsWith('application/json') || text === '') return undefined;
  let broken: string | undefined;
  JSON.parse(text, (_, value: Record<string, unknown> | null) => {
    const drawn = documents.get(String(value?.text));
    if (broken !== undefined || drawn === undefined || drawn.text_format !== value!.text_format) return value;
    if (typeof value!.translated_text !== 'string') return value;
    const problem = unfaithful(drawn, value!.translated_text);
    if (problem)
      broken = `${problem}: ${JSON.stringify(drawn)} became ${JSON.stringify(value!.translated_text)}`;
    return value;
  });
  return broken;
}

function operationOf(document: OpenApi, { method, path }: FuzzRequest): string {
  const bare = path
    .split('?')[0]!
    .replace(/\/{2,}/g, '/')
    .replace(/^\/sandbox(?=\/)/, '')
    .replace(/\/?$/, '/');
  for (const [template, operations] of Object.entries(document.paths)) {
    const pattern = `^${template.replace(/\/?$/, '/').replace(/\{\w+\}/g, '[^/]+')}$`;
    const operation = operations[method.toLowerCase()];
    if (operation !== undefined && new RegExp(pattern).test(bare)) return operation.operationId;
  }
  return '';
}

/** Stores the ids of a response for later requests. */
function learn(world: World, { scope }: FuzzRequest, { status, headers, text }: FuzzAnswer): void {
  if (status >= 300 || !headers.get('content-type')?.startsWith('application/json') || text === '') return;
  const found: Ids[] = [];
  JSON.parse(text, (_, value: Record<string, unknown>) => {
    if (typeof value !== 'object' || value === null) return value;
    const named = ID_NAMES.filter((name) => typeof value[name] === 'string').map((name) => [
      name,
      value[name],
    ]);
    if (named.length > 0) found.push(Object.fromEntries(named) as Ids);
    return value;
  });
  if (found.length === 0) return;
  const known = [...(world.ids.get(scope) ?? []), ...found.slice(-MAX_OF_ANSWER)];
  world.ids.set(scope, known.slice(-MAX_IDS));
}

const ID_NAMES = ['uid', 'id', 'chat_id', 'delivery_id'] as const;

/** Uses node:http, because `fetch` refuses or rewrites some requests that a hostile client sends. */
function send(url: string, agent: Agent, asked: FuzzRequest): Promise<FuzzAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const { method, path, headers } = asked;
    const sent = request({ agent, hostname, port, method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: new Headers(
            Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]),
          ),
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    sent.on('error', reject);
    sent.end(asked.body);
  });
}
