/**
 * Tests of a translator with several engines: which engine is asked, in which order, and how its drafts are
 * used.
 */
import type { Capabilities, Engine } from '@dragoman/engines';
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import type { AccountCredentials } from '../accounts/accounts.ts';
import { saveBrand } from '../brands/brands.ts';
import { createPool } from '../database/connections.ts';
import { importEntries } from '../memory/memory.ts';
import { createClient, startTestServer, type TestServer, until, waitForStatus } from '../testing/harness.ts';
import { removeEngineRoute, setEngineRoute } from './engine-routes.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const HUMAN = '/tapi/v2/translation/';

let server: TestServer;
let owner: pg.Pool;
let account: AccountCredentials;
let call: ReturnType<typeof createClient>;
let first: FakeEngine;
let second: FakeEngine;
/** If true, the first engine does not return its version after the next restart of the server. */
let nameless = false;

/** Creates a fake engine with another name, language pairs and capabilities. */
function named(
  name: string,
  options: { directions?: string[]; capabilities?: Partial<Capabilities> },
): FakeEngine {
  const fake = createFake(options.directions === undefined ? {} : { directions: options.directions });
  const draft = fake.draft.bind(fake);
  return Object.assign(fake, {
    name,
    capabilities: { ...fake.capabilities, ...options.capabilities },
    draft: async (request: Parameters<Engine['draft']>[0]) =>
      (await draft(request)).map((one) =>
        one.status === 'translated' ? { ...one, route: `${name}:${request.from}-${request.to}` } : one,
      ),
  });
}

beforeAll(async () => {
  server = await startTestServer({
    engines: () => {
      first = named('first', {});
      if (nameless) {
        first.version = async () => {
          throw new Error('a bug');
        };
      }
      second = named('second', {
        directions: ['en>es', 'en>fr'],
        capabilities: { remote: true, terms: true, tone: true, instructions: true, context: true },
      });
      return [first, second];
    },
  });
  owner = createPool(server.connection);
  account = await server.createAccount({ balanceCents: 100_000 });
  call = createClient(server.url, account.production_key);
  // The server is ready when the pairs of one engine are published. This waits for the pairs of the second engine.
  await until(async () => (await call('GET', '/tapi/v2/language_pair/')).text.includes('"fr"'));
});
beforeEach(() => {
  for (const engine of [first, second]) {
    engine.failOn(null);
    engine.dropCodes(false);
  }
});
afterAll(async () => {
  await owner.end();
  await server.stop();
});

async function order(uid: string, fields: object, path = MACHINE): Promise<void> {
  const body = { uid, source_language: 'en', target_language: 'es', ...fields };
  expect((await call('POST', path, body)).body).toMatchObject({ uid });
}

async function translated(uid: string, fields: object): Promise<string> {
  await order(uid, fields);
  return until(async () => (await call('GET', `${MACHINE}${uid}/`)).body.translated_text);
}

/** Returns the drafted segments of a human job. */
async function drafted(
  uid: string,
  fields: object,
): Promise<{ route: string; notes: string[]; draft: object[] }[]> {
  await order(uid, fields, HUMAN);
  return until(async () => {
    const { rows } = await owner.query(
      `select route, notes, draft from segments join jobs using (part, account_id, job_id)
        where uid = $1 order by position`,
      [uid],
    );
    return rows.length > 0 && rows;
  });
}

const askedOf = (engine: FakeEngine, text: string) =>
  engine.requests
    .flatMap(({ segments }) => segments)
    .filter(({ pieces }) => JSON.stringify(pieces).includes(text));

