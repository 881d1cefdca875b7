/** Tests of jobs with segments that no engine can translate, as customers see them. The engine is a fake. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FULL } from '../../../../scripts/full.ts';
import { accountNamed } from '../access/accounts.ts';
import type { AccountCredentials } from '../accounts/accounts.ts';
import { createPool } from '../database/connections.ts';
import { searchMemory } from '../memory/entries.ts';
import { claimTask, confirm, pathOf } from '../testing/editors.ts';
import {
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { expectSoundLedger, refundJob } from '../testing/ledger.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
const PRICE_HUMAN = 3;
const FUNDS = 1_000_000;

let server: TestServer;
let owner: pg.Pool;
let receiver: Receiver;
let account: AccountCredentials;
let engine: FakeEngine;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      return engine;
    },
    settings: {
      DRAGOMAN_SANDBOX_HOLD: '0',
      DRAGOMAN_PRICE_MACHINE: '1',
      DRAGOMAN_REPEAT_SHARE: '50',
      DRAGOMAN_METRICS_TOKEN: 'secret',
    },
  });
  owner = createPool(server.connection);
  account = await server.createAccount({ balanceCents: FUNDS });
});
afterEach(async () => {
  engine.failOn(null);
  await expectSoundLedger(server.database);
});
afterAll(async () => {
  await owner.end();
  await server.stop();
  await receiver.close();
});

type Environment = 'production' | 'sandbox';
const WHERE = { path: MACHINE, environment: 'production' as Environment };
const SANDBOX = { path: HUMAN, environment: 'sandbox' as Environment };

function call(environment: Environment, method: string, path: string, body?: unknown) {
  const root = environment === 'sandbox' ? `${server.url}/sandbox` : server.url;
  const key = environment === 'sandbox' ? account.sandbox_key : account.production_key;
  return createClient(root, key)(method, path, body);
}

async function order(uid: string, text: string, fields: object = {}, { path, environment } = WHERE) {
  const body = { uid, text, source_language: 'en', target_language: 'es', ...fields };
  const answer = await call(environment, 'POST', path, body);
  expect(answer.status).toBe(201);
  return answer.body;
}

/** Waits until the job is completed or failed, and returns its detail body. */
async function ended(uid: string, { path, environment } = WHERE) {
  return until(async () => {
    await owner.query(
      `with due as (update jobs set due_at = now() where uid = $1 and lease_token is null and due_at > now() returning 1)
       select pg_notify('dragoman_jobs', '') from due`,
      [uid],
    );
    const { body } = await call(environment, 'GET', `${path}${uid}/`);
    return ['completed', 'failed'].includes(body.status) && body;
  });
}

/** Returns the kinds and cents of a job's transfers, in order. */
async function moneyOf(uid: string): Promise<[string, number][]> {
  const { rows } = await owner.query(
    `select kind, amount_cents::int from transfers join jobs using (part, account_id, job_id)
      where uid = $1 order by transfer_id`,
    [uid],
  );
  return rows.map(({ kind, amount_cents }) => [kind, amount_cents]);
}

/** Returns a text of lines with four words each, whose lines at the given places cannot be translated. */
const linesOf = (count: number, ...poisoned: number[]) =>
  Array.from({ length: count }, (_, line) =>
    poisoned.includes(line) ? `A poison line ${line}` : `A sound line ${line}`,
  );
const translated = (lines: readonly string[]) =>
  lines.map((line) => (line.includes('poison') ? line : line.toUpperCase())).join('\n');

