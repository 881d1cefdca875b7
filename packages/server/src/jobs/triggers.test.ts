/** Tests the sandbox triggers and the sandbox clock through HTTP, with real callbacks. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccountCredentials } from '../accounts/accounts.ts';
import {
  createClient,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
  waitForStatus,
} from '../testing/harness.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
const CLOCK = '/api/v1/clock/';
const PAIR = { source_language: 'en', target_language: 'es' };

/** An attempt of a delivery, as the API shows it. */
interface Attempt {
  status_code: number | null;
}

let server: TestServer;
let receiver: Receiver;
let account: AccountCredentials;
let call: ReturnType<typeof createClient>;
let production: ReturnType<typeof createClient>;
beforeAll(async () => {
  server = await startTestServer();
  receiver = await startReceiver();
  account = await server.createAccount({ chat: true, balanceCents: 100_000 });
  call = createClient(`${server.url}/sandbox`, account.sandbox_key);
  production = createClient(server.url, account.production_key);
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const order = async (path: string, uid: string, text: string) => {
  const body = { ...PAIR, uid, text, callback_url: `${receiver.url}/${uid}` };
  expect((await call('POST', path, body)).status).toBe(201);
};
const statusOf = async (path: string, uid: string) => (await call('GET', `${path}${uid}/`)).body.status;
const skip = (seconds: number) => call('POST', CLOCK, { seconds });
/** Skips time until a condition holds. */
const skipUntil = (seconds: number, holds: () => Promise<boolean>) =>
  until(async () => {
    expect((await skip(seconds)).status).toBe(200);
    return holds();
  });
const callbacksOf = (uid: string) => receiver.received.filter(({ path }) => path === `/${uid}`);

describe('in the sandbox', () => {
  it('[sandbox:fail] makes a job fail at once, with a callback', async () => {
    await order(HUMAN, 'fail', 'The house [sandbox:fail] is big.');
    const { body } = await receiver.next(({ path }) => path === '/fail');
    expect(JSON.parse(body)).toMatchObject({ status: 'failed', failure: 'the text contains [sandbox:fail]' });
    expect((await call('GET', `${HUMAN}fail/`)).body).toMatchObject({ status: 'failed', price: 0 });
  });

  it('[sandbox:fail] makes a chat message fail', async () => {
    const message = {
      ...PAIR,
      chat_external_id: 'c',
      external_id: 'm',
      text: '[sandbox:fail]',
      text_format: 'text',
      callback_url: `${receiver.url}/message`,
    };
    expect((await call('POST', '/v2/chats/messages', message)).status).toBe(201);
    const { body } = await receiver.next(({ path }) => path === '/message');
    expect(JSON.parse(body).message.status).toBe('mt_failed');
  });

  it('[sandbox:wait] keeps a job translating for a day, which the clock can skip', async () => {
    await order(MACHINE, 'wait', 'The house is big. [sandbox:wait]');
    await until(async () => (await statusOf(MACHINE, 'wait')) === 'translating');
    const skipped = await skip(3600);
    expect(skipped.body.jobs).toBeGreaterThanOrEqual(1);
    expect(await statusOf(MACHINE, 'wait')).toBe('translating');
    await skipUntil(86_400, async () => (await statusOf(MACHINE, 'wait')) === 'completed');
    const { body } = await receiver.next(({ path }) => path === '/wait');
    expect(JSON.parse(body).status).toBe('completed');
  });

  it('[sandbox:fallback] completes a human job free of charge, marked as a fallback', async () => {
    const before = (await call('GET', '/tapi/v2/account/')).body.objects[0].account.balance;
    await order(HUMAN, 'fallback', 'The house is big. [sandbox:fallback]');
    await until(async () => (await statusOf(HUMAN, 'fallback')) === 'translating');
    await skipUntil(120, async () => (await statusOf(HUMAN, 'fallback')) === 'completed');
    const fellBack = {
      status: 'completed',
      fallback: 'machine',
      price: 0,
      translated_text: expect.any(String),
    };
    const { body } = await receiver.next(({ path }) => path === '/fallback');
    expect(JSON.parse(body)).toMatchObject(fellBack);
    const read = (await call('GET', `${HUMAN}fallback/`)).body;
    expect(read).toMatchObject({ ...fellBack, balance: before });
  });

  it('[sandbox:late] sends the callback ten minutes after the job is completed', async () => {
    await order(MACHINE, 'late', 'The house is big. [sandbox:late]');
    await until(async () => (await statusOf(MACHINE, 'late')) === 'completed');
    const { objects } = (await call('GET', '/api/v1/deliveries/?limit=1')).body;
    expect(objects[0]).toMatchObject({ status: 'pending', attempts: 0, url: `${receiver.url}/late` });
    expect(callbacksOf('late')).toEqual([]);
    await skipUntil(600, async () => callbacksOf('late').length === 1);
  });

  it('[sandbox:twice] sends the same callback twice although the first was accepted', async () => {
    await order(MACHINE, 'twice', 'The house is big. [sandbox:twice]');
    await until(() => callbacksOf('twice').length === 2);
    const [first, second] = callbacksOf('twice');
    expect(second!.body).toBe(first!.body);
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
    expect(first!.headers['sandbox-trigger']).toBe('twice');
    const id = first!.headers['webhook-id'];
    const delivery = await waitForStatus(call, `/api/v1/deliveries/${id}/`, 'delivered');
    expect(delivery.attempts.map(({ status_code }: { status_code: number }) => status_code)).toEqual([
      200, 200,
    ]);
  });
});

describe('the sandbox clock', () => {
  it('makes the retries of a callback due when it is moved forward', async () => {
    let answers = 0;
    receiver.answer(({ path }) => (path === '/retried' && ++answers < 3 ? 500 : 200));
    await order(MACHINE, 'retried', 'The door is open.');
    const { id } = await until(async () => {
      const [latest] = (await call('GET', '/api/v1/deliveries/?limit=1')).body.objects;
      return latest?.url === `${receiver.url}/retried` && latest;
    });
    for (const tried of [1, 2]) {
      await until(async () => {
        const { attempts } = (await call('GET', `/api/v1/deliveries/${id}/`)).body;
        return (
          attempts.length === tried && attempts.every(({ status_code: status }: Attempt) => status === 500)
        );
      });
      // Skips time once only. More skips would also end the 72 hours, after which the delivery is dead.
      expect((await skip(3600)).status).toBe(200);
    }
    await until(() => callbacksOf('retried').length === 3);
    receiver.answer(() => 200);
  });

  it('changes nothing in other accounts or in production, and its route does not exist in production', async () => {
    const other = await server.createAccount();
    const theirs = createClient(`${server.url}/sandbox`, other.sandbox_key);
    await theirs('POST', HUMAN, { ...PAIR, uid: 'theirs', text: 'The house is big.' });
    await waitForStatus(theirs, `${HUMAN}theirs/`, 'translating');
    await skip(86_400);
    await skip(86_400);
    expect((await theirs('GET', `${HUMAN}theirs/`)).body.status).toBe('translating');
    expect((await theirs('POST', CLOCK, { seconds: 120 })).body).toEqual({ jobs: 1, deliveries: 0 });
    expect((await production('POST', CLOCK, { seconds: 120 })).status).toBe(404);
  });

  it('refuses a number of seconds that is not an integer from 1 to 259,200, and names the field', async () => {
    for (const seconds of [0, -1, 1.5, 259_201, '60', undefined]) {
      const refused = await call('POST', CLOCK, { seconds });
      expect([refused.status, refused.body.error]).toEqual([400, expect.stringMatching(/^seconds: /)]);
    }
  });
});

it('in production, triggers are ordinary text', async () => {
  for (const trigger of ['fail', 'fallback', 'wait', 'late', 'twice']) {
    const text = `The house is big. [sandbox:${trigger}]`;
    const body = { ...PAIR, uid: `real-${trigger}`, text, callback_url: `${receiver.url}/real-${trigger}` };
    expect((await production('POST', MACHINE, body)).status).toBe(201);
    const { headers, body: sent } = await receiver.next(({ path }) => path === `/real-${trigger}`);
    expect([JSON.parse(sent).status, headers['sandbox-trigger']]).toEqual(['completed', undefined]);
    const delivery = await until(async () => {
      const found = await production('GET', `/api/v1/deliveries/${headers['webhook-id']}/`);
      return found.body.status === 'delivered' && found.body;
    });
    expect(delivery.attempts).toHaveLength(1);
  }
});
