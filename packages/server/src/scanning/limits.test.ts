/** The time limit of a task and the share of an account, through the front door. The tasks of these processes can last for ever. */
import { readFileSync } from 'node:fs';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createConnection } from '../database/connections.ts';
import { editNext, orderEdit } from '../testing/editors.ts';
import { ENDLESS } from '../testing/endless.ts';
import { createClient, createPerson, startTestServer, type TestServer, until } from '../testing/harness.ts';
import { INLINE_LENGTH } from './scanner.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
const COUNT = '/tapi/v2/wordcount/';
const MESSAGES = '/v2/chats/messages';
const METRICS_TOKEN = 'for-the-test';

/** Processor milliseconds of each task: many times what an honest one of these takes, or for ever. */
const SMALL = 1_000;
const NONE = 1e9;
let limit = SMALL;
/** Tasks that were given to the processes. */
let given = 0;

let server: TestServer;
let owner: pg.Client;
let username: string;
let key: string;
let call: ReturnType<typeof createClient>;
let other: ReturnType<typeof createClient>;

const children = () =>
  readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ').map(Number);
const others = new Set(children());
const processes = () => children().filter((pid) => pid > 0 && !others.has(pid));

beforeAll(async () => {
  server = await startTestServer({
    settings: {
      DRAGOMAN_PRICE_MACHINE: '1',
      DRAGOMAN_METRICS_TOKEN: METRICS_TOKEN,
      DRAGOMAN_MAX_MESSAGE: '100000',
    },
    scanning: { script: ENDLESS, limitMilliseconds, maxWaiting: 6 },
  });
  owner = createConnection(server.connection);
  await owner.connect();
});
beforeEach(async () => {
  const [one, two] = await Promise.all(
    [1, 2].map(() => server.createAccount({ balanceCents: 1_000_000, chat: true })),
  );
  username = one!.username;
  key = one!.production_key;
  call = createClient(server.url, key);
  other = createClient(server.url, two!.production_key);
});
afterAll(async () => {
  await owner.end();
  await server.stop();
});

function limitMilliseconds(): number {
  given++;
  return limit;
}

const long = (words: string) => `${words}\n`.padEnd(INLINE_LENGTH + 1, 'The house is big.\n');
/** One sentence to translate, in a long text. */
const hidden = (words: string) => `<p>The house is big.</p><!-- ${long(words)} -->`;
const job = (text: string) => ({ text, source_language: 'en', target_language: 'es' });
const refused = {
  status: 400,
  text: expect.stringContaining('text: cannot be read in reasonable time; send it in smaller parts.'),
};

describe('a text that takes longer to read than its limit', () => {
  it.each([
    ['a word count', 'POST', COUNT, { text: long('endless:count') }],
    ['a machine job', 'POST', MACHINE, job(long('endless:examine'))],
    [
      'a text whose language is detected',
      'POST',
      MACHINE,
      { ...job('endless:examine'), source_language: null },
    ],
  ])('refuses %s and names the text, and answers the next request', async (_, method, path, body) => {
    expect(await call(method, path, body)).toMatchObject(refused);
    const next = {
      ...body,
      text: body.text.replaceAll(/endless:\w+/g, 'The house is big and stands near the river.'),
    };
    expect((await call(method, path, next)).status).toBe(201);
  });

  it('refuses a bulk of jobs, names the text among them, and creates none', async () => {
    const answer = await call('PATCH', HUMAN, { objects: [job('One.'), job(long('endless:examine'))] });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('objects[1].text: cannot be read in reasonable time');
    expect((await call('GET', HUMAN)).body.meta.total_count).toBe(0);
  });

  it('fails a machine job at its first try and gives its price back', async () => {
    const before = given;
    const { uid } = (await call('POST', MACHINE, job(long('endless:open')))).body;
    const failed = await until(async () => {
      const { body } = await call('GET', `${MACHINE}${uid}/`);
      return body.status === 'failed' && body;
    });
    expect(failed).not.toHaveProperty('translated_text');
    expect(await recordOf(uid)).toEqual({
      failure: 'the text cannot be read in reasonable time',
      kinds: ['hold', 'void'],
    });
    expect(given - before).toBe(2); // examined, opened once
  });

  it('fails a machine job whose translation is put together too slowly, in the same way', async () => {
    const { uid } = (await call('POST', MACHINE, job(long('endless:assemble')))).body;
    await until(async () => (await call('GET', `${MACHINE}${uid}/`)).body.status === 'failed');
    expect(await recordOf(uid)).toMatchObject({ kinds: ['hold', 'void'] });
  });

  it('fails a chat message', async () => {
    const body = { ...job(long('endless:open')), text_format: 'text', external_id: 'm' };
    const made = await call('POST', MESSAGES, { ...body, chat_external_id: 'c' });
    expect(made.status).toBe(201);
    const { chat, message } = made.body;
    const path = `/v2/chats/${chat.id}/messages/${message.id}`;
    await until(async () => (await call('GET', path)).body.message.status === 'mt_failed');
  });

  it('leaves a human job as it is when an operator has it drafted once more', async () => {
    const uid = await orderEdit(call, hidden(''), { text_format: 'html' });
    await owner.query(
      `update job_texts set body = $2 where kind = 'source' and job_id = (select job_id from jobs where uid = $1)`,
      [uid, hidden('endless:open')],
    );
    const { rows } = await owner.query('select job_id from jobs where uid = $1', [uid]);
    const operator = await createPerson(server, { role: 'operator' });
    const path = `/api/console/accounts/${username}/jobs/${rows[0].job_id}`;
    expect((await operator.call('POST', `${path}/redraft`, {})).status).toBeLessThan(300);
    await until(async () => (await operator.call('GET', path)).body.redraft === null);
    expect((await call('GET', `${HUMAN}${uid}/`)).body.status).toBe('translating');
  });

  it('keeps what an editor wrote when the result cannot be put together, and tries again later', async () => {
    const uid = await orderEdit(call, hidden('endless:assemble'), { text_format: 'html' });
    const editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
    await owner.query('update users set review_share = 0');
    const tasks = 'select task_id from tasks join jobs using (part, account_id, job_id) where uid = $1';
    await editNext(editor, (await owner.query(tasks, [uid])).rows[0].task_id);
    const later = `select 1 from edited_jobs join jobs using (part, account_id, job_id)
      where uid = $1 and stage = 'assembling' and edited_jobs.due_at > now() + interval '30 minutes'`;
    await until(async () => (await owner.query(later, [uid])).rowCount === 1);
  });

  it('is counted in the metrics', async () => {
    const before = await timedOut();
    await call('POST', COUNT, { text: long('endless:count') });
    expect(await timedOut()).toBe(before + 1);
  });
});

