/**
 * Tests of editing by mouse and by touch: the status of a segment, the button of the active row, and the bar
 * on touch screens.
 */
import { expect, it } from 'vitest';
import { orderEdit } from '../../server/src/testing/editors.ts';
import { expectAccessible, PHONE, takeScreenshots } from './browser.ts';
import { expectText, row, shareWorkbench, target } from './workbench.ts';

const fixture = shareWorkbench();

it('an editor works on a task by touch on a phone, from claim to submission', async () => {
  await orderEdit(fixture.call, 'One house.\nHello {name}, it is here.\nThree.\n', { target_language: 'de' });
  const context = await fixture.web.signedIn(fixture.bob, {
    hasTouch: true,
    isMobile: true,
    viewport: PHONE,
  });
  await fixture.web.visit({ context, path: '/queue', size: PHONE }, async (page) => {
    await page.getByRole('button', { name: 'Start next task' }).tap();
    const bar = page.getByRole('toolbar', { name: 'Segment actions' });
    const confirm = bar.getByRole('button', { name: 'Confirm' });
    await row(page, 1).getByRole('gridcell').nth(1).tap();
    const first = await target(page, 1);
    // An on-screen keyboard inserts text without key events.
    await page.keyboard.insertText('Ja! ');
    await expectText(first, 'ONE HOUSE.Ja! ');
    await bar.getByRole('button', { name: 'Next suggestion' }).tap();
    await expectText(first, 'ONE HOUSE.');
    await confirm.tap();
    const second = await target(page, 2);

    await bar.getByRole('button', { name: 'Tags' }).tap();
    await page.getByRole('option').tap();
    await expectText(second, '[{name}]HELLO , IT IS HERE.');
    await page.keyboard.insertText(' 17');
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-touch', 'state');
    await confirm.tap();
    // The panel with the checks is folded away, so the row shows the warning.
    await row(page, 2).getByText('Number 17 is not in the source').waitFor();
    await takeScreenshots(page, 'workbench-touch-blocked', 'state');
    await bar.getByRole('button', { name: 'Confirm anyway' }).tap();
    await target(page, 3);
    await bar.getByRole('button', { name: 'Previous segment' }).tap();
    await target(page, 2);
    expect(await row(page, 2).getAttribute('data-status')).toBe('confirmed');
    await bar.getByRole('button', { name: 'Next segment' }).tap();
    await target(page, 3);
    await confirm.tap();
    const submit = page.getByRole('dialog', { name: 'Submit this task' });
    await submit.getByRole('button', { name: 'Submit' }).tap();
    await page.waitForURL('**/app/queue');
  });
  await context.close();
});

it('the draft can be restored by touch', async () => {
  const { path } = await fixture.createClaimedTask('One house.\n', { target_language: 'de' });
  const context = await fixture.web.signedIn(fixture.ann, {
    hasTouch: true,
    isMobile: true,
    viewport: PHONE,
  });
  await fixture.web.visit({ context, path, size: PHONE }, async (page) => {
    const first = await target(page, 1);
    await page.keyboard.insertText('Ja! ');
    await expectText(first, 'Ja! ONE HOUSE.');
    await page.getByRole('button', { name: 'Next suggestion' }).tap();
    await expectText(first, 'ONE HOUSE.');
  });
  await context.close();
});

it('an editor confirms and reopens segments by mouse, and typed text still goes into the active segment', async () => {
  const { path } = await fixture.createClaimedTask('One house.\nTwo houses.\nThree.\n', {
    target_language: 'de',
  });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const status = (number: number) => row(page, number).getAttribute('data-status');
    await target(page, 1);
    await takeScreenshots(page, 'workbench-confirm', 'state');
    await row(page, 1)
      .getByRole('button', { name: /^Confirm/ })
      .click();
    const second = await target(page, 2);
    expect(await status(1)).toBe('confirmed');
    await page.keyboard.type('!');
    await expectText(second, '!TWO HOUSES.');
    await page.keyboard.press('Backspace');

    // A click on the status of another row does not move the caret.
    const third = row(page, 3).getByRole('button', { name: 'Not edited. Confirm segment 3' });
    const size = (await third.boundingBox())!;
    expect(Math.min(size.width, size.height)).toBeGreaterThanOrEqual(24);
    await third.click();
    expect(await status(3)).toBe('confirmed');
    await page.keyboard.type('?');
    await expectText(second, '?TWO HOUSES.');
    await row(page, 3).getByRole('button', { name: 'Reopen segment 3' }).click();
    expect(await status(3)).toBe('draft');
    await row(page, 1).getByRole('button', { name: 'Reopen segment 1' }).click();
    expect(await status(1)).toBe('draft');
    const bar = page.locator('footer');
    // The key bar shows no truncated shortcut, and always shows the help button.
    const [list, help] = [await bar.locator('div').boundingBox(), await bar.getByText('?').boundingBox()];
    expect(help!.x + help!.width).toBeLessThan(1280);
    for (const button of await bar.locator('div > button').all()) {
      const { x, y, width } = (await button.boundingBox())!;
      if (y < list!.y + list!.height) expect(x + width).toBeLessThanOrEqual(list!.x + list!.width);
    }
    await bar.getByRole('button', { name: 'Next segment' }).click();
    await target(page, 3);
  });
});
