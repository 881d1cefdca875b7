/** Tests health, readiness and metrics over HTTP. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { VERSION } from '../base/version.ts';
import { createConnection } from '../database/connections.ts';
import { administer } from '../testing/cluster.ts';
import {
  createClient,
  createPerson,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
} from '../testing/harness.ts';

const TOKEN = 'a token of the operator';
let server: TestServer;
let engine: FakeEngine;

beforeAll(async () => {
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      return engine;
    },
    settings: { DRAGOMAN_METRICS_TOKEN: TOKEN, DRAGOMAN_SANDBOX_HOLD: '0' },
  });
});
// Each test has a new server, whose metrics start at zero, and an empty jobs table.
beforeEach(async () => {
  await asOwner('truncate jobs cascade');
  await server.restart();
  await until(async () => (await ask('/readyz')).status === 200);
});
afterAll(() => server.stop());

const ask = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${server.url}${path}`, { headers });
const scrape = () => ask('/metrics', { authorization: `Bearer ${TOKEN}` });

/** Returns the value of a metric, or 0 when the metric has no value. */
async function sample(name: string, labels = ''): Promise<number> {
  const text = await (await scrape()).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name}${labels} `));
  return line === undefined ? 0 : Number(line.split(' ').at(-1));
}

async function asOwner(...statements: string[]): Promise<void> {
  const client = createConnection(server.connection);
  await client.connect();
  // Otherwise Citus refuses triggers on its tables. PostgreSQL ignores the setting.
  await client.query('set citus.enable_unsafe_triggers = on');
  for (const statement of statements) await client.query(statement);
  await client.end();
}

describe('/healthz', () => {
  it('answers without authentication even when the database fails', async () => {
    const answer = await ask('/healthz');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ status: 'ok', version: VERSION });
    await asOwner('revoke select on pairs from dragoman_app');
    expect((await ask('/healthz')).status).toBe(200);
    await asOwner('grant select on pairs to dragoman_app');
  });

  it('accepts only GET and HEAD', async () => {
    const answer = await fetch(`${server.url}/healthz`, { method: 'POST' });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD');
  });
});

describe('/readyz', () => {
  it('reports that the server is ready when the database answers and a language pair is offered', async () => {
    const answer = await ask('/readyz');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      ready: true,
      checks: { server: 'ok', database: 'ok', languages: 'ok' },
    });
  });

  it('reports that the server is not ready, with Retry-After, when no engine offers a language pair', async () => {
    await asOwner('delete from pairs');
    const answer = await until(async () => {
      const asked = await ask('/readyz');
      return asked.status === 503 && asked;
    });
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(await answer.json()).toEqual({
      ready: false,
      checks: { server: 'ok', database: 'ok', languages: 'no engine offers a language pair yet' },
    });
  });

  it('reports that the server is not ready while the database is unreachable, and ready again afterwards', async () => {
    const { connection } = inject('cluster');
    const { database } = createConnection(server.connection);
    await administer(connection, `alter database ${database} allow_connections false`);
    await administer(
      connection,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`,
    );
    const answer = await until(async () => {
      const asked = await ask('/readyz');
      return asked.status === 503 && asked;
    });
    expect(await answer.json()).toMatchObject({ ready: false, checks: { database: 'does not answer' } });
    const blind = await scrape();
    expect(blind.status).toBe(200);
    const shown = await blind.text();
    expect(shown).toMatch(/^dragoman_database_up 0$/m);
    expect(shown).toMatch(/^process_cpu_seconds_total /m);
    expect(shown).not.toMatch(/^dragoman_queue_due\{/m);
    await administer(connection, `alter database ${database} allow_connections true`);
    await until(async () => (await ask('/readyz')).status === 200);
    expect(await (await scrape()).text()).toMatch(/^dragoman_database_up 1$/m);
  });

  it('reports that the server is not ready while the schema lacks a column that new jobs need', async () => {
    await asOwner('alter table jobs rename column tone to voice');
    const answer = await ask('/readyz');
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      ready: false,
      checks: { database: 'lacks what this version uses; run dragoman doctor' },
    });
    await asOwner('alter table jobs rename column voice to tone', 'alter table jobs add column newer text');
    expect((await ask('/readyz')).status).toBe(200);
    await asOwner('alter table jobs drop column newer');
  });

  it('reports that the server is not ready while the server stops', async () => {
    engine.stall();
    const { app, stop } = server.server;
    const { production_key } = await server.createAccount();
    const body = { text: 'House.', source_language: 'en', target_language: 'es' };
    await createClient(server.url, production_key)('POST', '/tapi/v2/mt_translation/', body);
    await engine.waitForRequests(1);
    // The request is injected, because the stopping server no longer accepts connections.
    const stopping = stop();
    const answer = await app!.inject('/readyz');
    expect(answer.statusCode).toBe(503);
    engine.resume();
    await stopping;
  });

  it('reveals no customer data', async () => {
    const text = await (await ask('/readyz')).text();
    expect(text).not.toContain('customer');
    expect(text.length).toBeLessThan(200);
  });
});

