/** Tests deliveries and events of the client with the real server. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
} from '../../server/src/testing/harness.ts';
import { createDragoman, type Dragoman, type Event, verifyWebhook } from './client.ts';

const JOB = { text: 'The house is big.', source_language: 'en', target_language: 'es' };

let server: TestServer;
let receiver: Receiver;
let dragoman: Dragoman;
let secret: string;
beforeAll(async () => {
  server = await startTestServer();
  receiver = await startReceiver();
  const account = await server.createAccount();
  secret = account.webhook_secret_production;
  dragoman = createDragoman({ baseUrl: server.url, key: account.production_key });
});
afterAll(async () => {
  await receiver.close();
  await server.stop();
});

const delivered = (id: string) =>
  until(async () => {
    const delivery = await dragoman.deliveries.get(id);
    return delivery.status === 'delivered' && delivery;
  });

it('client: deliveries can be listed, read and replayed', async () => {
  const uids = ['first', 'second', 'third'];
  const ids = new Set<string>();
  for (const uid of uids) {
    await dragoman.machineJobs.create({ ...JOB, uid, callback_url: `${receiver.url}/${uid}` });
    const { headers } = await receiver.next(({ path }) => path === `/${uid}`);
    ids.add(String(headers['webhook-id']));
  }
  const [id] = ids;
  expect(await delivered(id!)).toMatchObject({ uid: 'first', attempts: [{ status_code: 200 }] });
  const listed = [];
  for await (const delivery of dragoman.deliveries.list({ limit: 2 })) listed.push(delivery.uid);
  expect(listed.sort()).toEqual(uids);

  expect((await dragoman.deliveries.replay(id!)).status).toBe('pending');
  const again = ({ path }: { path: string }) => path === '/first';
  await until(() => receiver.received.filter(again).length === 2);
  expect(await dragoman.deliveries.replaySince('2020-01-01')).toBe(0);
  await expect(dragoman.deliveries.get('nothing')).rejects.toMatchObject({ status: 404 });
});

it('client: sendTest sends a signed test event', async () => {
  const sent = await dragoman.deliveries.sendTest({ url: `${receiver.url}/try` });
  const { headers, body } = await receiver.next(({ path }) => path === '/try');
  expect(await verifyWebhook({ secret, headers, body })).toEqual({ ok: true, id: sent.id });
});

it('client: events returns the events after a cursor', async () => {
  const { uid } = await dragoman.machineJobs.create(JOB);
  await dragoman.machineJobs.waitForJob(uid);
  const seen: Event[] = [];
  let after: string | undefined;
  await until(async () => {
    const page = await dragoman.events({ after, limit: 2 });
    seen.push(...page.objects);
    after = page.next;
    return seen.some(({ job }) => job?.uid === uid);
  });
  expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
});

it('client: webhookEndpoints registers, lists, changes, rolls and deletes an endpoint', async () => {
  const url = `${receiver.url}/all-events`;
  const { webhook_secret: first, ...made } = await dragoman.webhookEndpoints.create({ url });
  expect(await dragoman.webhookEndpoints.list()).toEqual([made]);
  await expect(dragoman.webhookEndpoints.create({ url })).rejects.toMatchObject({
    status: 400,
    fields: [{ field: 'url' }],
  });
  const change = { events: ['job.completed'], description: 'Shop' } as const;
  const changed = await dragoman.webhookEndpoints.change(made.id, { ...change, events: [...change.events] });
  expect(changed).toEqual({ ...made, ...change });
  expect(await dragoman.webhookEndpoints.get(made.id)).toEqual(changed);
  const { webhook_secret: second } = await dragoman.webhookEndpoints.rollSecret(made.id, '1h');
  const { uid } = await dragoman.machineJobs.create(JOB);
  const { headers, body } = await receiver.next(({ path }) => path === '/all-events');
  expect(JSON.parse(String(body))).toMatchObject({ type: 'job.completed', job: { uid } });
  for (const secret of [first, second]) {
    expect(await verifyWebhook({ secret, headers, body })).toMatchObject({ ok: true });
  }
  expect(await dragoman.webhookEndpoints.delete(made.id)).toBeUndefined();
  await expect(dragoman.webhookEndpoints.delete(made.id)).rejects.toMatchObject({ status: 404 });
});
