/** Tests over HTTP which bodies of creates are accepted or refused, and which of their fields are stored. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Answer,
  createClient,
  startTestServer,
  type TestServer,
  waitForStatus,
} from '../../testing/harness.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
const MAX_BYTES = 1000;

let server: TestServer;
let owner: pg.Client;
let engine: FakeEngine;
let call: ReturnType<typeof createClient>;

beforeAll(async () => {
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      // With these capabilities of the fake engine, the worker passes tone and instructions to it.
      const capabilities = { ...engine.capabilities, tone: true, instructions: true };
      return Object.assign(engine, { capabilities });
    },
    settings: { DRAGOMAN_MAX_TEXT_BYTES: String(MAX_BYTES), DRAGOMAN_METRICS_TOKEN: 'for-the-test' },
  });
  owner = await server.connectOwner();
  const account = await server.createAccount({ balanceCents: 1_000_000 });
  call = createClient(server.url, account.production_key);
});
afterAll(() => server.stop());

let made = 0;
const newUid = () => `request-${++made}-${performance.now()}`;
const job = (fields: object = {}) => ({
  text: 'The house is big.',
  source_language: 'en',
  target_language: 'es',
  ...fields,
});

const ALL = {
  target_text: 'La casa es grande.',
  text_format: 'text',
  callback_url: 'http://127.0.0.1:9/told',
  tone: 'Informal',
  topics: ['tech', 'sports'],
  instructions: 'Briefly.',
};

async function kept(uid: string) {
  const { rows } = await owner.query(
    `select j.tier, source_language, target_language, text_format, tone, topics, callback_url, dialect, words,
            characters, price_cents::integer as price,
            left(encode(request_hash, 'hex'), 16) as hash,
            left(encode(upgrade_hash, 'hex'), 16) as upgrade_hash,
            (select json_object_agg(kind, body) from job_texts t where t.part = j.part and t.job_id = j.job_id) as texts
       from jobs j where uid = $1`,
    [uid],
  );
  return rows[0];
}

describe('creating a job stores', () => {
  it('every field of a single job and of a job in a bulk', async () => {
    const [alone, bulk] = [newUid(), newUid()];
    expect((await call('POST', HUMAN, job({ ...ALL, uid: alone }))).status).toBe(201);
    const answer = await call('PATCH', HUMAN, { objects: [job({ ...ALL, uid: bulk })] });
    expect(answer.status).toBe(202);
    for (const uid of [alone, bulk]) {
      expect(await kept(uid)).toMatchObject({
        tier: 'human',
        source_language: 'en',
        target_language: 'es',
        text_format: 'text',
        tone: 'Informal',
        topics: ['tech', 'sports'],
        callback_url: ALL.callback_url,
        dialect: 'spec',
        words: 4,
        characters: 17,
        price: 12,
        texts: { source: 'The house is big.', supplied: ALL.target_text, instructions: 'Briefly.' },
      });
    }
    expect((await kept(alone)).hash).toBe((await kept(bulk)).hash);
  });

  it('no target_text for a machine job, and nothing for empty fields', async () => {
    const [machine, empty] = [newUid(), newUid()];
    await call('POST', MACHINE, job({ ...ALL, uid: machine }));
    expect((await kept(machine)).texts).not.toHaveProperty('supplied');
    const nothing = { tone: '', callback_url: '', instructions: '', target_text: '', brand: '', topics: [] };
    expect((await call('POST', HUMAN, job({ ...nothing, uid: empty }))).status).toBe(201);
    expect(await kept(empty)).toMatchObject({ tone: null, callback_url: null, topics: null });
    expect((await kept(empty)).hash).toBe((await keptOf(job())).hash);
  });

  it.each([
    ['tone before formality', { tone: 'Formal', formality: 'Informal' }, { tone: 'Formal' }],
    ['formality where there is no tone', { tone: null, formality: 'Informal' }, { tone: 'Informal' }],
    ['fifty topics', { topics: Array(50).fill('tech') }, { topics: Array(50).fill('tech') }],
    ['one topic', { topics: ['crafts'] }, { topics: ['crafts'] }],
    ['html', { text_format: 'html' }, { text_format: 'html' }],
    [
      'subtitles',
      { text_format: 'srt', text: '1\n00:00:00,000 --> 00:00:01,000\nBig.\n' },
      { text_format: 'srt' },
    ],
    ['instructions of full length', { instructions: '𝒳'.repeat(10_000) }, {}],
    ['a text of full length', { text: `é${'x'.repeat(MAX_BYTES - 2)}` }, {}],
    ['a uid of full length', { uid: `u${'~'.repeat(127)}` }, {}],
  ])('valid values unchanged: %s', async (_, fields, row) => {
    expect(await keptOf(job(fields))).toMatchObject(row);
  });

  /** Creates a job and returns its stored row. */
  async function keptOf(body: object) {
    const { status, body: answer } = await call('POST', HUMAN, { uid: newUid(), ...body });
    expect(status).toBeLessThan(300);
    return kept(answer.uid);
  }

  it('each segment with its draft and the engine route of the draft, for the editor', async () => {
    const uid = newUid();
    await call('POST', HUMAN, job({ uid, text: 'The house. It is big.' }));
    await waitForStatus(call, `${HUMAN}${uid}/`, 'translating');
    const { rows } = await owner.query(
      `select position, segment_id, source, draft, route, notes, segments.failure
         from segments join jobs using (part, account_id, job_id) where uid = $1 order by position`,
      [uid],
    );
    const common = { segment_id: expect.any(String), route: 'fake:en-es', notes: [], failure: null };
    expect(rows).toEqual([
      { ...common, position: 0, source: [{ text: 'The house.' }], draft: [{ text: 'THE HOUSE.' }] },
      { ...common, position: 1, source: [{ text: 'It is big.' }], draft: [{ text: 'IT IS BIG.' }] },
    ]);
    expect(rows[0].segment_id).not.toBe(rows[1].segment_id);
  });

  it('instructions and tone for the engine, or target_text as the draft, in single and bulk creates', async () => {
    const make = async (fields: object, inBulk: boolean) => {
      const uid = newUid();
      const text = `The h${'o'.repeat(made)}use.`;
      const body = job({ ...fields, uid, text });
      await (inBulk ? call('PATCH', HUMAN, { objects: [body] }) : call('POST', HUMAN, body));
      await waitForStatus(call, `${HUMAN}${uid}/`, 'translating');
      return { uid, asked: engine.requests.find(({ segments }) => JSON.stringify(segments).includes(text)) };
    };
    for (const inBulk of [false, true]) {
      const { asked } = await make({ instructions: 'Briefly.', tone: 'Formal' }, inBulk);
      expect(asked?.context).toMatchObject({ instructions: 'Briefly.', tone: 'Formal' });
      const supplied = await make({ target_text: 'La casa.' }, inBulk);
      expect(supplied.asked).toBeUndefined();
      const { rows } = await owner.query(
        `select draft, route from segments join jobs using (part, account_id, job_id) where uid = $1`,
        [supplied.uid],
      );
      expect(rows).toEqual([{ draft: [{ text: 'La casa.' }], route: 'supplied' }]);
    }
  });

  // A request may be repeated after an upgrade of the program, so every version must compute the same hashes.
  it('the same request hash in every version of the program', async () => {
    const [human, machine] = [newUid(), newUid()];
    await call('POST', HUMAN, job({ ...ALL, uid: human }));
    await call('POST', MACHINE, job({ ...ALL, uid: machine }));
    expect([(await kept(human)).hash, (await kept(machine)).hash]).toEqual([
      '95e8bec11a5039e8',
      'c4e086e37329b9c9',
    ]);
    const keyed = async (method: string, path: string, body: object) => {
      const key = newUid();
      expect((await call(method, path, body, { 'idempotency-key': key })).status).toBeLessThan(300);
      const { rows } = await owner.query(
        `select left(encode(request_hash, 'hex'), 16) as hash from idempotency where key = $1`,
        [key],
      );
      return rows[0].hash;
    };
    expect([
      await keyed('POST', HUMAN, job()),
      await keyed('POST', MACHINE, job()),
      await keyed('PATCH', HUMAN, { objects: [job({ uid: 'of-the-bulk' }), job(ALL)] }),
    ]).toEqual(['3f60dd165312226b', 'f6a3701802c17d6b', '2f676c0e134cb58f']);
  });
});

