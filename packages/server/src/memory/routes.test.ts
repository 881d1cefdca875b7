/** Tests of the memory routes, for customers and operators. */
import { SaxesParser } from 'saxes';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
} from '../testing/harness.ts';

const OWN = '/api/account/memory';
const PAIR = { from: 'en', to: 'es' };
const unit = (source: string, target: string) =>
  `<tu><tuv xml:lang="en"><seg>${source}</seg></tuv><tuv xml:lang="es"><seg>${target}</seg></tuv></tu>`;
const tmx = (...units: string[]) => `<tmx version="1.4"><body>\n${units.join('\n')}\n</body></tmx>`;

let server: TestServer;
let customer: TestPerson;
let stranger: TestPerson;
let operator: TestPerson;
let editor: TestPerson;
beforeAll(async () => {
  server = await startTestServer();
  customer = await createPerson(server, { role: 'customer', name: 'Ana' });
  stranger = await createPerson(server, { role: 'customer' });
  operator = await createPerson(server, { role: 'operator' });
  editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
});
afterAll(() => server.stop());

describe('parsing a long TMX file', () => {
  it('reads the text in slices', async () => {
    const write = vi.spyOn(SaxesParser.prototype, 'write');
    const units = unit('The house is big.', 'La casa es grande.').repeat(20_000);
    const file = { ...PAIR, tmx: tmx(units), dry_run: true };
    expect((await customer.call('POST', `${OWN}/import`, file)).body).toMatchObject({ read: 20_000 });
    const lengths = write.mock.calls.map(([slice]) => String(slice).length);
    write.mockRestore();
    expect(lengths.length).toBeGreaterThan(20);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(64 * 1024);
  });
});

describe('a customer’s memory page', () => {
  it('imports a file after a dry run, and exports it', async () => {
    const file = { ...PAIR, tmx: tmx(unit('One &amp; two.', 'Uno y dos.'), unit('Three.', 'Tres.')) };
    const dry = await customer.call('POST', `${OWN}/import`, { ...file, dry_run: true });
    expect(dry.body).toEqual({ read: 2, written: 2, skipped: 0 });
    expect((await customer.call('GET', OWN)).body).toEqual({ entries: [], next: null });
    expect((await customer.call('POST', `${OWN}/import`, file)).body).toEqual(dry.body);
    const exported = await customer.call('GET', `${OWN}/export?from=en`);
    expect(exported.headers.get('content-type')).toBe('application/xml; charset=utf-8');
    expect(exported.text).toContain('<seg>One &amp; two.</seg>');
    const again = await stranger.call('POST', `${OWN}/import`, { ...PAIR, tmx: exported.text });
    expect(again.body).toEqual({ read: 2, written: 2, skipped: 0 });
    const { body } = await customer.call('GET', `${OWN}/summary`);
    expect(body.memory).toMatchObject([
      { source_language: 'en', target_language: 'es', entries: 2, withdrawn: 0 },
    ]);
  });

  it('lists search results by page, and withdraws entries', async () => {
    const first = (await customer.call('GET', `${OWN}?limit=1`)).body;
    expect(first.entries).toMatchObject([{ source: 'Three.', weight: 1, withdrawn: null }]);
    const second = (await customer.call('GET', `${OWN}?limit=1&before=${first.next}`)).body;
    expect(second.entries).toMatchObject([{ source: 'One & two.' }]);
    const { memory_id: id } = (await customer.call('GET', `${OWN}?q=TRES`)).body.entries[0];
    const withdrawn = await customer.call('POST', `${OWN}/${id}/withdraw`, { reason: 'old' });
    expect(withdrawn.body).toMatchObject({
      entry: { weight: 0, withdrawn: { by: 'Ana', reason: 'old' } },
      touched: [],
    });
    expect((await customer.call('GET', `${OWN}?q=TRES`)).body.entries).toEqual([]);
    expect((await customer.call('GET', `${OWN}?q=TRES&state=withdrawn`)).body.entries).toHaveLength(1);
    expect((await customer.call('POST', `${OWN}/${id}/restore`)).body.entry.withdrawn).toBeNull();
    // An entry of another account is not found.
    for (const [method, path] of [
      ['GET', `${OWN}/${id}`],
      ['POST', `${OWN}/${id}/withdraw`],
      ['POST', `${OWN}/${id}/restore`],
    ] as const) {
      const foreign = await stranger.call(method, path, method === 'GET' ? undefined : {});
      const unknown = await stranger.call(
        method,
        path.replace(id, crypto.randomUUID()),
        method === 'GET' ? undefined : {},
      );
      expect(foreign.status).toBe(404);
      expect(foreign.text).toBe(unknown.text);
    }
    expect((await customer.call('GET', `${OWN}/${id}`)).body.entry.withdrawn).toBeNull();
  });

  it.each([
    ['GET', '?limit=0&from=E%20N&state=x&before=1', undefined, ['limit', 'from', 'state', 'before']],
    ['POST', '/import', {}, ['from', 'to', 'tmx']],
    ['POST', '/import', { ...PAIR, tmx: 7, dry_run: 'no', brand: 1 }, ['tmx', 'dry_run', 'brand']],
    ['POST', '/import', { ...PAIR, tmx: '<html/>' }, ['tmx']],
    ['POST', '/import', { ...PAIR, tmx: '<!DOCTYPE tmx [<!ENTITY a "b">]><tmx/>' }, ['tmx']],
    ['POST', '/import', { ...PAIR, tmx: tmx(), brand: 'nobody' }, ['brand']],
  ])('names every invalid field in the error: %s %s', async (method, path, body, fields) => {
    const refused = await customer.call(method, `${OWN}${path}`, body);
    expect(refused.status).toBe(400);
    expect(refused.body.error.code).toBe('invalid_request');
    for (const field of fields) expect(refused.body.error.message).toContain(`${field}: `);
  });
});

