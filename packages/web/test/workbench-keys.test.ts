/**
 * Tests that text typed right after a shortcut lands in the right place. Keys are pressed at human speed:
 * each is held for 150 ms before the next one is pressed.
 */
import { basename } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { BuiltApp } from '../../../scripts/web-size.ts';
import { takeScreenshots } from './browser.ts';
import { expectText, HELD, row, shareWorkbench, target, teach } from './workbench.ts';

const fixture = shareWorkbench();

/** Opens a claimed task, by default with three segments, in a new page that has loaded no dialogs yet. */
async function visit(use: (page: Page) => Promise<void>, text = 'One house.\nTwo houses.\nThree.\n') {
  const { path } = await fixture.createClaimedTask(text, { target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path }, use);
}

it('text typed right after a shortcut goes into the dialog that the shortcut opened, not into the translation', () =>
  visit(async (page) => {
    const { keyboard } = page;
    const first = await target(page, 1);
    await keyboard.press('Control+g', HELD);
    await keyboard.type('3', HELD);
    await keyboard.press('Enter', HELD);
    await target(page, 3);
    await keyboard.press('Alt+PageUp', HELD);
    await keyboard.press('Alt+PageUp', HELD);
    await expectText(first, 'ONE HOUSE.');
  }));

const FIELDS = [
  ['Control+f', 'Find'],
  ['Control+m', 'Comment'],
  ['Control+k', 'Search words'],
] as const;

it.each(FIELDS)('text typed right after %s goes into the field that this shortcut opened: %s', (key, field) =>
  visit(async (page) => {
    const first = await target(page, 1);
    await page.keyboard.press(key, HELD);
    await page.keyboard.type('hou', HELD);
    await expect.poll(() => page.getByRole('textbox', { name: field }).inputValue()).toBe('hou');
    await expectText(first, 'ONE HOUSE.');
  }),
);

it('text typed right after a shortcut goes into its field when a slow network has loaded no more than the editable page needs', async () => {
  const app = new BuiltApp();
  const parts = ['Task.tsx', 'session/checking.ts', 'overlays.ts'].map((name) =>
    app.filesOf(`src/workbench/${name}`),
  );
  const needed = parts.reduce((all, files) => all.union(files), app.shell);
  const context = await fixture.web.signedIn(fixture.ann);
  await context.route('**/assets/*.js', async (route) => {
    if (needed.has(`assets/${basename(route.request().url())}`)) await route.continue();
  });
  const { path } = await fixture.createClaimedTask('One house.\n', { target_language: 'de' });
  await fixture.web.visit({ context, path }, async (page) => {
    const first = await target(page, 1);
    for (const [key, field] of FIELDS) {
      await page.keyboard.press(key, HELD);
      await page.keyboard.type('hou', HELD);
      await expect.poll(() => page.getByRole('textbox', { name: field }).inputValue()).toBe('hou');
      await page.keyboard.press('Escape', HELD);
    }
    await expectText(first, 'ONE HOUSE.');
  });
  await context.close();
});

it('the memory search finds entries while an editor types, and the next letters cancel the search before', async () => {
  await teach(fixture, 'The harbor is very old.\n');
  await visit(async (page) => {
    const first = await target(page, 1);
    const isFirst = (one: { url(): string }) => one.url().endsWith('/concordance?q=har');
    // The first search gets no answer.
    await page.route(/\/concordance\?q=har$/, () => {});
    await page.keyboard.press('Control+k', HELD);
    const searched = page.waitForRequest(isFirst);
    await page.keyboard.type('har', HELD);
    await searched;
    const canceled = page.waitForEvent('requestfailed', isFirst);
    await page.keyboard.type('bor', HELD);
    await canceled;
    await page.getByRole('complementary').getByText('THE HARBOR IS VERY OLD.', { exact: true }).waitFor();
    await takeScreenshots(page, 'workbench-concordance', 'state');
    await page.keyboard.press('Escape', HELD);
    await page.keyboard.type('x', HELD);
    await expectText(first, 'xONE HOUSE.');
  });
});