describe('a machine job with a segment that no engine can translate', () => {
  it('is completed with its source text, marked and not charged, if a tenth of the words are such', async () => {
    engine.failOn('poison', 'garbled');
    const lines = linesOf(10, 4);
    await order('tenth', lines.join('\n'), { callback_url: `${receiver.url}/tenth` });
    const body = await ended('tenth');
    expect(body).toMatchObject({ status: 'completed', untranslated: 1, price: 36, balance: FUNDS - 36 });
    expect(body.translated_text).toBe(translated(lines));
    expect(await moneyOf('tenth')).toEqual([
      ['hold', 40],
      ['release', 4],
      ['capture', 36],
    ]);
    const callback = JSON.parse((await receiver.next(({ path }) => path === '/tenth')).body);
    const { balance: _balance, client: _client, ...shown } = body;
    expect(callback).toEqual({ ...shown, order_number: expect.any(Number) });
    const { body: listed } = await call('production', 'GET', `${MACHINE}?uid=tenth`);
    expect(listed.objects).toMatchObject([{ price: 36 }]);
    const scraped = await fetch(`${server.url}/metrics`, { headers: { authorization: 'Bearer secret' } });
    expect(await scraped.text()).toContain(
      'dragoman_untranslated_segments_total{of="job",reason="garbled"} 1\n',
    );
  });

  it('fails and costs nothing if more than a tenth of the words are such', async () => {
    engine.failOn('poison', 'garbled');
    await order('above', [...linesOf(9, 4), 'Three sound words'].join('\n'));
    const body = await ended('above');
    expect(body).toMatchObject({ status: 'failed', price: 0 });
    expect(body).not.toHaveProperty('untranslated');
    expect(body.failure).toBe('the engine could not translate a segment: garbled');
    expect(await moneyOf('above')).toEqual([
      ['hold', 39],
      ['void', 39],
    ]);
  });

  it('fails if every segment is such, also if others are kept', async () => {
    engine.failOn('poison', 'garbled');
    const text = `A poison line.\n${'これは日本語の長い文章です。'.repeat(4)}`;
    await order('every', text);
    expect(await ended('every')).toMatchObject({ status: 'failed', price: 0 });
  });

  it('fails if an engine was unavailable for its segment, after a day of attempts', async () => {
    engine.failOn('poison', 'stopped');
    await order('away', linesOf(20, 3).join('\n'));
    await until(async () => {
      const { rows } = await owner.query(
        `select from jobs where uid = 'away' and due_at > now() + interval '40 s'`,
      );
      return rows.length === 1;
    });
    expect((await call('production', 'GET', `${MACHINE}away/`)).body.status).toBe(
      'machine_translate_in_progress',
    );
    await owner.query(`update jobs set created_at = now() - interval '25 h' where uid = 'away'`);
    expect(await ended('away')).toMatchObject({ status: 'failed', price: 0 });
  });

  it('is completed after the last attempt if the failure is not final', async () => {
    engine.failOn('poison', 'crashed');
    const lines = linesOf(12, 0);
    await order('crash', lines.join('\n'));
    expect(await ended('crash')).toMatchObject({
      translated_text: translated(lines),
      untranslated: 1,
      price: 44,
    });
    const asked = engine.requests.filter(({ segments }) =>
      JSON.stringify(segments).includes('poison line 0'),
    );
    expect(asked).toHaveLength(5);
  });

  it('is found among the segments of a request for which the engine throws an error', async () => {
    const sound = engine.draft;
    engine.draft = async (request) => {
      const isPoisoned = JSON.stringify(request.segments).includes('poison');
      if (isPoisoned && request.segments.length > 1) throw new Error('a bug of the engine');
      return sound.call(engine, request);
    };
    engine.failOn('poison', 'garbled');
    const lines = linesOf(16, 0);
    await order('thrown', lines.join('\n'));
    expect(await ended('thrown')).toMatchObject({ translated_text: translated(lines), untranslated: 1 });
    engine.draft = sound;
  });

  it('does not pay for repeats of it, whose words have another price', async () => {
    engine.failOn('poison', 'garbled');
    const lines = [...linesOf(30), 'A poison line x', 'A poison line x', 'A sound line 1', 'A sound line 1'];
    const created = await order('repeats', lines.join('\n'));
    expect(created).not.toHaveProperty('price');
    const body = await ended('repeats');
    // 30 lines at the full price, and two repeats at half of it.
    expect(body).toMatchObject({ untranslated: 2, price: 124 });
    expect(body.discounts).toEqual([{ kind: 'repeat', words: 8, share: 50 }]);
    expect(await moneyOf('repeats')).toEqual([
      ['hold', 130],
      ['release', 6],
      ['capture', 124],
    ]);
  });

  it('releases the whole hold if only its words had a price, also before an upgrade', async () => {
    engine.failOn('poison', 'garbled');
    engine.stall();
    await order('free', linesOf(10, 4).join('\n'));
    // As if all other words had an exact match, at the share 0.
    const discounts = JSON.stringify([{ kind: 'exact', words: 36, share: 0 }]);
    await owner.query(
      `with job as (update jobs set discounts = $1, price_cents = 4 where uid = 'free' returning part, account_id, job_id),
         hold as (update transfers t set amount_cents = 4 from job where t.job_id = job.job_id)
       update balances b set available_cents = available_cents + 36 from job
        where b.account_id = job.account_id and b.environment = 'production'`,
      [discounts],
    );
    await owner.query(`update jobs set lease_token = null, due_at = now() where uid = 'free'`);
    engine.resume();
    const body = await ended('free');
    expect(body).toMatchObject({
      untranslated: 1,
      price: 0,
      discounts: [{ kind: 'exact', words: 36, share: 0 }],
    });
    expect(await moneyOf('free')).toEqual([
      ['hold', 4],
      ['release', 4],
    ]);
    const upgraded = await call('production', 'PATCH', `${MACHINE}free/`, {
      status: 'upgrade',
      properties: null,
    });
    expect(upgraded.status).toBe(202);
    await expectSoundLedger(server.database);
    expect((await call('production', 'DELETE', `${HUMAN}free/`)).status).toBe(200);
  });

  it('leaves the rest to refund when an operator refunds the job', async () => {
    engine.failOn('poison', 'garbled');
    await order('refunded', linesOf(10, 4).join('\n'));
    const { balance } = await ended('refunded');
    const { ref } = await accountNamed(server.database, account.username);
    const entry = { environment: 'production', uid: 'refunded', memo: 'late' } as const;
    expect(await refundJob(server.database, ref, entry)).toEqual({ cents: 36, balance: balance + 36 });
  });

  it('changes no other byte of a document, and has a target in XLIFF', async () => {
    engine.failOn('poison', 'garbled');
    const sound = 'The house is big and red. '.repeat(10);
    const poison = '<p>A&nbsp;<b>poison</b> &#8211; l&iacute;ne\n here.</p>';
    const html = `<p>${sound}</p>\n${poison}\n`;
    await order('html', html, { text_format: 'html' });
    const { translated_text, untranslated } = await ended('html');
    expect(untranslated).toBe(1);
    expect(translated_text).toBe(`<p>${sound.toUpperCase()}</p>\n${poison}\n`);

    const unit = (id: number, source: string) =>
      `<trans-unit id="${id}"><source>${source}</source></trans-unit>`;
    const xliff = `<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="en" datatype="plaintext"><header/><body>${unit(1, sound.trim())}${unit(2, 'A poison line.')}</body></file></xliff>`;
    await order('xliff', xliff, { text_format: 'xliff' });
    const result = await ended('xliff');
    expect(result.untranslated).toBe(1);
    expect(result.translated_text).toMatch(/<target[^>]*>A poison line\.<\/target>/);
  });

  it('shows nothing of it in the legacy dialect', async () => {
    engine.failOn('poison', 'garbled');
    const legacy = await server.createAccount({ balanceCents: 1000, dialect: 'legacy' });
    const own = createClient(server.url, legacy.production_key);
    const lines = linesOf(10, 2);
    const job = { uid: 'old', text: lines.join('\n'), source_language: 'en', target_language: 'es' };
    expect((await own('POST', MACHINE, job)).status).toBe(201);
    const body = await until(async () => {
      const read = await own('GET', `${MACHINE}old/`);
      return read.body.status === 'deliver_ok' && read.body;
    });
    expect(body).toMatchObject({ translatedText: translated(lines), price: 36 });
    expect(body).not.toHaveProperty('untranslated');
  });

  it('shows the customer how many there are, and the operator why', async () => {
    engine.failOn('poison', 'too long');
    await order('shown', linesOf(10, 4).join('\n'));
    await ended('shown');
    const [customer, operator] = await Promise.all([
      createPerson(server, { role: 'customer', account }),
      createPerson(server, { role: 'operator' }),
    ]);
    const own = await customer.call('GET', '/api/account/jobs/shown?environment=production');
    expect(own.body).toMatchObject({ untranslated: 1, price: 36, words: 36 });
    const { rows } = await owner.query(`select job_id from jobs where uid = 'shown'`);
    const path = `/api/console/accounts/${account.username}/jobs/${rows[0].job_id}`;
    const { body } = await operator.call('GET', path);
    expect(body).toMatchObject({ untranslated: [{ failure: 'too long', segments: 1 }], price: 36 });
    const money = body.timeline.flatMap((step: { money?: string; cents: number }) =>
      step.money === undefined ? [] : [[step.money, step.cents]],
    );
    expect(money.toSorted()).toEqual([
      ['capture', 36],
      ['hold', 40],
      ['release', 4],
    ]);
    const ledger = await customer.call('GET', '/api/account/ledger?environment=production');
    const entry = ledger.body.entries.find(({ uid }: { uid: string }) => uid === 'shown');
    expect(entry).toMatchObject({ kind: 'capture', on_hold: 0, charged: 36, change: -36 });
  });
});

