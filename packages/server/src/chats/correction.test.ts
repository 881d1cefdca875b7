/** Tests of human correction of chat messages, from the delivery to the second event. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import { setAccount } from '../accounts/accounts.ts';
import { searchMemory } from '../memory/entries.ts';
import { claimTask, confirm, editNext, pathOf } from '../testing/editors.ts';
import {
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { expectSoundLedger } from '../testing/ledger.ts';
import { findDueCorrections } from './correction-store.ts';

let server: TestServer;
let engine: FakeEngine;
let receiver: Receiver;
let ann: TestPerson;
let operator: TestPerson;
let username: string;
let call: ReturnType<typeof createClient>;
let sandbox: ReturnType<typeof createClient>;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      return engine;
    },
  });
  ann = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  operator = await createPerson(server, { role: 'operator' });
  await server.database.query({ name: 'test.reviews', text: 'update users set review_share = 0' });
  const account = await server.createAccount({ chat: true });
  username = account.username;
  call = createClient(server.url, account.production_key);
  sandbox = createClient(`${server.url}/sandbox`, account.sandbox_key);
  await setAccount(server.database, 'command', username, { chatCorrection: true, environment: 'production' });
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

let messages = 0;
async function send(text: string, fields: object = {}, by = call) {
  const { body, status } = await by('POST', '/v2/chats/messages', {
    chat_external_id: 'talk',
    external_id: `m${++messages}`,
    text,
    text_format: 'text',
    source_language: 'en',
    target_language: 'es',
    ...fields,
  });
  expect(status).toBe(201);
  return body.message as { id: string; chat_id: string };
}

const read = async (message: { id: string; chat_id: string }, by = call) =>
  (await by('GET', `/v2/chats/${message.chat_id}/messages/${message.id}`)).body;

/** Claims the next editing task as soon as the queue has one. */
const nextTask = async () => {
  await until(async () => (await ann.call('GET', '/api/editing/queue')).body.open.length > 0);
  return claimTask(ann);
};

