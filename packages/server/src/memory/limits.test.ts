/**
 * Tests that no entry of a memory, and no text that is looked up in it, keeps other requests waiting: an entry has at most as
 * many codes as a unit of a document, and work on many codes gives the event loop turns.
 */
import { readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { Limits, type Piece } from '@dragoman/documents';
import { SaxesParser } from 'saxes';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import type { AccountRef } from '../base/account.ts';
import { createLog } from '../base/log.ts';
import { saveBrand } from '../brands/brands.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
} from '../testing/harness.ts';
import { importEntries } from './memory.ts';

const OWN = '/api/account/memory';
const PAIR = { from: 'en', to: 'es' };
/** The most pieces that are worked on between two turns: the limit of a turn, and one segment. */
const MOST_AT_ONCE = 5_000 + 4 * Limits.codes;

let server: TestServer;
let call: ReturnType<typeof createClient>;
let username: string;
let ref: AccountRef;
let customer: TestPerson;
let operator: TestPerson;
const lines: string[] = [];

beforeAll(async () => {
  const destination = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk));
      done();
    },
  });
  server = await startTestServer({ log: createLog('warn', destination) });
  const account = await server.createAccount({ balanceCents: 100_000 });
  username = account.username;
  ({ ref } = await accountNamed(server.database, username));
  call = createClient(server.url, account.production_key);
  customer = await createPerson(server, { role: 'customer', account });
  operator = await createPerson(server, { role: 'operator' });
});
afterAll(() => server.stop());

const unit = (source: string, target: string) =>
  `<tu><tuv xml:lang="en"><seg>${source}</seg></tuv><tuv xml:lang="es"><seg>${target}</seg></tuv></tu>`;
const tmx = (...units: string[]) => `<tmx version="1.4"><body>\n${units.join('\n')}\n</body></tmx>`;
const importFile = (text: string, by = customer, path = OWN) =>
  by.call('POST', `${path}/import`, { ...PAIR, tmx: text });

/** The kinds of codes of TMX, each as often as asked. */
const CODES: Record<string, (times: number) => string> = {
  ph: (times) => '<ph/>'.repeat(times),
  'ph with a word': (times) => '<ph type="x-kept">a</ph>'.repeat(times),
  it: (times) => '<it pos="begin"/>'.repeat(times),
  'bpt and ept': (times) => '<bpt i="1"/><ept i="1"/>'.repeat(Math.ceil(times / 2)),
  hi: (times) => '<hi>a</hi>'.repeat(Math.ceil(times / 2)),
};

/** Returns the most pieces whose hashes or rows were written between two turns of the event loop while `work` ran. */
async function mostAtOnce(work: () => Promise<unknown>): Promise<number> {
  let now = 0;
  let most = 0;
  let counting = true;
  const count = () => {
    most = Math.max(most, now);
    now = 0;
    if (counting) setImmediate(count);
  };
  const stringify = JSON.stringify;
  const spy = vi.spyOn(JSON, 'stringify').mockImplementation(((value: unknown, ...rest: never[]) => {
    if (Array.isArray(value)) now += value.length;
    return stringify(value, ...rest);
  }) as typeof JSON.stringify);
  setImmediate(count);
  await work();
  counting = false;
  spy.mockRestore();
  return most;
}

