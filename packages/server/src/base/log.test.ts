/** Searches logs for data that they must not contain: customer texts, keys, URLs and messages of errors. */
import { readFile } from 'node:fs/promises';
import { EmbeddedPostgresError } from '@dragoman/embedded-postgres';
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { SecretKeyError } from '../access/secret-key.ts';
import type { AccountCredentials } from '../accounts/accounts.ts';
import { createConnection } from '../database/connections.ts';
import { NoDatabaseError } from '../database/embedded.ts';
import { administer } from '../testing/cluster.ts';
import {
  createClient,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { createLog, type Log } from './log.ts';

const { DatabaseError } = pg;
const CANARY = 'cAnArY';

/** Returns a log, and the array of the lines that were written to it. */
function keepLog(level = 'debug'): { log: Log; lines: string[] } {
  const lines: string[] = [];
  return { lines, log: createLog(level, { write: (line) => lines.push(line) }) };
}

const only = (lines: string[]) => {
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0]!);
};

/** Returns the lines that contain the canary, a marker text of these tests, in any letter case. */
const leaks = (lines: readonly string[]) =>
  lines.filter((line) => line.toLowerCase().includes(CANARY.toLowerCase()));

describe('the log', () => {
  it('drops fields that are not on the allow-list', () => {
    const { log, lines } = keepLog();
    log.info(
      { job: 'id', status: 200, text: CANARY, uid: CANARY, url: CANARY, headers: { x: CANARY } },
      'done',
    );
    expect(only(lines)).toEqual({
      level: 'info',
      time: expect.any(String),
      job: 'id',
      status: 200,
      msg: 'done',
    });
  });

  it('has no method `child`, because pino would log fields of a child log that are not on the allow-list', () => {
    const { log } = keepLog();
    // @ts-expect-error: the type check fails here if `child` exists.
    const forbidden = log.child;
    expect(forbidden).toBeTypeOf('function');
  });

  it('keeps name, code and stack of an error without its message', () => {
    const { log, lines } = keepLog();
    log.warn(
      { error: Object.assign(new TypeError(`${CANARY} is odd`), { code: 'E1', detail: CANARY }) },
      'odd',
    );
    const line = only(lines);
    expect(line).toMatchObject({ level: 'warn', error: 'TypeError', code: 'E1', msg: 'odd' });
    expect(line.stack).toContain('log.test.ts');
    expect(leaks(lines)).toEqual([]);
  });

  it('keeps messages of PostgreSQL and Node that contain no values and no addresses', async () => {
    const reasonOf = (error: unknown): unknown => {
      const { log, lines } = keepLog();
      log.error({ error }, 'odd');
      expect(leaks(lines)).toEqual([]);
      return only(lines).reason;
    };
    const failed = (sql: string) => administer(inject('cluster').connection, sql).catch((error) => error);
    expect(reasonOf(await failed('drop database nonono'))).toBe('database "nonono" does not exist');
    expect(reasonOf(await failed('select nonono'))).toBe('column "nonono" does not exist');
    expect(reasonOf(await failed(`select '${CANARY}'::int`))).toBeUndefined();
    const twice = `select ${CANARY} from (values ('${CANARY}'), ('x')) t (${CANARY}) where ${CANARY}::json is null`;
    expect(reasonOf(await failed(twice))).toBeUndefined();
    // As PgBouncer refuses a parameter: without the place in PostgreSQL's source.
    const refusal = Object.assign(new DatabaseError('unsupported startup parameter: options', 0, 'error'), {
      severity: 'FATAL',
      code: '08P01',
    });
    expect(reasonOf(refusal)).toBe('unsupported startup parameter: options');
    const path = `/nowhere/${CANARY}`;
    expect(reasonOf(await readFile(path).catch((error) => error))).toBe('open ENOENT');
  });

  it.each([
    ['of many lines', () => new Error(`one\n    ${CANARY}\nthree`)],
    ['that looks like a stack', () => new Error(`one\n    at ${CANARY} (x.ts:1:1)\n    at ${CANARY}`)],
    ['with a cause', () => new Error('x', { cause: new Error(CANARY) })],
    ['of many', () => new AggregateError([new Error(CANARY)], CANARY)],
    ['that is no error', () => CANARY],
    ['that is an object', () => ({ message: CANARY })],
  ])('drops the message of an error %s', (_, make) => {
    const { log, lines } = keepLog();
    log.error({ error: make() }, 'odd');
    expect(only(lines).msg).toBe('odd');
    expect(leaks(lines)).toEqual([]);
  });

  it('drops the message of an error in every form that pino accepts', () => {
    const { log, lines } = keepLog();
    log.error(new Error(CANARY));
    log.error(new Error(CANARY), 'with words');
    log.error({ err: new Error(CANARY) });
    log.error({ error: new Error(CANARY) });
    expect(lines).toHaveLength(4);
    expect(leaks(lines)).toEqual([]);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      error: 'Error',
      stack: expect.stringContaining('log.test.ts'),
    });
    expect(JSON.parse(lines[1]!)).toMatchObject({ error: 'Error', msg: 'with words' });
  });

  it('keeps error messages that cannot quote data, and otherwise only the class of the error', () => {
    const { log, lines } = keepLog();
    log.warn({ error: new Error('Connection terminated unexpectedly') }, 'odd');
    log.warn({ error: new Error(`Connection terminated unexpectedly ${CANARY}`) }, 'odd');
    log.warn({ error: new SecretKeyError('The secret key is missing.') }, 'odd');
    log.warn({ error: new EmbeddedPostgresError('in_use', 'It is in use.') }, 'odd');
    log.warn({ error: new NoDatabaseError('There is no data.') }, 'odd');
    log.warn({ error: new (class Garbled extends Error {})(CANARY) }, 'odd');
    const logged = lines.map((line) => JSON.parse(line)).map(({ error, reason }) => ({ error, reason }));
    expect(logged).toEqual([
      { error: 'Error', reason: 'Connection terminated unexpectedly' },
      { error: 'Error' },
      { error: 'SecretKeyError', reason: 'The secret key is missing.' },
      { error: 'EmbeddedPostgresError', reason: 'It is in use.' },
      { error: 'NoDatabaseError', reason: 'There is no data.' },
      { error: 'Garbled' },
    ]);
    expect(leaks(lines)).toEqual([]);
  });

  it('writes nothing below its level, and nothing at the level silent', () => {
    const { log, lines } = keepLog('warn');
    log.info('quiet');
    log.warn('loud');
    expect(lines).toHaveLength(1);
    const silent = keepLog('silent');
    silent.log.error('nothing');
    expect(silent.lines).toEqual([]);
  });
});