describe('a create is refused', () => {
  const TOPICS = 'politics, gossip, sex & relationships, crafts, parenting, startups, tech, sports';
  it.each([
    ['topics of which one is no text', { topics: ['tech', 5] }, `topics: "5" is not one of ${TOPICS}.`],
    ['topics of which none is one', { topics: [5] }, `topics: "5" is not one of ${TOPICS}.`],
    [
      'more topics than fifty',
      { topics: Array(51).fill('tech') },
      'topics: must be a list of at most 50 items.',
    ],
    ['unknown topics', { topics: ['tech', 'tehc'] }, `topics: "tehc" is not one of ${TOPICS}.`],
    ['a uid that begins with a space', { uid: ' a' }, /^uid: must be 1 to 128/],
    ['a uid that ends with a space', { uid: 'a ' }, /^uid: must be 1 to 128/],
    [
      'a long wrong word, cut',
      { tone: 'x'.repeat(41) },
      `tone: "${'x'.repeat(40)}…" is not one of Informal, Formal.`,
    ],
    [
      'a wrong word that is not so long',
      { tone: 'x'.repeat(40) },
      `tone: "${'x'.repeat(40)}" is not one of Informal, Formal.`,
    ],
    ['an empty target language', { target_language: '' }, 'target_language: must not be empty.'],
    ['a wrong formality', { formality: 'Rude' }, 'formality: "Rude" is not one of Informal, Formal.'],
    ['a list for a uid', { uid: ['a'] }, 'uid: must be a string.'],
    ['a uid of one dot', { uid: '.' }, /^uid: must be 1 to 128 .* neither "." nor ".."/],
    ['a uid of two dots', { uid: '..' }, /^uid: must be 1 to 128/],
    ['a NUL in instructions', { instructions: 'a\0' }, /^instructions: must not contain NUL/],
  ])('when it has %s', async (_, fields, error) => {
    const answer = await call('POST', HUMAN, job(fields));
    expect(answer.status).toBe(400);
    if (typeof error === 'string') expect(answer.body.error).toBe(error);
    else expect(answer.body.error).toMatch(error);
    expect(answer.body.error.split('\n')).toHaveLength(1);
  });

  it.each(['\ufffe', '\uffff', '\ufdd0', '\ufdef', '\u{1fffe}', '\u{9ffff}', '\u{10ffff}'])(
    'when any field has the noncharacter %j',
    async (noncharacter) => {
      const fields = ['text', 'target_text', 'instructions', 'uid', 'brand', 'callback_url'];
      for (const field of fields) {
        const answer = await call('POST', HUMAN, job({ [field]: `The house ${noncharacter} is big.` }));
        expect([answer.status, answer.body.error]).toEqual([
          400,
          `${field}: must not contain NUL characters, noncharacters such as U+FFFF, or half surrogate pairs.`,
        ]);
      }
    },
  );

  it('but not when a field has a character whose code is next to a noncharacter, or when a longer uid contains dots', async () => {
    const text = 'The house \ufdcf \ufdf0 \ufffd \u{1fffd} \u{20000} \u{10fffd} \u{1f642} is big.';
    for (const uid of ['...', '.a', 'a..']) {
      const answer = await call('POST', HUMAN, job({ text, uid }));
      expect(answer.status).toBe(201);
      expect((await call('GET', `${HUMAN}${uid}/`)).body.text).toBe(text);
    }
  });

  it('but not for an invalid formality when the request has a tone', async () => {
    for (const formality of ['formal', 0, '', null]) {
      const answer = await call('POST', HUMAN, job({ tone: 'Formal', formality }));
      expect([answer.status, answer.body.tone]).toEqual([201, 'Formal']);
    }
    const bulk = await call('PATCH', HUMAN, { objects: [job({ tone: 'Formal', formality: 'formal' })] });
    expect(bulk.status).toBe(202);
  });

  it('but not for an empty uid: the server assigns one', async () => {
    const [one, other] = [
      await call('POST', HUMAN, job({ uid: '' })),
      await call('POST', HUMAN, job({ uid: '' })),
    ];
    expect([one.status, other.status]).toEqual([201, 201]);
    expect(one.body.uid).not.toBe(other.body.uid);
    expect((await call('GET', `${HUMAN}${one.body.uid}/`)).status).toBe(200);
  });

  it.each(['text', 'target_text'])('with 413 when %s is one byte too long', async (field) => {
    const answer = await call('POST', HUMAN, job({ [field]: `é${'x'.repeat(MAX_BYTES - 1)}` }));
    expect([answer.status, answer.body.error]).toEqual([
      413,
      expect.stringMatching(new RegExp(`^${field}: must be at most ${MAX_BYTES} bytes`)),
    ]);
  });

  it('when the body is not an object', async () => {
    for (const body of [null, 5, '"text"', [], true]) {
      const sent = typeof body === 'string' ? body : JSON.stringify(body);
      const answer = await call('POST', HUMAN, sent);
      expect([answer.status, answer.body]).toEqual([400, { error: 'body: must be a JSON object.' }]);
    }
  });
});

