/** What the tests of the rooms start from: a database of their own, a server with the fake engine, a receiver. */
import { randomBytes } from 'node:crypto';
import { createServer, type Server as HttpServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Engine } from '@dragoman/engines';
import { createFake } from '@dragoman/engines/fake';
import { inject } from 'vitest';
import type { PersonRole } from '../account.ts';
import {
  type AccountCredentials,
  accountNamed,
  createAccount,
  type NewAccount,
} from '../accounts/accounts.ts';
import { createPerson as insertPerson } from '../accounts/people.ts';
import { createVault } from '../accounts/secrets.ts';
import { type Connection, type Database, openDatabase } from '../database/database.ts';
import { createLog, type Log } from '../log.ts';
import type { Audience } from '../openapi.ts';
import type { Store } from '../program.ts';
import type { ScannerOptions } from '../scanning/scanner.ts';
import { type Role, type Server, startServer } from '../serve.ts';
import { loadSettings, type Settings } from '../settings.ts';
import { ourChecker } from './answers.ts';
import { administer, withDatabase } from './cluster.ts';

/** As DRAGOMAN_SECRET_KEY has it: of test servers, and of programs that are given a database of a test. */
export const SECRET_KEY = randomBytes(32).toString('base64');

let databases = 0;

export interface TestDatabase {
  database: Database;
  /** As the owner of the schema. */
  connection: Connection;
  drop(): Promise<void>;
}

/** A fresh, migrated database. @param log of its handle; nowhere by default */
export async function createTestDatabase(log = createLog('silent')): Promise<TestDatabase> {
  const { connection, template } = inject('cluster');
  const name = `dragoman_test_${process.pid}_${++databases}_${randomBytes(3).toString('hex')}`;
  await administer(connection, `create database ${name} template ${template}`);
  const own = withDatabase(connection, name);
  const database = openDatabase(own, log);
  return {
    database,
    connection: own,
    async drop() {
      await database.close();
      await administer(connection, `drop database ${name} with (force)`);
    },
  };
}

export interface TestServer extends TestDatabase {
  url: string;
  server: Server;
  store: Store;
  settings: Settings;
  createAccount(fields?: Partial<NewAccount>): Promise<AccountCredentials>;
  /** Stops this server and starts another on the same database. */
  restart(changes?: Record<string, string>): Promise<void>;
  stop(): Promise<void>;
}

export interface TestServerOptions {
  engine?: () => Engine;
  /** Several, in the order in which they are tried; instead of `engine`. */
  engines?: () => Engine[];
  role?: Role;
  settings?: Record<string, string>;
  /** Where the server logs to; nowhere by default. */
  log?: Log;
  scanning?: ScannerOptions;
}

/** A server on a free port of the loopback, with a database of its own and callbacks allowed to the loopback. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const log = options.log ?? createLog('silent');
  const testDatabase = await createTestDatabase(log);
  const store: Store = {
    database: testDatabase.database,
    vault: createVault(Buffer.from(SECRET_KEY, 'base64')),
    migrated: [],
    behind: 0,
    connection: testDatabase.connection,
    close: async () => {},
  };
  async function start(changes: Record<string, string>): Promise<{ server: Server; settings: Settings }> {
    const settings = loadSettings({
      DRAGOMAN_PORT: '0',
      DRAGOMAN_ALLOWED_NETWORKS: '127.0.0.0/8',
      ...options.settings,
      ...changes,
    });
    const engines = options.engines ?? (() => [(options.engine ?? createFake)()]);
    const { role = 'all', scanning } = options;
    const server = await startServer({ store, settings, role, engines, log, ...(scanning && { scanning }) });
    return { server, settings };
  }
  let running = await start({});
  let accounts = 0;
  const test: TestServer = {
    ...testDatabase,
    store,
    get url() {
      return running.server.url ?? '';
    },
    get server() {
      return running.server;
    },
    get settings() {
      return running.settings;
    },
    createAccount: (fields = {}) =>
      createAccount(store.database, store.vault, {
        username: `customer-${++accounts}`,
        email: undefined,
        balanceCents: 0,
        dialect: 'spec',
        chat: false,
        ...fields,
      }),
    async restart(changes = {}) {
      await running.server.stop();
      running = await start(changes);
    },
    async stop() {
      await running.server.stop();
      await testDatabase.drop();
    },
  };
  await pairsAreOffered(test);
  return test;
}

/** Waits until the worker has published its pairs; its server is not ready before. */
async function pairsAreOffered(test: TestServer): Promise<void> {
  if (test.url === '') return;
  await until(async () => (await fetch(`${test.url}/readyz`)).status === 200);
}

