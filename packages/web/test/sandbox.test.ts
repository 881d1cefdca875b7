/** Tests of requests for a sandbox account: the form, the link, and the key that is shown once. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createBrowser, createPerson } from '../../server/src/testing/harness.ts';
import { expectAccessible, startWeb, takeScreenshots, type Web } from './browser.ts';

let web: Web;
beforeAll(async () => {
  web = await startWeb({ settings: { DRAGOMAN_SANDBOX_REQUESTS: 'at-once' } });
});
afterAll(() => web.stop());

it('a visitor requests an account and sees a working key once', async () => {
  await web.visit({ path: '/sign-in' }, async (page) => {
    await page.getByRole('link', { name: 'Request a sandbox account' }).click();
    await page.getByRole('heading', { name: 'Try the sandbox' }).waitFor();
    await takeScreenshots(page, 'sandbox');
    await page.getByRole('button', { name: 'Request account' }).click();
    await page.locator('[aria-invalid=true][name=name]:focus').waitFor();
    await page.getByLabel('Your name').fill('Ada Asking');
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByRole('button', { name: 'Request account' }).click();
    await page.getByRole('heading', { name: 'Your sandbox API key' }).waitFor();
    await page.waitForURL(/\/app\/sandbox\/[\w-]{43}$/);
    const opened = page.url();
    expect(await page.content()).not.toContain('dgm_test_');
    await page.getByRole('button', { name: 'Show key' }).click();
    const key = page.getByRole('region', { name: 'API key', exact: true }).locator('code');
    await key.waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'sandbox-key', 'state');
    const authorization = `ApiKey ${await key.textContent()}`;
    const address = await page.getByRole('region', { name: 'Base URL' }).locator('code').textContent();
    const answer = await fetch(`${address}/tapi/v2/translation/`, { headers: { authorization } });
    expect(answer.status).toBe(200);
    await page.goto(opened);
    await page.getByRole('heading', { name: 'This link is no longer valid' }).waitFor();
  });
});

it('the sandbox form thanks the visitor for a request that an operator must grant', async () => {
  await web.restart({ DRAGOMAN_SANDBOX_REQUESTS: 'operator' });
  await web.visit({ path: '/sandbox', language: 'de' }, async (page) => {
    await page.getByLabel('Ihr Name').fill('Bea Bittend');
    await page.getByLabel('E-Mail').fill('bea@example.com');
    await page.getByRole('button', { name: 'Konto anfragen' }).click();
    await page.getByRole('heading', { name: 'Vielen Dank' }).waitFor();
  });
  const operator = await createPerson(web, { role: 'operator' });
  const { body } = await operator.call('GET', '/api/console/sandbox-requests?status=open');
  expect(body.requests).toMatchObject([{ name: 'Bea Bittend', email: 'bea@example.com' }]);
});

it('the sandbox form says that requests are turned off, and the sign-in page has no link to it', async () => {
  await web.restart({ DRAGOMAN_SANDBOX_REQUESTS: 'off' });
  expect((await createBrowser(web.url).call('GET', '/api/sandbox-requests')).body.open).toBe(false);
  await web.visit({ path: '/sandbox' }, async (page) => {
    await page.getByText('Sandbox requests are turned off.').waitFor();
  });
  await web.visit({ path: '/sign-in' }, async (page) => {
    expect(await page.locator('a[href*="sandbox"]').count()).toBe(0);
  });
});
