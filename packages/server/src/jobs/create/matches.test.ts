/** Tests of prices by match: repeats, and sentences that the translation memory of the account has. */
import { createFake } from '@dragoman/engines/fake';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { accountNamed } from '../../access/accounts.ts';
import { createConnection } from '../../database/connections.ts';
import { topUp as addFunds, verifyLedger } from '../../ledger/ledger.ts';
import { INLINE_LENGTH } from '../../scanning/scanner.ts';
import { editNext, HUMAN, orderEdit } from '../../testing/editors.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
  waitForStatus,
} from '../../testing/harness.ts';
import { expectSoundLedger } from '../../testing/ledger.ts';
import { MAX_COMPARED_SEGMENTS } from './matches.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const QUOTE = '/api/v1/quote/';
const MEMORY = '/api/account/memory';
const HOUSE = 'The house is big.';
const PAIR = { source_language: 'en', target_language: 'es' };
const PAIR_BACK = { source_language: 'es', target_language: 'en' };
const job = (text: string, fields: object = {}) => ({ text, ...PAIR, ...fields });

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    engine: () => createFake(),
    settings: {
      DRAGOMAN_PRICE_HUMAN: '10',
      DRAGOMAN_PRICE_MACHINE: '2',
      DRAGOMAN_REPEAT_SHARE: '50',
      DRAGOMAN_FUZZY95_SHARE: '60',
      DRAGOMAN_FUZZY85_SHARE: '70',
      DRAGOMAN_FUZZY75_SHARE: '90',
      DRAGOMAN_SANDBOX_HOLD: '0',
    },
  });
});
afterAll(() => server.stop());
afterEach(() => expectSoundLedger(server.database));

interface Customer {
  call: ReturnType<typeof createClient>;
  sandbox: ReturnType<typeof createClient>;
  person: TestPerson;
}

async function createCustomer(): Promise<Customer> {
  const account = await server.createAccount({ balanceCents: 1_000 });
  const person = await createPerson(server, { role: 'customer', account });
  return {
    call: createClient(server.url, account.production_key),
    sandbox: createClient(`${server.url}/sandbox`, account.sandbox_key),
    person,
  };
}

/** Imports a translation of a sentence into the memory of a customer. */
async function importEntry({ person }: Customer, source: string): Promise<void> {
  const seg = (language: string, text: string) => `<tuv xml:lang="${language}"><seg>${text}</seg></tuv>`;
  const tmx = `<tmx version="1.4"><body><tu>${seg('en', source)}${seg('es', 'La casa.')}</tu></body></tmx>`;
  const { status, text } = await person.call('POST', `${MEMORY}/import`, { from: 'en', to: 'es', tmx });
  expect(status, text).toBe(200);
}

/** Adds a translation of a sentence to the memory of a customer, as if an editor had confirmed it in a delivered job. */
async function remember(customer: Customer, source: string): Promise<void> {
  await importEntry(customer, source);
  const text =
    'update memory set weight = 2 where account_id = (select account_id from accounts where username = $1)';
  await server.database.query({ name: 'test.confirmed', text }, [customer.person.account!.username]);
}

async function withdrawAll({ person }: Customer): Promise<void> {
  const { body } = await person.call('GET', MEMORY);
  for (const { memory_id: id } of body.entries) {
    const { status, text } = await person.call('POST', `${MEMORY}/${id}/withdraw`, { reason: 'Wrong.' });
    expect(status, text).toBe(200);
  }
}

/** Returns the only task of a job. */
async function taskOf(uid: string): Promise<string> {
  const text = 'select task_id from tasks join jobs using (part, account_id, job_id) where uid = $1';
  const [row] = await server.database.query<{ task_id: string }>({ name: 'test.task', text }, [uid]);
  return row!.task_id;
}

async function topUp({ person }: Customer, cents: number): Promise<void> {
  const { ref } = await accountNamed(server.database, person.account!.username);
  await addFunds(server.database, ref, { environment: 'production', cents, memo: 'test' });
}

const balanceOf = async ({ call }: Customer) =>
  (await call('GET', '/tapi/v2/account/')).body.objects[0].account.balance;