it('a tag that is chosen right after the list of tags has opened is moved to the caret', () =>
  visit(async (page) => {
    const first = await target(page, 1);
    await page.keyboard.press('Control+Home', HELD);
    await page.keyboard.press('F8', HELD);
    await page.keyboard.press('Enter', HELD);
    await expectText(first, '[{name}]HELLO .');
  }, 'Hello {name}.\n'));

it('text typed after Esc and a click goes into the clicked segment, and after Ctrl+Enter into the next segment', () =>
  visit(async (page) => {
    const { keyboard } = page;
    const first = await target(page, 1);
    await keyboard.press('Escape', HELD);
    await first.click(HELD);
    await keyboard.press('End', HELD);
    await keyboard.type('!', HELD);
    await expectText(first, 'ONE HOUSE.!');
    await keyboard.press('Backspace', HELD);
    await keyboard.press('Control+Enter', HELD);
    const second = await target(page, 2);
    await keyboard.press('End', HELD);
    await keyboard.type('?!', HELD);
    await expectText(second, 'TWO HOUSES.?!');
  }));

it('text typed after a slow click goes into the clicked segment, and after Ctrl+Enter into the next segment', () =>
  visit(async (page) => {
    const { keyboard } = page;
    await target(page, 1);
    await row(page, 2).getByRole('gridcell').nth(1).click({ delay: 60 });
    const second = await target(page, 2);
    await keyboard.press('End', HELD);
    await keyboard.type('!', HELD);
    await expectText(second, 'TWO HOUSES.!');
    await keyboard.press('Backspace', HELD);
    await keyboard.press('Control+Enter', HELD);
    const third = await target(page, 3);
    await keyboard.press('End', HELD);
    await keyboard.type('!', HELD);
    await expectText(third, 'THREE.!');
  }));

it('a click into the text of another segment puts the caret at the clicked place', () =>
  visit(async (page) => {
    await target(page, 1);
    await row(page, 2)
      .getByText('TWO HOUSES.', { exact: true })
      .click({ position: { x: 2, y: 10 }, ...HELD });
    const second = await target(page, 2);
    await page.keyboard.type('!', HELD);
    await expectText(second, '!TWO HOUSES.');
  }));

it('a character typed on a row is written into the text of the row', () =>
  visit(async (page) => {
    const { keyboard } = page;
    await target(page, 1);
    await keyboard.press('Escape', HELD);
    await keyboard.press('ArrowDown', HELD);
    await keyboard.type('a!', HELD);
    await expectText(await target(page, 2), 'a!TWO HOUSES.');
  }));

it('text typed right after a comment is sent goes into the translation', () =>
  visit(async (page) => {
    const { keyboard } = page;
    const first = await target(page, 1);
    await keyboard.press('End', HELD);
    await keyboard.press('Control+m', HELD);
    await keyboard.type('Why?', HELD);
    await keyboard.press('Control+Enter', HELD);
    await keyboard.type('!', HELD);
    await page.getByRole('complementary').getByText('Why?').waitFor();
    await expectText(first, 'ONE HOUSE.!');
  }));

it('the workbench announces only the errors when errors and warnings prevent a confirmation', async () => {
  const { path } = await fixture.createClaimedTask('<p><b>One</b> of <i>17</i> houses.</p>', {
    target_language: 'de',
    text_format: 'html',
  });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    await target(page, 1);
    await page.keyboard.press('F2', HELD);
    await page.locator('textarea:focus').fill('{1}Eines{2} der{/1} Häuser.{/2}');
    await page.keyboard.press('Control+Enter', HELD);
    const said = page.locator('[data-said]');
    await said.getByText('error').waitFor();
    expect(await said.innerText()).not.toContain('warning');
    await page.getByRole('complementary').getByText('Missing number 17').waitFor();
  });
});
