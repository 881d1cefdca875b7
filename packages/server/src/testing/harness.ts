/**
 * Fixtures of the server tests: a database for each test file, a server with the fake engine, and a callback
 * receiver.
 */
import { argon2Sync, randomBytes } from 'node:crypto';
import { createServer, type Server as HttpServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Engine } from '@dragoman/engines';
import { createFake } from '@dragoman/engines/fake';
import type pg from 'pg';
import { inject } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import { createPerson as insertPerson } from '../access/people.ts';
import { updatePassword } from '../access/people-store.ts';
import { createVault } from '../access/secrets.ts';
import { type AccountCredentials, createAccount, type NewAccount } from '../accounts/accounts.ts';
import type { PersonRole } from '../base/account.ts';
import { createLog, type Log } from '../base/log.ts';
import { createConnection } from '../database/connections.ts';
import { type Connection, type Database, openDatabase } from '../database/database.ts';
import { dropRefusedKeys } from '../database/distribution.ts';
import type { ApiName } from '../http/openapi.ts';
import type { Store } from '../roles/program.ts';
import { type Role, type Server, startServer } from '../roles/serve.ts';
import { createScanner, type Scanner, type ScannerOptions } from '../scanning/scanner.ts';
import { loadSettings, type Settings } from '../settings/settings.ts';
import { ourChecker } from './answers.ts';
import { administer, withDatabase } from './cluster.ts';

/** The value of DRAGOMAN_SECRET_KEY for test servers, and for programs that use a test's database. */
export const SECRET_KEY = randomBytes(32).toString('base64');

let databases = 0;

export interface TestDatabase {
  database: Database;
  /** How to connect as the owner of the schema. */
  connection: Connection;
  /** Connects as the owner of the schema, until the database is dropped. */
  connectOwner(): Promise<pg.Client>;
  drop(): Promise<void>;
}

/**
 * Creates a migrated database.
 * @param log the log of the database handle; silent by default
 * @param asDistributed whether statements run in the form for a distributed database, as if it had the extension
 *   `citus`, and the foreign keys are missing that it refuses
 */