describe('a text with repeated sentences', () => {
  it('has a lower price for repeats, by the share that the operator set, in the quote, the job and the statement, but counts all words', async () => {
    const customer = await createCustomer();
    const { call, person } = customer;
    const text = `${HOUSE} ${HOUSE}`;
    const discounts = [{ kind: 'repeat', words: 4, share: 50 }];
    expect((await call('POST', QUOTE, job(text))).body).toMatchObject({
      word_count: 8,
      human_price: 60,
      machine_price: 12,
      discounts,
    });
    expect((await call('POST', '/tapi/v2/wordcount/', { text })).body).toEqual({ word_count: 8 });
    const created = await call('POST', HUMAN, job(text, { uid: 'twice' }));
    expect(created.body).toMatchObject({ price: 60, discounts, balance: 940 });
    expect((await call('GET', `${HUMAN}twice/`)).body).toMatchObject({ price: 60, discounts });
    const own = await person.call('GET', '/api/account/jobs/twice?environment=production');
    expect(own.body).toMatchObject({ words: 8, price: 60, discounts });
    const { body } = await person.call('GET', '/api/account/ledger');
    expect(body.entries.at(-1)).toMatchObject({ uid: 'twice', kind: 'hold', on_hold: 60, discounts });
    const { text: csv } = await person.call('GET', '/api/account/ledger.csv');
    expect(csv).toContain('hold,twice,,60,-60,940,4 repeat 50%');
  });

  it('that is canceled gets its whole hold back, and shows no discount with the price 0', async () => {
    const customer = await createCustomer();
    await customer.call('POST', HUMAN, job(`${HOUSE} ${HOUSE}`, { uid: 'back' }));
    expect((await customer.call('DELETE', `${HUMAN}back/`)).status).toBe(200);
    expect(await balanceOf(customer)).toBe(1_000);
    const { body } = await customer.call('GET', `${HUMAN}back/`);
    expect(body).toMatchObject({ status: 'canceled', price: 0 });
    expect(body).not.toHaveProperty('discounts');
  });

  it('has a lower price in a bulk too, but only for repeats within one text', async () => {
    const { call } = await createCustomer();
    const { body } = await call('PATCH', HUMAN, { objects: [job(HOUSE), job(`${HOUSE} ${HOUSE}`)] });
    expect(body.objects.map(({ price }: { price: number }) => price)).toEqual([40, 60]);
    expect(body.objects[0]).not.toHaveProperty('discounts');
  });
});

