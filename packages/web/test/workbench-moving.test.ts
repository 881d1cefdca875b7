/**
 * Tests of what stays in its place while an editor moves between segments: the rows below the active one, the
 * panel, the keys of suggestions, and the preview.
 */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, takeScreenshots } from './browser.ts';
import { expectText, HELD, row, shareWorkbench, target, waitUntilSaved } from './workbench.ts';

const fixture = shareWorkbench();

const LINES = Array.from({ length: 40 }, (_, index) => `This is sentence ${index + 1}.\n`).join('');

const place = async (page: Page, number: number) => (await row(page, number).boundingBox())!;

async function expectVisible(page: Page, number: number): Promise<void> {
  const scroller = (await page.locator('[data-scroller]').boundingBox())!;
  const { y, height } = await place(page, number);
  expect(y).toBeGreaterThanOrEqual(scroller.y - 1);
  expect(y + height).toBeLessThanOrEqual(scroller.y + scroller.height + 1);
}

it('the grid shows two rows below the active row while an editor moves down, and keeps the active row visible when the preview opens', async () => {
  const { path } = await fixture.createClaimedTask(LINES, { target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    await target(page, 1);
    for (let number = 2; number <= 24; number += 1) {
      await page.keyboard.press('Alt+ArrowDown');
      await target(page, number);
    }
    await expectVisible(page, 24);
    await expectVisible(page, 26);
    const { y, height } = await place(page, 24);
    await page.keyboard.press('F4', HELD);
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.locator('[data-active=true]').waitFor();
    // Narrower rows may be higher, so the row moves up if the two rows below it would not fit, but not by a whole row.
    await expectVisible(page, 26);
    await expect.poll(async () => Math.abs((await place(page, 24)).y - y)).toBeLessThan(height);
    const [shown, region] = [
      (await preview.locator('[data-active=true]').boundingBox())!,
      (await preview.boundingBox())!,
    ];
    expect(shown.y + shown.height).toBeLessThan(region.y + region.height);
    await expectAccessible(page);
  });
});

it('memory matches that arrive late change neither the key of the draft nor the places of the panel’s sections', async () => {
  const { path } = await fixture.createClaimedTask('The red house.\nThe red houses.\nA third one.\n', {
    target_language: 'de',
  });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const matches = Promise.withResolvers<void>();
    await page.route('**/matches', async (route) => {
      await matches.promise;
      const target = [{ text: 'Das rote Haus.' }];
      await route.fulfill({
        json: { matches: [{ target, source: [{ text: 'The red house!' }], score: 95, origin: 'job' }] },
      });
    });
    await page.reload();
    const first = await target(page, 1);
    const panel = page.getByRole('complementary');
    const top = async (name: string) => (await panel.getByRole('heading', { name }).boundingBox())!.y;
    const before = [await top('Glossary'), await top('Suggestions')];
    await panel.getByText('No findings').waitFor();
    matches.resolve();
    await panel.getByText('Das rote Haus.').waitFor();
    expect([await top('Glossary'), await top('Suggestions')]).toEqual(before);
    // The draft keeps the key that it had before the match arrived.
    await page.keyboard.press('Control+2', HELD);
    await expectText(first, 'Das rote Haus.');
    await page.keyboard.press('Control+1', HELD);
    await expectText(first, 'THE RED HOUSE.');
    // The match of the next segment was requested before the segment opens, so the key of the match works immediately.
    await page.keyboard.press('Alt+ArrowDown', HELD);
    const second = await target(page, 2);
    await page.keyboard.press('Control+2');
    await expectText(second, 'Das rote Haus.');
  });
});

it('a confirmed text is at once the draft and a match of a similar segment that opens next, and is found', async () => {
  const { path } = await fixture.createClaimedTask(
    'Keep the invoice number 1000.\nKeep the invoice number 1001.\nKeep the invoice number here.\n',
  );
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const { keyboard } = page;
    const first = await target(page, 1);
    await keyboard.press('Control+a', HELD);
    await keyboard.type('Guarde el número de factura 1000.', { delay: 20 });
    await expectText(first, 'Guarde el número de factura 1000.');
    await keyboard.press('Control+Enter', HELD);
    await expectText(await target(page, 2), 'Guarde el número de factura 1001.');
    const panel = page.getByRole('complementary');
    await panel.getByText('This document: Ann').first().waitFor();
    await row(page, 2).getByText('99 %').first().waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-document-match', 'state');
    await keyboard.press('Control+Enter', HELD);
    await row(page, 2).and(page.locator('[data-status=confirmed]')).waitFor();
    await target(page, 3);
    await panel.getByText('Guarde el número de factura 1001.').waitFor();
    await keyboard.press('Control+k', HELD);
    await panel.getByLabel('Search words').fill('factura');
    await panel.getByText('Keep the invoice number 1000.').waitFor();
    await waitUntilSaved(page);
  });
});
