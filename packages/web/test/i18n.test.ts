/**
 * Tests that all text on pages comes from messages. The test puts brackets around every message, so text
 * outside brackets is not translated.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPerson } from '../../server/src/testing/harness.ts';
import { shareWeb, type Web, waitUntilIdle } from './browser.ts';

let web: Web;
beforeAll(async () => {
  web = await shareWeb();
});
afterAll(() => web.stop());

/**
 * Finds text and accessible names outside brackets, except data (`bdi`, times, code, keys) and names of languages.
 */
const UNTRANSLATED = `(() => {
  const data = 'bdi, time, code, kbd, pre, title, option, script, style, .numbers';
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const { data: text, parentElement } = walker.currentNode;
    if (/\\p{L}/u.test(text) && !text.includes('⟦') && !parentElement.closest(data)) found.push(text.trim());
  }
  for (const one of document.querySelectorAll('[aria-label]')) {
    if (!one.ariaLabel.includes('⟦')) found.push(one.ariaLabel);
  }
  return found;
})()`;

it.each([
  ['editor', ['/queue', '/work', '/me']],
  ['customer', ['/account', '/account/access', '/account/jobs', '/account/deliveries', '/account/team']],
] as const)('pages show only translated text to a %s', async (role, paths) => {
  const person = await createPerson(web, { role, name: 'Person' });
  const context = await web.signedIn(person);
  await context.route('**/app/assets/*.json', async (route) => {
    const messages: Record<string, string> = await (await route.fetch()).json();
    const bracketed = Object.entries(messages).map(([id, message]) => [id, `⟦${message}⟧`]);
    await route.fulfill({ json: Object.fromEntries(bracketed) });
  });
  const names = ['Dragoman', person.email, person.account?.username ?? ''];
  for (const path of paths) {
    await web.visit({ context, path }, async (page) => {
      await waitUntilIdle(page);
      const untranslated = (await page.evaluate<string[]>(UNTRANSLATED)).filter(
        (text) => !names.includes(text),
      );
      expect({ path, untranslated }).toEqual({ path, untranslated: [] });
    });
  }
  await context.close();
});
