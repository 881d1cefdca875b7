/** The guides and the reference, in a browser: whole, readable, and asking nobody else. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectAccessible, PHONE, shoot, startWeb, type Web } from './browser.ts';

let web: Web;
beforeAll(async () => {
  web = await startWeb();
});
afterAll(() => web.stop());

/** `visit` opens what is below `/app`. */
const at = (path: string) => `/..${path}`;

describe('a guide', () => {
  it('can be read by anybody, with any means', async () => {
    await web.visit({ path: at('/docs/jobs') }, async (page) => {
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Jobs');
      const guides = page.getByRole('navigation', { name: 'Guides' });
      expect(await guides.getByRole('link', { name: 'Jobs' }).getAttribute('aria-current')).toBe('page');
      await expectAccessible(page);
      await shoot(page, 'guide');
      await page.keyboard.press('Tab');
      await page.getByRole('link', { name: 'Skip to the content' }).press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('content');
    });
  });

  it('leads on to its sections and to other guides', async () => {
    await web.visit({ path: at('/docs/jobs') }, async (page) => {
      const contents = page.getByRole('navigation', { name: 'On this page' });
      await contents.getByRole('link', { name: 'The callback' }).click();
      expect(new URL(page.url()).hash).toBe('#the-callback');
      await page.getByRole('article').getByRole('link', { name: 'Callbacks and events' }).click();
      await page.getByRole('heading', { level: 1, name: 'Callbacks and events' }).waitFor();
    });
  });

  it('fits a phone: nothing makes the page wider', async () => {
    for (const name of ['jobs', 'operating', 'callbacks', 'quick-start']) {
      await web.visit({ path: at(`/docs/${name}`), size: PHONE }, async (page) => {
        expect(await page.evaluate('document.documentElement.scrollWidth'), name).toBe(PHONE.width);
      });
    }
  });
});

describe('the reference', () => {
  it('is drawn without asking anybody else, by scripts with a nonce alone', async () => {
    const context = await web.context();
    const page = await context.newPage();
    const asked: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    const answer = await page.goto(`${web.url}/docs/reference`);
    const policy = answer!.headers()['content-security-policy']!;
    expect(/script-src [^;]*/.exec(policy)![0]).not.toContain('unsafe');
    // Drawn out of the description: the first of its operations.
    await page.getByText('Create a job that a human edits after the machine').first().waitFor();
    await page.getByText('Models').first().waitFor();
    await page.getByText('Shell Curl').first().waitFor();
    expect(asked.filter((url) => !url.startsWith(`${web.url}/`) && !/^(?:data|blob):/.test(url))).toEqual([]);
    expect(asked).toContain(`${web.url}/openapi.json`);
    expect(complaints).toEqual([]);
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/reference.png` });
    await context.close();
  });
});
