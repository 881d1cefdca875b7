/** Tests the console over HTTP: access to its routes, the home page and the settings. */
import { createFake } from '@dragoman/engines/fake';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeApp } from '../roles/app.ts';
import {
  createBrowser,
  createClient,
  createPerson,
  startReceiver,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../testing/harness.ts';

let server: TestServer;
let operator: TestPerson;
beforeAll(async () => {
  server = await startTestServer({
    engine: () => createFake(),
    settings: { DRAGOMAN_CALLBACK_SCHEDULE: '3600,3600', DRAGOMAN_METRICS_TOKEN: 'very secret' },
  });
  operator = await createPerson(server, { role: 'operator' });
});
afterAll(() => server.stop());

describe('the console’s routes', () => {
  it('answer 404 to users of other roles for every path and method', async () => {
    const { paths } = await describeApp('web');
    const routes = Object.entries(paths).filter(([path]) => path.startsWith('/api/console/'));
    expect(routes.length).toBeGreaterThan(25);
    const customer = await createPerson(server, { role: 'customer' });
    const editor = await createPerson(server, { role: 'editor' });
    for (const [path, operations] of routes) {
      const address = path.replaceAll(/\{\w+\}/g, customer.account!.username);
      for (const method of Object.keys(operations)) {
        const body = method === 'get' || method === 'delete' ? undefined : {};
        for (const person of [customer, editor]) {
          const { status } = await person.call(method.toUpperCase(), address, body);
          expect(status, `${person.name} ${method} ${path}`).toBe(404);
        }
        const nobody = await createBrowser(server.url).call(method.toUpperCase(), address, body);
        expect(nobody.status, `nobody ${method} ${path}`).toBe(401);
      }
    }
  });

  it('ignore API keys of customers', async () => {
    const { production_key } = await server.createAccount();
    const answer = await fetch(`${server.url}/api/console/home`, {
      headers: { authorization: `ApiKey ${production_key}` },
    });
    expect(answer.status).toBe(401);
  });
});

describe('the console’s home page', () => {
  it('shows the engines, the last 24 hours, and an engine that no worker runs', async () => {
    const home = await until(async () => {
      const { body } = await operator.call('GET', '/api/console/home');
      return body.engines.some((engine: { state: string }) => engine.state === 'closed') && body;
    });
    expect(home.hours).toHaveLength(24);
    // The settings name two engines that this worker does not run.
    expect(home.attention).toMatchObject([
      { kind: 'engine', subject: 'apertium' },
      { kind: 'engine', subject: 'bergamot' },
    ]);
  });

  it('lists overdrawn accounts, failing hosts and dead deliveries', async () => {
    const receiver = await startReceiver();
    receiver.answer(() => 500);
    const customer = await server.createAccount({ username: 'owes' });
    const call = createClient(server.url, customer.production_key);
    const job = { source_language: 'en', target_language: 'es', callback_url: receiver.url };
    for (const uid of ['1', '2', '3', '4', '5', '6', '7', '8']) {
      await call('POST', '/tapi/v2/mt_translation/', { ...job, text: 'The house.', uid });
    }
    await call('POST', '/tapi/v2/translation/', { ...job, text: 'The house is here.', uid: 'human' });
    const attention = await until(async () => {
      const { body } = await operator.call('GET', '/api/console/home');
      const ofHost = body.attention.some(({ kind }: { kind: string }) => kind === 'host');
      return ofHost && body.attention;
    });
    expect(attention).toContainEqual({ kind: 'overdrawn', severity: 'look', subject: 'owes', amount: 12 });
    expect(attention).toContainEqual(
      expect.objectContaining({ kind: 'host', account: 'owes', subject: new URL(receiver.url).host }),
    );
    const { body } = await operator.call('GET', '/api/console/home');
    expect(body.owed).toBe(12);
    expect(body.hours.at(-1).created + body.hours.at(-2).created).toBe(9);
    await receiver.close();
  });
});

describe('the console’s settings page', () => {
  it('shows the values of the settings without secrets', async () => {
    const { body, text } = await operator.call('GET', '/api/console/settings');
    expect(text).not.toContain('very secret');
    const named = (name: string) => body.settings.find((one: { name: string }) => one.name === name);
    expect(named('DRAGOMAN_METRICS_TOKEN')).toMatchObject({ secret: true, set: true, value: '' });
    expect(named('DRAGOMAN_CALLBACK_SCHEDULE')).toMatchObject({ value: '3600,3600', set: true });
    expect(named('DRAGOMAN_HOST')).toMatchObject({ value: '127.0.0.1', set: false });
    expect(named('DRAGOMAN_SECRET_KEY').secret).toBe(true);
  });
});