describe('a text that the translation memory has', () => {
  const EXACT = [{ kind: 'exact', words: 4, share: 50 }];

  it('pays half in both tiers and environments, and the whole hold is charged', async () => {
    const customer = await createCustomer();
    await remember(customer, HOUSE);
    const quote = { word_count: 4, human_price: 20, machine_price: 4, discounts: EXACT };
    for (const call of [customer.call, customer.sandbox]) {
      expect((await call('POST', QUOTE, job(HOUSE))).body).toMatchObject(quote);
      expect((await call('POST', HUMAN, job(HOUSE))).body).toMatchObject({ price: 20, discounts: EXACT });
      const { uid } = (await call('POST', MACHINE, job(HOUSE))).body;
      const done = await waitForStatus(call, `${MACHINE}${uid}/`);
      expect(done).toMatchObject({ price: 4, discounts: EXACT, translated_text: 'La casa.' });
    }
    expect(await balanceOf(customer)).toBe(976);
  });

  it('pays less for sentences that an editor confirmed between the same neighbors', async () => {
    const customer = await createCustomer();
    const editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
    await server.database.query({ name: 'test.reviews', text: 'update users set review_share = 0' });
    const text = `${HOUSE}\nThe garden is small.\n`;
    const uid = await orderEdit(customer.call, text);
    await editNext(editor, await taskOf(uid));
    await waitForStatus(customer.call, `${HUMAN}${uid}/`);
    const discounts = [{ kind: 'context', words: 8, share: 30 }];
    expect((await customer.call('POST', HUMAN, job(text))).body).toMatchObject({ price: 24, discounts });
    expect((await customer.call('POST', HUMAN, job(`${HOUSE} It is new.`))).body).toMatchObject({
      price: 50,
      discounts: EXACT,
    });
  });

  it('costs the full price when only the memory of another account has it', async () => {
    const [one, other] = [await createCustomer(), await createCustomer()];
    await remember(one, HOUSE);
    await remember(other, 'The garden is small.');
    const { body } = await other.call('POST', HUMAN, job(HOUSE));
    expect(body.price).toBe(40);
    expect(body).not.toHaveProperty('discounts');
  });

  it('costs the full price when its translation was only imported, or when the job has a translation of its own', async () => {
    const customer = await createCustomer();
    await importEntry(customer, HOUSE);
    expect((await customer.call('POST', QUOTE, job(HOUSE))).body).toMatchObject({
      human_price: 40,
      discounts: [],
    });
    await remember(customer, HOUSE);
    expect((await customer.call('POST', QUOTE, job(HOUSE))).body.human_price).toBe(20);
    const supplied = await customer.call('POST', HUMAN, job(HOUSE, { target_text: 'La casa es grande.' }));
    expect(supplied.body.price).toBe(40);
  });

  it('lowers no price by more words than its own', async () => {
    const customer = await createCustomer();
    // One word for the count of the text, but fifty segments of one word each.
    const filler = 'ǀǀǀ.'.repeat(50);
    await remember(customer, 'ǀǀǀ.');
    const sentence = 'The garden behind the old house is small.';
    const { body } = await customer.call('POST', QUOTE, job(`${sentence}\n${filler}`));
    expect(body).toMatchObject({
      word_count: 9,
      discounts: [{ kind: 'exact', words: 1, share: 50 }],
      human_price: 85,
    });
  });

  it('costs at least one cent if its share is above 0', async () => {
    const customer = await createCustomer();
    const operator = await createPerson(server, { role: 'operator' });
    await remember(customer, 'Hello.');
    const price = { tier: 'human', account: customer.person.account!.username, cents_per_word: 1 };
    const scope = { source_language: '*', target_language: '*' };
    expect((await operator.call('POST', '/api/console/prices', { ...price, ...scope })).status).toBe(200);
    // The server caches prices for two seconds. The old price is 5 cents.
    await until(async () => (await customer.call('POST', QUOTE, job('Hello.'))).body.human_price !== 5);
    expect((await customer.call('POST', HUMAN, job('Hello.'))).body).toMatchObject({
      price: 1,
      discounts: [{ kind: 'exact', words: 1, share: 50 }],
    });
  });

  it('costs the full price in another pair, and with another tone than its entry has', async () => {
    const customer = await createCustomer();
    await remember(customer, HOUSE);
    const { body } = await customer.call('POST', QUOTE, job(HOUSE, PAIR_BACK));
    expect(body).toMatchObject({ human_price: 40, discounts: [] });
    await server.database.query({ name: 'test.tone', text: `update memory set tone = 'Formal'` });
    const quoted = async (tone: string) =>
      (await customer.call('POST', QUOTE, job(HOUSE, { tone }))).body.human_price;
    expect([await quoted('Formal'), await quoted('Informal')]).toEqual([20, 40]);
  });

  it('is not ordered at a price above the quote when the memory has changed', async () => {
    const customer = await createCustomer();
    const send = (price: number) => {
      const document = { ...job(HOUSE), environment: 'production', tier: 'human', price };
      return customer.person.call('POST', '/api/account/documents', document);
    };
    await remember(customer, HOUSE);
    const quoted = (await customer.call('POST', QUOTE, job(HOUSE))).body.human_price;
    await withdrawAll(customer);
    const refused = await send(quoted);
    expect([refused.status, refused.body.error]).toMatchObject([409, { code: 'price_changed', price: 40 }]);
    expect(await balanceOf(customer)).toBe(1_000);
    expect((await send(40)).body.job.price).toBe(40);
  });

  it('is required by the header Quoted-Price of a create, but not again of its repeats', async () => {
    const customer = await createCustomer();
    await remember(customer, HOUSE);
    const create = (price: string, path = HUMAN) =>
      customer.call('POST', path, job(HOUSE, { uid: `of-${path.length}`, price: 1 }), {
        'quoted-price': price,
      });
    const refused = await create('40');
    expect([refused.status, refused.body.error]).toEqual([409, 'The price has changed: it is 20 cents now.']);
    expect((await create('a lot')).body.error).toBe('quoted_price: must be a price in cents.');
    expect(await balanceOf(customer)).toBe(1_000);
    expect((await create('20')).status).toBe(201);
    await withdrawAll(customer);
    expect((await create('20')).status).toBe(200);
    expect((await create('40')).status).toBe(200);
    expect((await create('7', MACHINE)).status).toBe(409);
    expect((await create('8', MACHINE)).status).toBe(201);
  });

  it('keeps the price of its creation when the memory changes later', async () => {
    const customer = await createCustomer();
    await remember(customer, HOUSE);
    await customer.call('POST', HUMAN, job(HOUSE, { uid: 'kept' }));
    await withdrawAll(customer);
    const again = await customer.call('POST', HUMAN, job(HOUSE, { uid: 'kept' }));
    expect([again.status, again.body.price, again.body.discounts]).toEqual([200, 20, EXACT]);
    expect(await balanceOf(customer)).toBe(980);
  });

  it('is the full price for an upgrade, because its draft is the translation that the customer has', async () => {
    const customer = await createCustomer();
    const { call } = customer;
    await call('POST', MACHINE, job(HOUSE, { uid: 'up' }));
    await waitForStatus(call, `${MACHINE}up/`);
    await remember(customer, HOUSE);
    await call('PATCH', `${MACHINE}up/`, { status: 'upgrade', properties: null });
    const upgraded = (await call('GET', `${HUMAN}up/`)).body;
    expect(upgraded.price).toBe(40);
    expect(upgraded).not.toHaveProperty('discounts');
    expect((await call('DELETE', `${HUMAN}up/`)).status).toBe(200);
    const { body } = await call('GET', `${MACHINE}up/`);
    expect(body.price).toBe(8);
    expect(body).not.toHaveProperty('discounts');
    expect(await balanceOf(customer)).toBe(992);
  });

  it('counts each word once in a long text, for the match with the lowest price', async () => {
    const customer = await createCustomer();
    await remember(customer, HOUSE);
    const lines = [...Array(INLINE_LENGTH / 8).fill(HOUSE), 'The garden is small.', 'The garden is small.'];
    const { body } = await customer.call('POST', QUOTE, job(lines.join('\n')));
    expect(body.word_count).toBe(lines.length * 4);
    expect(body.discounts).toEqual([
      { kind: 'exact', words: body.word_count - 8, share: 50 },
      { kind: 'repeat', words: 4, share: 50 },
    ]);
    expect(body.human_price).toBe(body.word_count * 5 + 20);
  });
});

