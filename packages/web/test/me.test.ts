/** Tests of the pages with which a user accepts an invitation, and changes name, password and sessions. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { invitePerson, linkFor } from '../../server/src/access/invitations.ts';
import { personNamed } from '../../server/src/access/people.ts';
import { createPerson } from '../../server/src/testing/harness.ts';
import { authenticatorOf, setUpSecondFactor } from '../../server/src/testing/second-factor.ts';
import { expectAccessible, shareWeb, takeScreenshots, type Web } from './browser.ts';

let web: Web;
beforeAll(async () => {
  web = await shareWeb();
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

it('a user sets a new password on the page of a reset link, which does not ask for a name', async () => {
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

it('a user sets up a second factor with an app and signs in with its code', async () => {
  const editor = await createPerson(web, { role: 'editor' });
  const context = await web.signedIn(editor);
  let app: ReturnType<typeof authenticatorOf>;
  await web.visit({ context, path: '/me' }, async (page) => {
    const section = page.getByRole('region', { name: 'Second factor' });
    await section.getByRole('button', { name: 'Set up' }).click();
    await section.getByLabel('Current password').fill('wrong');
    await page.keyboard.press('Enter');
    await page.locator('[aria-invalid=true][name=current_password]:focus').waitFor();
    await section.getByLabel('Current password').fill(editor.password);
    await section.getByRole('button', { name: 'Continue' }).click();
    await section.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'second-factor-set-up', 'state');
    app = authenticatorOf((await section.locator('code').textContent())!);
    await section.getByLabel('Code', { exact: true }).fill('000');
    await section.getByRole('button', { name: 'Turn on' }).click();
    await page.locator('[aria-invalid=true][name=code]:focus').waitFor();
    await section.getByLabel('Code', { exact: true }).fill(app.code());
    await section.getByRole('button', { name: 'Turn on' }).click();
    await section.getByText('Save these recovery codes').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'second-factor-codes', 'state');
    await section.getByRole('button', { name: 'I have saved them' }).click();
    await section.getByText('10 recovery codes left.').waitFor();
    await takeScreenshots(page, 'second-factor-on', 'state');
  });
  await context.close();
  await web.visit({ path: '/sign-in' }, async (page) => {
    await page.getByLabel('E-mail', { exact: true }).fill(editor.email);
    await page.getByLabel('Password', { exact: true }).fill(editor.password);
    await page.keyboard.press('Enter');
    await page.getByLabel('Code', { exact: true }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'sign-in-code', 'state');
    await page.keyboard.type('000000');
    await page.keyboard.press('Enter');
    await page.getByText('This code is not valid, or it was used before.').waitFor();
    await page.getByLabel('Code', { exact: true }).fill(app.code(1));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
  });
});

it('a user turns the second factor off with a recovery code', async () => {
  const customer = await createPerson(web, { role: 'customer' });
  const { recoveryCodes, code } = await setUpSecondFactor(web, customer);
  const context = await web.context();
  const { email, password } = customer;
  await context.request.post('/api/session', { data: { email, password, code: code() } });
  await web.visit({ context, path: '/me' }, async (page) => {
    await page.getByRole('button', { name: 'Turn off' }).click();
    const dialog = page.getByRole('dialog', { name: 'Turn off' });
    await dialog.getByLabel('Code', { exact: true }).fill(recoveryCodes[0]!);
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Turn off' }).click();
    await page.getByRole('button', { name: 'Set up' }).waitFor();
  });
  await context.close();
});

it('an operator who must have a second factor sees only the page to set it up', async () => {
  const operator = await createPerson(web, { role: 'operator' });
  await web.restart({ DRAGOMAN_OPERATOR_SECOND_FACTOR: 'required' });
  const context = await web.signedIn(operator);
  await web.visit({ context, path: '/console' }, async (page) => {
    await page.getByText('Operators of this server must have a second factor.').waitFor();
    await page.waitForURL('**/app/me');
  });
  await context.close();
  await web.restart();
});
