/** Tests of the first start: an empty installation, its first operator and the console that they find. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { linkForFirstOperator } from '../../server/src/access/invitations.ts';
import { orderEdit } from '../../server/src/testing/editors.ts';
import { createClient, until } from '../../server/src/testing/harness.ts';
import { expectAccessible, follow, PHONE, startWeb, takeScreenshots, type Web } from './browser.ts';

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

it('the home page of a new installation is a checklist of steps, which shows finished steps and is folded after the first job', async () => {
  const window = await web.signedIn({ email: 'olga@example.com', password: 'a password of four words' });
  const steps = { context: window, path: '/console' };
  await web.visit(steps, async (page) => {
    const list = page.getByRole('list').filter({ hasText: 'Receive the first job' });
    const done = list.getByRole('img', { name: 'Done', exact: true });
    await list.getByText('Create the first operator').waitFor();
    // Three steps are done: the first operator exists, and the worker has an engine, which is not Apertium.
    await until(async () => (await done.count()) === 3);
    expect(await page.getByText('All clear.').count()).toBe(0);
    await expectAccessible(page);
    await takeScreenshots(page, 'console-setup');
    await page.getByRole('link', { name: 'Open accounts' }).click();
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('dialog').getByLabel('Username').fill('acme');
    await page.getByRole('dialog').getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('button', { name: 'I have saved them' }).click();
    await page.getByRole('link', { name: 'acme' }).waitFor();
    await follow(page, '/console');
    await until(async () => (await done.count()) === 4);
  });
  const account = await web.createAccount({ username: 'sender', balanceCents: 1000 });
  await orderEdit(createClient(web.url, account.production_key), 'The house is small.');
  await web.visit(steps, async (page) => {
    const pair = page.getByRole('table', { name: 'Editing queue by language pair' }).getByRole('row').nth(1);
    await pair.getByText('en → es').waitFor();
    await page.getByText('en → es: no editor for 1 task').waitFor();
    await page.getByText('Set up this server').click();
    await page.getByText('Invite an editor and choose their language pairs').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'console-home-tasks', 'state');
    await pair.getByRole('link').click();
    await page.getByRole('heading', { name: 'Tasks', level: 1 }).waitFor();
    expect(await page.getByLabel('Target language').inputValue()).toBe('es');
  });
  await window.close();
});
