/** Tests of signing in and out, of the pages that each role can open, and of preferences. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPerson, until } from '../../server/src/testing/harness.ts';
import { startMailbox } from '../../server/src/testing/mailbox.ts';
import { expectAccessible, PHONE, shareWeb, takeScreenshots, type Web } from './browser.ts';

let web: Web;
beforeAll(async () => {
  web = await shareWeb();
  // Without an operator, the sign-in page would say how to create the first one.
  await createPerson(web, { role: 'operator' });
});
afterAll(() => web.stop());

it('signed-out users see a form with e-mail, password and one button', async () => {
  await web.visit({}, async (page) => {
    await page.waitForURL('**/app/sign-in');
    expect(await page.title()).toBe('Sign in · Dragoman');
    expect(await page.getByRole('button').allInnerTexts()).toEqual(['Sign in']);
    expect(await page.getByLabel('E-mail', { exact: true }).getAttribute('autocomplete')).toBe('username');
    await page.getByLabel('Password', { exact: true }).waitFor();
    await takeScreenshots(page, 'sign-in');
  });
});

it('the sign-in page shows and remembers the chosen language with its direction', async () => {
  await web.visit({ path: '/sign-in', size: PHONE }, async (page) => {
    await page.getByLabel('Language').selectOption('ar');
    await page.getByRole('heading', { name: 'تسجيل الدخول' }).waitFor();
    expect(await page.evaluate('[document.dir, document.documentElement.lang]')).toEqual(['rtl', 'ar']);
    await page.getByLabel('المظهر').selectOption('dark');
    await page.reload();
    await page.getByRole('heading', { name: 'تسجيل الدخول' }).waitFor();
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(19, 20, 22)');
  });
});

it('a user signs in by keyboard, gets the home page of the role, and signs out', async () => {
  const editor = await createPerson(web, { role: 'editor' });
  await web.visit({}, async (page) => {
    await page.getByLabel('E-mail', { exact: true }).waitFor();
    // The first field of the form has the focus.
    await page.keyboard.type(editor.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(editor.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/app/queue');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});

it('the sign-in form shows the same error for a wrong password and an unknown user, and keeps the e-mail', async () => {
  const editor = await createPerson(web, { role: 'editor' });
  await web.visit({ path: '/sign-in' }, async (page) => {
    for (const email of [editor.email, 'nobody@example.com']) {
      await page.getByLabel('E-mail', { exact: true }).fill(email);
      await page.getByLabel('Password', { exact: true }).fill('not the password');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').getByText('Wrong e-mail or password.').waitFor();
      expect(await page.getByLabel('E-mail', { exact: true }).inputValue()).toBe(email);
    }
    await expectAccessible(page);
  });
});

it('sign-in leads to the requested page, but never to another site or out of the app', async () => {
  const editor = await createPerson(web, { role: 'editor' });
  for (const [requested, reached] of [
    ['/queue?language=de', '/app/queue?language=de'],
    ['/sign-in?next=//example.com/', '/app/queue'],
    ['/sign-in?next=/../docs', '/app/queue'],
    ['/sign-in?next=/x/%252e%252e/%252e%252e/docs', '/app/queue'],
  ]) {
    await web.visit({ path: requested! }, async (page) => {
      await page.getByLabel('E-mail', { exact: true }).fill(editor.email);
      await page.getByLabel('Password', { exact: true }).fill(editor.password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Queue' }).waitFor();
      expect(page.url()).toBe(`${web.url}${reached}`);
    });
  }
});

it('the app redirects each role from pages of other roles to its own home page', async () => {
  for (const [role, home, heading] of [
    ['editor', '/queue', 'Queue'],
    ['customer', '/account', 'Overview'],
    ['operator', '/console', 'Console'],
  ] as const) {
    const context = await web.signedIn(await createPerson(web, { role }));
    for (const path of ['/', home, role === 'editor' ? '/console' : '/account']) {
      if (role === 'operator' && path === '/account') continue;
      await web.visit({ context, path }, async (page) => {
        await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
        if (path === home) await takeScreenshots(page, `frame-${role}`);
      });
    }
    await web.visit({ context, path: home, size: PHONE }, async (page) => {
      await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByRole('navigation').getByRole('link').first().waitFor();
      await expectAccessible(page);
      await takeScreenshots(page, `frame-${role}-menu`, 'state');
    });
    await context.close();
  }
});

it('sign-in restores language and theme in another browser', async () => {
  const editor = await createPerson(web, { role: 'editor' });
  const first = await web.signedIn(editor);
  await web.visit({ context: first, path: '/queue' }, async (page) => {
    await page.getByLabel('Language').selectOption('de');
    await page.getByRole('heading', { name: 'Warteschlange' }).waitFor();
    // Waits for the request that stores the theme; an earlier request stores the language.
    const kept = page.waitForResponse((answer) => answer.request().postData()?.includes('dark') === true);
    await page.getByLabel('Farbschema').selectOption('dark');
    expect((await kept).status()).toBe(200);
  });
  await first.close();
  await web.visit({ path: '/sign-in' }, async (page) => {
    await page.getByLabel('E-mail', { exact: true }).fill(editor.email);
    await page.getByLabel('Password', { exact: true }).fill(editor.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Warteschlange' }).waitFor();
    expect(await page.evaluate('document.documentElement.dataset.mantineColorScheme')).toBe('dark');
  });
});

it('a user who forgot the password gets a link by e-mail and chooses another password', async () => {
  const mailbox = await startMailbox();
  const editor = await createPerson(web, { role: 'editor' });
  await web.restart({ DRAGOMAN_SMTP_URL: mailbox.url, DRAGOMAN_MAIL_FROM: 'dragoman@example.com' });
  await web.visit({ path: '/sign-in' }, async (page) => {
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByRole('heading', { name: 'Reset your password' }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'forgotten-password');
    await page.getByRole('button', { name: 'Send link' }).click();
    await page.locator('[aria-invalid=true][name=email]:focus').waitFor();
    await page.getByLabel('E-mail', { exact: true }).fill(editor.email);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
    await takeScreenshots(page, 'forgotten-password-sent', 'state');
    const mail = await until(() => mailbox.received.find(({ to }) => to.includes(editor.email)));
    // The mail has the public address, which is not the address of the test server.
    await page.goto(`${web.url}${/\/app\/invitation\/\S+/.exec(mail.text)![0]}`);
    await page.getByRole('heading', { name: 'Choose a new password' }).waitFor();
    await page.getByLabel('New password', { exact: true }).fill('another long password');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
  });
  await web.restart();
  await mailbox.close();
});

it('the page for forgotten passwords says whom to ask when the server sends no e-mails', async () => {
  await web.visit({ path: '/forgotten-password', language: 'de' }, async (page) => {
    await page.getByText('Dieser Server versendet keine E-Mails.').waitFor();
    expect(await page.getByRole('button').count()).toBe(0);
    await expectAccessible(page);
  });
});

it('the test fixture fails for a planted request to another host, policy violation or accessibility fault', async () => {
  const planted = web.visit({ path: '/sign-in' }, async (page) => {
    await page.evaluate("document.querySelector('h1').setAttribute('style', 'color: red')");
    await page.evaluate("fetch('http://127.0.0.2:9/').catch(() => {})");
  });
  await expect(planted).rejects.toThrow(/inline style violates.*connect-src 'self'/s);
  const unreadable = web.visit({ path: '/sign-in' }, async (page) => {
    await page.evaluate("document.querySelector('input').removeAttribute('id')");
    await expectAccessible(page);
  });
  await expect(unreadable).rejects.toThrow(/(light ltr|dark rtl): label/);
});
