/** Tests of the filters of the grid and of the list of findings. Keys are pressed at human speed. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { pathOf } from '../../server/src/testing/editors.ts';
import { expectAccessible, PHONE, takeScreenshots } from './browser.ts';
import { expectText, HELD, shareWorkbench, target, waitUntilSaved } from './workbench.ts';

const fixture = shareWorkbench();

const TEXT = 'One house.\nSend it.\nTwo houses.\nSend it.\nThree houses.\n';

const rows = (page: Page) =>
  page
    .locator('[role=row]')
    .evaluateAll((all) =>
      all.map((one) => Number((one as unknown as { dataset: { position: string } }).dataset.position) + 1),
    );
const filter = (page: Page, name: string) =>
  page.getByRole('toolbar', { name: 'Filter' }).getByRole('button', { name });

it('the grid shows the segments that match a filter, and Ctrl+Enter goes to the next matching segment', async () => {
  const { path } = await fixture.createClaimedTask(TEXT, { target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const { keyboard } = page;
    await target(page, 1);
    await keyboard.press('Control+Shift+F', HELD);
    await filter(page, 'All 5').and(page.locator(':focus')).waitFor();
    await expectAccessible(page);
    for (let presses = 0; presses < 6; presses += 1) await keyboard.press('ArrowRight', HELD);
    await filter(page, 'Repeats 2').and(page.locator(':focus')).waitFor();
    await keyboard.press('Enter', HELD);
    const second = await target(page, 2);
    await expect.poll(() => rows(page)).toEqual([2, 4]);
    await takeScreenshots(page, 'workbench-filter', 'state');

    await keyboard.press('Control+End', HELD);
    await keyboard.type('!', HELD);
    await expectText(second, 'SEND IT.!');
    await filter(page, 'Changed by me 1').waitFor();
    await keyboard.press('Control+z', HELD);
    await keyboard.press('Alt+ArrowDown', HELD);
    await target(page, 4);
    await keyboard.press('Alt+ArrowUp', HELD);
    await target(page, 2);
    await keyboard.press('Control+Enter', HELD);
    // Confirming the segment also confirmed its repeat. Segments that no longer match stay until a filter is chosen.
    await filter(page, 'Open 3').click();
    await target(page, 5);
    await expect.poll(() => rows(page)).toEqual([1, 3, 5]);
    await keyboard.press('Control+Enter', HELD);
    await target(page, 1);
    await filter(page, 'Open 2').waitFor();
    await expect.poll(() => rows(page)).toEqual([1, 3, 5]);

    // The active segment stays the active one when the filter is closed.
    await keyboard.press('Alt+ArrowDown', HELD);
    await target(page, 3);
    await keyboard.press('Control+Shift+F', HELD);
    await keyboard.press('Escape', HELD);
    await target(page, 3);
    await expect.poll(() => rows(page)).toEqual([1, 2, 3, 4, 5]);
    await waitUntilSaved(page);
  });
});

it('the filter “changed by me” shows the same segments after a reload', async () => {
  const { path, task, lease, segments } = await fixture.createClaimedTask(TEXT, { target_language: 'de' });
  const [first] = segments;
  await fixture.ann.call('PUT', pathOf({ task }, '/segments/0'), {
    token: lease.token,
    revision: first!.revision,
    target: [{ text: 'Ein Haus.' }],
    status: 'draft',
  });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    await target(page, 1);
    await page.getByRole('button', { name: 'Filter' }).click();
    await filter(page, 'Changed by me 1').click();
    await expect.poll(() => rows(page)).toEqual([1]);
    await filter(page, 'With issues 0').click();
    await page.getByText('No segments match this filter.').waitFor();
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await target(page, 1);
    await expect.poll(() => rows(page)).toHaveLength(5);
  });
});

it('the filter “unsure” shows the marked segments and counts them as they change', async () => {
  const { path } = await fixture.createClaimedTask(TEXT, { target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const { keyboard } = page;
    await target(page, 1);
    await keyboard.press('Control+u', HELD);
    await keyboard.press('Alt+ArrowDown', HELD);
    await keyboard.press('Alt+ArrowDown', HELD);
    await target(page, 3);
    await keyboard.press('Control+u', HELD);
    await page.getByRole('button', { name: '2 segments marked as unsure' }).waitFor();
    await page.getByRole('button', { name: 'Filter' }).click();
    await filter(page, 'Unsure 2').click();
    await target(page, 3);
    await expect.poll(() => rows(page)).toEqual([1, 3]);
    await keyboard.press('Control+u', HELD);
    await filter(page, 'Unsure 1').waitFor();
    await expect.poll(() => rows(page)).toEqual([1, 3]);
    await filter(page, 'Unsure 1').click();
    await target(page, 1);
    await expect.poll(() => rows(page)).toEqual([1]);
  });
});

it('the list of findings has every finding of the task, and leads to its segment', async () => {
  const { path, task, lease, segments } = await fixture.createClaimedTask(
    'One house.\nThe 17 houses.\nTwo houses.\nThe 23 houses.\n',
    { target_language: 'de' },
  );
  for (const position of [1, 3]) {
    await fixture.ann.call('PUT', pathOf({ task }, `/segments/${position}`), {
      token: lease.token,
      revision: segments[position]!.revision,
      target: [{ text: 'Die Häuser.' }],
      status: 'draft',
    });
  }
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    await target(page, 1);
    await page.getByRole('button', { name: '2 segments with findings' }).click();
    const list = page.getByRole('dialog', { name: 'List of findings' });
    await list.getByText('2 findings').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-findings', 'state');
    await list.getByRole('button', { name: '4 Warning: Missing number 23' }).click();
    await target(page, 4);

    // A count in the dialog “Submit” is a button that shows the counted segments.
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.getByRole('dialog').getByRole('button', { name: '4: show these segments' }).click();
    await target(page, 4);
    await filter(page, 'Open 4').waitFor();
    await filter(page, 'With findings 2').click();
    await expect.poll(() => rows(page)).toEqual([2, 4]);
    // “Go to a segment” also reaches a segment that the filter hides, and then shows all segments.
    await page.keyboard.press('Control+g', HELD);
    await page.keyboard.type('3', HELD);
    await page.keyboard.press('Enter', HELD);
    await target(page, 3);
    await expect.poll(() => rows(page)).toHaveLength(4);
  });
});

it('an editor filters the segments on a phone', async () => {
  const { path } = await fixture.createClaimedTask(TEXT, { target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path, size: PHONE }, async (page) => {
    await target(page, 1);
    await page.getByRole('button', { name: 'Filter' }).click();
    await filter(page, 'Repeats 2').click();
    await target(page, 2);
    await expect.poll(() => rows(page)).toEqual([2, 4]);
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-filter-phone', 'state');
  });
});
