/** Tests of translating documents in the web app: options, quotes, creation, and the download of results. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  waitForStatus,
} from '../../testing/harness.ts';
import { expectSoundLedger } from '../../testing/ledger.ts';
import { attachmentOf, cleanFileName, resultFileName } from './files.ts';

const DOCUMENTS = '/api/account/documents';
const TEXT = 'The house is big.\n\nThe garden is small.';
const SRT = '1\r\n00:00:01,000 --> 00:00:02,500\r\nThe house is big.\r\n';

let server: TestServer;
let customer: TestPerson;
beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_PRICE_MACHINE: '2', DRAGOMAN_PRICE_HUMAN: '10' } });
  customer = await createPerson(server, { role: 'customer' });
});
afterAll(async () => {
  await expectSoundLedger(server.database);
  await server.stop();
});

/** Quotes a document, for Spanish unless the fields name other target languages. */
async function quoted(fields: object = {}, by = customer) {
  const { target_language: _, ...rest } = document();
  return by.call('POST', `${DOCUMENTS}/quote`, { ...rest, target_languages: ['es'], ...fields });
}

const document = (fields: object = {}) => ({
  tier: 'machine',
  name: 'house.txt',
  text: TEXT,
  source_language: 'en',
  target_language: 'es',
  ...fields,
});

/** Sends a document that the server accepts. @returns the job, and whether an earlier request created it */
async function send(fields: object = {}, headers = {}, by = customer) {
  const { status, body } = await by.call('POST', DOCUMENTS, document(fields), headers);
  expect([200, 201], JSON.stringify(body)).toContain(status);
  expect(body.repeated).toBe(status === 200);
  return body;
}

const finished = ({ uid, environment }: { uid: string; environment: string }, by = customer) =>
  waitForStatus(by.call, `/api/account/jobs/${uid}?environment=${environment}`);

async function listed(query = '?tier=machine', by = customer) {
  return (await by.call('GET', `/api/account/jobs${query}`)).body;
}

it('reads XLIFF and HTML with the fields of the API, and counts XLIFF by them', async () => {
  const unit =
    '<trans-unit id="1"><source>The red house</source><target state="translated">one</target></trans-unit>';
  const xliff = {
    text: `<xliff version="1.2"><file source-language="en" datatype="plaintext" original="a"><body>${unit}</body></file></xliff>`,
    text_format: 'xliff',
  };
  const wordsOf = async (fields: object) => (await quoted(fields)).body.quotes[0].quote.words;
  expect(await wordsOf(xliff)).toBe(0);
  expect(await wordsOf({ ...xliff, retranslate: true })).toBe(3);
  const page = { text: '<html lang="en"><p>The house.</p></html>', text_format: 'html' };
  const jobs = [await send({ ...page, set_lang: true }), await send(page)];
  const results = await Promise.all(
    jobs.map(async ({ job }) => {
      await finished(job);
      return (await customer.call('GET', `/api/account/jobs/${job.uid}/result`)).text;
    }),
  );
  expect(results.map((text) => /lang="(..)"/.exec(text)?.[1])).toEqual(['es', 'en']);
});

describe('the options of documents', () => {
  it('are the offered languages, the formats with their extensions, and the tones', async () => {
    const { body } = await customer.call('GET', `${DOCUMENTS}/options`);
    const english = body.languages.find((one: { source_language: string }) => one.source_language === 'en');
    expect(english.target_languages).toContain('es');
    expect(body.formats).toContainEqual({ format: 'xliff', extensions: ['xlf', 'xliff'] });
    expect(body).toMatchObject({ tones: ['Informal', 'Formal'], max_bytes: 10_485_760, mails: false });
  });
});

describe('a quote', () => {
  it('has the number of words and the price of the job, and creates nothing', async () => {
    const { total } = await listed();
    const { status, body } = await quoted();
    expect(status).toBe(200);
    expect(body.quotes).toEqual([
      {
        target_language: 'es',
        quote: { source_language: 'en', words: 8, price: 16, discounts: [] },
        refusal: null,
      },
    ]);
    const human = await quoted({ tier: 'human' });
    expect(human.body.quotes[0].quote.price).toBe(80);
    expect((await listed()).total).toBe(total);
  });

  it('detects the source language', async () => {
    const text = 'The quick brown fox jumps over the lazy dog, and nobody in the village is surprised.';
    const { body } = await quoted({ text, source_language: '' });
    expect(body.quotes[0].quote.source_language).toBe('en');
  });

  it('of several target languages has the price or the refusal of each', async () => {
    const { status, body } = await quoted({ target_languages: ['es', 'en', 'tlh', 'es'] });
    expect(status).toBe(200);
    expect(body.quotes).toMatchObject([
      { target_language: 'es', quote: { price: 16 }, refusal: null },
      {
        target_language: 'en',
        quote: null,
        refusal: { reasons: { source_language: { code: 'pair_not_offered' } } },
      },
      {
        target_language: 'tlh',
        quote: null,
        refusal: { reasons: { target_language: { code: 'pair_not_offered' } } },
      },
    ]);
  });

  it('needs a target language', async () => {
    const { status, body } = await quoted({ target_languages: [] });
    expect([status, Object.keys(body.error.fields)]).toEqual([400, ['target_languages']]);
  });
});

