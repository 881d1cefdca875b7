/** Tests over HTTP the fields of a request that decide how its document is read: `retranslate` and `set_lang`. */
import { createFake } from '@dragoman/engines/fake';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimTask, confirmAll, pathOf } from '../../testing/editors.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestServer,
  waitForStatus,
} from '../../testing/harness.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';

let server: TestServer;
let call: ReturnType<typeof createClient>;
beforeAll(async () => {
  server = await startTestServer({
    engine: () => createFake(),
    settings: { DRAGOMAN_PRICE_HUMAN: '3', DRAGOMAN_PRICE_MACHINE: '1' },
  });
  call = createClient(server.url, (await server.createAccount({ balanceCents: 100_000 })).production_key);
});
afterAll(() => server.stop());

const unit = (attributes: string, state: string, target: string) =>
  `<trans-unit id="1"${attributes}><source>The red house</source><target${state}>${target}</target></trans-unit>`;
const XLIFF = `<xliff version="1.2"><file source-language="en" target-language="es" original="a" datatype="plaintext"><body>
${unit('', ' state="translated"', 'one')}
${unit('', ' state="final"', 'two')}
${unit(' approved="yes"', ' state="translated"', 'three')}
</body></file></xliff>`;
const PAGE = '<!doctype html><html lang="en" dir="ltr"><body><p>The house.</p></body></html>';

const body = (fields: object) => ({ source_language: 'en', target_language: 'es', ...fields });
const done = (path: string, uid: string) => waitForStatus(call, `${path}${uid}/`);
async function translate(fields: object) {
  const created = await call('POST', MACHINE, body(fields));
  expect(created.status, created.text).toBe(201);
  return done(MACHINE, created.body.uid);
}

it('retranslate translates, counts and charges translated segments again, and no confirmed ones', async () => {
  const kept = { text: XLIFF, text_format: 'xliff' };
  const again = { ...kept, retranslate: true };
  const quote = async (fields: object) =>
    (await call('POST', '/api/v1/quote/', body(fields))).body.word_count;
  expect(await quote(kept)).toBe(0);
  expect(await quote({ ...kept, retranslate: false })).toBe(0);
  expect(await quote(again)).toBe(3);
  expect((await translate(kept)).translated_text).toBe(XLIFF);
  const job = await translate(again);
  expect(job.translated_text).toBe(XLIFF.replace('>one<', '>THE RED HOUSE<'));
  expect(job.price).toBe(3);
});

it('retranslate belongs to a job until its delivery, also after an upgrade', async () => {
  const editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  const { uid } = await translate({ text: XLIFF, text_format: 'xliff', retranslate: true });
  const upgraded = await call('PATCH', `${MACHINE}${uid}/`, { status: 'upgrade', properties: {} });
  expect(upgraded.status, upgraded.text).toBe(202);
  expect(upgraded.body.price).toBe(9);
  await waitForStatus(call, `${HUMAN}${uid}/`, 'translating');
  const task = await claimTask(editor);
  expect(task.segments).toHaveLength(1);
  await confirmAll(editor, task);
  await editor.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
  const job = await done(HUMAN, uid);
  expect(job.translated_text).toBe(XLIFF.replace('>one<', '>THE RED HOUSE<'));
});

it('set_lang sets the language of a page to its target, and only with the field', async () => {
  const page = { text: PAGE, text_format: 'html' };
  expect((await translate(page)).translated_text).toContain('<html lang="en" dir="ltr">');
  expect((await translate({ ...page, set_lang: true })).translated_text).toBe(
    '<!doctype html><html lang="es" dir="ltr"><body><p>THE HOUSE.</p></body></html>',
  );
});

it.each([
  ['retranslate', 'html', 'is only for the text_format xliff.'],
  ['set_lang', 'xliff', 'is only for the text_format html.'],
  ['set_lang', undefined, 'is only for the text_format html.'],
])('%s is refused for the format %s', async (field, text_format, reason) => {
  const fields = body({
    text: 'A house.',
    [field]: true,
    ...(text_format === undefined ? {} : { text_format }),
  });
  for (const path of [HUMAN, MACHINE, '/api/v1/quote/']) {
    expect(await call('POST', path, fields)).toMatchObject({
      status: 400,
      body: { error: `${field}: ${reason}` },
    });
  }
  const bulk = await call('PATCH', HUMAN, { objects: [body({ text: 'A.' }), fields] });
  expect(bulk.text).toContain(`objects[1].${field}: ${reason}`);
  expect((await call('POST', MACHINE, { ...fields, [field]: 'yes' })).status).toBe(400);
});

it('a repeated request with a field finds its job, and one without the field does not', async () => {
  const fields = body({ text: PAGE, text_format: 'html', set_lang: true, uid: 'page' });
  expect((await call('POST', MACHINE, fields)).status).toBe(201);
  expect((await call('POST', MACHINE, fields)).status).toBe(200);
  expect((await call('POST', MACHINE, { ...fields, set_lang: false })).status).toBe(400);
});