describe('a text that is similar to the translation memory', () => {
  const LONG = 'The old house behind the river is big and the garden is small and green.';
  /** Sentences with the band of their match with `LONG`, which has 15 words. */
  const SIMILAR = [
    [LONG.replace('green', 'grey'), 'fuzzy95', 60],
    [LONG.replace('green', 'grey').replace('river', 'lake'), 'fuzzy85', 70],
    [LONG.replace('green', 'grey').replace('river', 'lake').replace('old', 'new'), 'fuzzy75', 90],
  ] as const;

  it.each(SIMILAR)(
    '%s: pays the share of the band %s in the quote, the job, the callback and the statement',
    async (text, kind, share) => {
      const customer = await createCustomer();
      await remember(customer, LONG);
      const discounts = [{ kind, words: 15, share }];
      const [human_price, machine_price] = [(150 * share) / 100, (30 * share) / 100];
      const quote = await customer.call('POST', QUOTE, job(text));
      expect(quote.body).toMatchObject({ word_count: 15, human_price, machine_price, discounts });
      expect(quote.body).not.toHaveProperty('counted');
      const created = await customer.call('POST', HUMAN, job(text, { uid: kind }));
      expect(created.body).toMatchObject({ price: human_price, discounts, balance: 1_000 - human_price });
      expect((await customer.call('GET', `${HUMAN}${kind}/`)).body).toMatchObject({ discounts });
      const { text: csv } = await customer.person.call('GET', '/api/account/ledger.csv');
      expect(csv).toContain(`15 ${kind} ${share}%`);
    },
  );

  it('pays the share of the closest match for each sentence, and the full price below 75 %', async () => {
    const customer = await createCustomer();
    await remember(customer, LONG);
    const sentences = [LONG, ...SIMILAR.map(([text]) => text), 'The garden is small.', SIMILAR[0][0]];
    const { body } = await customer.call('POST', QUOTE, job(sentences.join('\n')));
    expect(body).toMatchObject({
      word_count: 79,
      discounts: [
        { kind: 'exact', words: 15, share: 50 },
        { kind: 'fuzzy95', words: 15, share: 60 },
        { kind: 'fuzzy85', words: 15, share: 70 },
        { kind: 'fuzzy75', words: 15, share: 90 },
        { kind: 'repeat', words: 15, share: 50 },
      ],
      human_price: 75 + 90 + 105 + 135 + 75 + 40,
    });
  });

  it('costs the full price when the entry was only imported, is withdrawn, or is of another account, pair or tone', async () => {
    const [text] = SIMILAR[0];
    const customer = await createCustomer();
    const quoted = async (fields: object = {}) =>
      (await customer.call('POST', QUOTE, job(text, fields))).body.human_price;
    await importEntry(customer, LONG);
    const other = await createCustomer();
    await remember(other, LONG);
    expect(await quoted()).toBe(150);
    await remember(customer, LONG);
    expect(await quoted()).toBe(90);
    expect(await quoted(PAIR_BACK)).toBe(150);
    await server.database.query({
      name: 'test.tone_of_job',
      text: `update memory set tone = 'Formal', origin = 'job'`,
    });
    expect([await quoted({ tone: 'Formal' }), await quoted({ tone: 'Informal' })]).toEqual([90, 150]);
    await withdrawAll(customer);
    expect(await quoted()).toBe(150);
  });

  it('is compared only up to a maximum number of sentences, and the quote then says how many were compared', async () => {
    const customer = await createCustomer();
    await remember(customer, LONG);
    await topUp(customer, 10_000);
    const others = Array.from({ length: MAX_COMPARED_SEGMENTS }, (_, index) => `Number ${index}.`);
    const [first] = SIMILAR;
    const quoted = async (...lines: string[]) => {
      const { body } = await customer.call('POST', QUOTE, job(lines.join('\n')));
      return [body.counted, body.discounts];
    };
    const discounts = [{ kind: first[1], words: 15, share: first[2] }];
    expect(await quoted(LONG, first[0], ...others)).toEqual([
      MAX_COMPARED_SEGMENTS + 1,
      [{ kind: 'exact', words: 15, share: 50 }, ...discounts],
    ]);
    expect(await quoted(...others, first[0])).toEqual([MAX_COMPARED_SEGMENTS, []]);
    expect(await quoted(...others.slice(1), first[0])).toEqual([undefined, discounts]);
    // Too many sentences for any search of the memory.
    const long = Array.from({ length: 5_001 }, (_, index) => `Number ${index}.`);
    expect(await quoted(first[0], ...long)).toEqual([0, []]);
    // All texts of a bulk have the limit together.
    const bulk = [first[0], others.join('\n'), first[0]].map((text) => job(text));
    const { body } = await customer.call('PATCH', HUMAN, { objects: bulk });
    expect(body.objects.map(({ price }: { price: number }) => price)).toEqual([90, 4_000, 150]);
    const shown = await customer.person.call('POST', '/api/account/documents/quote', {
      environment: 'production',
      tier: 'human',
      text: [...others, LONG, first[0]].join('\n'),
      source_language: 'en',
      target_languages: ['es'],
    });
    expect(shown.body.quotes[0].quote.counted).toBe(MAX_COMPARED_SEGMENTS + 1);
  });
});

