/** Tests of the pages for sign-in with an OpenID Connect provider. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { invitePerson } from '../../server/src/access/invitations.ts';
import { claimTask, orderEdit, pathOf } from '../../server/src/testing/editors.ts';
import { createClient, createPerson, type TestPerson } from '../../server/src/testing/harness.ts';
import { startProvider, type TestProvider } from '../../server/src/testing/provider.ts';
import { plainText } from '../src/workbench/text/pieces.ts';
import { expectAccessible, startWeb, takeScreenshots, type Web } from './browser.ts';
import { target, waitUntilSaved } from './workbench.ts';

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

/**
 * Invites an editor, and makes this editor the next user whom the provider signs in. @returns the token of
 * the invitation
 */
async function inviteEditor(subject: string): Promise<string> {
  const email = `${subject}@example.com`;
  provider.users.set(subject, { email, email_verified: true });
  provider.subject = subject;
  return (await invitePerson(web.database, 'command', { email, role: 'editor', name: 'Ida' })).token;
}

/** Creates an editor with a password, and an account at the provider whose subject is the editor's user id. */
async function createEditor(): Promise<TestPerson> {
  const editor = await createPerson(web, { role: 'editor', languages: ['en:es'] });
  provider.users.set(editor.userId, { email: editor.email, email_verified: true });
  return editor;
}

it('an invited person signs in with the provider, has no password here, and signs out of both sites', async () => {
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
    const visit = page.waitForRequest((request) => request.url().includes('/api/sign-in/provider?'));
    await page.getByRole('link', { name: 'Sign in with Acme ID' }).click();
    // For browsers without `Sec-Fetch-Site`, the header `Referer` shows that the visit comes from a page of
    // the server. It contains only the origin, and not the token in the address.
    expect((await (await visit).allHeaders()).referer).toBe(`${web.url}/`);
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

it('the workbench continues only after its own user has signed in again', async () => {
  const { production_key } = await web.createAccount({ balanceCents: 100_000 });
  const [ann, bob] = [await createEditor(), await createEditor()];
  await orderEdit(createClient(web.url, production_key), 'One house.\n');
  const { task } = await claimTask(ann);
  const context = await web.context();
  const path = `/sign-in?${new URLSearchParams({ next: `/tasks/${task}` })}`;
  provider.subject = ann.userId;
  await web.visit({ context, path, provider: provider.issuer }, async (page) => {
    await page.getByRole('link', { name: 'Sign in with Acme ID' }).click();
    await target(page, 1);
    await context.clearCookies();
    await page.keyboard.press('End');
    // One input: the first save opens the dialog, which takes the focus from the text.
    await page.keyboard.insertText('Sí');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByText(`Sign in again as ${ann.email} to continue here.`).waitFor();
    await expectAccessible(page);
    async function signIn(subject: string): Promise<void> {
      await context.clearCookies();
      provider.subject = subject;
      const link = dialog.getByRole('link', { name: 'Sign in with Acme ID' });
      const [tab] = await Promise.all([context.waitForEvent('page'), link.click()]);
      await tab.waitForURL('**/app/queue');
      await tab.close();
      await dialog.getByRole('button', { name: 'I have signed in' }).click();
    }
    await signIn(bob.userId);
    await dialog.getByText(`${bob.email} is signed in now.`).waitFor();
    await takeScreenshots(page, 'workbench-session-another', 'state');
    expect((await ann.call('GET', pathOf({ task }))).body.segments[0].revision).toBe(0);
    await signIn(ann.userId);
    await dialog.waitFor({ state: 'detached' });
    await waitUntilSaved(page);
    const { body } = await ann.call('GET', pathOf({ task }));
    expect(plainText(body.segments[0].target)).toContain('Sí');
  });
  await context.close();
});

it('the sign-in page shows the password form only for an emergency sign-in when passwords are turned off', async () => {
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
