/**
 * Replaces API processes behind a real nginx while requests arrive. The access lines of all processes tell which
 * requests arrived at one. It runs in `npm run test:full`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setInterval } from 'node:timers/promises';
import { installPackages } from '@dragoman/engines/debian';
import type pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FULL } from '../../../../scripts/full.ts';
import { selfSigned } from '../testing/certificate.ts';
import { startTestServer, type TestServer, until } from '../testing/harness.ts';
import { expectSoundLedger } from '../testing/ledger.ts';
import { freePort, killPrograms, type Serving, serve, urlOf } from '../testing/programs.ts';

const PRIVATE = new URL('../../../../node_modules/.cache/nginx', import.meta.url).pathname;
const NGINX = ['/usr/sbin/nginx', join(PRIVATE, 'usr/sbin/nginx')];
const nginx = () => NGINX.find((path) => existsSync(path));
const DEPLOYED = new URL('../../../../deploy/nginx.conf', import.meta.url);
const MACHINE = '/tapi/v2/mt_translation/';
const PRICE = { DRAGOMAN_PRICE_MACHINE: '2' };
const REQUESTS = 2_000;
/** Each sender begins a request in each interval, unless its last one is not answered yet. */
const SENDERS = 8;
const INTERVAL_MILLISECONDS = 80;
/** Not the address from which nginx connects: one of its connections could take the port of a process that is replaced. */
const API_HOST = '127.0.0.2';

interface Sent {
  kind: 'named' | 'unnamed' | 'read';
  status: number;
  /** The id with which a process logged the request. */
  request: string | null;
  uid: string | undefined;
}

