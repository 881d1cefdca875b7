/** Tests that run the receivers of `examples/` against the server, in the languages that are installed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, isInstalled } from '../../../../scripts/program.ts';
import type { AccountCredentials } from '../accounts/accounts.ts';
import { createClient, startTestServer, type TestServer, until, waitForStatus } from '../testing/harness.ts';
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

/** The receivers with the commands that start them. */
const RECEIVERS = [
  { language: 'TypeScript', file: 'receiver.ts', command: [process.execPath] },
  { language: 'Python', file: 'receiver.py', command: ['python3'] },
  { language: 'PHP', file: 'receiver.php', command: ['php', '-S', '127.0.0.1:PORT'] },
  { language: 'Ruby', file: 'receiver.rb', command: ['ruby'] },
  { language: 'Go', file: 'receiver.go', command: ['go', 'run'] },
  { language: 'Java', file: 'Receiver.java', command: ['java'] },
];

async function run(command: string[], file: string, account: AccountCredentials): Promise<Running> {
  const port = await freePort();
  const [program, ...args] = command.map((word) => word.replace('PORT', String(port)));
  const child = spawn(program!, [...args, EXAMPLES + file], {
    // While a secret is being replaced, a receiver knows two secrets. In these tests, no event is signed with
    // the second one.
    env: {
      ...process.env,
      PORT: String(port),
      WEBHOOK_SECRET: `${account.webhook_secret_sandbox} ${account.webhook_secret_production}`,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const failed = new Promise<never>((_, reject) => {
    child.on('error', reject);
    child.on('exit', (status) => reject(new Error(`${file} ended with status ${status}`)));
  });
  failed.catch(() => {});
  const taken: Running['taken'] = [];
  createInterface({ input: child.stdout! }).on('line', (line) => {
    if (line.startsWith('{')) taken.push(readLine(JSON.parse(line)));
  });
  const url = `http://127.0.0.1:${port}/`;
  const isListening = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  await Promise.race([failed, until(isListening)]);
  return { url, taken, child };
}

/** The receiver in Java prints whole events, because Java's standard library cannot parse JSON. */
// biome-ignore lint/suspicious/noExplicitAny: a line of any receiver
function readLine({ event, ...line }: any): Running['taken'][number] {
  return event === undefined ? line : { ...line, what: event.uid ?? event.type, status: event.status };
}

describe.each(RECEIVERS.filter(({ command }) => !isInstalled(command[0]!)))(
  'the example receiver in $language',
  ({ command }) => {
    it.skip(`is not tested, because ${command[0]} is not installed`, () => {});
  },
);

describe.each(RECEIVERS.filter(({ command }) => isInstalled(command[0]!)))(
  'the example receiver in $language',
  ({ command, file }) => {
    let account: AccountCredentials;
    let receiver: Running;
    beforeAll(async () => {
      account = await server.createAccount({ dialect: file.endsWith('.py') ? 'legacy' : 'spec' });
      receiver = await run(command, file, account);
    });
    afterAll(() => {
      // Kills the process group, because `go run` starts the receiver as a child process.
      process.kill(-receiver.child.pid!);
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

    it('accepts the callback of a job and a test event', async () => {
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
      await waitForStatus(call, path, 'delivered');
      expect((await call('POST', `${path}replay/`)).status).toBe(202);
      await until(async () => (await call('GET', path)).body.attempts.length === 2);
      await waitForStatus(call, path, 'delivered');
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
  },
);
