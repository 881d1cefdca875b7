/** Tests the prices in the database and their effect on new jobs. */
import { createFake } from '@dragoman/engines/fake';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import type { AccountRef } from '../base/account.ts';
import type { Database } from '../database/database.ts';
import { createClient, startTestServer, type TestServer, until } from '../testing/harness.ts';
import { createPriceList, endPrice, listPrices, setPrice } from './price-list.ts';

const HUMAN = '/tapi/v2/translation/';
const EN_ES = { sourceLanguage: 'en', targetLanguage: 'es' };
const EVERYTHING = { tier: 'human', account: undefined, pair: undefined } as const;
const fuzzy = { fuzzy95Share: 100, fuzzy85Share: 100, fuzzy75Share: 100 };
const shares = { ...fuzzy, contextShare: 100, exactShare: 100, repeatShare: 100 };
const settings = { humanCentsPerWord: 3, machineCentsPerWord: 0, ...shares };
const WORD = { words: 1, matched: {} };
const NOBODY = { part: 0, accountId: 'nobody' } as AccountRef;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ engine: () => createFake(), settings: { DRAGOMAN_REPEAT_SHARE: '25' } });
});
afterAll(() => server.stop());

const job = (text: string, fields: object = {}) => ({
  text,
  source_language: 'en',
  target_language: 'es',
  ...fields,
});
const now = () => ({ from: new Date(), until: undefined });

describe('a new job', () => {
  it('has the most specific price that is valid at its creation, and keeps this price', async () => {
    const [one, two] = [await server.createAccount(), await server.createAccount()];
    const { ref } = await accountNamed(server.database, one.username);
    const clients = [one, two].map(({ production_key }) => createClient(server.url, production_key));
    const prices = async () =>
      Promise.all(
        clients.map(async (call) => (await call('POST', HUMAN, job('The house.'))).body.price as number),
      );
    expect(await prices()).toEqual([6, 6]);
    await clients[0]!('POST', HUMAN, job('The house.', { uid: 'old' }));
    await setPrice(server.database, 'command', EVERYTHING, { ...now(), centsPerWord: 4 });
    await setPrice(server.database, 'command', { ...EVERYTHING, pair: EN_ES }, { ...now(), centsPerWord: 5 });
    await until(async () => (await prices()).join() === '10,10');
    await setPrice(
      server.database,
      'command',
      { ...EVERYTHING, account: ref },
      { ...now(), centsPerWord: 7 },
    );
    await until(async () => (await prices()).join() === '14,10');
    const both = { ...EVERYTHING, account: ref, pair: EN_ES };
    await setPrice(server.database, 'command', both, { ...now(), centsPerWord: 0 });
    await until(async () => (await prices()).join() === '0,10');
    expect((await clients[0]!('GET', `${HUMAN}old/`)).body.price).toBe(6);

    for (const scope of [both, { ...EVERYTHING, account: ref }, { ...EVERYTHING, pair: EN_ES }, EVERYTHING]) {
      expect(await endPrice(server.database, 'command', scope, new Date())).toBe(true);
    }
    expect(await endPrice(server.database, 'command', both, new Date())).toBe(false);
    await until(async () => (await prices()).join() === '6,6');
  });

  it('is charged the configured share of the price for repeated segments', async () => {
    const { production_key } = await server.createAccount();
    const call = createClient(server.url, production_key);
    const price = async (text: string, fields = {}) =>
      (await call('POST', HUMAN, job(text, fields))).body.price;
    expect(await price('The house is big.')).toBe(12);
    // Four words cost 3 cents each. The eight repeated words cost a quarter of this price each.
    expect(await price('The house is big. The house is big.\nThe house is big.')).toBe(18);
    expect(await price('The house is big. The house is red.')).toBe(24);
    const html = { text_format: 'html' };
    expect(await price('<p>The <b>house</b> is big.</p><p>The <i>house</i> is big.</p>', html)).toBe(15);
    expect(await price('<p>The <b>house</b> is big.</p><p>The house is big.</p>', html)).toBe(24);
  });
});

describe('the price list', () => {
  it('is read from the database at most once in two seconds, however many jobs need a price', async () => {
    let requests = 0;
    const counting: Database = {
      ...server.database,
      query: (...given: Parameters<Database['query']>) => {
        requests++;
        return server.database.query(...given);
      },
    } as Database;
    let time = Date.now();
    const list = createPriceList(counting, settings, () => time);
    const ask = async () => (await list.priceOf(NOBODY, 'human', EN_ES, WORD)).cents;
    expect(await Promise.all(Array.from({ length: 100 }, ask))).toEqual(Array(100).fill(3));
    expect(requests).toBe(1);
    time += 1_999;
    await ask();
    expect(requests).toBe(1);
    time += 1;
    await ask();
    expect(requests).toBe(2);
  });

  it('applies future prices from their start until their end', async () => {
    const [begins, ends] = ['2999-01-01', '2999-02-01'].map((day) => new Date(day));
    const scope = { ...EVERYTHING, tier: 'machine' } as const;
    await setPrice(server.database, 'command', scope, { from: begins!, until: ends, centsPerWord: 9 });
    let time = begins!.getTime() - 1;
    const list = createPriceList(server.database, settings, () => time);
    const ask = async () => (await list.priceOf(NOBODY, 'machine', EN_ES, WORD)).cents;
    expect(await ask()).toBe(0);
    time++;
    expect(await ask()).toBe(9);
    time = ends!.getTime() - 1;
    expect(await ask()).toBe(9);
    time++;
    expect(await ask()).toBe(0);
    expect(await endPrice(server.database, 'command', scope, new Date())).toBe(true);
  });

  it('has one price per scope when several operators set the price at the same time', async () => {
    const scope = { ...EVERYTHING, tier: 'machine', pair: EN_ES } as const;
    const from = new Date();
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        setPrice(server.database, 'command', scope, {
          from: new Date(from.getTime() + (index % 3)),
          until: undefined,
          centsPerWord: index,
        }),
      ),
    );
    const set = (await listPrices(server.database, from)).filter(({ tier }) => tier === 'machine');
    expect(set.map((price) => price.from.getTime() - from.getTime())).toEqual([0, 1, 2]);
    expect(set.map((price) => price.until?.getTime())).toEqual([
      from.getTime() + 1,
      from.getTime() + 2,
      undefined,
    ]);
    await endPrice(server.database, 'command', scope, new Date());
  });
});
