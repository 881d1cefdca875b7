/** Tests of the guides and the reference in a browser. `crawl.test.ts` tests accessibility and overflow of the guides. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWeb, takeScreenshots, type Web } from './browser.ts';

let web: Web;
beforeAll(async () => {
  web = await startWeb();
});
afterAll(() => web.stop());

/** Returns the path of a page outside `/app` in the form that `visit` accepts. */
const at = (path: string) => `/..${path}`;

describe('a guide', () => {
  it('is shown without signing in, with a link that skips the navigation', async () => {
    await web.visit({ path: at('/docs/jobs') }, async (page) => {
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Jobs');
      const guides = page.getByRole('navigation', { name: 'Guides' });
      expect(await guides.getByRole('link', { name: 'Jobs' }).getAttribute('aria-current')).toBe('page');
      await takeScreenshots(page, 'guide');
      await page.keyboard.press('Tab');
      await page.getByRole('link', { name: 'Skip to content' }).press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('content');
    });
  });

  it('links to its sections and to other guides', async () => {
    await web.visit({ path: at('/docs/jobs') }, async (page) => {
      const contents = page.getByRole('navigation', { name: 'On this page' });
      await contents.getByRole('link', { name: 'Receive the result' }).click();
      expect(new URL(page.url()).hash).toBe('#receive-the-result');
      await page.getByRole('article').getByRole('link', { name: 'Callbacks and events' }).click();
      await page.getByRole('heading', { level: 1, name: 'Callbacks and events' }).waitFor();
    });
  });
});

describe('the reference', () => {
  it('renders without requests to other hosts, and runs only scripts with the nonce', async () => {
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
    // Waits for the first operation of the OpenAPI description.
    await page.getByText('Create a job that an editor corrects').first().waitFor();
    await page.getByText('Models').first().waitFor();
    await page.getByText('Shell Curl').first().waitFor();
    expect(asked.filter((url) => !url.startsWith(`${web.url}/`) && !/^(?:data|blob):/.test(url))).toEqual([]);
    expect(asked).toContain(`${web.url}/openapi.json`);
    expect(complaints).toEqual([]);
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/reference.png` });
    await context.close();
  });
});
