/** Whoever asks for a sandbox account: the form, the link, the key that is shown once. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createBrowser, createPerson } from '../../server/src/testing/harness.ts';
import { expectAccessible, shoot, startWeb, type Web } from './browser.ts';

let web: Web;
beforeAll(async () => {
  web = await startWeb({ settings: { DRAGOMAN_SANDBOX_REQUESTS: 'at-once' } });
});
afterAll(() => web.stop());

it('asks, and is shown a key once that opens the sandbox', async () => {
  await web.visit({ path: '/sign-in' }, async (page) => {
    await page.getByRole('link', { name: 'Ask for a sandbox account' }).click();
    await page.getByRole('heading', { name: 'Try the sandbox' }).waitFor();
    await expectAccessible(page);
    await shoot(page, 'sandbox');
    await page.getByRole('button', { name: 'Ask for an account' }).click();
    await page.locator('[aria-invalid=true][name=name]:focus').waitFor();
    await page.getByLabel('Your name').fill('Ada Asking');
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByRole('button', { name: 'Ask for an account' }).click();
    await page.getByRole('heading', { name: 'Your key for the sandbox' }).waitFor();
    await page.waitForURL(/\/app\/sandbox\/[\w-]{43}$/);
    const opened = page.url();
    expect(await page.content()).not.toContain('dgm_test_');
    await page.getByRole('button', { name: 'Show the key' }).click();
    const key = page.getByRole('region', { name: 'Key', exact: true }).locator('code');
    await key.waitFor();
    await expectAccessible(page);
    await shoot(page, 'sandbox-key', 'state');
    const authorization = `ApiKey ${await key.textContent()}`;
    const address = await page.getByRole('region', { name: 'Address' }).locator('code').textContent();
    const answer = await fetch(`${address}/tapi/v2/translation/`, { headers: { authorization } });
    expect(answer.status).toBe(200);
    await page.goto(opened);
    await page.getByRole('heading', { name: 'This link is no longer valid' }).waitFor();
  });
});

it('is thanked where an operator decides, who then finds the request', async () => {
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

it('is told where nobody may ask, and the door does not lead there', async () => {
  await web.restart({ DRAGOMAN_SANDBOX_REQUESTS: 'off' });
  expect((await createBrowser(web.url).call('GET', '/api/sandbox-requests')).body.open).toBe(false);
  await web.visit({ path: '/sandbox' }, async (page) => {
    await page.getByText('Nobody can ask for an account here.').waitFor();
  });
  await web.visit({ path: '/sign-in' }, async (page) => {
    expect(await page.locator('a[href*="sandbox"]').count()).toBe(0);
  });
});
