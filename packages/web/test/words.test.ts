/** Every word on a page is a message: with messages in brackets, whatever stands outside of them was not translated. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPerson } from '../../server/src/testing/harness.ts';
import { quiet, startWeb, type Web } from './browser.ts';

let web: Web;
beforeAll(async () => {
  web = await startWeb();
});
afterAll(() => web.stop());

/** What a page shows or names outside of brackets: neither data (`bdi`, times, code) nor the name of a language. */
const BARE = `(() => {
  const data = 'bdi, time, code, pre, title, option, script, style, .numbers';
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
] as const)('speaks to %ss in messages alone', async (role, paths) => {
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
      await quiet(page);
      const bare = (await page.evaluate<string[]>(BARE)).filter((text) => !names.includes(text));
      expect({ path, bare }).toEqual({ path, bare: [] });
    });
  }
  await context.close();
});