describe('an engine route', () => {
  it('serves every pair that one of its engines offers, and asks the first engine that offers it', async () => {
    expect(await translated('pair-2', { text: 'Only the second.', target_language: 'fr' })).toBe(
      'ONLY THE SECOND.',
    );
    expect(askedOf(second, 'Only the second.')).toHaveLength(1);
    await translated('pair-1', { text: 'Both of them.' });
    expect([askedOf(first, 'Both of them.').length, askedOf(second, 'Both of them.').length]).toEqual([1, 0]);
  });

  it('does not ask an engine that serves other pairs only, such as Bergamot without models', async () => {
    first.serves = async (from, to) => `${from}-${to}` !== 'en-es';
    expect(await translated('other-pairs', { text: 'For the second one.' })).toBe('FOR THE SECOND ONE.');
    expect(askedOf(first, 'For the second one.')).toEqual([]);
    delete first.serves;
  });

  it('gives the second engine only the segments that the first engine failed to translate, and records the engine of each segment', async () => {
    first.failOn('hard', 'crashed');
    const segments = await drafted('parts', { text: 'An easy line.\nA hard line.\nThe last line.' });
    expect(segments.map(({ route }) => route)).toEqual(['first:en-es', 'second:en-es', 'first:en-es']);
    expect(askedOf(second, 'line.')).toHaveLength(1);
  });

  it('rejects an empty draft and asks the next engine for another draft', async () => {
    const honest = first.draft;
    first.draft = async (request) =>
      (await honest(request)).map((one) =>
        one.status === 'translated' ? { ...one, pieces: [{ text: '' }] } : one,
      );
    expect(await translated('empty', { text: 'Say something about it.' })).toBe('SAY SOMETHING ABOUT IT.');
    first.draft = async (request) => (await honest(request)).toReversed();
    const text = 'One.\nTwo is more.\nThree is much more than that.';
    expect(await translated('swapped', { text })).toBe(text.toUpperCase());
    first.draft = honest;
  });

  it('skips an engine after repeated failures, and asks it again after the server restarts', async () => {
    const honest = first.draft;
    let asked = 0;
    first.draft = async () => {
      asked++;
      throw new Error('the engine is away');
    };
    for (let i = 0; i < 8; i++) await translated(`away-${i}`, { text: `The engine is away ${i} times.` });
    expect(asked).toBe(5);
    first.draft = honest;
    await server.restart(); // The circuit breakers of a new worker are closed.
    call = createClient(server.url, account.production_key);
    await translated('back', { text: 'It is back again.' });
    expect(askedOf(first, 'It is back again.')).toHaveLength(1);
  });
});

describe('a sentence that an engine fails to translate', () => {
  /**
   * Waits until a job was attempted, and returns its row. An attempt that is not counted failed because of an engine.
   */
  async function tried(uid: string, fields: object) {
    await order(uid, fields);
    return until(async () => {
      const { rows } = await owner.query(
        `select attempts, extract(epoch from due_at - now())::int as due_in from jobs
          where uid = $1 and lease_token is null and due_at > now()`,
        [uid],
      );
      return rows[0];
    });
  }
  afterEach(() => owner.query(`update jobs set due_at = null where uid like 'hopeless-%'`));

  it('waits for an unavailable engine, even if another engine failed for a different reason', async () => {
    for (const [one, other] of [
      [first, second],
      [second, first],
    ] as const) {
      one.failOn('hopeless', 'unavailable');
      other.failOn('hopeless', 'garbled');
      const uid = `hopeless-${one.name}`;
      const job = await tried(uid, { text: `A hopeless case for ${one.name}.` });
      expect(job.attempts).toBe(0);
      // The retry comes 60 seconds after an engine failure, but 5 seconds after a counted attempt.
      expect(job.due_in).toBeGreaterThan(10);
    }
  });

  it('counts as a failed attempt of the job when the only other engine lacks the language pair', async () => {
    first.failOn('hopeless', 'crashed');
    const fields = { text: 'A hopeless case.', source_language: 'es', target_language: 'en' };
    expect((await tried('hopeless-pair', fields)).attempts).toBeGreaterThan(0);
  });

  it('goes to the next engine when the first engine throws an error or does not return its version', async () => {
    const honest = { draft: first.draft };
    first.draft = async () => {
      throw new Error('a bug');
    };
    expect(await translated('thrown', { text: 'Thrown by the first.' })).toBe('THROWN BY THE FIRST.');
    Object.assign(first, honest);
    nameless = true;
    await server.restart();
    call = createClient(server.url, account.production_key);
    expect(await translated('nameless', { text: 'Of no version.' })).toBe('OF NO VERSION.');
    expect(askedOf(first, 'Of no version.')).toHaveLength(0);
    nameless = false;
    await server.restart();
    call = createClient(server.url, account.production_key);
  });
});

