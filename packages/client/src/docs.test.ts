/** Runs the programs of docs/client.md with the real server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../server/src/testing/harness.ts';
import { createDragoman } from './client.ts';

const page = readFileSync(new URL('../../../docs/client.md', import.meta.url), 'utf8');
const programs = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, program]) => program!);
const directory = mkdtempSync(join(tmpdir(), 'dragoman-docs-'));
const running: ChildProcess[] = [];

let server: TestServer;
let account: Awaited<ReturnType<TestServer['createAccount']>>;
beforeAll(async () => {
  server = await startTestServer();
  account = await server.createAccount();
  mkdirSync(join(directory, 'node_modules/@dragoman'), { recursive: true });
  const client = fileURLToPath(new URL('..', import.meta.url));
  symlinkSync(client, join(directory, 'node_modules/@dragoman/client'));
});
afterAll(async () => {
  for (const child of running) child.kill();
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

function run(name: string, program: string): ChildProcess {
  const file = join(directory, `${name}.mts`);
  writeFileSync(file, program);
  const child = spawn(process.execPath, [file], {
    env: {
      DRAGOMAN_KEY: account.production_key,
      DRAGOMAN_WEBHOOK_SECRET: account.webhook_secret_production,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.push(child);
  return child;
}

it('the program of docs/client.md creates a job and waits for it', async () => {
  const child = run('create', programs[0]!.replace('http://127.0.0.1:8080', server.url));
  let printed = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const [status] = await once(child, 'close');
  expect({ status, printed }).toEqual({ status: 0, printed: 'THE HOUSE IS BIG.\n' });
});

it('the receiver of docs/client.md accepts only signed callbacks', async () => {
  const child = run(
    'receive',
    `const save = async (id, job) => console.log(id, job.uid);
     ${programs[1]!.replace('listen(3000)', "listen(0, '127.0.0.1', function () { console.log(this.address().port); })")}`,
  );
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
  const callback_url = `http://127.0.0.1:${(await lines.next()).value}/done`;
  expect((await fetch(callback_url, { method: 'POST', body: '{"uid":"forged"}' })).status).toBe(401);
  const dragoman = createDragoman({ baseUrl: server.url, key: account.production_key });
  const job = { text: 'The house is big.', source_language: 'en', target_language: 'es' };
  const { uid } = await dragoman.machineJobs.create({ ...job, callback_url });
  expect((await lines.next()).value).toMatch(new RegExp(`^[0-9a-f-]{36} ${uid}$`));
});