/** Polls until something is so. The test's own limit ends a wait for what never comes. */
export async function until<T>(
  question: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  for (;;) {
    const answer = await question();
    if (answer !== undefined && answer !== false) return answer;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed JSON, or undefined for an empty body. Tests look into it freely. */
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what the tests are there to find out
  body: any;
  text: string;
}

/**
 * A client that sends what it is told to, as one account. Every answer must be as `/openapi.json` says; a test
 * that gets another one fails.
 */
export function createClient(url: string, key: string) {
  return createCaller(url, 'public', () => ({ authorization: `ApiKey ${key}` }));
}

/** The web app's client: a browser of this site, with the cookie that it was given last. */
export function createBrowser(url: string | (() => string)) {
  let cookie: string | undefined;
  const send = createCaller(url, 'web', () => ({
    'sec-fetch-site': 'same-origin',
    ...(cookie === undefined ? {} : { cookie }),
  }));
  return {
    get cookie() {
      return cookie;
    },
    async call(method: string, path: string, body?: unknown, headers = {}): Promise<Answer> {
      const answer = await send(method, path, body, headers);
      const [given] = answer.headers.getSetCookie();
      const [, value] = /=([^;]*)/.exec(given ?? '') ?? [];
      if (given !== undefined) cookie = value === '' ? undefined : given.split(';')[0];
      return answer;
    },
  };
}

function createCaller(url: string | (() => string), audience: Audience, own: () => Record<string, string>) {
  return async function call(method: string, path: string, body?: unknown, headers = {}): Promise<Answer> {
    const checker = await ourChecker(audience);
    const root = typeof url === 'string' ? url : url();
    const response = await fetch(`${root}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...own(),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const { status, headers: answered } = response;
    const asked = new URL(response.url).pathname;
    checker.answer({ method, path: asked, status, headers: answered, text });
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== '' ? JSON.parse(text) : undefined,
      text,
    };
  };
}

export interface TestPerson {
  userId: string;
  email: string;
  password: string;
  name: string;
  /** A customer's account, with its keys. */
  account: AccountCredentials | undefined;
  /** As the web app, signed in. */
  call: ReturnType<typeof createBrowser>['call'];
}

export interface TestPersonOptions {
  role: PersonRole;
  /** `en:es`; with `en:es+review` they may review it too. */
  languages?: string[];
  /** A customer's; one is made where none is given. */
  account?: AccountCredentials;
  name?: string;
}

let peopleMade = 0;

/** Somebody who is signed in at a server. */
export async function createPerson(server: TestServer, options: TestPersonOptions): Promise<TestPerson> {
  const number = ++peopleMade;
  const account =
    options.role === 'customer' ? (options.account ?? (await server.createAccount())) : undefined;
  const person = {
    email: `${options.role}-${number}@example.com`,
    password: `password of person ${number}`,
    name: options.name ?? `Person ${number}`,
  };
  const userId = await insertPerson(server.database, 'command', {
    ...person,
    role: options.role,
    account: account && (await accountNamed(server.database, account.username)).ref,
    languages: (options.languages ?? []).map((written) => {
      const [pair, review] = written.split('+');
      const [source_language, target_language] = pair!.split(':') as [string, string];
      return { source_language, target_language, review: review === 'review' };
    }),
  });
  // Signed in also after a restart, elsewhere.
  const { call } = createBrowser(() => server.url);
  const { email, password } = person;
  const answer = await call('POST', '/api/session', { email, password });
  if (answer.status !== 200) throw new Error(`${email} could not sign in: ${answer.text}`);
  return { ...person, userId, account, call };
}

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** Resolves with the first request that matches, past or future. */
  next(matches?: (received: Received) => boolean): Promise<Received>;
  /** Decides the answer to every request from now on; 200 by default. */
  answer(decide: (received: Received) => number): void;
  close(): Promise<void>;
}

/**
 * A callback receiver on the loopback. What arrives must be a webhook of `/openapi.json`; a test that
 * gets another one fails, at the latest when the receiver closes.
 * @param takes `anything` for the tests of sending as such, whose bodies mean nothing
 */
export async function startReceiver(takes: 'webhooks' | 'anything' = 'webhooks'): Promise<Receiver> {
  const checker = takes === 'webhooks' ? await ourChecker() : undefined;
  const faults: string[] = [];
  const received: Received[] = [];
  let waiting: (() => void)[] = [];
  let decide: (received: Received) => number = () => 200;
  const server: HttpServer = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const one = { path: request.url ?? '', headers: request.headers, body, at: Date.now() };
      const fault = checker?.callback(request.headers, body);
      if (fault !== undefined) faults.push(fault);
      received.push(one);
      response.writeHead(decide(one)).end();
      for (const wake of waiting.splice(0)) wake();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async next(matches = () => true) {
      for (;;) {
        if (faults.length > 0) throw new Error(faults.join('\n'));
        const found = received.find(matches);
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    answer(given) {
      decide = given;
    },
    close: () =>
      new Promise((resolve, reject) => {
        waiting = [];
        server.closeAllConnections();
        server.close(() => (faults.length > 0 ? reject(new Error(faults.join('\n'))) : resolve()));
      }),
  };
}
