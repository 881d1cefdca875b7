/**
 * From nothing to a translation, all by the pages and what they offer to paste: somebody asks for a sandbox key, uses
 * it with curl, sees what came of it, and changes the key for another one.
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
let office: BrowserContext;
beforeAll(async () => {
  web = await startWeb({ settings: { DRAGOMAN_SANDBOX_REQUESTS: 'operator' } });
  receiver = await startReceiver();
  office = await web.signedIn(await createPerson(web, { role: 'operator', name: 'Olga' }));
});
afterAll(async () => {
  await web.stop();
  await receiver.close();
});

/** A line as it is pasted into a terminal, with no proxy of whoever runs the test between. @returns what it printed */
async function paste(line: string): Promise<{ status: number; body: Record<string, unknown> }> {
  expect(line).toMatch(/^curl /);
  const asked = line.replace(/^curl /, `curl --noproxy '*' --silent --write-out '\\n%{http_code}' `);
  const { stdout } = await promisify(execFile)('sh', ['-c', asked]);
  const [body, status] = [stdout.slice(0, stdout.lastIndexOf('\n')), stdout.slice(-3)];
  return { status: Number(status), body: JSON.parse(body) };
}

const snippet = (within: Page | ReturnType<Page['getByRole']>, name: string) =>
  within.getByRole('figure', { name }).locator('pre').innerText();

it('gets a key by a link that opens once, uses it with curl, sees its job and its callback, and rolls it', async () => {
  const email = 'ada@example.com';

  // Ada asks, and the operator grants.
  await web.visit({ path: '/sandbox' }, async (page) => {
    await page.getByLabel('Your name').fill('Ada Asking');
    await page.getByLabel('E-mail').fill(email);
    await page.getByRole('button', { name: 'Ask for an account' }).click();
    await page.getByRole('heading', { name: 'Thank you' }).waitFor();
  });
  const link = await linkGiven('/console/requests', async (page) => {
    const row = page.getByRole('row').filter({ hasText: email });
    await row.getByRole('button', { name: 'Grant key' }).click();
    await page.getByRole('dialog', { name: 'Grant key' }).getByRole('button', { name: 'Grant key' }).click();
  });

  // The link shows the key once.
  let line = '';
  await web.visit({ path: link }, async (page) => {
    await page.getByRole('button', { name: 'Show the key' }).click();
    await page.getByRole('region', { name: 'Key', exact: true }).locator('code').waitFor();
    line = await snippet(page, 'A first translation');
  });
  await web.visit({ path: link }, async (page) => {
    await page.getByRole('heading', { name: 'This link is no longer valid' }).waitFor();
    expect(await page.content()).not.toContain('dgm_test_');
  });

  // What is offered to be pasted works as it is; with an address to call back, the result comes.
  const first = await paste(line);
  expect(first).toMatchObject({ status: 201, body: { status: 'machine_translate_in_progress' } });
  const called = await paste(withBody(line, { uid: 'adas-first', callback_url: `${receiver.url}/ada` }));
  expect(called.status).toBe(201);
  const callback = JSON.parse((await receiver.next(({ path }) => path === '/ada')).body);
  expect(callback).toMatchObject({ uid: 'adas-first', status: 'completed' });

  // Ada is invited into the account, and sees both there.
  const [, account = ''] = /ApiKey ([^:]+):/.exec(line)!;
  const invitation = await linkGiven('/console/people', async (page) => {
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
      // Its callback, and how its receiver answered.
      await panel.locator('a[href*="deliveries"]').click();
      const delivery = page.getByRole('dialog', { name: 'Callback' });
      await delivery.getByText(`${receiver.url}/ada`).waitFor();
      await delivery.getByText('200', { exact: true }).waitFor();
    },
  );

  // The key is rolled; for a day both open.
  let next = '';
  await web.visit({ context: window, path: '/account/access' }, async (page) => {
    const row = page.getByRole('row').filter({ hasText: 'Sandbox' });
    await row.getByRole('button', { name: 'Roll' }).first().click();
    const dialog = page.getByRole('dialog', { name: /^Roll/ });
    await dialog.getByLabel('The one of now ends').selectOption('in 24 hours');
    await dialog.getByRole('button', { name: 'Roll' }).click();
    const shown = page.getByRole('dialog', { name: 'Copy it now' });
    next = await snippet(shown, 'A request to begin with');
    await expectAccessible(page);
    await shown.getByRole('button', { name: 'I have kept it' }).click();
    await row.filter({ hasText: 'Ends soon' }).waitFor();
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

/** What an operator does that shows a link. @returns it, as `visit` takes it */
async function linkGiven(path: string, make: (page: Page) => Promise<void>): Promise<string> {
  let link = '';
  await web.visit({ context: office, path }, async (page) => {
    await make(page);
    link = (await page.getByRole('dialog').locator('code').first().innerText()).trim();
  });
  expect(link).toContain(`${web.url}/app/`);
  return link.slice(`${web.url}/app`.length);
}

/** A line whose body says more. */
function withBody(line: string, more: object): string {
  return line.replace(/-d '(.*)'/, (_, body) => `-d '${JSON.stringify({ ...JSON.parse(body), ...more })}'`);
}

/** As the clock would: what ends later has ended. */
async function endOverlap(): Promise<void> {
  const owner = createConnection(web.connection);
  await owner.connect();
  await owner.query('update keys set revoked_at = now() where revoked_at > now()');
  await owner.end();
}