describe('a sandbox job with an untranslated segment', () => {
  it('is completed at the end of its delay, and charged then', async () => {
    engine.failOn('poison', 'garbled');
    await server.restart({ DRAGOMAN_SANDBOX_HOLD: '3600' });
    engine.failOn('poison', 'garbled');
    const lines = linesOf(10, 9);
    await order('delayed', lines.join('\n'), {}, SANDBOX);
    await until(async () => (await call('sandbox', 'GET', `${HUMAN}delayed/`)).body.status === 'translating');
    const { body: waiting } = await call('sandbox', 'GET', `${HUMAN}delayed/`);
    expect(waiting.price).toBe(40 * PRICE_HUMAN);
    expect(waiting).not.toHaveProperty('untranslated');
    await owner.query(`update jobs set hold_until = now(), due_at = now() where uid = 'delayed'`);
    const body = await ended('delayed', SANDBOX);
    expect(body).toMatchObject({
      untranslated: 1,
      price: 36 * PRICE_HUMAN,
      translated_text: translated(lines),
    });
    expect(await moneyOf('delayed')).toEqual([
      ['hold', 120],
      ['release', 12],
      ['capture', 108],
    ]);
    await server.restart();
  });

  it('keeps its mark when the customer rejects it, which completes it again', async () => {
    engine.failOn('poison', 'garbled');
    await order('again', linesOf(10, 0).join('\n'), {}, SANDBOX);
    const before = await ended('again', SANDBOX);
    expect((await call('sandbox', 'POST', `${HUMAN}again/reject/`, { reason: 'No.' })).status).toBe(200);
    expect(await ended('again', SANDBOX)).toEqual(before);
  });
});