describe('a broken document', () => {
  it.each([
    ['srt', 'Hello.\nThere are no times here.', 1, 1],
    ['xliff', '<xliff version="1.2">\n<file></xliff>', 2, 15],
  ])(
    'in %s is refused with the line and the column, and nothing is charged',
    async (text_format, text, line, column) => {
      const { total } = await listed();
      const { quotes } = (await quoted({ text, text_format })).body;
      const { status, body } = await customer.call('POST', DOCUMENTS, document({ text, text_format }));
      expect(status).toBe(400);
      for (const error of [quotes[0].refusal, body.error]) {
        expect(error.code).toBe('invalid_request');
        expect(error.reasons.text).toMatchObject({ code: 'document_invalid', line, column });
        expect(error.fields.text).toContain(`(line ${line}, column ${column})`);
      }
      expect((await listed()).total).toBe(total);
    },
  );

  it.each([
    [{ text: ' \n' }, 'text', 'not_empty'],
    [{ text: 'a\0b' }, 'text', 'unusable'],
    [{ text_format: 'doc' }, 'text_format', 'one_of'],
    [{ target_language: 'en' }, 'source_language', 'pair_not_offered'],
    [{ target_language: 'tlh' }, 'target_language', 'pair_not_offered'],
    [{ text: '12 + 12 = 24', source_language: '' }, 'source_language', 'language_undetermined'],
    [{ name: 'x'.repeat(256) }, 'name', 'text_at_most'],
  ])('is refused with an error that names its wrong field: %j', async (fields, field, code) => {
    const { status, body } = await customer.call('POST', DOCUMENTS, document(fields));
    expect(status, JSON.stringify(body)).toBe(400);
    expect(body.error.reasons[field].code).toBe(code);
  });
});

describe('a document', () => {
  it('becomes a job with the name of its file, and its price is held', async () => {
    const { job } = await send({ instructions: 'Be brief.', tone: 'Formal' });
    expect(job).toMatchObject({ name: 'house.txt', tier: 'machine', price: 16, text_format: 'text' });
    const read = await finished(job);
    expect(read).toMatchObject({ name: 'house.txt', instructions: 'Be brief.', tone: 'Formal', words: 8 });
    const { objects } = await listed();
    expect(objects.find(({ uid }: { uid: string }) => uid === job.uid).name).toBe('house.txt');
    const latest = (await customer.call('GET', '/api/account')).body.latest_jobs.production;
    expect(latest.map(({ name }: { name: string | null }) => name)).toContain('house.txt');
  });

  it('can be a pasted text without a name, in the sandbox', async () => {
    const { job } = await send({ name: undefined, environment: 'sandbox' });
    expect(job).toMatchObject({ name: null, environment: 'sandbox' });
    await finished(job);
  });

  it('that two browsers send at the same time becomes one job, and a later retry finds it', async () => {
    const other = await createPerson(server, { role: 'customer', account: customer.account! });
    const fields = { name: 'twice.txt' };
    const all = await Promise.all([send(fields), send(fields, {}, other), send(fields)]);
    expect(new Set(all.map(({ job }) => job.uid)).size).toBe(1);
    expect(all.filter(({ repeated }) => !repeated)).toHaveLength(1);
    expect(await send(fields)).toMatchObject({ repeated: true, job: { uid: all[0]!.job.uid } });
  });

  it('creates another job when it is sent again with another tier, name, environment or idempotency key', async () => {
    const first = await send({ name: 'again.txt' });
    const others = [
      await send({ name: 'again.txt', tier: 'human' }),
      await send({ name: 'again-2.txt' }),
      await send({ name: 'again.txt', environment: 'sandbox' }),
      await send({ name: 'again.txt' }, { 'idempotency-key': 'again' }),
    ];
    const uids = new Set([first, ...others].map(({ job }) => job.uid));
    expect([uids.size, others.some(({ repeated }) => repeated)]).toEqual([5, false]);
    const retried = await send({ name: 'again.txt' }, { 'idempotency-key': 'again' });
    expect(retried).toMatchObject({ repeated: true, job: { uid: others[3].job.uid } });
  });

  it('of another user than the signed-in one is refused, and nothing is created', async () => {
    const other = await createPerson(server, { role: 'customer' });
    const sent = document({ name: 'mine.txt', user_id: customer.userId });
    for (const { status, body } of [
      await other.call('POST', DOCUMENTS, sent),
      await quoted({ user_id: customer.userId }, other),
    ]) {
      expect([status, body.error.code]).toEqual([409, 'conflict']);
    }
    expect((await listed('?tier=machine', other)).total).toBe(0);
    const { job } = await send({ name: 'mine.txt', user_id: customer.userId });
    expect(await send({ name: 'mine.txt' })).toMatchObject({ repeated: true, job: { uid: job.uid } });
  });

  it('with a price that is not the price of the job is refused, unless an earlier request created the job', async () => {
    const sent = document({ name: 'price.txt', price: 15 });
    const { status, body } = await customer.call('POST', DOCUMENTS, sent);
    expect([status, body.error.code, body.error.price]).toEqual([409, 'price_changed', 16]);
    const { job } = await send({ name: 'price.txt', price: 16 });
    expect(await send({ name: 'price.txt', price: 15 })).toMatchObject({
      repeated: true,
      job: { uid: job.uid },
    });
  });

  it('that the account cannot pay is refused with the missing amount', async () => {
    const account = await server.createAccount({ prepaid: true, balanceCents: 20 });
    const prepaid = await createPerson(server, { role: 'customer', account });
    await send({}, {}, prepaid);
    const { status, body } = await prepaid.call('POST', DOCUMENTS, document({ name: 'b.txt' }));
    expect([status, body.error.code, body.error.missing]).toEqual([402, 'insufficient_balance', 12]);
    expect((await listed('?tier=machine', prepaid)).total).toBe(1);
  });
});