async function recordOf(uid: string) {
  const { rows } = await owner.query(
    `select failure,
            (select array_agg(kind order by transfer_id) from transfers t where t.job_id = j.job_id) as kinds
       from jobs j where uid = $1`,
    [uid],
  );
  return rows[0];
}

async function timedOut(): Promise<number> {
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
  const text = await (await fetch(`${server.url}/metrics`, { headers })).text();
  return Number(/^dragoman_scans_timed_out_total (\d+)$/m.exec(text)![1]);
}

describe('an account with more long texts than there are processes', () => {
  beforeEach(() => {
    limit = NONE;
  });

  it('does not delay the requests of another account', async () => {
    await beside(async (answered) => {
      const body = { ...job('The house is very big and stands near the river.'), source_language: null };
      expect(await other('POST', MACHINE, body)).toMatchObject({
        status: 201,
        body: { source_language: 'en' },
      });
      expect((await other('POST', COUNT, { text: long('The house.') })).status).toBe(201);
      const { uid } = (await other('POST', MACHINE, job(long('The house.')))).body;
      await until(async () => (await other('GET', `${MACHINE}${uid}/`)).body.status === 'completed');
      expect(answered).toEqual([]);
    });
  });

  it('does not fill the queue for another account', async () => {
    await beside(async () => {
      const refusal = await call('POST', COUNT, { text: long('The house.') });
      expect(refusal.status).toBe(503);
      expect(refusal.headers.get('retry-after')).toMatch(/^\d+$/);
      expect((await other('POST', COUNT, { text: long('The house.') })).status).toBe(201);
    });
  });

  it('answers each of its own requests when its turn comes', async () => {
    const sent = [1, 2, 3].map(() => call('POST', COUNT, { text: long('The house.') }));
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([201, 201, 201]);
  });

  it('has no queued word count begun whose client has gone away', async () => {
    const before = given;
    const begun = [1, 2].map(() => call('POST', COUNT, { text: long('endless:count') }));
    await until(() => given === before + 2);
    const { server: http } = server.server.app!;
    const closed = new Promise((resolve) => {
      http.once('request', (_, response) => response.once('close', resolve));
    });
    const client = new AbortController();
    limit = SMALL; // were it begun, it would be counted
    const gone = fetch(server.url + COUNT, {
      method: 'POST',
      headers: { authorization: `ApiKey ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ text: long('endless:count') }),
      signal: client.signal,
    });
    await until(() => given === before + 3);
    client.abort();
    await expect(gone).rejects.toThrow();
    await closed;
    const counted = await timedOut();
    await ended(begun);
    expect(await call('POST', COUNT, { text: long('endless:count') })).toMatchObject(refused);
    expect(await timedOut()).toBe(counted + 1);
  });

  /** With three endless texts of the account: two in processes, one queued. */
  async function beside(look: (answered: number[]) => Promise<void>): Promise<void> {
    const before = given;
    const answered: number[] = [];
    const sent = [1, 2, 3].map(async () => {
      const { status } = await call('POST', COUNT, { text: long('endless:count') });
      answered.push(status);
    });
    try {
      await until(() => given === before + 3);
      await look(answered);
    } finally {
      await ended(sent);
    }
  }

  /** Kills processes until all requests are answered: each with the fault that its task has ended two processes. */
  async function ended(sent: Promise<unknown>[]): Promise<void> {
    let over = false;
    void Promise.all(sent).then(() => {
      over = true;
    });
    await until(() => {
      for (const pid of processes()) process.kill(pid, 'SIGKILL');
      return over;
    });
  }
});
