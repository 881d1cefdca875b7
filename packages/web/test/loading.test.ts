/**
 * Tests what the first view of a page costs in a browser with an empty cache: how many requests the page sends, and that
 * no timer delays it. Unlike a time, both are the same on every machine.
 */
import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { orderEdit } from '../../server/src/testing/editors.ts';
import { createClient, createPerson, type TestPerson } from '../../server/src/testing/harness.ts';
import { shareWeb, type Web, waitUntilIdle } from './browser.ts';

type Role = 'customer' | 'editor' | 'operator';

let web: Web;
const people = {} as Record<Role, TestPerson>;
let task: string;
beforeAll(async () => {
  web = await shareWeb();
  const account = await web.createAccount({ balanceCents: 5_000 });
  people.customer = await createPerson(web, { role: 'customer', account });
  people.editor = await createPerson(web, { role: 'editor', languages: ['en:es'] });
  people.operator = await createPerson(web, { role: 'operator' });
  const uid = await orderEdit(createClient(web.url, account.production_key), 'The house is big.');
  const { body } = await people.operator.call('GET', '/api/console/tasks');
  task = body.tasks.find((one: { uid: string }) => one.uid === uid).task;
});
afterAll(() => web.stop());

/** Returns the requests of a page until it is idle, except those of live updates, as `METHOD path`. */
async function requestsOf(context: BrowserContext, path: string): Promise<string[]> {
  const sent: string[] = [];
  let counted = 0;
  context.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname !== '/api/live') sent.push(`${request.method()} ${pathname}`);
  });
  try {
    // After the visit the page loads another document, which does not count.
    await web.visit({ context, path }, async (page) => {
      await waitUntilIdle(page);
      counted = sent.length;
    });
  } finally {
    await context.close();
  }
  return sent.slice(0, counted);
}

it('the sign-in page sends at most 10 requests', async () => {
  const sent = await requestsOf(await web.context(), '/sign-in');
  expect(sent.length, sent.join('\n')).toBeLessThanOrEqual(10);
});

it.each<[Role, string, number]>([
  ['customer', '/account', 20],
  ['customer', '/account/translate', 20],
  ['customer', '/account/jobs', 20],
  ['customer', '/account/deliveries', 20],
  ['editor', '/queue', 20],
  ['operator', '/console', 20],
  ['operator', '/console/jobs', 20],
])('the page of the %s at %s sends at most %i requests', async (role, path, most) => {
  const sent = await requestsOf(await web.signedIn(people[role]), path);
  expect(sent.length, sent.join('\n')).toBeLessThanOrEqual(most);
});

it('the workbench sends at most 40 requests', async () => {
  const sent = await requestsOf(await web.signedIn(people.editor), `/tasks/${task}`);
  expect(sent.length, sent.join('\n')).toBeLessThanOrEqual(40);
});

it.each<[Role | 'nobody', string, string]>([
  ['nobody', '/sign-in', 'h1'],
  ['customer', '/account', 'main h1'],
  ['customer', '/account/jobs', 'main h1'],
  ['editor', '/queue', 'main h1'],
  ['editor', '/tasks/$task', '[role=grid]'],
  ['operator', '/console', 'main h1'],
])('%s sees %s while the clock stands still', async (role, path, content) => {
  const context = await (role === 'nobody' ? web.context() : web.signedIn(people[role]));
  const page = await context.newPage();
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 1_000);
  await page.goto(`${web.url}/app${path.replace('$task', task)}`);
  // Runs only the timers that are due at once. A skeleton is shown after 150 ms, and React keeps one for 300 ms.
  await expect
    .poll(async () => {
      await page.clock.runFor(0);
      return page.locator(content).count();
    })
    .toBe(1);
  await context.close();
});
