/** The door of the web app: who is signed out finds it, and nobody else gets in. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible, PHONE, shoot, startWeb, type Web } from './browser.ts';

let web: Web;
beforeAll(async () => {
  web = await startWeb();
});
afterAll(() => web.stop());

it('asks whoever is signed out for an e-mail and a password, with one button', async () => {
  await web.visit({}, async (page) => {
    await page.waitForURL('**/app/sign-in');
    expect(await page.title()).toBe('Sign in · Dragoman');
    expect(await page.getByRole('button').allInnerTexts()).toEqual(['Sign in']);
    expect(await page.getByLabel('E-mail', { exact: true }).getAttribute('autocomplete')).toBe('username');
    await page.getByLabel('Password', { exact: true }).waitFor();
    await expectAccessible(page);
    await shoot(page, 'sign-in');
  });
});

it('speaks the language that was chosen, in its direction, and remembers it', async () => {
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
