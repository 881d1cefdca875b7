/** What somebody does about themselves: invitations, name, password, and where they are signed in. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { invitePerson, linkFor, personNamed } from '../../server/src/accounts/people.ts';
import { createPerson } from '../../server/src/testing/harness.ts';
import { expectAccessible, shoot, startWeb, type Web } from './browser.ts';

let web: Web;
beforeAll(async () => {
  web = await startWeb();
});
afterAll(() => web.stop());

it('lets in who was invited, once, with a password of their own', async () => {
  const wanted = { email: 'new@example.com', role: 'editor', languages: [] } as const;
  const { token } = await invitePerson(web.database, 'command', wanted);
  await web.visit({ path: `/invitation/${token}` }, async (page) => {
    await page.getByRole('heading', { name: 'Welcome to Dragoman' }).waitFor();
    await expectAccessible(page);
    await shoot(page, 'invitation');
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
    await expectAccessible(page);
  });
});

it('sets a forgotten password by a link, without asking for a name', async () => {
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

it('changes name and password, and says what is wrong at its field', async () => {
  const customer = await createPerson(web, { role: 'customer', name: 'Carla' });
  const context = await web.signedIn(customer);
  await web.visit({ context, path: '/me' }, async (page) => {
    await expectAccessible(page);
    await shoot(page, 'me');
    await page.getByLabel('Name').fill('Carla C.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'Carla C.' }).waitFor();
    await page.getByLabel('Current password').fill('wrong');
    await page.getByLabel('New password', { exact: true }).fill('a password of some length');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.locator('[aria-invalid=true][name=current_password]:focus').waitFor();
    await page.getByLabel('Current password').fill(customer.password);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Your password is changed.').first().waitFor();
    // A new form: nothing of what was typed is left in it.
    expect(await page.getByLabel('Current password').inputValue()).toBe('');
  });
  await context.close();
});

it('signs out everywhere else, after it was asked', async () => {
  const customer = await createPerson(web, { role: 'customer' });
  const [here, there] = [await web.signedIn(customer), await web.signedIn(customer)];
  await web.visit({ context: here, path: '/me' }, async (page) => {
    await page.getByRole('button', { name: 'Sign out everywhere else' }).click();
    const dialog = page.getByRole('dialog', { name: 'Sign out everywhere else' });
    await dialog.waitFor();
    await expectAccessible(page);
    await shoot(page, 'me-dialog', 'state');
    await dialog.getByRole('button', { name: 'Sign out everywhere else' }).click();
    await page.getByText('You are signed in here alone.').first().waitFor();
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