export async function createTestDatabase(
  log = createLog('silent'),
  asDistributed = false,
): Promise<TestDatabase> {
  const { connection, template } = inject('cluster');
  const name = `dragoman_test_${process.pid}_${++databases}_${randomBytes(3).toString('hex')}`;
  // Copying the files takes a third of the processor time of copying through the log of the database server.
  await administer(connection, `create database ${name} template ${template} strategy file_copy`);
  const own = withDatabase(connection, name);
  if (asDistributed) {
    // The program finds this table before the one in `pg_catalog`, which it does not name.
    await administer(own, 'create schema found_first; grant usage on schema found_first to public');
    await administer(
      own,
      `create table found_first.pg_extension as select 'citus' as extname, '0' as extversion`,
    );
    await administer(own, 'grant select on found_first.pg_extension to public');
    await administer(own, `alter database ${name} set search_path = found_first, public, pg_catalog`);
    const client = createConnection(own);
    await client.connect();
    await dropRefusedKeys(client);
    await client.end();
  }
  const database = openDatabase(own, log);
  const owners: pg.Client[] = [];
  return {
    database,
    connection: own,
    async connectOwner() {
      const owner = createConnection(own);
      owners.push(owner);
      await owner.connect();
      return owner;
    },
    async drop() {
      await Promise.all(owners.map((owner) => owner.end()));
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
  /** Stops this server and starts another one on the same database. */
  restart(changes?: Record<string, string>): Promise<void>;
  stop(): Promise<void>;
}

export interface TestServerOptions {
  engine?: () => Engine;
  /** Several engines in order of preference, used instead of `engine`. */
  engines?: () => Engine[];
  role?: Role;
  /** Whether to wait until the server is ready. Default: true. */
  ready?: boolean;
  settings?: Record<string, string>;
  log?: Log;
  scanning?: ScannerOptions;
  /** Whether statements run in the form for a distributed database. */
  asDistributed?: boolean;
}

/** Starts a server on a free loopback port, with its own database; callbacks to the loopback are allowed. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const log = options.log ?? createLog('silent');
  const testDatabase = await createTestDatabase(log, options.asDistributed);
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
      // A test may send more requests with one key than a customer may, so the rate limit of keys is off.
      DRAGOMAN_KEY_REQUESTS: '0',
      ...options.settings,
      ...changes,
    });
    const engines = options.engines ?? (() => [(options.engine ?? createFake)()]);
    const { role = 'all', scanning } = options;
    const reading = scanning === undefined ? { scanner: shareScanner() } : { scanning };
    const server = await startServer({ store, settings, role, engines, log, ...reading });
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
      createAccount(store.database, store.vault, 'command', {
        username: `customer-${++accounts}`,
        email: undefined,
        balanceCents: 0,
        dialect: 'spec',
        chat: false,
        prepaid: false,
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
  if (options.ready ?? true) await pairsAreOffered(test);
  return test;
}

let sharedScanner: Scanner | undefined;

/**
 * Returns the scanner that the servers of this worker process share. A scanner process takes more processor time to start
 * than a server.
 */
function shareScanner(): Scanner {
  sharedScanner ??= createScanner();
  return { ...sharedScanner, close: async () => {} };
}

/** Waits until the server is ready, which requires that a worker has published its language pairs. */
async function pairsAreOffered(test: TestServer): Promise<void> {
  if (test.url === '') return;
  await until(async () => (await fetch(`${test.url}/readyz`)).status === 200);
}

/**
 * Polls until a condition holds. Only the timeout of the test ends the wait. The pauses grow from 5 to 50 ms, because a
 * question is often a request, which takes more processor time than a pause saves.
 */
export async function until<T>(
  question: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  for (let pause = 5; ; pause = Math.min(50, pause * 1.5)) {
    const answer = await question();
    if (answer !== undefined && answer !== false) return answer;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Waits until the job at `path` has a status. @returns the job as its reader sees it */
export const waitForStatus = (
  call: (method: string, path: string) => Promise<Answer>,
  path: string,
  status = 'completed',
) =>
  until(async () => {
    const { body } = await call('GET', path);
    return body.status === status && body;
  });

export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed JSON, or undefined for an empty body. It has no type, so that tests can read any field. */
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what the tests are there to find out
  body: any;
  text: string;
}

/**
 * Creates an API client that sends requests with one key, exactly as the test gives them. A test fails when an answer
 * differs from `/openapi.json`.
 */
export function createClient(url: string, key: string) {
  return createCaller(url, 'public', () => ({ authorization: `ApiKey ${key}` }));
}

/** Creates a client that behaves like a browser on this site: it sends the latest cookie with each request. */
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

function createCaller(url: string | (() => string), audience: ApiName, own: () => Record<string, string>) {
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
  /** The account of a customer with its API keys; undefined for other roles. */
  account: AccountCredentials | undefined;
  /** Calls the API like the web app, with this user's session. */
  call: ReturnType<typeof createBrowser>['call'];
}

export interface TestPersonOptions {
  role: PersonRole;
  /** Language pairs such as `en:es`, or `en:es+review` for a reviewer. */
  languages?: string[];
  /** The account of a customer; by default a new one is created. */
  account?: AccountCredentials;
  name?: string;
}

let peopleMade = 0;

/** Hashes a password at the lowest cost, because the usual cost is 60 ms of processor time for each test user. */
function cheapHash(password: string): string {
  const nonce = randomBytes(16);
  const cost = { memory: 8, passes: 1, parallelism: 1 };
  const tag = argon2Sync('argon2id', { message: password, nonce, tagLength: 32, ...cost });
  const [salt, hash] = [nonce, tag].map((bytes) => bytes.toString('base64').replaceAll('=', ''));
  return `$argon2id$v=19$m=8,t=1,p=1$${salt}$${hash}`;
}

/** Creates a user and signs them in. */
export async function createPerson(
  server: Pick<TestServer, 'url' | 'database' | 'createAccount'>,
  options: TestPersonOptions,
): Promise<TestPerson> {
  const number = ++peopleMade;
  const account =
    options.role === 'customer' ? (options.account ?? (await server.createAccount())) : undefined;
  const person = {
    email: `${options.role}-${number}@example.com`,
    password: `password of person ${number}`,
    name: options.name ?? `Person ${number}`,
  };
  const fields = {
    email: person.email,
    name: person.name,
    role: options.role,
    account: account && (await accountNamed(server.database, account.username)).ref,
    languages: (options.languages ?? []).map((written) => {
      const [pair, review] = written.split('+');
      const [source_language, target_language] = pair!.split(':') as [string, string];
      return { source_language, target_language, review: review === 'review' };
    }),
  };
  const userId = await insertPerson(server.database, 'command', fields, (transaction, id) =>
    updatePassword(transaction, { userId: id, passwordHash: cheapHash(person.password) }),
  );
  // The URL is read at each call, because the port changes when the test restarts the server.
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
  /** Resolves with the first matching request, even if it has already arrived. */
  next(matches?: (received: Received) => boolean): Promise<Received>;
  /** Sets the status of all later answers; 200 by default. A request whose status is a promise is answered later. */
  answer(decide: (received: Received) => number | Promise<number>): void;
  close(): Promise<void>;
}

/**
 * Starts a callback receiver on the loopback. If a request matches no webhook of `/openapi.json`, the test fails at the
 * next call of `next` or `close`.
 * @param takes `anything` for a receiver that also accepts requests that match no webhook
 */
export async function startReceiver(takes: 'webhooks' | 'anything' = 'webhooks'): Promise<Receiver> {
  const checker = takes === 'webhooks' ? await ourChecker() : undefined;
  const faults: string[] = [];
  const received: Received[] = [];
  let waiting: (() => void)[] = [];
  let decide: (received: Received) => number | Promise<number> = () => 200;
  const server: HttpServer = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const one = { path: request.url ?? '', headers: request.headers, body, at: Date.now() };
      const fault = checker?.callback(request.headers, body);
      if (fault !== undefined) faults.push(fault);
      received.push(one);
      void Promise.resolve(decide(one)).then((status) => response.writeHead(status).end());
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
