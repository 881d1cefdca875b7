/**
 * Tests the way of a new customer from the request for a sandbox account to the first translation and a
 * rolled key. The customer uses only the pages and the commands that they show.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConnection } from '../../server/src/database/connections.ts';
import { createPerson, type Receiver, startReceiver, until } from '../../server/src/testing/harness.ts';
import { expectAccessible, startWeb, type Web } from './browser.ts';

let web: Web;
let receiver: Receiver;
let operatorContext: BrowserContext;
beforeAll(async () => {
  web = await startWeb({ settings: { DRAGOMAN_SANDBOX_REQUESTS: 'operator' } });
  receiver = await startReceiver();
  operatorContext = await web.signedIn(await createPerson(web, { role: 'operator', name: 'Olga' }));
});
afterAll(async () => {
  await web.stop();
  await receiver.close();
});

/** Runs a curl command without the proxy of the test's environment. Returns status and body. */
async function paste(line: string): Promise<{ status: number; body: Record<string, unknown> }> {
  expect(line).toMatch(/^curl /);
  const command = line.replace(/^curl /, `curl --noproxy '*' --silent --write-out '\\n%{http_code}' `);
  const { stdout } = await promisify(execFile)('sh', ['-c', command]);
  const [body, status] = [stdout.slice(0, stdout.lastIndexOf('\n')), stdout.slice(-3)];
  return { status: Number(status), body: JSON.parse(body) };
}

const snippet = (within: Page | ReturnType<Page['getByRole']>, name: string) =>
  within.getByRole('figure', { name }).locator('pre').innerText();

it('a new customer gets a key by a single-use link, uses it with curl, sees job and callback, and rolls the key', async () => {
  const email = 'ada@example.com';

  // Ada requests an account, and the operator grants it.
  await web.visit({ path: '/sandbox' }, async (page) => {
    await page.getByLabel('Your name').fill('Ada Asking');
    await page.getByLabel('E-mail').fill(email);
    await page.getByRole('button', { name: 'Request account' }).click();
    await page.getByRole('heading', { name: 'Thank you' }).waitFor();
  });
  const link = await createLink('/console/requests', async (page) => {
    const row = page.getByRole('row').filter({ hasText: email });
    await row.getByRole('button', { name: 'Grant account' }).click();
    await page
      .getByRole('dialog', { name: 'Grant account' })
      .getByRole('button', { name: 'Grant account' })
      .click();
  });

  // The link shows the key once.
  let line = '';
  await web.visit({ path: link }, async (page) => {
    await page.getByRole('button', { name: 'Show key' }).click();
    await page.getByRole('region', { name: 'API key', exact: true }).locator('code').waitFor();
    line = await snippet(page, 'Your first translation');
  });
  await web.visit({ path: link }, async (page) => {
    await page.getByRole('heading', { name: 'This link is no longer valid' }).waitFor();
    expect(await page.content()).not.toContain('dgm_test_');
  });

  // The shown command works as it was copied. It also works with a callback URL added to its body.
  const first = await paste(line);
  expect(first).toMatchObject({ status: 201, body: { status: 'machine_translate_in_progress' } });
  const called = await paste(withBody(line, { uid: 'adas-first', callback_url: `${receiver.url}/ada` }));
  expect(called.status).toBe(201);
  const callback = JSON.parse((await receiver.next(({ path }) => path === '/ada')).body);
  expect(callback).toMatchObject({ uid: 'adas-first', status: 'completed' });

  // Ada is invited into the account and sees both jobs.
  const [, account = ''] = /ApiKey ([^:]+):/.exec(line)!;
  const invitation = await createLink('/console/people', async (page) => {
    await page.getByRole('button', { name: 'Invite' }).click();
    const dialog = page.getByRole('dialog', { name: 'Invite' });
    await dialog.getByLabel('E-mail').fill(email);
    await dialog.getByLabel('Role').selectOption('Customer');
    await dialog.getByLabel('Account').fill(account);
    await dialog.getByRole('button', { name: 'Invite' }).click();
  });
  const window = await web.context();
  await web.visit({ context: window, path: invitation }, async (page) => {
    await page.getByLabel('Name').fill('Ada Asking');
    await page.getByLabel('New password').fill('a long and quiet password');
    await page.getByRole('button', { name: 'Save and sign in' }).click();
    await page.waitForURL('**/app/account');
  });
  await web.visit(
    { context: window, path: '/account/jobs?environment=sandbox&tier=machine' },
    async (page) => {
      await page.getByText('2 jobs').waitFor();
      await page.getByRole('button', { name: 'adas-first' }).click();
      const panel = page.getByRole('dialog', { name: 'Job' });
      await panel
        .getByRole('region', { name: 'Translation' })
        .getByText(String(callback.translated_text))
        .waitFor();
      // The page shows the callback with the receiver's answer.
      await panel.locator('a[href*="deliveries"]').click();
      const delivery = page.getByRole('dialog', { name: 'Callback' });
      await delivery.getByText(`${receiver.url}/ada`).waitFor();
      await delivery.getByText('200', { exact: true }).waitFor();
    },
  );

  // After rolling, both keys work for a day.
  let next = '';
  await web.visit({ context: window, path: '/account/access' }, async (page) => {
    const row = page.getByRole('row').filter({ hasText: 'Sandbox' });
    await row.getByRole('button', { name: 'Roll' }).first().click();
    const dialog = page.getByRole('dialog', { name: /^Roll/ });
    await dialog.getByLabel('The old one expires').selectOption('in 24 hours');
    await dialog.getByRole('button', { name: 'Roll' }).click();
    const shown = page.getByRole('dialog', { name: 'Copy it now' });
    next = await snippet(shown, 'Try it');
    await expectAccessible(page);
    await shown.getByRole('button', { name: 'I have saved it' }).click();
    await row.filter({ hasText: 'Expires soon' }).waitFor();
    expect([(await paste(line)).status, (await paste(next)).status]).toEqual([201, 201]);

    await endOverlap();
    await until(async () => (await paste(line)).status === 401);
    expect((await paste(line)).body).toEqual({ error: 'Unauthorized' });
    expect((await paste(next)).status).toBe(201);
    await page.reload();
    await row.filter({ hasText: 'Revoked' }).waitFor();
  });
  await window.close();
});

/** Runs an operator's action that shows a link. Returns the link relative to `/app`. */
async function createLink(path: string, make: (page: Page) => Promise<void>): Promise<string> {
  let link = '';
  await web.visit({ context: operatorContext, path }, async (page) => {
    await make(page);
    link = (await page.getByRole('dialog').locator('code').first().innerText()).trim();
  });
  expect(link).toContain(`${web.url}/app/`);
  return link.slice(`${web.url}/app`.length);
}

/** Adds fields to the body of a curl command. */
function withBody(line: string, more: object): string {
  return line.replace(/-d '(.*)'/, (_, body) => `-d '${JSON.stringify({ ...JSON.parse(body), ...more })}'`);
}

/** Ends the overlap of rolled keys, so that old keys expire. */
async function endOverlap(): Promise<void> {
  const owner = createConnection(web.connection);
  await owner.connect();
  await owner.query('update keys set revoked_at = now() where revoked_at > now()');
  await owner.end();
}
