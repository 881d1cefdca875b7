/** Pages show what happens elsewhere while they are open: told by the server, with no timer to look again. */
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimTask, confirm, HUMAN, orderEdit, pathOf } from '../../server/src/testing/editors.ts';
import {
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  type TestPerson,
  until,
} from '../../server/src/testing/harness.ts';
import { createSlow, type SlowEngine, sentences } from '../../server/src/testing/slow-engine.ts';
import { expectAccessible, settled, shoot, startWeb, type Web } from './browser.ts';

let web: Web;
let slow: SlowEngine;
let customer: TestPerson;
let call: ReturnType<typeof createClient>;
let receiver: Receiver;
beforeAll(async () => {
  slow = createSlow(4);
  web = await startWeb({ engine: () => slow });
  receiver = await startReceiver();
  const account = await web.createAccount({ username: 'acme', balanceCents: 10_000_000 });
  customer = await createPerson(web, { role: 'customer', account });
  call = createClient(web.url, account.production_key);
});
afterAll(async () => {
  slow.goOn();
  await receiver.close();
  await web.stop();
});

/** Somebody whose pages never look again by themselves: timers of ten seconds and more do not run. */
async function windowOf(person: TestPerson): Promise<BrowserContext> {
  const context = await web.signedIn(person);
  await context.addInitScript(`{
    const real = setInterval;
    window.setInterval = (call, ms, ...rest) => (ms >= 10000 ? 0 : real(call, ms, ...rest));
  }`);
  return context;
}

/** Opens a page, and waits until it looks on and has what it asked for then. */
async function onLooking(
  context: BrowserContext,
  path: string,
  visit: (page: Page) => Promise<void>,
): Promise<void> {
  await web.visit({ context, path: '/me' }, async (page) => {
    const looking = page.waitForResponse((response) => response.url().includes('/api/live'));
    await page.goto(`${web.url}/app${path}`);
    await settled(page);
    expect((await looking).status()).toBe(200);
    await visit(page);
  });
}

it('shows how far a large job is, and its result when it is there', async () => {
  const context = await windowOf(customer);
  const made = await call('POST', '/tapi/v2/mt_translation/', {
    uid: 'the-book',
    text: sentences(400),
    source_language: 'en',
    target_language: 'es',
    callback_url: receiver.url,
  });
  expect(made.status).toBe(201);
  await onLooking(context, '/account/jobs?tier=machine&open=the-book', async (page) => {
    const panel = page.getByRole('dialog');
    const bar = panel.getByRole('progressbar', { name: 'Progress' });
    await bar.waitFor();
    await panel.getByText(/^\d+ of 400 segments drafted$/).waitFor();
    const value = Number(await bar.getAttribute('value'));
    expect(value).toBeGreaterThan(0);
    expect(value).toBeLessThan(400);
    await expectAccessible(page);
    await shoot(page, 'live-progress');
    await settled(page);
    await panel.getByText(/^\d+ of 400 segments drafted$/).waitFor();
    slow.goOn();
    await panel.getByText('THIS IS SENTENCE NUMBER 400 OF THE BOOK.').waitFor();
    await bar.waitFor({ state: 'detached' });
    // Its row in the list, its callback, all of the same page.
    await page.getByRole('row', { name: /the-book.*Completed/ }).waitFor();
    await panel.getByText('Delivered', { exact: true }).waitFor();
  });
  await context.close();
});

it('takes a task from the queues of all when one claims it', async () => {
  await orderEdit(call, 'The house is small.');
  const [ada, bea] = await Promise.all(
    ['Ada', 'Bea'].map((name) => createPerson(web, { role: 'editor', languages: ['en:es'], name })),
  );
  const context = await windowOf(ada!);
  await onLooking(context, '/queue', async (page) => {
    await page.getByText('1 task waits for you.').waitFor();
    const task = await claimTask(bea!);
    await page.getByText('Nothing waits for you now.').waitFor();
    await bea!.call('POST', pathOf(task, '/release'), { token: task.lease.token });
    await page.getByText('1 task waits for you.').waitFor();
  });
  await context.close();
});

it('tells whoever edits a task what others do to it', async () => {
  const operator = await createPerson(web, { role: 'operator' });
  const ada = await createPerson(web, { role: 'editor', languages: ['en:es'], name: 'Ada' });
  const task = await claimTask(ada);
  const context = await windowOf(ada);
  await onLooking(context, `/tasks/${task.task}`, async (page) => {
    await operator.call('POST', pathOf(task, '/comments'), { text: 'Which house is meant?', position: 0 });
    await page.getByText('Which house is meant?').waitFor();
    expect(await page.getByText('Which house is meant?').count()).toBe(1);
    const freed = await operator.call('POST', `/api/console/tasks/${task.task}/release`, {});
    expect(freed.status).toBe(200);
    await page.getByText('The task is not yours any more.').first().waitFor();
  });
  await context.close();
});

it('shows a customer and an operator how far the editors are', async () => {
  const created = await call('POST', HUMAN, {
    ...{
      uid: 'edited',
      text: 'The door is green.\nThe tree is old.',
      source_language: 'en',
      target_language: 'es',
    },
  });
  expect(created.status).toBe(201);
  await until(async () => (await call('GET', `${HUMAN}edited/`)).body.status === 'translating');
  const cleo = await createPerson(web, { role: 'editor', languages: ['en:es'], name: 'Cleo' });
  const { body } = await cleo.call('GET', '/api/editing/queue');
  const [wanted] = body.open.filter(({ segments }: { segments: number }) => segments === 2);
  const task = await claimTask(cleo, wanted.task);
  const operator = await createPerson(web, { role: 'operator' });
  const listed = await operator.call('GET', '/api/console/jobs?q=edited');
  const job = listed.body.jobs.find(({ uid }: { uid: string }) => uid === 'edited').job;
  const [own, console] = [await windowOf(customer), await windowOf(operator)];
  await onLooking(own, '/account/jobs?open=edited', async (page) => {
    await page.getByText('0 of 2 segments confirmed').waitFor();
    await onLooking(console, `/console/jobs/acme/${job}`, async (other) => {
      await other.getByText('0 of 2 segments confirmed').waitFor();
      expect((await confirm(cleo, task, task.segments[0])).status).toBe(200);
      await page.getByText('1 of 2 segments confirmed').waitFor();
      await other.getByText('1 of 2 segments confirmed').waitFor();
      await expectAccessible(other);
      await shoot(other, 'live-progress-console');
    });
  });
  await own.close();
  await console.close();
});

it('leads to the sign-in when the session is ended elsewhere', async () => {
  const gone = await createPerson(web, { role: 'editor', languages: ['en:es'] });
  const context = await windowOf(gone);
  await onLooking(context, '/queue', async (page) => {
    await gone.call('DELETE', '/api/sessions');
    await page.waitForURL('**/app/sign-in*');
  });
  await context.close();
});