describe('human correction of a delivered chat message', () => {
  it('replaces the text and sends a second event with a new id when an editor changes the draft', async () => {
    const message = await send('The big house.', { callback_url: `${receiver.url}/talk` });
    const first = await receiver.next(({ path }) => path === '/talk');
    expect(JSON.parse(first.body).message.translated_text).toBe('THE BIG HOUSE.');

    const task = await nextTask();
    expect(task.segments).toMatchObject([
      { source: [{ text: 'The big house.' }], draft: [{ text: 'THE BIG HOUSE.' }] },
    ]);
    const target = [{ text: 'La casa grande.' }];
    expect((await confirm(ann, task, task.segments[0], { target })).status).toBe(200);
    await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });

    const second = await receiver.next(
      ({ path, headers }) => path === '/talk' && headers['ce-id'] !== first.headers['ce-id'],
    );
    expect(second.headers['ce-id']).toBe(`chatapi-${message.id}-corrected`);
    expect(second.headers['webhook-id']).not.toBe(first.headers['webhook-id']);
    expect(second.headers['ce-type']).toBe(first.headers['ce-type']);
    const told = JSON.parse(second.body).message;
    expect(told).toMatchObject({
      id: message.id,
      translated_text: 'La casa grande.',
      status: 'deliver_complete',
    });
    expect((await read(message)).message ?? (await read(message))).toMatchObject({
      translated_text: 'La casa grande.',
    });

    const { ref } = await accountNamed(server.database, username);
    const learned = await searchMemory(server.database, ref, { limit: 10 });
    expect(learned).toMatchObject([{ source: 'The big house.', target: 'La casa grande.', weight: 2 }]);
    const feed = await call('GET', '/api/v1/events/');
    expect(feed.body.objects.map(({ type }: { type: string }) => type)).toEqual([
      'message.translated',
      'message.corrected',
    ]);
  });

  it('leaves the message unchanged and sends no event when the editor changes nothing', async () => {
    const message = await send('A garden.');
    await nextTask().then((task) => ann.call('POST', pathOf(task, '/release'), { token: task.lease.token }));
    await editNext(ann);
    await until(async () => (await ann.call('GET', '/api/editing/queue')).body.held.length === 0);
    const later = await send('Another.');
    // The next message gets its task only after the earlier correction was processed.
    await nextTask().then((task) => ann.call('POST', pathOf(task, '/release'), { token: task.lease.token }));
    expect(JSON.stringify(await read(message))).toContain('A GARDEN.');
    expect(JSON.stringify(await read(later))).toContain('ANOTHER.');
    const feed = await call('GET', '/api/v1/events/?limit=1000');
    const types = feed.body.objects.map(({ type }: { type: string }) => type);
    expect(types.filter((type: string) => type === 'message.corrected')).toHaveLength(1);
    await editNext(ann);
  });

  it('waits while its account is suspended', async () => {
    const owner = await server.connectOwner();
    const suspend = (status: string) =>
      owner.query('update accounts set status = $2 where username = $1', [username, status]);
    await suspend('suspended');
    const { rows } = await owner.query('select message_id, job_id from message_corrections');
    expect(rows.length).toBeGreaterThan(0);
    await owner.query('update message_corrections set job_id = null');
    expect(await findDueCorrections(server.database, 10)).toEqual([]);
    for (const { message_id, job_id } of rows) {
      const values = [message_id, job_id];
      await owner.query('update message_corrections set job_id = $2 where message_id = $1', values);
    }
    await suspend('active');
  });

  it('gives an untranslated segment to the editor without a draft, and removes the mark of the message', async () => {
    engine.failOn('TARDIS', 'garbled');
    const message = await send('A door.\nTARDIS');
    const task = await nextTask();
    engine.failOn(null);
    expect((await read(message)).message).toMatchObject({
      translated_text: 'A DOOR.\nTARDIS',
      untranslated: 1,
    });
    expect(task.segments).toMatchObject([
      { draft: [{ text: 'A DOOR.' }] },
      { draft: null, failure: 'garbled' },
    ]);
    for (const [at, target] of [[{ text: 'A DOOR.' }], [{ text: 'TARDIS' }]].entries()) {
      expect((await confirm(ann, task, task.segments[at], { target })).status).toBe(200);
    }
    await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    // The text is the same as before, but now an editor has confirmed it.
    const corrected = await until(async () => {
      const { message: now } = await read(message);
      return now.untranslated === undefined && now;
    });
    expect(corrected.translated_text).toBe('A DOOR.\nTARDIS');
  });

  it('creates jobs that the customer cannot see, cancel or be charged for', async () => {
    expect((await call('GET', '/tapi/v2/translation/')).body.objects).toEqual([]);
    expect((await call('GET', '/tapi/v2/mt_translation/')).body.objects).toEqual([]);
    const { rows } = {
      rows: await server.database.query<{ uid: string; price_cents: number }>({
        name: 'test.jobs',
        text: 'select uid, price_cents from jobs',
      }),
    };
    expect(rows.length).toBe(4);
    for (const { uid, price_cents } of rows) {
      expect(price_cents).toBe(0);
      expect((await call('GET', `/tapi/v2/translation/${uid}/`)).status).toBe(404);
      expect((await call('DELETE', `/tapi/v2/translation/${uid}/`)).status).toBe(404);
    }
    const shown = await operator.call('GET', `/api/console/jobs?account=${username}`);
    expect(shown.body.jobs).toEqual([]);
    await expectSoundLedger(server.database);
  });

  it('is not requested in the sandbox, nor when the account has turned correction off', async () => {
    const tried = await send('In the sandbox.', {}, sandbox);
    await until(async () => JSON.stringify(await read(tried, sandbox)).includes('deliver_complete'));
    await setAccount(server.database, 'command', username, {
      chatCorrection: false,
      environment: 'production',
    });
    const message = await send('Not any more.');
    await until(async () => JSON.stringify(await read(message)).includes('deliver_complete'));
    const waiting = await server.database.query({
      name: 'test.waiting',
      text: 'select from message_corrections',
    });
    expect(waiting).toHaveLength(4);
  });

  it('does not restore a text that retention has deleted before the editor finishes', async () => {
    await setAccount(server.database, 'command', username, {
      chatCorrection: true,
      environment: 'production',
    });
    const message = await send('A secret.');
    const task = await nextTask();
    // Deletes the text of the message as retention does.
    await server.database.query({
      name: 'test.forget',
      text: `update messages set body = '', translated = '' where message_id = '${message.id}'`,
    });
    const [segment] = task.segments;
    await confirm(ann, task, segment, { target: [{ text: 'Un secreto.' }] });
    await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    const isFinished = async () =>
      (
        await server.database.query({
          name: 'test.finished',
          text: `select from message_corrections where message_id = '${message.id}' and finished_at is not null`,
        })
      ).length > 0;
    await until(isFinished);
    expect(JSON.stringify(await read(message))).not.toContain('Un secreto.');
  });
});
