/** Tests of the guides and the reference in a browser. `crawl.test.ts` tests accessibility and overflow of the guides. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectAccessible, shareWeb, takeScreenshots, type Web } from './browser.ts';

let web: Web;
beforeAll(async () => {
  web = await shareWeb();
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
      // The browser moves the focus with its next frame.
      await page.locator('#content:focus').waitFor();
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

describe('the search', () => {
  it('finds a section from any guide, by keyboard', async () => {
    await web.visit({ path: at('/docs/jobs') }, async (page) => {
      await page.getByRole('searchbox', { name: 'Search the guides' }).fill('verify signature');
      await page.keyboard.press('Enter');
      const results = page.getByRole('article').getByRole('listitem');
      await results.first().waitFor();
      await expectAccessible(page);
      await takeScreenshots(page, 'guide-search');
      await results.first().getByRole('link').click();
      await page.waitForURL('**/docs/callbacks*');
    });
  });
});

describe('a code block', () => {
  it('is copied by its button', async () => {
    const context = await web.context();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await web.visit({ context, path: at('/docs/quick-start') }, async (page) => {
      const block = page.locator('pre').first();
      await page.getByRole('button', { name: 'Copy' }).first().click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
        (await block.textContent())!.trimEnd(),
      );
    });
    await context.close();
  });

  it('is selected by its button when the browser has no clipboard', async () => {
    const context = await web.context();
    await context.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await web.visit({ context, path: at('/docs/quick-start') }, async (page) => {
      const block = page.locator('pre').first();
      await page.getByRole('button', { name: 'Copy' }).first().click();
      await page.getByRole('button', { name: 'Selected' }).waitFor();
      expect(await page.evaluate('getSelection().toString()')).toContain((await block.textContent())!.trim());
    });
    await context.close();
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