describe('the download of a result', () => {
  it('has the name of the file with the target language, its type, and the translation', async () => {
    const { job } = await send({ name: 'Film „Größe“.SRT', text: SRT, text_format: 'srt' });
    await finished(job);
    const { status, headers, text } = await customer.call('GET', `/api/account/jobs/${job.uid}/result`);
    expect([status, text]).toEqual([200, SRT.replace('The house is big.', 'THE HOUSE IS BIG.')]);
    expect(headers.get('content-type')).toBe('application/x-subrip; charset=utf-8');
    expect(headers.get('content-disposition')).toBe(
      `attachment; filename="Film__Gr__e_.es.SRT"; filename*=UTF-8''Film%20%E2%80%9EGr%C3%B6%C3%9Fe%E2%80%9C.es.SRT`,
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it('is answered with 404 before the job is completed', async () => {
    const { job } = await send({ tier: 'human', name: 'wait.txt' });
    expect((await customer.call('GET', `/api/account/jobs/${job.uid}/result`)).status).toBe(404);
  });
});

describe('the name of a translated file', () => {
  it.each([
    ['guide.html', 'html', 'guide.de.html'],
    ['Guide.v2.HTM', 'html', 'Guide.v2.de.HTM'],
    ['guide.html', 'text', 'guide.html.de.txt'],
    ['order-1', 'xliff', 'order-1.de.xlf'],
    ['../../etc/passwd.txt', 'text', '_.._.._etc_passwd.de.txt'],
    ['.htaccess.txt', 'text', '_.htaccess.de.txt'],
    ['.txt', 'text', '_.de.txt'],
    ['a\r\nset-cookie: x"; filename=b.txt', 'text', 'aset-cookie_ x_; filename=b.de.txt'],
    ['invoice\u202etxt.exe', 'text', 'invoicetxt.exe.de.txt'],
    [`${'字'.repeat(300)}.srt`, 'srt', `${'字'.repeat(60)}.de.srt`],
  ] as const)('of the file %j in the format %s is %j', (name, format, expected) => {
    expect(resultFileName(name, format, 'de')).toBe(expected);
  });

  it('keeps letters of every script and has no invisible characters', () => {
    expect(cleanFileName(' دليل\u200f 手册\0\u2028.html ')).toBe('دليل 手册.html');
  });

  it('is one quoted value in ASCII in the header Content-Disposition', () => {
    expect(attachmentOf(`a"b;'(\ud800)*é.txt`)).toBe(
      `attachment; filename="a_b_______.txt"; filename*=UTF-8''a%22b%3B%27%28%EF%BF%BD%29%2A%C3%A9.txt`,
    );
  });
});
