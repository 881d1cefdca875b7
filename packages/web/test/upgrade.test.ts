/** A page that was open while the app was built anew: it is loaded again, once, and never over unsent words. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Office, openOffice, reads, row, saved, target } from './workbench.ts';

let office: Office;
beforeAll(async () => {
  office = await openOffice();
});
afterAll(() => office.stop());

const NEWER = 'A new version is there: the page was loaded again.';
const OLDER = 'A new version is there. Load the page again; what you wrote is kept.';

/**
 * A page of a version before the one that is served: its script has another name, and `gone` is a file that only it
 * knew. The first page is of that version, those after it are not, unless something between keeps the old page.
 */
async function openOld(path: string, gone: string, { keptForEver = false } = {}) {
  const page = await office.annWindow.newPage();
  let loads = 0;
  const isOld = () => keptForEver || loads <= 1;
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
  await page.goto(`${office.web.url}/app${path}`);
  return { page, loads: () => loads };
}

const openWork = (page: Page) => page.getByRole('link', { name: 'My work' }).click();

it('opens a page whose file is gone by loading the app again, and says why', async () => {
  const { page, loads } = await openOld('/queue', 'Work');
  await openWork(page);
  await page.getByText(NEWER).first().waitFor();
  expect(new URL(page.url()).pathname).toBe('/app/work');
  await page.getByText('No finished tasks yet.').waitFor();
  expect(loads()).toBe(2);
  await page.close();
});

it('loads it again once, where that brings the old page again', async () => {
  const { page, loads } = await openOld('/queue', 'Work', { keptForEver: true });
  await openWork(page);
  await page.getByText(OLDER).waitFor();
  expect(loads()).toBe(2);
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  await page.close();
});

it('loads nothing again for a file that is missing while the version is the same', async () => {
  const page = await office.annWindow.newPage();
  let loads = 0;
  page.on('request', (request) => {
    if (request.resourceType() === 'document') loads++;
  });
  await page.route('**/assets/Work-*.js', (route) => route.fulfill({ status: 404, body: '' }));
  await page.goto(`${office.web.url}/app/queue`);
  await openWork(page);
  await page.getByText('A fault of ours. Trying again may help.').waitFor();
  expect(loads).toBe(1);
  await page.close();
});

it('sends what was written in the workbench before it loads it again', async () => {
  const { path } = await office.claimed('One.\nTwo.\n', { target_language: 'de' });
  const { page, loads } = await openOld(path, 'Preview');
  await target(page, 1);
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Eins.');
  const again = page.waitForEvent('load');
  await page.getByRole('button', { name: 'Preview' }).click();
  await again;
  await reads(await target(page, 1), 'Eins.');
  await saved(page);
  expect(loads()).toBe(2);
  await page.close();
});

it('loads nothing again while words cannot be sent, and keeps them', async () => {
  const { path } = await office.claimed('Three.\nFour.\n', { target_language: 'de' });
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
  await reads(await target(page, 1), 'Drei.');
  await saved(page);
  expect(loads()).toBe(2);
  await page.close();
});