describe('an entry of a memory', () => {
  it.each(Object.entries(CODES))(
    'has at most as many codes as a unit of a document: %s',
    async (_, codes) => {
      const most = tmx(unit(`Alpha ${codes(Limits.codes)}`, 'Alfa'));
      expect((await importFile(most)).body).toMatchObject({ read: 1, written: 1 });
      const more = codes(Limits.codes + 1);
      for (const text of [tmx(unit(`Alpha ${more}`, 'Alfa')), tmx(unit('Alpha', `Alfa ${more}`))]) {
        const refused = await importFile(text);
        expect(refused.status).toBe(400);
        expect(refused.text).toContain('A segment has more than 500 codes. (line 2)');
        const console = `/api/console/accounts/${username}/memory`;
        expect((await importFile(text, operator, console)).status).toBe(400);
      }
    },
  );

  it('is not written with more codes by any other import', async () => {
    const pieces: Piece[] = [{ text: 'Beta' }, ...Array.from({ length: 501 }, (_, i) => ({ single: i + 1 }))];
    const one = { source: [{ text: 'Beta' }], target: [{ text: 'Be' }] };
    const entries = [one, { ...one, source: pieces }, { ...one, target: pieces }];
    expect(await importEntries(server.database, ref, { ...PAIR, brand: undefined }, entries)).toBe(1);
  });

  it('that an older version imported is withdrawn by the migration, and breaks no export', async () => {
    const owner = await server.connectOwner();
    const add = (source: string, codes: number) =>
      owner.query(
        `insert into memory (part, account_id, memory_id, source_language, target_language, source_hash, source, target,
           target_hash, origin, sketch)
         select $1, $2, gen_random_uuid(), 'en', 'es', sha256(convert_to($3::text, 'UTF8')), jsonb_build_array(jsonb_build_object('text', $3::text))
           || (select coalesce(jsonb_agg(jsonb_build_object('single', n)), '[]') from generate_series(1, $4) n),
           '[{"text":"x"}]', 'x', 'import', '{1}'`,
        [ref.part, ref.accountId, source, codes],
      );
    await add('Gamma', 500);
    await add('Delta', 130_000);
    const exported = await customer.call('GET', `${OWN}/export`);
    expect(exported.text).toContain('<ph x="130000"/></seg>');
    expect(exported.text).toContain('</tmx>');

    const path = new URL('../database/migrations/0004_kept_promises.sql', import.meta.url);
    const [, update] = /(update memory [^;]*;)/.exec(readFileSync(path, 'utf8'))!;
    await owner.query(update!);
    const read = async (state: string) =>
      (await customer.call('GET', `${OWN}?state=${state}&limit=100`)).body.entries.map(
        ({ source }: { source: string }) => source,
      );
    expect(await read('withdrawn')).toEqual(['Delta']);
    expect(await read('live')).toContain('Gamma');
  });
});

describe('work on many codes', () => {
  const FILLED = unit(`House ${'<ph/>'.repeat(400)}`, `Casa ${'<ph/>'.repeat(400)}`);

  it('gives the event loop turns in an import', async () => {
    const units = Array.from({ length: 200 }, (_, index) => FILLED.replace('House', `House ${index}`));
    const most = await mostAtOnce(async () => {
      expect((await importFile(tmx(...units))).body).toMatchObject({ written: 200 });
    });
    expect(most).toBeLessThan(8 * MOST_AT_ONCE);
  });

  it('gives the event loop turns in a quote, a create and the drafts', async () => {
    expect((await importFile(tmx(unit('House', 'Casa')))).status).toBe(200);
    const lines = Array.from(
      { length: 200 },
      (_, index) => `<p>alpha ${index} ${'<b>x</b>'.repeat(240)}</p>`,
    );
    const job = { text: lines.join('\n'), text_format: 'html', source_language: 'en', target_language: 'es' };
    for (const path of ['/api/v1/quote/', '/tapi/v2/translation/']) {
      const most = await mostAtOnce(async () => {
        expect((await call('POST', path, job)).status).toBeLessThan(300);
      });
      expect(most, path).toBeLessThan(MOST_AT_ONCE);
    }
  });

  it('gives the event loop turns while a termbase is read', async () => {
    const brand = { externalId: 'house', name: 'House', default: false, languages: new Map() };
    await saveBrand(server.database, 'command', ref, brand, false);
    const write = vi.spyOn(SaxesParser.prototype, 'write');
    const concept = (language: string) =>
      `<langSec xml:lang="${language}"><termSec><term>a</term></termSec></langSec>`;
    const concepts = `<conceptEntry>${concept('en')}${concept('es')}</conceptEntry>`.repeat(2_000);
    const answer = await operator.call('POST', `/api/console/accounts/${username}/brands/house/import`, {
      revision: 0,
      language: 'es',
      file: 'terms.tbx',
      mode: 'merge',
      dry_run: true,
      text: `<tbx xml:lang="en">${concepts}</tbx>`,
    });
    const lengths = write.mock.calls.map(([slice]) => String(slice).length);
    write.mockRestore();
    expect(answer.status, answer.text).toBe(200);
    expect(lengths.length).toBeGreaterThan(2);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(64 * 1024);
  });
});

it('an answer that breaks off is logged', async () => {
  const owner = await server.connectOwner();
  await owner.query(`update memory set target = '"broken"' where account_id = $1`, [ref.accountId]);
  await expect(customer.call('GET', `${OWN}/export`)).rejects.toThrow();
  const line = lines.find((one) => one.includes('an answer broke off'));
  expect(JSON.parse(line!)).toMatchObject({ level: 'error', route: '/api/account/memory/export' });
});