describe('an engine route of an account', () => {
  const rule = { source_language: '*', target_language: '*', tier: '*', brand: null } as const;

  it('applies to that account alone, within seconds of its change', async () => {
    const { ref } = await accountNamed(server.database, account.username);
    const own = { ...rule, account_id: ref.accountId };
    const change = server.database.transaction.bind(server.database);
    const given = { ...own, engines: ['second', 'gone'] };
    await change((transaction) => setEngineRoute(transaction, 'command', ref, given));
    let count = 0;
    await until(async () => {
      const text = `Routed number ${++count}.`;
      await translated(`routed-${count}`, { text });
      return askedOf(second, text).length === 1;
    });
    const other = await server.createAccount();
    const theirs = createClient(server.url, other.production_key);
    await theirs('POST', MACHINE, {
      uid: 'o',
      text: 'Of another.',
      source_language: 'en',
      target_language: 'es',
    });
    await until(() => askedOf(first, 'Of another.').length === 1);
    const remove = () => change((transaction) => removeEngineRoute(transaction, 'command', ref, own));
    expect(await remove()).toBe(true);
    expect(await remove()).toBe(false);
    await until(async () => {
      const text = `Unrouted number ${++count}.`;
      await translated(`unrouted-${count}`, { text });
      return askedOf(first, text).length === 1;
    });
  });
});

describe('an earlier translation', () => {
  it('is reused within a text and between texts, but only within one account', async () => {
    const text = 'The same line.\nThe same line.\nAnother line.\nThe same line.';
    expect(await translated('repeats', { text })).toBe(text.toUpperCase());
    expect(askedOf(first, 'The same line.')).toHaveLength(1);
    await translated('again', { text: 'The same line.' });
    expect(askedOf(first, 'The same line.')).toHaveLength(1);
    const other = await server.createAccount();
    const theirs = createClient(server.url, other.production_key);
    await theirs('POST', MACHINE, {
      uid: 'o',
      text: 'The same line.',
      source_language: 'en',
      target_language: 'es',
    });
    await until(() => askedOf(first, 'The same line.').length === 2);
  });

  it('is reused with the code numbers of each occurrence', async () => {
    const text = '<p>A <b>bold</b> word.</p><p><i>First</i>. A <b>bold</b> word.</p>';
    expect(await translated('numbers', { text, text_format: 'html' })).toBe(
      '<p>A <b>BOLD</b> WORD.</p><p><i>FIRST</i>. A <b>BOLD</b> WORD.</p>',
    );
  });

  it("from the customer's memory is used before any engine", async () => {
    const own = await server.createAccount();
    const { ref } = await accountNamed(server.database, own.username);
    await importEntries(server.database, ref, { from: 'en', to: 'es', brand: undefined }, [
      { source: [{ text: 'Hello, {name}, it is us.' }], target: [{ text: 'Somos nosotros, {name}.' }] },
      { source: [{ text: 'Lost, {name}, is it.' }], target: [{ text: 'Sin nombre.' }] },
    ]);
    const theirs = createClient(server.url, own.production_key);
    const text = 'Hello, {name}, it is us.\nLost, {name}, is it.\nA new line.';
    await theirs('POST', MACHINE, { uid: 'm', text, source_language: 'en', target_language: 'es' });
    const result = await until(async () => (await theirs('GET', `${MACHINE}m/`)).body.translated_text);
    expect(result).toBe('Somos nosotros, {name}.\nLOST, {name}, IS IT.\nA NEW LINE.');
    expect(askedOf(first, 'it is us')).toHaveLength(0);
    // A fuzzy match is sent as an example to an engine that uses examples.
    await theirs('POST', MACHINE, {
      uid: 'alike',
      text: 'Hello, {name}, it is only us.',
      source_language: 'en',
      target_language: 'fr',
    });
    await waitForStatus(theirs, `${MACHINE}alike/`);
    expect(second.requests.at(-1)!.context?.examples).toBeUndefined();
    const french = { from: 'en', to: 'fr', brand: undefined };
    await importEntries(server.database, ref, french, [
      { source: [{ text: 'Hello, {name}, it is us.' }], target: [{ text: 'C’est nous, {name}.' }] },
    ]);
    await theirs('POST', MACHINE, {
      uid: 'example',
      text: 'Hello, {name}, it is only us.',
      source_language: 'en',
      target_language: 'fr',
    });
    await waitForStatus(theirs, `${MACHINE}example/`);
    expect(second.requests.at(-1)!.context).toEqual({
      examples: [{ source: 'Hello, {name}, it is us.', target: 'C’est nous, {name}.' }],
    });
    // The memory of one account is never used for another.
    expect(await translated('not-mine', { text: 'Hello, {name}, it is us.' })).toBe(
      'HELLO, {name}, IT IS US.',
    );
  });
});