describe('/metrics', () => {
  it('answers 404 when no token is set', async () => {
    await server.restart({ DRAGOMAN_METRICS_TOKEN: '' });
    for (const headers of [{}, { authorization: `Bearer ${TOKEN}` }, { authorization: 'Bearer ' }]) {
      const answer = await ask('/metrics', headers);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toEqual({ error: 'Not found' });
    }
  });

  it('answers 401 to a wrong or missing token', async () => {
    const { production_key } = await server.createAccount();
    const wrong = [
      {},
      { authorization: 'Bearer' },
      { authorization: `Bearer ${TOKEN}x` },
      { authorization: `Bearer ${TOKEN.slice(1)}` },
      { authorization: TOKEN },
      { authorization: `ApiKey ${production_key}` },
    ] as Record<string, string>[];
    for (const headers of wrong) {
      const answer = await ask('/metrics', headers);
      expect(answer.status, JSON.stringify(headers)).toBe(401);
      expect(await answer.text()).not.toContain('dragoman_');
    }
  });

  it('lists the metrics with help texts', async () => {
    const answer = await scrape();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await answer.text();
    for (const name of [
      'dragoman_request_seconds',
      'dragoman_jobs_created_total',
      'dragoman_jobs_settled_total',
      'dragoman_delivery_attempt_seconds',
      'dragoman_queue_due',
      'dragoman_queue_oldest_seconds',
      'process_cpu_seconds_total',
    ]) {
      expect(text).toMatch(new RegExp(`^# HELP ${name} \\S`, 'm'));
    }
  });

  it('counts a job from creation to delivery, and does not count a repeated request to create it', async () => {
    const receiver = await startReceiver();
    const { production_key } = await server.createAccount();
    const call = createClient(server.url, production_key);
    const body = {
      uid: 'counted',
      text: 'House.',
      source_language: 'en',
      target_language: 'es',
      callback_url: `${receiver.url}/counted`,
    };
    expect((await call('POST', '/tapi/v2/mt_translation/', body)).status).toBe(201);
    expect((await call('POST', '/tapi/v2/mt_translation/', body)).status).toBe(200);
    expect((await call('POST', '/tapi/v2/mt_translation/', {})).status).toBe(400);
    await receiver.next();
    await until(
      async () =>
        (await sample(
          'dragoman_delivery_attempt_seconds_count',
          '{environment="production",verdict="delivered",outcome="answered"}',
        )) === 1,
    );
    expect(await sample('dragoman_jobs_created_total')).toBe(1);
    expect(
      await sample('dragoman_jobs_settled_total', '{environment="production",outcome="completed"}'),
    ).toBe(1);
    const requests = (status: number) =>
      sample(
        'dragoman_request_seconds_count',
        `{method="POST",route="/tapi/v2/mt_translation/",status="${status}"}`,
      );
    expect([await requests(201), await requests(200), await requests(400)]).toEqual([1, 1, 1]);
    await receiver.close();
  });

  it('shows the number of due rows, and how long they have been due', async () => {
    const { production_key } = await server.createAccount();
    await createClient(server.url, production_key)('POST', '/tapi/v2/translation/', {
      text: 'House.',
      source_language: 'en',
      target_language: 'es',
    });
    await until(
      async () =>
        (await sample('dragoman_jobs_settled_total', '{environment="production",outcome="drafted"}')) === 1,
    );
    expect(await sample('dragoman_queue_due', '{queue="jobs"}')).toBe(0);
    // Without the right to update jobs, workers cannot claim the due rows.
    await asOwner('revoke update on jobs from dragoman_app');
    await asOwner(`update jobs set due_at = now() - interval '90 seconds'`);
    expect(await sample('dragoman_queue_due', '{queue="jobs"}')).toBe(1);
    expect(await sample('dragoman_queue_oldest_seconds', '{queue="jobs"}')).toBeGreaterThanOrEqual(90);
    expect(await sample('dragoman_queue_due', '{queue="deliveries"}')).toBe(0);
    await asOwner('grant update on jobs to dragoman_app');
  });

  it('counts the time that a test of a URL waits from its request', async () => {
    const customer = await createPerson(server, { role: 'customer' });
    // Without the right to update deliveries, workers cannot claim the test.
    await asOwner('revoke update on deliveries from dragoman_app');
    const { status } = await customer.call('POST', '/api/account/deliveries/test', {
      url: 'http://127.0.0.1:1/',
    });
    expect(status).toBe(202);
    expect(await sample('dragoman_queue_due', '{queue="deliveries"}')).toBe(1);
    expect(await sample('dragoman_queue_oldest_seconds', '{queue="deliveries"}')).toBeLessThan(3600);
    await asOwner('grant update on deliveries to dragoman_app');
    await until(async () => (await sample('dragoman_queue_due', '{queue="deliveries"}')) === 0);
  });

  it('shows the version, and the number of workers that sent a report in the last 30 seconds', async () => {
    expect(await sample('dragoman_build_info', `{version="${VERSION}"}`)).toBe(1);
    await until(async () => (await sample('dragoman_workers')) === 1);
    // Pretends that the worker was killed 31 seconds ago.
    await until(async () => {
      await asOwner(`update engine_states set seen_at = now() - interval '31 seconds'`);
      return (await sample('dragoman_workers')) === 0;
    });
  });

  it('counts the transactions that ran again after a conflict', async () => {
    const lost = await sample('dragoman_database_retries_total', '{reason="connection"}');
    const { production_key } = await server.createAccount();
    await asOwner(
      'create sequence conflicts',
      'grant all on conflicts to dragoman_app',
      `create function conflict() returns trigger language plpgsql as $$ begin
        if nextval('conflicts') < 3 then raise exception using errcode = '40001'; end if;
        return new;
      end $$`,
      'create trigger conflict before insert on jobs for each row execute function conflict()',
    );
    const body = { text: 'The house.', source_language: 'en', target_language: 'es' };
    const { status } = await createClient(server.url, production_key)(
      'POST',
      '/tapi/v2/mt_translation/',
      body,
    );
    await asOwner('drop trigger conflict on jobs', 'drop function conflict()', 'drop sequence conflicts');
    expect(status).toBe(201);
    expect(await sample('dragoman_database_retries_total', '{reason="conflict"}')).toBe(2);
    expect(await sample('dragoman_database_retries_total', '{reason="connection"}')).toBe(lost);
  });

  it('labels requests by route, never by URL', async () => {
    const { production_key } = await server.createAccount();
    const call = createClient(server.url, production_key);
    await call('GET', '/tapi/v2/translation/canary-uid/?canary=1');
    await call('GET', '/canary/path/');
    const text = await (await scrape()).text();
    expect(text).toContain('route="/tapi/v2/translation/:uid/"');
    expect(text).toContain('route="unknown"');
    expect(text).not.toContain('canary');
  });
});
