/**
 * Tests brands in requests on a running server: tones and topics, named and default brands, and the settings
 * for a language.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import type { AccountRef } from '../base/account.ts';
import { statement } from '../database/statements.ts';
import { createClient, startTestServer, type TestServer, until } from '../testing/harness.ts';
import { readBrandFile, toBrandFile } from './brand.ts';
import { listBrands, readBrand, readContext, removeBrand, saveBrand, setDefaultBrand } from './brands.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';

const JOB_BRANDS = statement<{ brand: string | null; default_brand: string | null; tone: string | null }>(
  'test.job_brands',
  `select brand, default_brand, tone from jobs where part = $1 and account_id = $2 and uid = $3`,
);

const MANY_BRANDS = statement(
  'test.many_brands',
  `insert into brands (part, account_id, external_id, name)
   select $1, $2, 'b' || number, 'b' from generate_series(1, 1000) as number`,
);

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const job = (fields: object = {}) => ({
  text: 'The house is big.',
  source_language: 'en',
  target_language: 'es',
  ...fields,
});

async function customer() {
  const credentials = await server.createAccount();
  const { ref } = await accountNamed(server.database, credentials.username);
  return {
    ref,
    production: createClient(server.url, credentials.production_key),
    sandbox: createClient(server.url, credentials.sandbox_key),
    save: (file: object) =>
      saveBrand(server.database, 'command', ref, readBrandFile('test', JSON.stringify(file)), false),
  };
}

async function storedJob(ref: AccountRef, uid: string) {
  const [row] = await server.database.query(JOB_BRANDS, [ref.part, ref.accountId, uid]);
  return row;
}

describe('tones and topics', () => {
  it('are listed in both environments, and each listed value is accepted in a request', async () => {
    const { production, sandbox } = await customer();
    const tones = await production('GET', '/tapi/v2/tone/');
    expect(tones).toMatchObject({
      status: 200,
      body: {
        objects: [
          { tone: { name: 'Informal', description: expect.stringMatching(/^\p{Lu}.+\.$/u) } },
          { tone: { name: 'Formal', description: expect.stringMatching(/^\p{Lu}.+\.$/u) } },
        ],
      },
    });
    const topics = await production('GET', '/tapi/v2/topic/');
    const names = topics.body.objects.map(({ topic }: { topic: { name: string } }) => topic.name);
    expect(names).toEqual([
      'politics',
      'gossip',
      'sex & relationships',
      'crafts',
      'parenting',
      'startups',
      'tech',
      'sports',
    ]);
    expect((await sandbox('GET', '/sandbox/tapi/v2/tone')).text).toBe(tones.text);
    expect((await sandbox('GET', '/sandbox/tapi/v2/topic')).text).toBe(topics.text);
    for (const { tone } of tones.body.objects) {
      const { status, body } = await production('POST', HUMAN, job({ tone: tone.name, topics: names }));
      expect({ status, tone: body.tone, topics: body.topics }).toEqual({
        status: 201,
        tone: tone.name,
        topics: names,
      });
    }
  });

  it('are listed only for requests with an API key and the method GET or HEAD', async () => {
    for (const path of ['/tapi/v2/tone/', '/tapi/v2/topic/']) {
      expect((await fetch(`${server.url}${path}`)).status).toBe(401);
      const { production } = await customer();
      const { status, headers } = await production('POST', path, {});
      expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: 'GET, HEAD' });
    }
  });
});

describe('the look-up of terms', () => {
  const TERMS = '/api/v1/terms/';

  it('lists the terms of the named brand or of the default brand for the target language', async () => {
    const { production, sandbox, save } = await customer();
    const cart = { source: 'shopping cart', target: 'carrito', note: 'Online.' };
    const acme = { source: 'Acme', do_not_translate: true, case_sensitive: true };
    await save({
      external_id: 'shop',
      default: true,
      languages: { es: { tone: 'Formal', glossary: [cart, acme] } },
    });
    await save({
      external_id: 'other',
      languages: { es: { glossary: [{ source: 'bag', target: 'bolsa' }] } },
    });
    const shop = { brand: 'shop', tone: 'Formal' };
    expect((await production('GET', `${TERMS}?target_language=es`)).body).toEqual({
      ...shop,
      total_count: 2,
      objects: expect.arrayContaining([cart, acme]),
    });
    const found = { ...shop, total_count: 1, objects: [cart] };
    for (const q of ['Cart', 'CARRITO'])
      expect((await production('GET', `${TERMS}?target_language=es&q=${q}`)).body).toEqual(found);
    const limited = await sandbox('GET', `/sandbox${TERMS}?target_language=es-mx&limit=1`);
    expect(limited.body).toMatchObject({ total_count: 2, objects: [expect.anything()] });
    const other = await production('GET', `${TERMS}?target_language=es&brand=other`);
    expect(other.body).toEqual({
      brand: 'other',
      total_count: 1,
      objects: [{ source: 'bag', target: 'bolsa' }],
    });
  });

  it('is empty without a brand and for other languages, and refuses unknown brands', async () => {
    const { production, save } = await customer();
    const none = { total_count: 0, objects: [] };
    expect((await production('GET', `${TERMS}?target_language=es`)).body).toEqual(none);
    await save({ external_id: 'shop', languages: { es: { tone: 'Formal' } } });
    expect((await production('GET', `${TERMS}?target_language=fr&brand=shop`)).body).toEqual({
      brand: 'shop',
      ...none,
    });
    const { status, body } = await production('GET', `${TERMS}?target_language=es&brand=x`);
    expect({ status, body }).toEqual({ status: 400, body: { error: 'brand: "x" is not one of shop.' } });
    expect((await production('GET', TERMS)).body.error).toBe('target_language: This field is required.');
  });
});

describe('a brand named by a request', () => {
  it('is stored with the job and returned in the answer', async () => {
    const { production, ref, save } = await customer();
    await save({ external_id: 'Büro & Co.', languages: { es: { tone: 'Formal' } } });
    for (const path of [HUMAN, MACHINE]) {
      const uid = `named-${path.length}`;
      const { status, body } = await production('POST', path, job({ uid, brand: 'Büro & Co.' }));
      expect({ status, brand: body.brand }).toEqual({ status: 201, brand: 'Büro & Co.' });
      expect(body).not.toHaveProperty('tone');
      expect(await storedJob(ref, uid)).toEqual({ brand: 'Büro & Co.', default_brand: null, tone: null });
    }
  });

  it('is refused with a list of the account’s brands when it is unknown', async () => {
    const { production, save } = await customer();
    const refused = async (brand: string) => {
      const { status, body } = await production('POST', HUMAN, job({ brand }));
      expect(status).toBe(400);
      return body.error;
    };
    expect(await refused('acme')).toBe('brand: is not known; the account has no brands.');
    await save({ external_id: 'zeta' });
    await save({ external_id: 'acme' });
    expect((await production('POST', HUMAN, job({ brand: 'acme' }))).status).toBe(201);
    expect(await refused('Acme')).toBe('brand: "Acme" is not one of acme, zeta.');
    for (let index = 0; index < 25; index++) await save({ external_id: `b${index + 10}` });
    const many = await refused('x'.repeat(300));
    expect(many).toBe(
      `brand: "${'x'.repeat(40)}…" is not one of acme, ${Array.from({ length: 19 }, (_, i) => `b${i + 10}`).join(', ')}` +
        ' and 7 more.',
    );
  });

  it('is refused as unknown when it belongs to another account', async () => {
    const victim = await customer();
    await victim.save({ external_id: 'canary' });
    expect((await victim.production('POST', HUMAN, job({ brand: 'canary' }))).status).toBe(201);
    const stranger = await customer();
    const foreign = await stranger.production('POST', HUMAN, job({ brand: 'canary' }));
    const unknown = await stranger.production('POST', HUMAN, job({ brand: 'nobody' }));
    expect(foreign.status).toBe(400);
    expect(foreign.text).toBe(unknown.text);
    expect(await readContext(server.database, stranger.ref, 'canary', 'es')).toEqual({ terms: [] });
  });

  it('is accepted in both environments', async () => {
    const { sandbox, save } = await customer();
    await save({ external_id: 'acme' });
    expect((await sandbox('POST', `/sandbox${HUMAN}`, job({ brand: 'acme' }))).status).toBe(201);
  });

  it('is still accepted in a retry of the same request after the brand was removed', async () => {
    const { production, ref, save } = await customer();
    await save({ external_id: 'acme' });
    const request = job({ uid: 'again', brand: 'acme' });
    const first = await production('POST', HUMAN, request);
    expect(first.status).toBe(201);
    await removeBrand(server.database, 'command', ref, 'acme');
    const retried = await production('POST', HUMAN, request);
    expect(retried.status).toBe(200);
    expect(retried.body).toEqual({ ...first.body, status: retried.body.status });
    // The server receives the notification of the removal only some time after the removal.
    let tries = 0;
    await until(async () => {
      const fresh = await production('POST', HUMAN, { ...request, uid: `fresh-${++tries}` });
      return fresh.status === 400 && /^brand: /.test(fresh.body.error);
    });
  });
});

describe('a bulk request', () => {
  it('is refused when one of its brands is unknown, and can be repeated after a brand was removed', async () => {
    const { production, ref, save } = await customer();
    await save({ external_id: 'acme' });
    const bulk = (...objects: object[]) =>
      production('PATCH', HUMAN, { objects: objects.map(job) }, { 'idempotency-key': 'once' });
    expect(await bulk({ brand: 'acme' }, { brand: 'other' })).toMatchObject({
      status: 400,
      body: { error: 'objects[1].brand: "other" is not one of acme.' },
    });
    const first = await bulk({ brand: 'acme' }, {});
    expect(first.status).toBe(202);
    expect(first.body.objects.map(({ brand }: { brand?: string }) => brand)).toEqual(['acme', undefined]);
    await removeBrand(server.database, 'command', ref, 'acme');
    const uids = ({ body }: typeof first) => body.objects.map(({ uid }: { uid: string }) => uid);
    expect(uids(await bulk({ brand: 'acme' }, {}))).toEqual(uids(first));
  });
});

describe('an idempotency key', () => {
  it('returns its job after the job’s brand was removed', async () => {
    const { production, ref, save } = await customer();
    await save({ external_id: 'acme' });
    const create = () => production('POST', MACHINE, job({ brand: 'acme' }), { 'idempotency-key': 'once' });
    const first = await create();
    await removeBrand(server.database, 'command', ref, 'acme');
    expect(await create()).toMatchObject({ status: 200, body: { uid: first.body.uid, brand: 'acme' } });
  });
});

describe('saving a brand', () => {
  it('stores exactly one of several files that are saved concurrently', async () => {
    const { ref, save } = await customer();
    const files = [1, 2, 3, 4].map((number) => ({
      external_id: 'acme',
      name: `file ${number}`,
      languages: {
        es: { glossary: [1, 2, 3].map((term) => ({ source: `s${term}`, target: `t${number}` })) },
        [`x${'abcd'[number - 1]}`]: { tone: 'Formal' },
      },
    }));
    await Promise.all(files.map(save));
    const { brand, isDefault } = await readBrand(server.database, ref, 'acme');
    const whole = toBrandFile(brand, isDefault);
    const winner = files.find(({ name }) => name === brand.name)!;
    const { glossary } = winner.languages.es as { glossary: object[] };
    expect(whole).toEqual({
      ...winner,
      default: false,
      languages: {
        ...winner.languages,
        es: { glossary },
        [Object.keys(winner.languages)[1]!]: {
          tone: 'Formal',
          glossary: [],
        },
      },
    });
  });

  it('changes nothing in a dry run', async () => {
    const { ref, save } = await customer();
    const rehearse = (file: object) =>
      saveBrand(server.database, 'command', ref, readBrandFile('test', JSON.stringify(file)), true);
    expect(await rehearse({ external_id: 'acme', default: true })).toMatchObject({ change: 'added' });
    expect(await listBrands(server.database, ref)).toEqual([]);
    await save({ external_id: 'acme', languages: { es: { tone: 'Formal' } } });
    const [before] = await listBrands(server.database, ref);
    expect(await rehearse({ external_id: 'acme', default: true })).toMatchObject({ change: 'changed' });
    expect(await listBrands(server.database, ref)).toEqual([before]);
  });

  it('fails when the account has the maximum number of brands', async () => {
    const { ref, save } = await customer();
    await server.database.query(MANY_BRANDS, [ref.part, ref.accountId]);
    await expect(save({ external_id: 'one more' })).rejects.toThrow('An account has at most 1000 brands.');
    expect(await save({ external_id: 'b1000', name: 'Changed' })).toMatchObject({ change: 'changed' });
  });
});

describe('the default brand', () => {
  it('applies to requests without a brand and is not returned in the answer', async () => {
    const { production, ref, save } = await customer();
    expect((await production('POST', HUMAN, job({ uid: 'before' }))).status).toBe(201);
    expect(await storedJob(ref, 'before')).toMatchObject({ brand: null, default_brand: null });
    await save({ external_id: 'house', default: true });
    await save({ external_id: 'other' });
    // The default brand is cached with the API key until a notification clears the cache.
    const made = await until(async () => {
      const { body } = await production('POST', HUMAN, job());
      return (await storedJob(ref, body.uid))?.default_brand === 'house' && body;
    });
    expect(made).not.toHaveProperty('brand');
    const { body } = await production('POST', HUMAN, job({ brand: 'other' }));
    expect(await storedJob(ref, body.uid)).toMatchObject({ brand: 'other', default_brand: null });
    for (const empty of [null, '']) {
      const { body } = await production('POST', HUMAN, job({ brand: empty }));
      expect(await storedJob(ref, body.uid)).toMatchObject({ brand: null, default_brand: 'house' });
    }
  });

  it('can change between a request and its retry without affecting the job', async () => {
    const { production, ref, save } = await customer();
    await save({ external_id: 'one', default: true });
    await save({ external_id: 'two' });
    const request = job({ uid: 'again' });
    expect((await production('POST', HUMAN, request)).status).toBe(201);
    await setDefaultBrand(server.database, 'command', ref, 'two');
    await until(async () => {
      const { body } = await production('POST', HUMAN, job());
      return (await storedJob(ref, body.uid))?.default_brand === 'two';
    });
    expect((await production('POST', HUMAN, request)).status).toBe(200);
    expect(await storedJob(ref, 'again')).toMatchObject({ default_brand: 'one' });
  });

  it('is unset when the brand is removed', async () => {
    const { production, ref, save } = await customer();
    await save({ external_id: 'house', default: true });
    await removeBrand(server.database, 'command', ref, 'house');
    await until(async () => {
      const { body } = await production('POST', HUMAN, job());
      return (await storedJob(ref, body.uid))?.default_brand === null;
    });
  });

  it('must be a brand of the account', async () => {
    const [one, other] = [await customer(), await customer()];
    await other.save({ external_id: 'theirs' });
    await expect(setDefaultBrand(server.database, 'command', one.ref, 'theirs')).rejects.toThrow(
      'brand: is not known; the account has no brands.',
    );
  });
});

describe('the settings of a brand for a language', () => {
  const term = { caseSensitive: false, forbidden: false, doNotTranslate: false };

  it('come from the parent language when the language itself has none', async () => {
    const { ref, save } = await customer();
    await save({
      external_id: 'acme',
      languages: {
        pt: { tone: 'Formal', instructions: 'Be kind.', glossary: [{ source: 'house', target: 'casa' }] },
        PT_BR: { tone: 'Informal' },
        es: {
          glossary: [
            { source: 'Acme', do_not_translate: true, case_sensitive: true },
            { source: 'car', target: 'carro', forbidden: true, note: 'Say coche.' },
          ],
        },
      },
    });
    const read = (language: string) => readContext(server.database, ref, 'acme', language);
    const portuguese = {
      tone: 'Formal',
      instructions: 'Be kind.',
      terms: [{ source: 'house', target: 'casa', ...term }],
    };
    expect(await read('pt')).toEqual(portuguese);
    expect(await read('pt-pt')).toEqual(portuguese);
    expect(await read('pt-br')).toEqual({ tone: 'Informal', terms: [] });
    expect(await read('es')).toEqual({
      terms: [
        { ...term, source: 'Acme', target: '', caseSensitive: true, doNotTranslate: true },
        { ...term, source: 'car', target: 'carro', forbidden: true, note: 'Say coche.' },
      ],
    });
    expect(await read('p')).toEqual({ terms: [] });
    expect(await read('fr')).toEqual({ terms: [] });
  });

  it('are empty without a brand and after the brand was removed', async () => {
    const { ref } = await customer();
    expect(await readContext(server.database, ref, null, 'es')).toEqual({ terms: [] });
    expect(await readContext(server.database, ref, 'gone', 'es')).toEqual({ terms: [] });
  });

  it('are up to date immediately after a change in the same process', async () => {
    const { ref, save } = await customer();
    await save({ external_id: 'acme', languages: { es: { tone: 'Formal' } } });
    expect(await readContext(server.database, ref, 'acme', 'es')).toMatchObject({ tone: 'Formal' });
    await save({ external_id: 'acme', languages: { es: { tone: 'Informal' } } });
    expect(await readContext(server.database, ref, 'acme', 'es')).toMatchObject({ tone: 'Informal' });
  });
});
