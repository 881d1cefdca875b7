/** Tests that run the receivers of `examples/` against the server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccountCredentials } from '../accounts/accounts.ts';
import { createClient, startTestServer, type TestServer, until } from '../testing/harness.ts';
import { parseSecret, signatureHeaders } from './signature.ts';

const EXAMPLES = new URL('../../../../examples/receivers/', import.meta.url).pathname;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

interface Running {
  url: string;
  /** The events that the receiver has accepted. */
  taken: { id: string; what: string; status?: string }[];
  child: ChildProcess;
}

async function run(command: string, file: string, account: AccountCredentials): Promise<Running> {
  const child = spawn(command, [EXAMPLES + file], {
    // While a secret is being replaced, a receiver knows two secrets. In these tests, no event is signed with
    // the second one.
    env: {
      ...process.env,
      PORT: '0',
      WEBHOOK_SECRET: `${account.webhook_secret_sandbox} ${account.webhook_secret_production}`,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const failed = new Promise<never>((_, reject) => {
    child.on('error', reject);
    child.on('exit', (status) => reject(new Error(`${file} ended with status ${status}`)));
  });
  failed.catch(() => {});
  const taken: Running['taken'] = [];
  const port = await Promise.race([
    failed,
    new Promise<string>((resolve) => {
      createInterface({ input: child.stdout! }).on('line', (line) => {
        const found = /^listening on (\d+)$/.exec(line)?.[1];
        if (found === undefined) taken.push(JSON.parse(line));
        else resolve(found);
      });
    }),
  ]);
  return { url: `http://127.0.0.1:${port}/`, taken, child };
}

describe.each([
  { language: 'TypeScript', command: process.execPath, file: 'receiver.ts' },
  { language: 'Python', command: 'python3', file: 'receiver.py' },
])('the example receiver in $language', ({ command, file }) => {
  let account: AccountCredentials;
  let receiver: Running;
  beforeAll(async () => {
    account = await server.createAccount({ dialect: file.endsWith('.py') ? 'legacy' : 'spec' });
    receiver = await run(command, file, account);
  });
  afterAll(() => {
    receiver.child.kill();
  });

  const order = (uid: string) =>
    createClient(server.url, account.production_key)('POST', '/tapi/v2/mt_translation/', {
      uid,
      text: 'A house.',
      source_language: 'en',
      target_language: 'es',
      callback_url: receiver.url,
    });
  const taken = (what: string) => until(() => receiver.taken.find((one) => one.what === what));

  it('accepts a job and a test event', async () => {
    await order('from-the-docs');
    expect((await taken('from-the-docs')).status).toMatch(/^(completed|deliver_ok)$/);
    const call = createClient(server.url, account.production_key);
    const { body } = await call('POST', '/api/v1/test-event/', { url: receiver.url });
    expect(await taken('test')).toMatchObject({ id: body.id });
  });

  it('accepts an event once, even if it is delivered several times', async () => {
    await order('twice');
    const { id } = await taken('twice');
    const call = createClient(server.url, account.production_key);
    const path = `/api/v1/deliveries/${id}/`;
    await until(async () => (await call('GET', path)).body.status === 'delivered');
    expect((await call('POST', `${path}replay/`)).status).toBe(202);
    await until(async () => (await call('GET', path)).body.attempts.length === 2);
    await until(async () => (await call('GET', path)).body.status === 'delivered');
    expect(receiver.taken.filter((one) => one.what === 'twice')).toHaveLength(1);
  });

  it('refuses a wrong signature', async () => {
    const body = '{"type":"forged"}';
    const key = parseSecret(account.webhook_secret_production)!;
    const send = async (headers: Record<string, string>, sent = body) =>
      (await fetch(receiver.url, { method: 'POST', body: sent, headers })).status;
    const signed = (at: Date, secret = key) => ({ ...signatureHeaders([secret], 'forged', at, body) });
    const now = new Date();
    expect(await send({})).toBe(401);
    expect(await send(signed(now), `${body} `)).toBe(401);
    expect(await send(signed(now, Buffer.alloc(32, 9)))).toBe(401);
    expect(await send({ ...signed(now), 'webhook-id': 'another' })).toBe(401);
    expect(await send(signed(new Date(now.getTime() - 301_000)))).toBe(401);
    expect(await send(signed(new Date(now.getTime() + 310_000)))).toBe(401);
    expect(receiver.taken.some((one) => one.what === 'forged')).toBe(false);
    expect(await send(signed(now))).toBe(204);
  });
});