describe('the ledger check', () => {
  /** Changes a job with SQL, returns the discrepancies, and undoes the change. */
  async function findAfter(uid: string, change: string, undo: string) {
    const owner = createConnection(server.connection);
    await owner.connect();
    await owner.query(`update jobs set ${change} where uid = $1`, [uid]);
    const { discrepancies } = await verifyLedger(server.database);
    await owner.query(`update jobs set ${undo} where uid = $1`, [uid]);
    await owner.end();
    return discrepancies.map(({ rule, detail }) => ({ rule, detail }));
  }

  it('finds a price that is not that of the words, the price of a word and the discounts', async () => {
    const { call } = await createCustomer();
    await call('POST', HUMAN, job(`${HOUSE} ${HOUSE}`, { uid: 'wrong' }));
    await call('POST', HUMAN, job(HOUSE, { uid: 'plain' }));
    expect(await findAfter('wrong', 'words = 9', 'words = 8')).toEqual([
      { rule: 'price', detail: 'price 60, words and discounts say 70' },
    ]);
    expect(await findAfter('plain', 'cents_per_word = 11', 'cents_per_word = 10')).toEqual([
      { rule: 'price', detail: 'price 40, words and discounts say 44' },
    ]);
  });

  it('finds a wrong price of a machine job that was upgraded', async () => {
    const { call } = await createCustomer();
    await call('POST', MACHINE, job(HOUSE, { uid: 'raised' }));
    await waitForStatus(call, `${MACHINE}raised/`);
    await call('PATCH', `${MACHINE}raised/`, { status: 'upgrade', properties: null });
    const words = (count: number) => `before_upgrade = before_upgrade || '{"words": ${count}}'`;
    expect(await findAfter('raised', words(5), words(4))).toEqual([
      { rule: 'price', detail: 'price 8, words and discounts say 10' },
    ]);
  });
});