describe('an upgrade of a machine job with an untranslated segment', () => {
  const upgrade = (uid: string, environment: Environment) =>
    call(environment, 'PATCH', `${MACHINE}${uid}/`, { status: 'upgrade', properties: null });

  it('gives the segment to the editor without a draft, and restores the mark when it is canceled', async () => {
    engine.failOn('poison', 'garbled');
    await order('up', linesOf(10, 7).join('\n'));
    const machine = await ended('up');
    const upgraded = await upgrade('up', 'production');
    expect(upgraded.body).toMatchObject({ status: 'new', price: 40 * PRICE_HUMAN });
    await until(async () => (await call('production', 'GET', `${HUMAN}up/`)).body.status === 'translating');
    const { rows } = await owner.query(
      `select s.draft, s.failure from segments s join jobs using (part, account_id, job_id)
        where uid = 'up' and (s.draft is null or s.failure is not null)`,
    );
    expect(rows).toEqual([{ draft: null, failure: 'garbled' }]);
    await expectSoundLedger(server.database);
    expect((await call('production', 'DELETE', `${HUMAN}up/`)).status).toBe(200);
    expect((await call('production', 'GET', `${MACHINE}up/`)).body).toEqual({
      ...machine,
      balance: expect.any(Number),
    });
  });

  it('is drafted again in the sandbox, which has no editors', async () => {
    engine.failOn('poison', 'garbled');
    const lines = linesOf(10, 7);
    await order('twice', lines.join('\n'), {}, { path: MACHINE, environment: 'sandbox' });
    await ended('twice', { path: MACHINE, environment: 'sandbox' });
    expect((await upgrade('twice', 'sandbox')).status).toBe(202);
    expect(await ended('twice', SANDBOX)).toMatchObject({ untranslated: 1, price: 36 * PRICE_HUMAN });

    await order('healed', lines.join('\n'), {}, { path: MACHINE, environment: 'sandbox' });
    await ended('healed', { path: MACHINE, environment: 'sandbox' });
    engine.failOn(null);
    expect((await upgrade('healed', 'sandbox')).status).toBe(202);
    const body = await ended('healed', SANDBOX);
    expect(body).toMatchObject({ price: 40 * PRICE_HUMAN });
    expect(body).not.toHaveProperty('untranslated');
    expect(body.translated_text).toBe(lines.join('\n').toUpperCase());
  });
});