let directory: string;
let worker: TestServer;
let owner: pg.Client;
let key: string;
let proxy: ChildProcess | undefined;
let apis: Serving[];
/** Every API process of the test, also those that ended. */
let every: Serving[];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'dragoman-nginx-'));
  worker = await startTestServer({ role: 'worker', settings: PRICE });
  owner = await worker.connectOwner();
  key = (await worker.createAccount()).production_key;
  [apis, every] = [[], []];
});
afterEach(async () => {
  proxy?.kill('SIGQUIT');
  if (proxy?.exitCode === null) await once(proxy, 'exit');
  proxy = undefined;
  await killPrograms();
  await worker.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function startApi(url?: string): Promise<Serving> {
  const own = { ...PRICE, DATABASE_URL: urlOf(worker.connection), DRAGOMAN_LOG_LEVEL: 'info' };
  const at = url ?? `http://${API_HOST}:${await freePort()}`;
  const api = await serve(['--role', 'api', '--data', directory], own, { url: at });
  every.push(api);
  await api.answers('/readyz');
  return api;
}

/** The file of the repository. Only its addresses and its certificate are replaced, and it also listens without TLS. */
function deployed([one, two]: string[], port: number, tls: number): string {
  const { cert, key: secret } = selfSigned('translate.example.com');
  writeFileSync(join(directory, 'cert.pem'), cert);
  writeFileSync(join(directory, 'key.pem'), secret);
  return readFileSync(DEPLOYED, 'utf8')
    .replace('127.0.0.1:8080', one!)
    .replace('127.0.0.1:8081', two!)
    .replace('listen 443 ', `listen 127.0.0.1:${port};\n  listen 127.0.0.1:${tls} `)
    .replace('/etc/ssl/translate.example.com.pem', join(directory, 'cert.pem'))
    .replace('/etc/ssl/translate.example.com.key', join(directory, 'key.pem'));
}

/** A proxy with nginx's own defaults. */
const plain = (hosts: string[], port: number): string => `
  upstream dragoman { ${hosts.map((host) => `server ${host};`).join(' ')} }
  server { listen 127.0.0.1:${port}; location / { proxy_pass http://dragoman; } }`;

/** Starts nginx in front of servers. @returns its address */
async function startNginx(write: typeof deployed, urls: string[]): Promise<string> {
  const [port, tls] = [await freePort(), await freePort()];
  const hosts = urls.map((url) => new URL(url).host);
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(directory, name)};`,
  );
  const file = join(directory, 'nginx.conf');
  writeFileSync(
    file,
    `user root; daemon off; pid ${join(directory, 'pid')}; error_log ${join(directory, 'errors')} error;
events {}
http { access_log off; ${folders.join(' ')}
${write(hosts, port, tls)} }`,
  );
  proxy = spawn(nginx()!, ['-e', join(directory, 'errors'), '-c', file, '-p', directory], {
    stdio: 'inherit',
  });
  const url = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok);
  return url;
}

async function send(url: string, number: number): Promise<Sent> {
  const kind = (['named', 'unnamed', 'read'] as const)[number % 3]!;
  const job = { text: `House number ${number}.`, source_language: 'en', target_language: 'es' };
  const uid = kind === 'named' ? `named-${number}` : undefined;
  const answer = await fetch(`${url}${MACHINE}${kind === 'read' ? '?limit=1' : ''}`, {
    headers: { authorization: `ApiKey ${key}`, 'content-type': 'application/json' },
    ...(kind === 'read' ? {} : { method: 'POST', body: JSON.stringify({ ...job, uid }) }),
  });
  const body = await answer.text();
  return {
    kind,
    status: answer.status,
    request: answer.headers.get('x-request-id'),
    uid: answer.ok && kind !== 'read' ? JSON.parse(body).uid : undefined,
  };
}

/** Sends requests at a steady rate until there are enough and `ended` holds. */
async function sendMany(url: string, ended: () => boolean): Promise<Sent[]> {
  const sent: Sent[] = [];
  let number = 0;
  async function sender(): Promise<void> {
    for await (const _ of setInterval(INTERVAL_MILLISECONDS)) {
      if (number >= REQUESTS && ended()) return;
      sent.push(await send(url, number++));
    }
  }
  await Promise.all(Array.from({ length: SENDERS }, sender));
  return sent;
}

/** Returns the ids of the creates that a process answered. */
function answeredCreates({ output }: Serving): string[] {
  const lines = `${output.stdout}\n${output.stderr}`.split('\n').filter((line) => line.includes('answered'));
  return lines
    .map((line) => JSON.parse(line))
    .filter(({ method }) => method === 'POST')
    .map(({ request }) => request);
}

/** Replaces each process by a new one, which nginx uses before the next is replaced. */
async function replaceAll(): Promise<void> {
  for (const [at, old] of apis.entries()) {
    expect(await old.terminate()).toBe(0);
    const api = await startApi(old.url);
    apis[at] = api;
    await until(() => answeredCreates(api).length > 0);
  }
}

const isAnswered = ({ status }: Sent) => [200, 201].includes(status);

/** Fails unless there is one job for each of these creates, and no other job. */
async function expectJobsOf(creates: readonly Sent[]): Promise<void> {
  const { rows } = await owner.query<{ uid: string }>('select uid from jobs');
  expect(rows.map(({ uid }) => uid).sort()).toEqual(creates.map(({ uid }) => uid).sort());
  const open = `select 1 from jobs where status <> 'completed' limit 1`;
  await until(async () => (await owner.query(open)).rows.length === 0);
  await expectSoundLedger(worker.database);
}

describe.runIf(FULL)('nginx in front of API processes', () => {
  beforeAll(async () => {
    if (nginx() === undefined) await installPackages(['nginx'], { root: PRIVATE, private: true });
  });

  it.for([
    { name: 'deploy/nginx.conf', write: deployed, mayFail: [] as string[] },
    { name: 'the defaults of nginx', write: plain, mayFail: ['named', 'unnamed'] },
  ])(
    'that are replaced, with $name, answers each read, and creates one job for each answered create',
    async ({ write, mayFail }) => {
      for (let turn = 0; turn < 2; turn++) apis.push(await startApi());
      const url = await startNginx(
        write,
        apis.map((api) => api.url),
      );
      let replaced = false;
      const replacing = replaceAll().finally(() => {
        replaced = true;
      });
      const [sent] = await Promise.all([sendMany(url, () => replaced), replacing]);
      for (const api of apis) expect(await api.terminate()).toBe(0);
      const failed = sent.filter((one) => !isAnswered(one));
      expect(failed.filter(({ kind }) => !mayFail.includes(kind))).toEqual([]);
      const answered = sent.filter((one) => one.kind !== 'read' && isAnswered(one));
      // No process saw a create that failed.
      expect(every.flatMap(answeredCreates).sort()).toEqual(answered.map(({ request }) => request).sort());
      await expectJobsOf(answered);
    },
  );

  it('repeats a create whose answer was lost, which creates one job', async () => {
    const api = await startApi();
    const losing = createServer(async (incoming) => {
      const { method, url, headers } = incoming;
      const { host: _, connection: __, ...passed } = headers as Record<string, string>;
      if (method === 'POST')
        await fetch(`${api.url}${url}`, { method, headers: passed, body: await text(incoming) });
      incoming.socket.resetAndDestroy();
    }).listen(0, '127.0.0.1');
    await once(losing, 'listening');
    const lost = `http://127.0.0.1:${(losing.address() as AddressInfo).port}`;
    const url = await startNginx(deployed, [lost, api.url]);
    const creates = [0, 1, 3, 4, 6, 7, 9, 10];
    const sent: Sent[] = [];
    for (const number of creates) sent.push(await send(url, number));
    losing.close();
    expect(sent.filter(isAnswered)).toHaveLength(creates.length);
    expect(sent.map(({ status }) => status)).toContain(200);
    await expectJobsOf(sent);
  });
});
