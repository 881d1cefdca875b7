/** Tests of how the pages show segments that no engine could translate. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { orderEdit } from '../../server/src/testing/editors.ts';
import { createClient, createPerson, until } from '../../server/src/testing/harness.ts';
import { expectAccessible, startWeb, takeScreenshots, type Web } from './browser.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const PAIR = { source_language: 'en', target_language: 'es' };
const LINES = Array.from({ length: 10 }, (_, line) =>
  line === 6 ? 'The flibbertigibbet has wobbled.' : `The house number ${line + 1} is big.`,
);

let web: Web;
let engine: FakeEngine;
let customer: Awaited<ReturnType<typeof createPerson>>;
let program: ReturnType<typeof createClient>;
beforeAll(async () => {
  web = await startWeb({
    engine: () => {
      engine = createFake();
      engine.failOn('flibbertigibbet', 'garbled');
      return engine;
    },
    settings: { DRAGOMAN_PRICE_MACHINE: '2' },
  });
  const account = await web.createAccount({ balanceCents: 5_000, username: 'acme', chat: true });
  customer = await createPerson(web, { role: 'customer', account });
  program = createClient(web.url, account.production_key);
  await program('POST', MACHINE, { ...PAIR, uid: 'handbook', text: LINES.join('\n') });
  await until(async () => (await program('GET', `${MACHINE}handbook/`)).body.status === 'completed');
});
afterAll(() => web.stop());

it('the customer reads how many sentences of a job are not translated, and what was released for them', async () => {
  const context = await web.signedIn(customer);
  await web.visit({ context, path: '/account/jobs?tier=machine&open=handbook' }, async (page) => {
    const panel = page.getByRole('dialog', { name: 'Job', exact: true });
    await panel.getByText('1 sentence could not be translated and is in the source language.').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'account-job-untranslated');
  });
  await web.visit({ context, path: '/account/balance' }, async (page) => {
    const line = page.getByRole('row').filter({ hasText: 'handbook' });
    await line.getByText('Charged').waitFor();
    await takeScreenshots(page, 'account-balance-untranslated');
  });
});

it('the operator reads why a segment of a job is not translated', async () => {
  const operator = await createPerson(web, { role: 'operator' });
  const { jobs } = (await operator.call('GET', '/api/console/jobs?account=acme&q=handbook')).body;
  const context = await web.signedIn(operator);
  await web.visit({ context, path: `/console/jobs/acme/${jobs[0].job}` }, async (page) => {
    await page.getByText('1 (unusable translation)').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'Released' }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'console-job-untranslated');
  });
});

it('the customer reads how many sentences of a chat message are not translated', async () => {
  const message = { ...PAIR, chat_external_id: 'talk', external_id: 'm1', text_format: 'text' };
  const sent = await program('POST', '/v2/chats/messages', {
    ...message,
    text: 'Where is the house?\nThe flibbertigibbet has wobbled.',
  });
  const path = `/v2/chats/${sent.body.chat.id}/messages/${sent.body.message.id}`;
  await until(async () => (await program('GET', path)).body.message.untranslated === 1);
  const context = await web.signedIn(customer);
  await web.visit({ context, path: `/account/chats?open=${sent.body.chat.id}` }, async (page) => {
    await page.getByText('1 sentence is not translated.').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'account-chat-untranslated');
  });
});

it('the editor sees the segment without a draft, with the reason', async () => {
  const editor = await createPerson(web, { role: 'editor', languages: ['en:es'] });
  await orderEdit(program, LINES.slice(5, 8).join('\n'), { uid: 'edited' });
  const claimed = await editor.call('POST', '/api/editing/claims', {});
  expect(claimed.status, claimed.text).toBe(201);
  const context = await web.signedIn(editor);
  await web.visit({ context, path: `/tasks/${claimed.body.task.task}` }, async (page) => {
    await page.getByText('No draft: unusable translation').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-untranslated');
  });
});
