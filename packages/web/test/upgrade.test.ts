/** Tests that a page which is open during an upgrade is reloaded once, and never with unsaved text. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectText, row, shareWorkbench, target, waitUntilSaved } from './workbench.ts';

const fixture = shareWorkbench();

const NEWER = 'The page was reloaded to use a new version.';
const OLDER = 'A new version is available. Reload the page. Your text is kept.';

/**
 * Opens a page of an older version: its script has another name, and the file `gone` is missing. A reload
 * loads the new version, unless `cachedForever` simulates a cache that always returns the old page.
 */
async function openOld(path: string, gone: string, { cachedForever = false } = {}) {
  const page = await fixture.annContext.newPage();
  let loads = 0;
  const isOld = () => cachedForever || loads <= 1;
  await page.route('**/app/**', async (route) => {
    if (route.request().resourceType() !== 'document') return route.fallback();
    loads++;
    if (!isOld()) return route.continue();
    const response = await route.fetch();
    const body = (await response.text()).replace(
      '<script ',
      '<script type="module" src="/app/assets/index-before.js"></script><script ',
    );
    return route.fulfill({ response, body });
  });
  await page.route('**/assets/index-before.js', (route) =>
    route.fulfill({ contentType: 'text/javascript', body: '' }),
  );
  await page.route(`**/assets/${gone}-*.js`, (route) =>
    isOld() ? route.fulfill({ status: 404, body: '' }) : route.fallback(),
  );
  await page.goto(`${fixture.web.url}/app${path}`);
  return { page, loads: () => loads };
}

const openWork = (page: Page) => page.getByRole('link', { name: 'My work' }).click();

it('the app reloads the page when a file of the app no longer exists, and explains the reload', async () => {
  const { page, loads } = await openOld('/queue', 'Work');
  await openWork(page);
  await page.getByText(NEWER).first().waitFor();
  expect(new URL(page.url()).pathname).toBe('/app/work');
  await page.getByText('No finished tasks yet.').waitFor();
  expect(loads()).toBe(2);
  await page.close();
});

it('the app reloads the page when the file was already requested as the pointer reached the link', async () => {
  const { page } = await openOld('/queue', 'Work');
  let answer = () => {};
  const clicked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const file = '**/assets/Work-*.js';
  await page.route(file, async (route) => {
    await clicked;
    await route.fallback();
  });
  const requested = page.waitForRequest(file);
  await page.getByRole('link', { name: 'My work' }).hover();
  await requested;
  await openWork(page);
  answer();
  await page.getByText(NEWER).first().waitFor();
  await page.getByText('No finished tasks yet.').waitFor();
  await page.close();
});

it('the app reloads only once when the reload brings the old version again', async () => {
  const { page, loads } = await openOld('/queue', 'Work', { cachedForever: true });
  await openWork(page);
  await page.getByText(OLDER).waitFor();
  expect(loads()).toBe(2);
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  await page.close();
});

it('the app does not reload for a missing file of the same version', async () => {
  const page = await fixture.annContext.newPage();
  let loads = 0;
  page.on('request', (request) => {
    if (request.resourceType() === 'document') loads++;
  });
  await page.route('**/assets/Work-*.js', (route) => route.fulfill({ status: 404, body: '' }));
  await page.goto(`${fixture.web.url}/app/queue`);
  await openWork(page);
  await page.getByText('Something went wrong on our side. Try again.').waitFor();
  expect(loads).toBe(1);
  await page.close();
});

it('the workbench saves edits before a reload', async () => {
  const { path } = await fixture.createClaimedTask('One.\nTwo.\n', { target_language: 'de' });
  const { page, loads } = await openOld(path, 'Preview');
  await target(page, 1);
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Eins.');
  const reloaded = page.waitForEvent('load');
  await page.getByRole('button', { name: 'Preview' }).click();
  await reloaded;
  await expectText(await target(page, 1), 'Eins.');
  await waitUntilSaved(page);
  expect(loads()).toBe(2);
  await page.close();
});

it('the workbench does not reload while edits cannot be saved, and keeps the edits', async () => {
  const { path } = await fixture.createClaimedTask('Three.\nFour.\n', { target_language: 'de' });
  const { page, loads } = await openOld(path, 'Preview');
  await target(page, 1);
  const saves = '**/api/editing/tasks/*/segments/*';
  await page.route(saves, (route) => route.abort('connectionfailed'));
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Drei.');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText(OLDER).waitFor();
  expect(loads()).toBe(1);
  await page.unroute(saves);
  await page.getByRole('button', { name: 'Try again' }).click();
  await row(page, 1).waitFor();
  await expectText(await target(page, 1), 'Drei.');
  await waitUntilSaved(page);
  expect(loads()).toBe(2);
  await page.close();
});
