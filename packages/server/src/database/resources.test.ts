/** Tests of a database server without free space: requests fail, and every client is asked to retry later. */
import { PassThrough } from 'node:stream';

import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../base/log.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../testing/harness.ts';

const JOB = { text: 'The house is big.', source_language: 'en', target_language: 'es' };
const MESSAGE = { ...JOB, chat_external_id: 'chat', text_format: 'text' };

let server: TestServer;
let owner: pg.Client;
let person: TestPerson;
let call: ReturnType<typeof createClient>;
let logged = '';
beforeAll(async () => {
  const destination = new PassThrough().on('data', (line: Buffer) => {
    logged += line.toString();
  });
  server = await startTestServer({ log: createLog('warn', destination) });
  owner = await server.connectOwner();
  const account = await server.createAccount({ chat: true, balanceCents: 1000 });
  call = createClient(server.url, account.production_key);
  person = await createPerson(server, { role: 'operator' });
});
afterAll(() => server.stop());

/**
 * Makes every write to a growing table fail, as when PostgreSQL cannot extend a file.
 * @param state the SQLSTATE of the error
 */
async function fill(state: string): Promise<void> {
  const body = `begin raise exception 'could not extend file "base/1/2": No space left on device' using errcode = '${state}'; end`;
  // Otherwise Citus refuses triggers on its tables. PostgreSQL ignores the setting.
  await owner.query('set citus.enable_unsafe_triggers = on');
  await owner.query(`create function refuse_rows() returns trigger language plpgsql as $$ ${body} $$`);
  await owner.query(
    `create function refuse_tables() returns event_trigger language plpgsql as $$ ${body} $$`,
  );
  for (const table of ['jobs', 'messages', 'audit']) {
    await owner.query(
      `create trigger full_disk before insert on ${table} for each row execute function refuse_rows()`,
    );
  }
  await owner.query(
    `create event trigger full_disk on ddl_command_start when tag in ('CREATE TABLE') execute function refuse_tables()`,
  );
}

async function makeRoom(): Promise<void> {
  await owner.query('drop event trigger if exists full_disk');
  await owner.query('drop function refuse_rows() cascade');
  await owner.query('drop function refuse_tables()');
}

const readiness = async () => {
  const answer = await fetch(`${server.url}/readyz`);
  return { status: answer.status, body: (await answer.json()) as { checks: object } };
};

describe('a database server without free space', () => {
  it.each([
    ['disk', '53100'],
    ['memory', '53200'],
    ['space for temporary files', '53400'],
  ])(
    'makes writes fail with 503 and Retry-After, and readiness fail, until it has %s again',
    async (_, state) => {
      logged = '';
      await fill(state);
      const error = 'The database has no room now; the request can be sent again.';
      const refused = await call('POST', '/tapi/v2/mt_translation/', { ...JOB, uid: state });
      expect([refused.status, refused.body]).toEqual([503, { error }]);
      expect(refused.headers.get('retry-after')).toBe('5');
      const chat = await call('POST', '/v2/chats/messages', { ...MESSAGE, external_id: state });
      expect([chat.status, chat.body]).toEqual([503, { error: { code: 'server_error', message: error } }]);
      expect(chat.headers.get('retry-after')).toBe('5');
      const web = await person.call('POST', '/api/console/accounts', { username: `full-${state}` });
      expect([web.status, web.body.error.code]).toEqual([503, 'unavailable']);
      // Statements that only read succeed even without free space.
      expect((await call('GET', '/tapi/v2/account/')).status).toBe(200);

      for (let asked = 0; asked < 3; asked++) {
        expect(await readiness()).toMatchObject({
          status: 503,
          body: { checks: { database: 'has no room to write' } },
        });
      }
      expect(logged.match(/the database cannot write/g)).toHaveLength(1);
      expect(logged).not.toContain('request failed');

      await makeRoom();
      await until(async () => (await readiness()).status === 200);
      expect((await call('POST', '/tapi/v2/mt_translation/', { ...JOB, uid: state })).status).toBe(201);
      expect((await call('POST', '/v2/chats/messages', { ...MESSAGE, external_id: state })).status).toBe(201);
    },
  );

  it('makes writes fail with 503, while readiness stays 200, when the program may not make a trial write', async () => {
    const { database } = owner;
    await owner.query(`revoke temporary on database ${database} from public`);
    await fill('53100');
    await owner.query('drop event trigger full_disk');
    expect((await call('POST', '/tapi/v2/mt_translation/', { ...JOB, uid: 'no-trial' })).status).toBe(503);
    expect((await readiness()).status).toBe(200);
    await makeRoom();
    await owner.query(`grant temporary on database ${database} to public`);
    expect((await call('POST', '/tapi/v2/mt_translation/', { ...JOB, uid: 'no-trial' })).status).toBe(201);
  });
});
