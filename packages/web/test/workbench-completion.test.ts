/** Tests of the words that are suggested while an editor types. Keys are pressed at human speed. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, takeScreenshots } from './browser.ts';
import { expectText, HELD, shareWorkbench, target } from './workbench.ts';

const fixture = shareWorkbench();

const hint = (page: Page) => page.locator('[data-completion]');

async function visit(use: (page: Page) => Promise<void>): Promise<void> {
  const { path } = await fixture.createClaimedTask(
    'The houses of Anna Hollister are in Barcelona.\nThree houses.\n',
    { target_language: 'de' },
  );
  await fixture.web.visit({ context: fixture.annContext, path }, use);
}

it('Tab completes a name of the source that the editor is typing', () =>
  visit(async (page) => {
    const { keyboard } = page;
    const first = await target(page, 1);
    await keyboard.press('Control+a', HELD);
    await keyboard.type('Das Haus von Ho', HELD);
    expect(await hint(page).count()).toBe(0);
    await keyboard.type('l', HELD);
    await expect.poll(() => hint(page).locator('span').first().textContent()).toBe('Hollister');
    const caret = (await first.boundingBox())!;
    const shown = (await hint(page).boundingBox())!;
    expect(shown.y).toBeGreaterThan(caret.y);
    await takeScreenshots(page, 'workbench-completion', 'state');
    await expectAccessible(page);
    // `expectAccessible` may have scrolled the page, which removes the suggested word.
    await keyboard.type('l', HELD);
    await hint(page).waitFor();
    await keyboard.press('Tab', HELD);
    await expectText(first, 'Das Haus von Hollister');
    await page.locator('[data-said]').getByText('Inserted: Hollister').waitFor();
    await keyboard.type(' in Bar', HELD);
    await hint(page).waitFor();
    // A shown completion does not disturb further typing.
    await keyboard.type('celona.', HELD);
    await expectText(first, 'Das Haus von Hollister in Barcelona.');
    await hint(page).waitFor({ state: 'detached' });
    await keyboard.press('Control+z', HELD);
    await keyboard.press('Control+y', HELD);
    await expectText(first, 'Das Haus von Hollister in Barcelona.');
  }));

it('a moved caret and Esc remove the suggested word, and then Tab and Esc work as before', () =>
  visit(async (page) => {
    const { keyboard } = page;
    const first = await target(page, 1);
    await keyboard.press('Control+a', HELD);
    await keyboard.type('Bei Hol', HELD);
    await hint(page).waitFor();
    await keyboard.press('ArrowLeft', HELD);
    await hint(page).waitFor({ state: 'detached' });
    await keyboard.press('End', HELD);
    expect(await hint(page).count()).toBe(0);
    await keyboard.type('l', HELD);
    await hint(page).waitFor();
    await keyboard.press('Escape', HELD);
    await hint(page).waitFor({ state: 'detached' });
    await target(page, 1);
    await expectText(first, 'Bei Holl');
    await keyboard.press('Tab', HELD);
    await expect.poll(() => first.and(page.locator(':focus')).count()).toBe(0);
    await expectText(first, 'Bei Holl');
  }));

it('no word is suggested while an input method composes, and none after the editor switched them off', () =>
  visit(async (page) => {
    const { keyboard } = page;
    const first = await target(page, 1);
    await keyboard.press('Control+a', HELD);
    await keyboard.type('Bei ', HELD);
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Input.imeSetComposition', { text: 'Hol', selectionStart: 3, selectionEnd: 3 });
    await expectText(first, 'Bei Hol');
    expect(await hint(page).count()).toBe(0);
    await devtools.send('Input.insertText', { text: 'Hol' });
    await keyboard.type('l', HELD);
    await hint(page).waitFor();

    await page.getByText('More', { exact: true }).click();
    await page.getByRole('checkbox', { name: 'Suggest words while typing' }).uncheck();
    await page.getByText('More', { exact: true }).click();
    await keyboard.press('Alt+ArrowDown', HELD);
    await target(page, 2);
    await keyboard.press('Alt+ArrowUp', HELD);
    await target(page, 1);
    await keyboard.press('End', HELD);
    await keyboard.type('i', HELD);
    await expectText(first, 'Bei Holli');
    expect(await hint(page).count()).toBe(0);
    await page.getByText('More', { exact: true }).click();
    await page.getByRole('checkbox', { name: 'Suggest words while typing' }).check();
  }));
