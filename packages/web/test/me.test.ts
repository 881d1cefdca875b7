/** Tests of the pages with which a user accepts an invitation, and changes name, password and sessions. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { invitePerson, linkFor } from '../../server/src/access/invitations.ts';
import { personNamed } from '../../server/src/access/people.ts';
import { createPerson } from '../../server/src/testing/harness.ts';
import { expectAccessible, startWeb, takeScreenshots, type Web } from './browser.ts';

let web: Web;
beforeAll(async () => {
  web = await startWeb();
});
afterAll(() => web.stop());

it('a user accepts an invitation once and sets a password', async () => {
  const wanted = { email: 'new@example.com', role: 'editor', languages: [] } as const;
  const { token } = await invitePerson(web.database, 'command', wanted);
  await web.visit({ path: `/invitation/${token}` }, async (page) => {
    await page.getByRole('heading', { name: 'Welcome to Dragoman' }).waitFor();
    await takeScreenshots(page, 'invitation');
    await page.getByLabel('Name').fill('Nora New');
    await page.getByLabel('New password', { exact: true }).fill('short');
    await page.getByRole('button', { name: 'Save and sign in' }).click();
    await page.locator('[aria-invalid=true][name=password]:focus').waitFor();
    await expectAccessible(page);
    await page.getByLabel('New password', { exact: true }).fill('a password of some length');
    await page.getByRole('button', { name: 'Save and sign in' }).click();
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
    await page.getByText('Nora New').waitFor();
  });
  await web.visit({ path: `/invitation/${token}` }, async (page) => {
    await page.getByRole('heading', { name: 'This link is no longer valid' }).waitFor();
  });
});

it('a user sets a new password with a reset link, which asks for no name', async () => {
  const { email } = await createPerson(web, { role: 'editor' });
  const { token } = await linkFor(web.database, 'command', await personNamed(web.database, email));
  await web.visit({ path: `/invitation/${token}` }, async (page) => {
    await page.getByRole('heading', { name: 'Choose a new password' }).waitFor();
    await page.getByText(email).waitFor();
    expect(await page.getByLabel('Name').count()).toBe(0);
    await page.getByLabel('New password', { exact: true }).fill('another long password');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
  });
});

it('a user changes name and password, and the form shows each error next to its field', async () => {
  const customer = await createPerson(web, { role: 'customer', name: 'Carla' });
  const context = await web.signedIn(customer);
  await web.visit({ context, path: '/me' }, async (page) => {
    await takeScreenshots(page, 'me');
    await page.getByLabel('Name').fill('Carla C.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'Carla C.' }).waitFor();
    await page.getByLabel('Current password').fill('wrong');
    await page.getByLabel('New password', { exact: true }).fill('a password of some length');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.locator('[aria-invalid=true][name=current_password]:focus').waitFor();
    await page.getByLabel('Current password').fill(customer.password);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Your password was changed.').first().waitFor();
    // After the change, the form is empty again.
    expect(await page.getByLabel('Current password').inputValue()).toBe('');
  });
  await context.close();
});

it('a user ends all other sessions after a confirmation', async () => {
  const customer = await createPerson(web, { role: 'customer' });
  const [here, there] = [await web.signedIn(customer), await web.signedIn(customer)];
  await web.visit({ context: here, path: '/me' }, async (page) => {
    await page.getByRole('button', { name: 'End all other sessions' }).click();
    const dialog = page.getByRole('dialog', { name: 'End all other sessions' });
    await dialog.waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'me-dialog', 'state');
    await dialog.getByRole('button', { name: 'End all other sessions' }).click();
    await page.getByText('All other sessions have ended.').first().waitFor();
    await dialog.waitFor({ state: 'detached' });
  });
  await web.visit({ context: here, path: '/me' }, async (page) => {
    await page.getByRole('heading', { name: 'Profile' }).waitFor();
  });
  await web.visit({ context: there, path: '/me' }, async (page) => {
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
  await Promise.all([here.close(), there.close()]);
});