describe('the log of a server at the level debug', () => {
  const HUMAN = '/tapi/v2/translation/';
  const MACHINE = '/tapi/v2/mt_translation/';
  const TOKEN = 'metrics';
  const { log, lines } = keepLog('debug');
  let engine: FakeEngine;
  let server: TestServer;
  let receiver: Receiver;
  let owner: pg.Client;
  let account: AccountCredentials;
  let production: ReturnType<typeof createClient>;
  let sandbox: ReturnType<typeof createClient>;

  beforeAll(async () => {
    receiver = await startReceiver();
    server = await startTestServer({
      log,
      engine: () => {
        engine = createFake();
        const draft = engine.draft.bind(engine);
        engine.draft = async (request) => {
          const text = JSON.stringify(request.segments);
          // The error of an engine may quote the text to translate, so its message must not be logged.
          if (text.includes('explode')) throw new Error(`unexpected ${text}`);
          return draft(request);
        };
        return engine;
      },
      settings: {
        DRAGOMAN_SANDBOX_HOLD: '0',
        DRAGOMAN_METRICS_TOKEN: TOKEN,
        DRAGOMAN_MAX_TEXT_BYTES: '1000',
      },
    });
    owner = createConnection(server.connection);
    await owner.connect();
    account = await server.createAccount({ username: 'user-in-the-log', email: `${CANARY}@example.org` });
    production = createClient(server.url, account.production_key);
    sandbox = createClient(`${server.url}/sandbox`, account.sandbox_key);
  });
  afterAll(async () => {
    await owner.end();
    await server.stop();
    await receiver.close();
  });
  beforeEach(() => {
    lines.length = 0;
  });

  let jobs = 0;
  /** Returns the body of a request to create a job, with the canary in every field that may contain it. */
  const job = (fields: object = {}) => ({
    uid: `${CANARY}-${++jobs}`,
    text: `The ${CANARY} is big.`,
    source_language: 'en',
    target_language: 'es',
    callback_url: `${receiver.url}/${CANARY}?token=${CANARY}`,
    instructions: CANARY,
    unknown_field: CANARY,
    [CANARY]: CANARY,
    ...fields,
  });

  const answered = (status: number) =>
    until(() => lines.some((line) => line.includes('"answered"') && JSON.parse(line).status === status));

  /** Checks that neither the log nor the metrics contain the canary, and that the log is not empty. */
  async function nothingLeaked(): Promise<void> {
    expect(lines.length).toBeGreaterThan(0);
    expect(leaks(lines)).toEqual([]);
    for (const secret of [account.production_key, account.sandbox_key].map((key) => key.split(':')[1]!)) {
      expect(lines.join('')).not.toContain(secret);
    }
    const metrics = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(metrics.status).toBe(200);
    expect(leaks((await metrics.text()).split('\n'))).toEqual([]);
  }

  it('names each request by its route', async () => {
    await production('GET', `${HUMAN}${CANARY}/?${CANARY}=${CANARY}`);
    await answered(404);
    const line = lines.map((one) => JSON.parse(one)).find(({ msg }) => msg === 'answered');
    expect(line).toMatchObject({
      level: 'info',
      method: 'GET',
      route: `${HUMAN}:uid/`,
      status: 404,
      request: expect.any(String),
      milliseconds: expect.any(Number),
      account: expect.any(String),
      username: 'user-in-the-log',
      key: account.production_key.split('dgm_live_')[1]!.slice(0, 8),
    });
    await nothingLeaked();
  });

  it('contains refused requests at info, and health checks at debug', async () => {
    expect((await createClient(server.url, 'nobody:nothing')('GET', HUMAN)).status).toBe(401);
    for (const path of ['/healthz', '/readyz', '/metrics']) await fetch(`${server.url}${path}`);
    const answers = await until(() => {
      const found = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'answered');
      return found.length >= 4 && found;
    });
    const levels = Object.fromEntries(answers.map(({ route, level }) => [route, level]));
    expect(levels).toEqual({
      [HUMAN]: 'info',
      '/healthz': 'debug',
      '/readyz': 'debug',
      '/metrics': 'debug',
    });
    const refused = answers.find(({ route }) => route === HUMAN);
    expect(refused).toMatchObject({ status: 401 });
    expect(refused).not.toHaveProperty('account');
  });

  it('contains no data of a job from its creation to its delivery', async () => {
    const headers = {
      'user-agent': CANARY,
      'x-request-id': CANARY,
      referer: `http://${CANARY}.example/`,
      cookie: CANARY,
    };
    const body = job({ target_text: `La ${CANARY}.`, tone: 'Formal', topics: ['tech'] });
    expect((await sandbox('POST', HUMAN, body, headers)).status).toBe(201);
    expect((await production('POST', MACHINE, job(), headers)).status).toBe(201);
    await until(() => receiver.received.length >= 2);
    expect((await sandbox('GET', `${HUMAN}${body.uid}/?${CANARY}`)).status).toBe(200);
    expect((await sandbox('GET', `${HUMAN}?uid=${CANARY}`)).status).toBe(200);
    await until(() => lines.filter((line) => line.includes('"answered"')).length >= 4);
    await nothingLeaked();
  });

  it.each([
    ['every field wrong', { ...Object.fromEntries(['text', 'uid'].map((name) => [name, `${CANARY}\0 /`])) }],
    [
      'an unknown tone, brand, topic, format',
      { tone: CANARY, brand: CANARY, topics: [CANARY], text_format: CANARY },
    ],
    ['unknown languages', { source_language: CANARY, target_language: CANARY }],
    ['a bad callback', { callback_url: `http://${CANARY}:${CANARY}@example.com/` }],
    ['markup that does not parse', { text_format: 'xliff', text: `<${CANARY}` }],
  ])('contains no data of a request to create a job that is refused with 400: %s', async (_, fields) => {
    expect((await production('POST', HUMAN, job(fields))).status).toBe(400);
    await answered(400);
    await nothingLeaked();
  });

  it('contains no part of a body with invalid JSON', async () => {
    expect((await production('POST', HUMAN, `{"text": ${CANARY}`)).status).toBe(400);
    await answered(400);
    await nothingLeaked();
  });

  it('contains no part of a credential that is refused with 401', async () => {
    for (const key of [CANARY, `${CANARY}:${CANARY}`, `${account.production_key}${CANARY}`]) {
      expect((await createClient(server.url, key)('POST', HUMAN, job())).status).toBe(401);
    }
    await answered(401);
    await nothingLeaked();
  });

  it('contains no part of a URL that is answered with 404 or 405', async () => {
    expect((await production('GET', `/${CANARY}/?${CANARY}`)).status).toBe(404);
    expect((await production('PUT', `${HUMAN}${CANARY}/`)).status).toBe(405);
    expect((await production('GET', `${HUMAN}%${CANARY}/`)).status).toBeGreaterThanOrEqual(400);
    await answered(404);
    await answered(405);
    await nothingLeaked();
  });

  it('contains no part of a body that is too large', async () => {
    expect((await production('POST', HUMAN, job({ text: CANARY.repeat(200) }))).status).toBe(413);
    const body = CANARY.repeat(400_000);
    expect((await production('POST', HUMAN, body)).status).toBe(413);
    await answered(413);
    await nothingLeaked();
  });

  it('contains no data of a job that the account cannot pay for', async () => {
    await owner.query(`update balances set credit_limit_cents = 0 where environment = 'production'`);
    expect((await production('POST', HUMAN, job())).status).toBe(402);
    await owner.query('update balances set credit_limit_cents = null');
    await answered(402);
    await nothingLeaked();
  });

  it('names an error of the database by its code, without the quoted row', async () => {
    await owner.query(
      `alter table job_texts add constraint no_canary check (body !~* '${CANARY}') not valid`,
    );
    // PostgreSQL's error message contains the text: `Failing row contains (…)`.
    await expect(
      owner.query(
        `insert into job_texts select part, account_id, job_id, 'supplied', '${CANARY}' from jobs limit 1`,
      ),
    ).rejects.toMatchObject({ code: '23514', detail: expect.stringContaining(CANARY) });
    const { status, text } = await production('POST', HUMAN, job());
    await owner.query('alter table job_texts drop constraint no_canary');
    expect(status).toBe(500);
    expect(leaks([text])).toEqual([]);
    const fault = await until(() => lines.find((line) => line.includes('request failed')));
    expect(JSON.parse(fault)).toMatchObject({ level: 'error', code: '23514', route: HUMAN });
    await answered(500);
    await nothingLeaked();
  });

  it('contains no data of a job when the engine throws an error that quotes the text', async () => {
    expect((await production('POST', MACHINE, job({ text: `Let the ${CANARY} explode.` }))).status).toBe(201);
    const line = await until(() => lines.find((one) => one.includes('an engine threw')));
    expect(JSON.parse(line)).toMatchObject({ level: 'error', name: 'fake', error: 'Error' });
    await nothingLeaked();
  });

  it('contains neither the data of a failed job nor the message of the engine', async () => {
    engine.failOn('poison');
    const { body } = await production('POST', MACHINE, job({ text: `The ${CANARY} is poison.` }));
    await until(async () => {
      await owner.query(
        'update jobs set due_at = now(), attempts = 4 where uid = $1 and lease_token is null and due_at > now()',
        [body.uid],
      );
      return lines.some((line) => line.includes('job failed'));
    });
    engine.failOn(null);
    await nothingLeaked();
  });

  it('contains no data of a delivery that is refused', async () => {
    receiver.answer(() => 500);
    await production('POST', MACHINE, job());
    const line = await until(() => lines.find((one) => one.includes('delivery failed and will be retried')));
    receiver.answer(() => 200);
    expect(JSON.parse(line)).toMatchObject({ status: 500, attempt: 1 });
    await nothingLeaked();
  });

  it('is searched by these tests for customer text in any letter case', () => {
    expect(leaks(['{"msg":"fine"}', `{"uid":"${CANARY.toUpperCase()}"}`])).toHaveLength(1);
  });
});