describe('an operator’s memory page', () => {
  it('reads and withdraws entries of a customer', async () => {
    const path = `/api/console/accounts/${customer.account!.username}/memory`;
    const { entries } = (await operator.call('GET', path)).body;
    expect(entries).toHaveLength(2);
    const withdrawn = await operator.call('POST', `${path}/${entries[0].memory_id}/withdraw`, {});
    expect(withdrawn.body.entry.weight).toBe(0);
    expect((await operator.call('GET', `/api/console/accounts/nobody/memory`)).status).toBe(404);
    const other = `/api/console/accounts/${stranger.account!.username}/memory/${entries[0].memory_id}`;
    expect((await operator.call('GET', other)).status).toBe(404);
  });
});

it('the memory routes answer 404 to users of other roles, and 401 without a session', async () => {
  const console = `/api/console/accounts/${customer.account!.username}/memory`;
  for (const path of ['', '/summary', '/export']) {
    expect((await editor.call('GET', `${OWN}${path}`)).status).toBe(404);
    expect((await operator.call('GET', `${OWN}${path}`)).status).toBe(404);
    expect((await customer.call('GET', `${console}${path}`)).status).toBe(404);
    expect((await editor.call('GET', `${console}${path}`)).status).toBe(404);
  }
  expect((await fetch(`${server.url}${OWN}`)).status).toBe(401);
});

describe('the search of the memory with an API key', () => {
  it('finds usable entries of the account by their words, page by page', async () => {
    const owner = await createPerson(server, { role: 'customer' });
    const call = createClient(server.url, owner.account!.production_key);
    const units = ['One', 'Two', 'Three'].map((one) => unit(`${one} &amp; house.`, `${one} y casa.`));
    await owner.call('POST', `${OWN}/import`, { ...PAIR, tmx: tmx(...units) });
    const search = async (query: string) => (await call('GET', `/api/v1/memory/${query}`)).body;
    const first = await search('?q=HOUSE&source_language=en&target_language=es&limit=2');
    expect(first.objects).toMatchObject([
      { source_language: 'en', target_language: 'es', source: 'Three & house.', target: 'Three y casa.' },
      { source: 'Two & house.' },
    ]);
    expect(first.objects[0]).not.toHaveProperty('brand');
    const last = await search(`?q=house&limit=2&after=${first.next}`);
    expect(last).toMatchObject({ objects: [{ source: 'One & house.' }], next: null });
    expect((await search('?q=house&target_language=fr')).objects).toEqual([]);
    await owner.call('POST', `${OWN}/${last.objects[0].id}/withdraw`, {});
    expect((await search('?q=one')).objects).toEqual([]);
    const other = createClient(server.url, stranger.account!.production_key);
    expect((await other('GET', '/api/v1/memory/?q=house')).body).toEqual({ objects: [], next: null });
    const sandbox = createClient(server.url, owner.account!.sandbox_key);
    const tried = await sandbox('GET', '/sandbox/api/v1/memory/?q=house');
    expect([tried.status, tried.body]).toEqual([200, { objects: [], next: null }]);
  });

  it('names every invalid parameter', async () => {
    const call = createClient(server.url, customer.account!.production_key);
    const { status, body } = await call('GET', '/api/v1/memory/?limit=0&source_language=E%20N&after=1');
    const fields = body.error.split('\n').map((line: string) => line.split(':')[0]);
    expect({ status, fields: fields.toSorted() }).toEqual({
      status: 400,
      fields: ['after', 'limit', 'source_language'],
    });
  });
});
