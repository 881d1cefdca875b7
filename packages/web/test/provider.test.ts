/** Tests of the pages for sign-in with an OpenID Connect provider. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { invitePerson } from '../../server/src/access/invitations.ts';
import { createPerson } from '../../server/src/testing/harness.ts';
import { startProvider, type TestProvider } from '../../server/src/testing/provider.ts';
import { expectAccessible, startWeb, takeScreenshots, type Web } from './browser.ts';

let web: Web;
let provider: TestProvider;
beforeAll(async () => {
  provider = await startProvider();
  web = await startWeb({ settings: provider.settings });
  provider.serve(web.url);
});
afterAll(async () => {
  await web.stop();
  await provider.close();
});

/** Invites an editor and lets them sign in next at the provider. @returns the token of the invitation */
async function inviteEditor(subject: string): Promise<string> {
  const email = `${subject}@example.com`;
  provider.users.set(subject, { email, email_verified: true });
  provider.subject = subject;
  return (await invitePerson(web.database, 'command', { email, role: 'editor', name: 'Ida' })).token;
}

it('an invited person signs in with the provider, has no password here, and signs out of both', async () => {
  await inviteEditor('ida');
  await web.visit({ path: '/sign-in?next=/me', provider: provider.issuer }, async (page) => {
    await page.getByLabel('Password', { exact: true }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'sign-in-provider');
    await page.getByRole('link', { name: 'Sign in with Acme ID' }).click();
    await page.getByRole('heading', { name: 'Profile' }).waitFor();
    await page.getByText('ida@example.com').first().waitFor();
    expect(await page.getByRole('heading', { name: 'Password' }).count()).toBe(0);
    expect(await page.getByRole('heading', { name: 'Second factor' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${provider.issuer}/session/end?*`);
  });
});

it('an invitation can be accepted with the provider', async () => {
  const token = await inviteEditor('ina');
  await web.visit({ path: `/invitation/${token}`, provider: provider.issuer }, async (page) => {
    await page.getByLabel('New password', { exact: true }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'invitation-provider');
    await page.getByRole('link', { name: 'Sign in with Acme ID' }).click();
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
  });
});

it('the sign-in page says why the provider’s user was refused', async () => {
  provider.subject = undefined;
  await web.visit({ path: '/sign-in', provider: provider.issuer }, async (page) => {
    await page.getByRole('link', { name: 'Sign in with Acme ID' }).click();
    await page.getByRole('alert').getByText('You canceled the sign-in with Acme ID.').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'sign-in-refused', 'state');
  });
  await web.visit({ path: '/sign-in?refused=not_invited', language: 'de' }, async (page) => {
    await page.getByRole('alert').getByText('Wenn Sie einen Link zu Dragoman haben').waitFor();
  });
  await web.visit({ path: '/sign-in?refused=__proto__' }, async (page) => {
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});

it('without passwords, the page has the form only for operators in an emergency', async () => {
  const operator = await createPerson(web, { role: 'operator' });
  const token = await inviteEditor('iris');
  await web.restart({ DRAGOMAN_PASSWORDS: operator.email });
  provider.serve(web.url);
  await web.visit({ path: `/invitation/${token}` }, async (page) => {
    await page.getByRole('link', { name: 'Sign in with Acme ID' }).waitFor();
    expect(await page.getByLabel('New password', { exact: true }).count()).toBe(0);
  });
  await web.visit({ path: '/sign-in' }, async (page) => {
    await page.getByRole('link', { name: 'Sign in with Acme ID' }).waitFor();
    expect(await page.getByLabel('Password', { exact: true }).count()).toBe(0);
    await takeScreenshots(page, 'sign-in-no-passwords');
    await page.getByRole('button', { name: 'Emergency sign-in with a password' }).click();
    await page.getByLabel('E-mail', { exact: true }).fill(operator.email);
    await page.getByLabel('Password', { exact: true }).fill(operator.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Console', level: 1 }).waitFor();
  });
});
