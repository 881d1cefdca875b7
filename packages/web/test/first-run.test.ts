/** Tests of the first start: an empty installation, its first operator and the console that they find. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { linkForFirstOperator } from '../../server/src/access/invitations.ts';
import { expectAccessible, PHONE, startWeb, takeScreenshots, type Web } from './browser.ts';

let web: Web;
beforeAll(async () => {
  web = await startWeb();
});
afterAll(() => web.stop());

it('the first operator is created with the link of the terminal, which the sign-in page mentions but does not show', async () => {
  const { token } = (await linkForFirstOperator(web.database))!;
  await web.visit({ path: '/sign-in', size: PHONE }, async (page) => {
    await page.getByText('This server has no operator yet.').waitFor();
    await page.getByText('dragoman user invite you@example.com --role operator').waitFor();
    expect(await page.content()).not.toContain('/app/invitation/');
    await expectAccessible(page);
    await takeScreenshots(page, 'sign-in-no-operator');
  });
  await web.visit({ path: `/invitation/${token}` }, async (page) => {
    await page.getByRole('heading', { name: 'Create the first operator' }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'first-operator');
    await page.getByLabel('Name', { exact: true }).fill('Olga');
    await page.getByLabel('New password', { exact: true }).fill('a password of four words');
    await page.keyboard.press('Enter');
    await page.locator('[aria-invalid=true][name=email]:focus').waitFor();
    await page.getByLabel('E-mail', { exact: true }).fill('olga@example.com');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Console', level: 1 }).waitFor();
  });
  await web.visit({ path: `/invitation/${token}` }, async (page) => {
    await page.getByRole('heading', { name: 'This link is no longer valid' }).waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.getByText('This server has no operator yet.').count()).toBe(0);
  });
});
