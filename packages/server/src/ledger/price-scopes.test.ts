/** Tests that operators can set and end the price of one scope without an effect on other scopes. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import { createConnection } from '../database/connections.ts';
import type { Database } from '../database/database.ts';
import {
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { createPriceList, endPrice, listPrices, setPrice, upcomingPrice } from './price-list.ts';

const EN_ES = { sourceLanguage: 'en', targetLanguage: 'es' };
const EVERYTHING = { tier: 'human', account: undefined, pair: undefined } as const;

let server: TestServer;
let operator: TestPerson;
beforeAll(async () => {
  server = await startTestServer();
  operator = await createPerson(server, { role: 'operator' });
});
afterAll(() => server.stop());

interface Shown {
  tier: string;
  account: string | null;
  source_language: string;
  target_language: string;
  cents_per_word: number;
  from: string;
  until: string | null;
}

const shown = async () =>
  (await operator.call('GET', '/api/console/prices')).body.prices.map(
    ({ from: _from, ...price }: Shown) => price,
  ) as Omit<Shown, 'from'>[];
const set = (more: object) => operator.call('POST', '/api/console/prices', more);
const end = (scope: object) => operator.call('POST', '/api/console/prices/end', scope);
const cents = async () => (await shown()).map(({ cents_per_word }) => cents_per_word);

describe('setting or ending the price of a scope', () => {
  it('changes no price of another tier, account or language pair', async () => {
    const [one, two] = [await server.createAccount(), await server.createAccount()];
    const all = { source_language: '*', target_language: '*' };
    const pair = (source_language: string, target_language: string) => ({ source_language, target_language });
    const scopes = [
      { tier: 'human', ...all },
      { tier: 'machine', ...all },
      { tier: 'human', account: one.username, ...all },
      { tier: 'human', account: two.username, ...all },
      { tier: 'human', ...pair('en', 'es') },
      { tier: 'human', ...pair('en', 'de') },
      { tier: 'human', ...pair('de', 'es') },
      { tier: 'human', account: one.username, ...pair('en', 'es') },
      { tier: 'machine', account: one.username, ...pair('en', 'es') },
    ];
    const expected = scopes.map((scope, index) => ({
      account: null,
      ...scope,
      cents_per_word: index + 1,
      until: null,
    }));
    for (const [index, scope] of scopes.entries()) {
      const { body } = await set({ ...scope, cents_per_word: index + 1 });
      expect(body).toMatchObject({ price: expected[index], ends: null, dry_run: false });
    }
    const left = [...expected];
    for (const scope of scopes) {
      expect(await shown()).toHaveLength(left.length);
      expect(await shown()).toEqual(expect.arrayContaining(left));
      left.shift();
      expect((await end(scope)).status).toBe(200);
      expect((await end(scope)).status).toBe(404);
    }
    expect(await shown()).toEqual([]);
  });
});

describe('setting a price', () => {
  const scope = { tier: 'human', source_language: 'en', target_language: 'fr' };

  it('answers with the price that it ends and with the end of the new price, also in a dry run', async () => {
    const moments = ['2998-01-01', '2999-01-01', '3000-01-01'].map((day) => `${day}T00:00:00.000Z`);
    const [first, second, third] = moments;
    await set({ ...scope, cents_per_word: 9, from: third });
    await set({ ...scope, cents_per_word: 8, from: second });
    const last = await set({ ...scope, cents_per_word: 7, from: first });
    expect(last.body).toMatchObject({ price: { cents_per_word: 7, from: first, until: second }, ends: null });
    for (const dry_run of [true, false]) {
      const now = await set({ ...scope, cents_per_word: 6, dry_run });
      expect(now.body).toMatchObject({ price: { cents_per_word: 6, until: first }, ends: null, dry_run });
    }
    const between = await set({ ...scope, cents_per_word: 5, from: '2998-06-01', dry_run: true });
    expect(between.body).toMatchObject({ price: { until: second }, ends: { cents_per_word: 7 } });
    expect(await cents()).toEqual([6, 7, 8, 9]);
    expect((await end(scope)).body.prices).toEqual([]);
  });
});

describe('ending a price', () => {
  it('leaves the price valid until the end that the operator set, and deletes prices that begin then or later', async () => {
    const [from, at, later] = ['2999-01-01', '2999-02-01', '2999-03-01'].map((day) => new Date(day));
    const scope = { ...EVERYTHING, pair: EN_ES };
    const past = async () =>
      (await listPrices(server.database, from!)).map((price) => [
        price.centsPerWord,
        price.from,
        price.until,
      ]);
    const put = (start: Date | undefined, centsPerWord: number) =>
      setPrice(server.database, 'command', scope, { from: start!, until: undefined, centsPerWord });
    await put(from, 1);
    await put(later, 2);
    const common = { tier: 'human', account: undefined, pair: EN_ES };
    const [one, two] = [
      { ...common, centsPerWord: 1, from, until: later },
      { ...common, centsPerWord: 2, from: later, until: undefined },
    ];
    expect(await listPrices(server.database, at!)).toEqual([one, two]);
    const upcoming = async (moment: Date) => {
      const { current, next } = await upcomingPrice(server.database, scope, moment);
      return [current?.centsPerWord, next?.centsPerWord];
    };
    expect(await upcoming(from!)).toEqual([undefined, 1]);
    expect(await upcoming(at!)).toEqual([1, 2]);
    expect(await upcoming(later!)).toEqual([undefined, 2]);
    expect(await endPrice(server.database, 'command', scope, at!)).toBe(true);
    expect(await past()).toEqual([[1, from, at]]);
    expect(await endPrice(server.database, 'command', scope, at!)).toBe(false);
    await put(at, 3);
    expect(await endPrice(server.database, 'command', scope, at!)).toBe(true);
    expect(await past()).toEqual([[1, from, at]]);
    await endPrice(server.database, 'command', scope, from!);
    expect(await past()).toEqual([]);
  });
});

describe('two operators at the same time', () => {
  it('change prices one after the other: ending prices waits for a price that is being set, and ends it too', async () => {
    const [setting, watching] = [createConnection(server.connection), createConnection(server.connection)];
    await setting.connect();
    await watching.connect();
    await setting.query('begin');
    await setting.query('lock table prices in share row exclusive mode');
    await setting.query(
      `insert into prices (price_id, tier, cents_per_word, valid_from)
       values (gen_random_uuid(), 'machine', 1, now() + interval '1 h')`,
    );
    let answered = false;
    const ending = endPrice(server.database, 'command', { ...EVERYTHING, tier: 'machine' }, new Date());
    void ending.then(() => {
      answered = true;
    });
    const waits = `select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like 'lock table prices%'`;
    await until(async () => answered || (await watching.query(waits)).rowCount === 1);
    await setting.query('commit');
    expect(await ending).toBe(true);
    expect(await shown()).toEqual([]);
    await setting.end();
    await watching.end();
  });
});

describe('the price list', () => {
  const fuzzy = { fuzzy95Share: 100, fuzzy85Share: 100, fuzzy75Share: 100 };
  const shares = { ...fuzzy, contextShare: 100, exactShare: 100, repeatShare: 100 };
  const settings = { humanCentsPerWord: 3, machineCentsPerWord: 2, ...shares };
  const WORD = { words: 1, matched: {} };

  it('is free in a tier only when neither the setting nor a price of any scope costs something', async () => {
    const scope = { tier: 'human', source_language: '*', target_language: '*' };
    const list = () => createPriceList(server.database, { ...settings, humanCentsPerWord: 0 });
    expect([await list().isFree('human'), await list().isFree('machine')]).toEqual([true, false]);
    await set({ ...scope, cents_per_word: 1, from: '2999-01-01T00:00:00Z' });
    expect(await list().isFree('human')).toBe(false);
    await end(scope);
    expect(await list().isFree('human')).toBe(true);
  });

  it('is read again after a failed query, and is kept when an older query fails after a newer one succeeded', async () => {
    const { ref: account } = await accountNamed(server.database, (await server.createAccount()).username);
    const failures: ((error: Error) => void)[] = [];
    let works = false;
    let requests = 0;
    const failing = {
      ...server.database,
      query: (...given: Parameters<Database['query']>) => {
        requests++;
        return works
          ? server.database.query(...given)
          : new Promise((_resolve, reject) => failures.push(reject));
      },
    } as unknown as Database;
    let time = Date.now();
    const list = createPriceList(failing, settings, () => time);
    const ask = () => list.priceOf(account, 'machine', EN_ES, WORD);

    const unanswered = [ask(), ask()];
    expect(requests).toBe(1);
    failures[0]!(new Error('no database'));
    for (const one of unanswered) await expect(one).rejects.toThrow('no database');
    works = true;
    expect((await ask()).cents).toBe(2);
    expect(requests).toBe(2);

    time += 2_000;
    works = false;
    const slow = ask();
    expect(requests).toBe(3);
    time += 2_000;
    works = true;
    expect((await ask()).cents).toBe(2);
    expect(requests).toBe(4);
    failures[1]!(new Error('too late'));
    await expect(slow).rejects.toThrow('too late');
    expect((await ask()).cents).toBe(2);
    expect(requests).toBe(4);
  });
});