describe('a brand', () => {
  const term = { caseSensitive: false, forbidden: false, doNotTranslate: false };
  const terms = [
    { ...term, source: 'house', target: 'vivienda' },
    { ...term, source: 'Acme', target: '', doNotTranslate: true },
    { ...term, source: 'car', target: 'AUTO', forbidden: true },
  ];

  beforeAll(async () => {
    const { ref } = await accountNamed(server.database, account.username);
    const language = { tone: 'Formal' as const, instructions: 'Be brief.', terms };
    const languages = new Map([
      ['es', language],
      ['fr', language],
    ]);
    await saveBrand(
      server.database,
      'command',
      ref,
      { externalId: 'acme', name: 'Acme', languages, default: false },
      false,
    );
  });

  it('has its glossary terms put into the draft of an engine without glossary support', async () => {
    const text = 'A house by Acme. Two houses.';
    const segments = await drafted('terms', { text, brand: 'acme' });
    expect(segments.map(({ draft }) => draft)).toEqual([
      [{ text: 'A vivienda BY Acme.' }],
      [{ text: 'TWO vivienda.' }],
    ]);
    expect(segments.map(({ notes }) => notes)).toEqual([[], ['term not inflected: house']]);
    // A job without the brand, with the same words, is translated without the terms of the brand.
    expect(await translated('no-terms', { text })).toBe(text.toUpperCase());
  });

  it('has its terms sent to an engine with glossary support, and each term that is missing in the draft causes a note', async () => {
    const fields = {
      text: 'A house by Acme.\nNothing.',
      brand: 'acme',
      target_language: 'fr',
      instructions: 'And kind.',
    };
    const [one, two] = await drafted('told', fields);
    expect(second.requests.at(-1)).toMatchObject({
      context: { tone: 'Formal', instructions: 'Be brief.\nAnd kind.', terms, format: 'text' },
      segments: [{ pieces: [{ text: 'A house by Acme.' }] }, { before: 'A house by Acme.' }],
    });
    expect(one!.notes).toEqual(['term missing: vivienda']);
    expect(two!.notes).toEqual([]);
  });

  it('causes a note when a draft has a forbidden term of the brand', async () => {
    const honest = first.draft;
    first.draft = async (request) =>
      (await honest(request)).map((one) =>
        one.status === 'translated' ? { ...one, pieces: [{ text: 'UN AUTO.' }] } : one,
      );
    const [one] = await drafted('forbidden', { text: 'A car.', brand: 'acme' });
    first.draft = honest;
    expect(one!.notes).toEqual(['term forbidden: AUTO']);
  });

  it('is not sent to an engine without support for brands', () => {
    expect(first.requests.every(({ context }) => context === undefined)).toBe(true);
  });
});
