/** Tests that open pages show changes made elsewhere by live updates, without polling. */
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
import { expectAccessible, startWeb, takeScreenshots, type Web, waitUntilRendered } from './browser.ts';

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

/** Opens a context in which pages do not poll: timers with intervals of ten seconds or more never fire. */
async function contextWithoutPolling(person: TestPerson): Promise<BrowserContext> {
  const context = await web.signedIn(person);
  await context.addInitScript(`{
    const real = setInterval;
    window.setInterval = (call, ms, ...rest) => (ms >= 10000 ? 0 : real(call, ms, ...rest));
  }`);
  return context;
}

/** Opens a page and waits until it has subscribed to live updates. */
async function visitSubscribed(
  context: BrowserContext,
  path: string,
  visit: (page: Page) => Promise<void>,
): Promise<void> {
  await web.visit({ context, path: '/me' }, async (page) => {
    const subscribed = page.waitForResponse((response) => response.url().includes('/api/live'));
    await page.goto(`${web.url}/app${path}`);
    await waitUntilRendered(page);
    expect((await subscribed).status()).toBe(200);
    await visit(page);
  });
}

it('an open job page shows the progress of a large job, then its result', async () => {
  const context = await contextWithoutPolling(customer);
  const made = await call('POST', '/tapi/v2/mt_translation/', {
    uid: 'the-book',
    text: sentences(400),
    source_language: 'en',
    target_language: 'es',
    callback_url: receiver.url,
  });
  expect(made.status).toBe(201);
  await visitSubscribed(context, '/account/jobs?tier=machine&open=the-book', async (page) => {
    const panel = page.getByRole('dialog');
    const bar = panel.getByRole('progressbar', { name: 'Progress' });
    await bar.waitFor();
    await panel.getByText(/^\d+ of 400 segments drafted$/).waitFor();
    const value = Number(await bar.getAttribute('value'));
    expect(value).toBeGreaterThan(0);
    expect(value).toBeLessThan(400);
    await expectAccessible(page);
    await takeScreenshots(page, 'live-progress');
    await waitUntilRendered(page);
    await panel.getByText(/^\d+ of 400 segments drafted$/).waitFor();
    slow.goOn();
    await panel.getByText('THIS IS SENTENCE NUMBER 400 OF THE BOOK.').waitFor();
    await bar.waitFor({ state: 'detached' });
    // The list and the callback on the same page also change.
    await page.getByRole('row', { name: /the-book.*Completed/ }).waitFor();
    await panel.getByText('Delivered', { exact: true }).waitFor();
  });
  await context.close();
});

it('an open queue removes a task when another editor claims it', async () => {
  await orderEdit(call, 'The house is small.');
  const [ada, bea] = await Promise.all(
    ['Ada', 'Bea'].map((name) => createPerson(web, { role: 'editor', languages: ['en:es'], name })),
  );
  const context = await contextWithoutPolling(ada!);
  await visitSubscribed(context, '/queue', async (page) => {
    await page.getByText('1 task is available.').waitFor();
    const task = await claimTask(bea!);
    await page.getByText('No tasks for you right now.').waitFor();
    await bea!.call('POST', pathOf(task, '/release'), { token: task.lease.token });
    await page.getByText('1 task is available.').waitFor();
  });
  await context.close();
});

it('an open task shows its editor new comments and that an operator released it', async () => {
  const operator = await createPerson(web, { role: 'operator' });
  const ada = await createPerson(web, { role: 'editor', languages: ['en:es'], name: 'Ada' });
  const task = await claimTask(ada);
  const context = await contextWithoutPolling(ada);
  await visitSubscribed(context, `/tasks/${task.task}`, async (page) => {
    await operator.call('POST', pathOf(task, '/comments'), { text: 'Which house is meant?', position: 0 });
    await page.getByText('Which house is meant?').waitFor();
    expect(await page.getByText('Which house is meant?').count()).toBe(1);
    const freed = await operator.call('POST', `/api/console/tasks/${task.task}/release`, {});
    expect(freed.status).toBe(200);
    await page.getByText('Your claim on this task has ended.').first().waitFor();
  });
  await context.close();
});

it('open job pages show a customer and an operator the progress of editors', async () => {
  const created = await call('POST', HUMAN, {
    uid: 'edited',
    text: 'The door is green.\nThe tree is old.',
    source_language: 'en',
    target_language: 'es',
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
  const [own, console] = [await contextWithoutPolling(customer), await contextWithoutPolling(operator)];
  await visitSubscribed(own, '/account/jobs?open=edited', async (page) => {
    await page.getByText('0 of 2 segments confirmed').waitFor();
    await visitSubscribed(console, `/console/jobs/acme/${job}`, async (other) => {
      await other.getByText('0 of 2 segments confirmed').waitFor();
      expect((await confirm(cleo, task, task.segments[0])).status).toBe(200);
      await page.getByText('1 of 2 segments confirmed').waitFor();
      await other.getByText('1 of 2 segments confirmed').waitFor();
      await expectAccessible(other);
      await takeScreenshots(other, 'live-progress-console');
    });
  });
  await own.close();
  await console.close();
});

it('a page whose topics change reads what the old stream had not sent yet', async () => {
  const text = { text: 'The house is small.', source_language: 'en', target_language: 'es' };
  const order = (uid: string) => call('POST', '/tapi/v2/mt_translation/', { ...text, uid });
  expect((await order('sent')).status).toBe(201);
  const context = await contextWithoutPolling(customer);
  // No stream receives changes here: the server delays a second change within a second.
  await context.addInitScript(`{
    const listen = EventSource.prototype.addEventListener;
    EventSource.prototype.addEventListener = function (type, listener) {
      if (type !== 'changed') listen.call(this, type, listener);
    };
  }`);
  await visitSubscribed(context, '/account/jobs?tier=machine', async (page) => {
    await page.getByRole('row', { name: /sent/ }).waitFor();
    expect((await order('unsent')).status).toBe(201);
    await page.getByRole('button', { name: 'sent', exact: true }).click();
    await page.getByRole('dialog').waitFor();
    await page.getByRole('row', { name: /unsent/, includeHidden: true }).waitFor({ state: 'attached' });
  });
  await context.close();
});

it('an open page changes to the sign-in page when its session ends elsewhere', async () => {
  const gone = await createPerson(web, { role: 'editor', languages: ['en:es'] });
  const context = await contextWithoutPolling(gone);
  await visitSubscribed(context, '/queue', async (page) => {
    await gone.call('DELETE', '/api/sessions');
    await page.waitForURL('**/app/sign-in*');
  });
  await context.close();
});
