/** Tests brands in the console over HTTP: drafts, publishing and glossaries. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import { createPerson, startTestServer, type TestPerson, type TestServer } from '../testing/harness.ts';
import { readBrandFile } from './brand.ts';
import { saveBrand } from './brands.ts';

let server: TestServer;
let operator: TestPerson;
let username: string;
let base: string;
beforeAll(async () => {
  server = await startTestServer();
  operator = await createPerson(server, { role: 'operator', name: 'Olga' });
});
afterAll(() => server.stop());
beforeEach(async () => {
  ({ username } = await server.createAccount());
  base = `/api/console/accounts/${username}/brands`;
});

const fieldsOf = (body: { error: { fields?: object } }) => Object.keys(body.error.fields ?? {});

async function begin(externalId = 'main') {
  const { body } = await operator.call('POST', base, { external_id: externalId, default: true });
  return body;
}
const term = (source: string, target: string) => ({ source, target });
const path = (more = '') => `${base}/main${more}`;
const edit = (revision: number, more: object) =>
  operator.call('POST', path('/terms'), { revision, language: 'es', ...more });

/** Publishes a brand as the command `dragoman brand import` does. */
async function importFile(terms: object[]) {
  const file = { external_id: 'main', languages: { es: { glossary: terms } } };
  const { ref } = await accountNamed(server.database, username);
  await saveBrand(server.database, 'command', ref, readBrandFile('file', JSON.stringify(file)), false);
}