describe('an upgrade request', () => {
  async function upgraded(properties: unknown): Promise<{ uid: string; answer: Answer }> {
    const uid = newUid();
    await call('POST', MACHINE, job({ uid }));
    await waitForStatus(call, `${MACHINE}${uid}/`);
    return { uid, answer: await call('PATCH', `${MACHINE}${uid}/`, { status: 'upgrade', properties }) };
  }
  const { target_text: _, text_format: __, ...properties } = ALL;

  it('stores only the fields that it may change, with a hash that is the same in every version', async () => {
    const { uid, answer } = await upgraded({ ...properties, brand: null, uid: 'another', text: 'Another.' });
    expect(answer.status).toBe(202);
    const row = await kept(uid);
    expect(row).toMatchObject({
      tier: 'human',
      tone: 'Informal',
      topics: properties.topics,
      callback_url: properties.callback_url,
      texts: { source: 'The house is big.', instructions: 'Briefly.' },
    });
    expect(row.upgrade_hash).toBe('d8205d14b991aac2');
  });

  it('has no effect on properties that are null, and accepts formality as tone', async () => {
    const nothing = await upgraded({ tone: null, topics: null });
    expect(nothing.answer.status).toBe(202);
    const again = await call('PATCH', `${MACHINE}${nothing.uid}/`, { status: 'upgrade' });
    expect(again.status).toBe(202);
    const { uid } = await upgraded({ formality: 'Formal' });
    expect((await kept(uid)).tone).toBe('Formal');
  });

  it('removes a value of the machine job when its property is an empty string', async () => {
    const uid = newUid();
    await call('POST', MACHINE, job({ uid, tone: 'Formal', callback_url: 'https://example.com/done' }));
    await waitForStatus(call, `${MACHINE}${uid}/`);
    const properties = { callback_url: '', tone: '' };
    const answer = await call('PATCH', `${MACHINE}${uid}/`, { status: 'upgrade', properties });
    expect(answer.status).toBe(202);
    expect(await kept(uid)).toMatchObject({ callback_url: null, tone: null });
  });

  it.each([
    [{ status: null }, 'status: This field is required.'],
    [{ properties: {} }, 'status: This field is required.'],
    [{ status: 'up', properties: [] }, 'status: must be "upgrade".\nproperties: must be a JSON object.'],
  ])('is refused when the body is %j', async (body, error) => {
    const uid = newUid();
    await call('POST', MACHINE, job({ uid }));
    const answer = await call('PATCH', `${MACHINE}${uid}/`, body);
    expect([answer.status, answer.body]).toEqual([400, { error }]);
  });
});

it('the metric dragoman_jobs_created_total counts new jobs but not repeated creates', async () => {
  const counted = async () => {
    const headers = { authorization: 'Bearer for-the-test' };
    const text = await (await fetch(`${server.url}/metrics`, { headers })).text();
    return Number(/^dragoman_jobs_created_total (\d+)$/m.exec(text)?.[1]);
  };
  const before = await counted();
  const [first, second, third] = [newUid(), newUid(), newUid()];
  for (const _ of [1, 2]) await call('POST', HUMAN, job({ uid: first }));
  expect(await counted()).toBe(before + 1);
  const objects = [first, second, third].map((uid) => job({ uid }));
  for (const _ of [1, 2]) expect((await call('PATCH', HUMAN, { objects })).status).toBe(202);
  expect(await counted()).toBe(before + 3);
});