describe('a human job with a segment that no engine can translate', () => {
  it('is charged in full and has no mark when an editor has translated the segment', async () => {
    engine.failOn('poison', 'garbled');
    const editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
    await owner.query('update users set review_share = 0');
    await order('human', linesOf(3, 1).join('\n'), {}, { path: HUMAN, environment: 'production' });
    await until(
      async () => (await call('production', 'GET', `${HUMAN}human/`)).body.status === 'translating',
    );
    const task = await claimTask(editor);
    expect(task.segments.map(({ failure }: { failure?: string }) => failure)).toEqual([
      undefined,
      'garbled',
      undefined,
    ]);
    for (const segment of task.segments) {
      const target = segment.draft ?? [{ text: 'Una línea mala 1' }];
      const saved = await confirm(editor, task, segment, { target });
      expect(saved.status, saved.text).toBe(200);
    }
    await editor.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    const body = await ended('human', { path: HUMAN, environment: 'production' });
    expect(body).toMatchObject({
      translated_text: 'A SOUND LINE 0\nUna línea mala 1\nA SOUND LINE 2',
      price: 12 * PRICE_HUMAN,
    });
    expect(body).not.toHaveProperty('untranslated');
    expect(await moneyOf('human')).toEqual([
      ['hold', 36],
      ['capture', 36],
    ]);
  });

  it('teaches the memory nothing that a machine left untranslated', async () => {
    const { ref } = await accountNamed(server.database, account.username);
    const learned = await searchMemory(server.database, ref, { limit: 100 });
    expect(learned.map(({ source, target }) => [source, target]).sort()).toEqual([
      ['A poison line 1', 'Una línea mala 1'],
      ['A sound line 0', 'A SOUND LINE 0'],
      ['A sound line 2', 'A SOUND LINE 2'],
    ]);
  });
});

describe('any one segment of many', () => {
  const ROUNDS = FULL ? 500 : 5;

  it(`that fails is the only one that keeps its source text, in ${ROUNDS} jobs`, async () => {
    engine.failOn('poison', 'garbled');
    const { balance: before } = await order('chaos', 'One.', {}, WHERE).then(() => ended('chaos'));
    // A linear congruential generator: the same numbers in each run.
    let seed = 20_261_121;
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return seed % below;
    };
    const jobs = Array.from({ length: ROUNDS }, (_, round) => {
      const count = 10 + random(40);
      return {
        uid: `chaos-${round}`,
        lines: linesOf(count, random(count)).map((line) => `${line} ${round}`),
      };
    });
    let spent = 0;
    for (let start = 0; start < jobs.length; start += 50) {
      const some = jobs.slice(start, start + 50);
      await Promise.all(some.map(({ uid, lines }) => order(uid, lines.join('\n'))));
      for (const { uid, lines } of some) {
        const price = (lines.length - 1) * 5;
        expect(await ended(uid), uid).toMatchObject({
          status: 'completed',
          translated_text: translated(lines),
          untranslated: 1,
          price,
        });
        spent += price;
      }
    }
    expect((await ended('chaos')).balance).toBe(before - spent);
  });
});