describe('a brand draft', () => {
  it('becomes the next version of the brand when it is published', async () => {
    await begin();
    await operator.call('PATCH', path('/draft'), {
      revision: 1,
      name: 'Main',
      languages: { es: { tone: 'Formal', instructions: 'Be brief.' } },
    });
    const { body: drafted } = await edit(2, { put: [term('house', 'casa')] });
    expect(drafted.published).toBeNull();
    expect(drafted.draft).toMatchObject({ revision: 3, name: 'Main', changed_by: 'Olga', stale: false });
    expect(drafted.draft.changes).toMatchObject({ change: 'added', default: 'becomes' });
    const { body } = await operator.call('POST', path('/publish'), { revision: 3 });
    expect(body).toMatchObject({
      draft: null,
      published: {
        version: 1,
        name: 'Main',
        default: true,
        languages: [{ language: 'es', tone: 'Formal', terms: 1 }],
      },
    });
    await edit(0, { put: [term('door', 'puerta')] });
    const again = await operator.call('POST', path('/publish'), { revision: 1 });
    expect(again.body.published).toMatchObject({ version: 2 });
    const { body: audit } = await operator.call(
      'GET',
      `/api/console/audit?account=${username}&action=brand.published`,
    );
    expect(audit.entries).toHaveLength(2);
  });

  it('is not changed by a request that names an outdated revision', async () => {
    await begin();
    expect((await edit(1, { put: [term('a', 'b')] })).status).toBe(200);
    for (const revision of [0, 1, 3]) {
      expect((await edit(revision, { put: [term('c', 'd')] })).status).toBe(409);
      expect((await operator.call('PATCH', path('/draft'), { revision, name: 'x' })).status).toBe(409);
    }
    expect((await operator.call('POST', path('/publish'), { revision: 1 })).status).toBe(409);
  });

  it('is started by only one of several concurrent requests', async () => {
    await importFile([term('a', 'b')]);
    const answers = await Promise.all(['c', 'd', 'e'].map((one) => edit(0, { put: [term(one, one)] })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });

  it('is refused as stale when the brand was published from a file after the draft was started, but is published when forced', async () => {
    await importFile([term('a', 'b')]);
    await edit(0, { put: [term('c', 'd')] });
    await importFile([term('e', 'f')]);
    expect((await operator.call('GET', path())).body.draft.stale).toBe(true);
    const refused = await operator.call('POST', path('/publish'), { revision: 1 });
    expect(refused.body.error).toMatchObject({ code: 'conflict', stale: true });
    const { body } = await operator.call('POST', path('/publish'), { revision: 1, anyway: true });
    expect(body.published).toMatchObject({ version: 3, languages: [{ terms: 2 }] });
  });

  it('can be discarded without changing the brand, and is removed with the brand', async () => {
    await importFile([term('a', 'b')]);
    await edit(0, { put: [term('c', 'd')] });
    expect((await operator.call('DELETE', path('/draft'))).status).toBe(204);
    expect((await operator.call('DELETE', path('/draft'))).status).toBe(404);
    expect((await operator.call('GET', path())).body).toMatchObject({
      draft: null,
      published: { version: 1 },
    });
    await edit(0, { put: [term('c', 'd')] });
    expect((await operator.call('DELETE', path())).status).toBe(204);
    expect((await operator.call('GET', base)).body.objects).toEqual([]);
    expect((await operator.call('GET', path())).status).toBe(404);
  });

  it('is refused when its identifier exists as a brand or draft', async () => {
    await begin();
    const again = await operator.call('POST', base, { external_id: 'main' });
    expect(fieldsOf(again.body)).toEqual(['external_id']);
    const { body } = await operator.call('GET', base);
    expect(body.objects).toMatchObject([{ external_id: 'main', version: 0, draft: true }]);
  });

  it('is not visible in another account', async () => {
    await begin();
    const other = await server.createAccount();
    const theirs = `/api/console/accounts/${other.username}/brands/main`;
    for (const [method, more, body] of [
      ['GET', '', undefined],
      ['DELETE', '', undefined],
      ['PATCH', '/draft', { revision: 0, name: 'x' }],
      ['POST', '/publish', { revision: 1 }],
      ['GET', '/terms?language=es', undefined],
    ] as const) {
      expect((await operator.call(method, `${theirs}${more}`, body)).status, `${method} ${more}`).toBe(404);
    }
  });
});

describe('the terms of a brand draft', () => {
  it('can be added, replaced and removed, and the list marks each change', async () => {
    await importFile([term('one', 'uno'), term('two', 'dos'), term('three', 'tres')]);
    await edit(0, { put: [{ ...term('two', 'par'), was: term('two', 'dos') }] });
    await edit(1, { put: [{ source: 'ACME', do_not_translate: true }], remove: [term('three', 'tres')] });
    const { body } = await operator.call('GET', path('/terms?language=es'));
    expect(
      body.terms.map(({ source, change }: { source: string; change: string }) => [source, change]),
    ).toEqual([
      ['ACME', 'added'],
      ['one', 'unchanged'],
      ['two', 'added'],
    ]);
    expect(body.removed.map(({ source }: { source: string }) => source)).toEqual(['two', 'three']);
    const { body: found } = await operator.call('GET', path('/terms?language=es&q=PA'));
    expect(found).toMatchObject({ total: 1, terms: [{ target: 'par' }] });
  });

  it.each([
    [[{ source: '', target: 'x' }], ['source']],
    [[{ source: 'x', target: '' }], ['target']],
    [[{ source: 'x', target: 'y', do_not_translate: true }], ['target']],
    [[{ source: 'x'.repeat(501), target: 'y' }], ['put[0].source']],
  ])('stay unchanged when a request contains the invalid terms %j', async (put, fields) => {
    await begin();
    const answer = await edit(1, { put });
    expect(answer.status).toBe(400);
    expect(fieldsOf(answer.body)).toEqual(fields);
    expect((await operator.call('GET', path())).body.draft.revision).toBe(1);
  });

  it('are merged with or replaced by an imported file, after a dry run that reports faults by line', async () => {
    await importFile([term('one', 'uno'), term('two', 'dos')]);
    const send = (text: string, more: object) =>
      operator.call('POST', path('/import'), {
        revision: 0,
        language: 'es',
        mode: 'merge',
        dry_run: true,
        text,
        ...more,
      });
    const faulty = await send('source,target,forbidden\n,x,\nfive,,\nsix,seis,perhaps\n', {});
    expect(faulty.body.errors.map(({ where }: { where: string }) => where).sort()).toEqual([
      'line 2',
      'line 3',
      'line 4',
    ]);
    expect((await send('source,target\n,x\n', { dry_run: false })).status).toBe(400);
    const text = 'source,target,note\none,uno,first\nthree,tres,\n';
    const merged = await send(text, {});
    expect(merged.body.counts).toEqual({ added: 1, changed: 1, removed: 0, unchanged: 1 });
    const replaced = await send(text, { mode: 'replace' });
    expect(replaced.body.counts).toEqual({ added: 1, changed: 1, removed: 1, unchanged: 0 });
    expect((await operator.call('GET', path())).body.draft).toBeNull();
    await send(text, { mode: 'replace', dry_run: false });
    const exported = await fetch(`${server.url}${path('/export?format=csv&language=es')}`);
    expect(exported.status).toBe(401);
    expect((await operator.call('GET', path())).body.draft.languages).toMatchObject([{ terms: 2 }]);
  });

  it('of the most specific language are applied in the preview of a sample text', async () => {
    await importFile([term('house', 'casa'), { source: 'ACME', do_not_translate: true }]);
    const { body } = await operator.call('POST', path('/preview'), {
      language: 'es-mx',
      text: 'The houses of ACME',
    });
    expect(body.language).toBe('es');
    expect(body.marks.map(({ terms }: { terms: { source: string }[] }) => terms[0]!.source)).toEqual([
      'house',
      'ACME',
    ]);
  });
});
