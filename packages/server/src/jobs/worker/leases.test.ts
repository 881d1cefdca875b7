/** Tests that a worker cannot write the results of a job whose lease another worker has taken. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { uuidv7 } from '../../base/ids.ts';
import { createPool } from '../../database/connections.ts';
import { createClient, startTestServer, type TestServer, until } from '../../testing/harness.ts';

const MACHINE = '/tapi/v2/mt_translation/';

let server: TestServer;
let owner: pg.Pool;
let engine: FakeEngine;
let key: string;

beforeAll(async () => {
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      return engine;
    },
    settings: { DRAGOMAN_PRICE_MACHINE: '1' },
  });
  owner = createPool(server.connection);
  key = (await server.createAccount({ balanceCents: 1000 })).production_key;
});
afterAll(async () => {
  engine.failOn(null);
  engine.resume();
  await owner.end();
  await server.stop();
});

const call = (method: string, path: string, body?: unknown) =>
  createClient(server.url, key)(method, path, body);

/**
 * Creates three jobs that the stalled engine has received, and gives the lease of the second to another
 * worker.
 */
async function threeInHand(): Promise<{ uids: [string, string, string]; thief: string }> {
  engine.stall();
  const words = [uuidv7(), uuidv7(), uuidv7()];
  const uids = words.map((word) => `job-${word}`) as [string, string, string];
  for (const [index, uid] of uids.entries()) {
    const body = { uid, text: `poison ${words[index]}`, source_language: 'en', target_language: 'es' };
    expect((await call('POST', MACHINE, body)).status).toBe(201);
  }
  await until(() => {
    const asked = JSON.stringify(engine.requests.map(({ segments }) => segments));
    return words.every((word) => asked.includes(word));
  });
  const thief = uuidv7();
  await owner.query(`update jobs set lease_token = $1, due_at = now() + interval '1 hour' where uid = $2`, [
    thief,
    uids[1],
  ]);
  return { uids, thief };
}

async function rowOf(uid: string) {
  const { rows } = await owner.query(
    `select status, lease_token, due_at > now() + interval '50 minutes' as leased,
            due_at >= created_at + interval '5 seconds' as later,
            array(select kind from job_texts t
                   where t.part = j.part and t.job_id = j.job_id and kind = 'result') as results,
            array(select kind from transfers t
                   where t.part = j.part and t.job_id = j.job_id order by transfer_id) as transfers
       from jobs j where uid = $1`,
    [uid],
  );
  return rows[0];
}

const untouched = (thief: string) => ({
  status: 'machine_translate_in_progress',
  lease_token: thief,
  leased: true,
  later: true,
  results: [],
  transfers: ['hold'],
});

it('a worker completes the jobs that it still leases, and writes nothing to the job whose lease it lost', async () => {
  const { uids, thief } = await threeInHand();
  engine.resume();
  for (const uid of [uids[0], uids[2]]) {
    await until(async () => (await rowOf(uid)).status === 'completed');
    expect(await rowOf(uid)).toMatchObject({ results: ['result'], transfers: ['hold', 'capture'] });
  }
  await server.restart(); // The restart waits for work in progress.
  expect(await rowOf(uids[1])).toEqual(untouched(thief));
});

it('a worker postpones failed jobs that it still leases, and writes nothing to the job whose lease it lost', async () => {
  engine.failOn('poison');
  const { uids, thief } = await threeInHand();
  engine.resume();
  for (const uid of [uids[0], uids[2]]) await until(async () => (await rowOf(uid)).lease_token === null);
  expect(await rowOf(uids[0])).toMatchObject({ status: 'machine_translate_in_progress', later: true });
  await server.restart();
  expect(await rowOf(uids[1])).toEqual(untouched(thief));
  for (const uid of uids) await call('DELETE', `${MACHINE}${uid}/`);
});
