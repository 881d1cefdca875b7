/** Tests of reviews in the workbench: which segments the reviewer has seen, and what has changed. */
import { expect, it } from 'vitest';
import { claimTask, confirm, confirmAll, pathOf } from '../../server/src/testing/editors.ts';
import { expectAccessible, takeScreenshots } from './browser.ts';
import { claimReview, expectText, findReview, row, shareWorkbench, target } from './workbench.ts';

const fixture = shareWorkbench();

it('the workbench counts the segments that the reviewer has seen, and shows what changed after a return', async () => {
  const claimed = await fixture.createClaimedTask('The red house is old.\nThe door is shut.\nWait here.\n', {
    target_language: 'de',
  });
  const [first] = claimed.segments;
  await confirm(fixture.ann, claimed, { ...first!, draft: [{ text: 'Das rote Haus ist alt.' }] });
  await confirmAll(fixture.ann, claimed);
  const review = await claimReview(fixture, claimed);
  await fixture.web.visit({ context: fixture.bobContext, path: `/tasks/${review}` }, async (page) => {
    await target(page, 1);
    const progress = page.locator('header').getByRole('progressbar', { name: 'Segments seen' });
    await expect.poll(() => progress.getAttribute('value')).toBe('1');
    const tops = ['Return', 'Approve'].map(
      async (name) => (await page.getByRole('button', { name }).boundingBox())!.y,
    );
    expect(new Set(await Promise.all(tops)).size).toBe(1);
    await expect.poll(() => row(page, 1).getAttribute('data-seen')).toBe('true');
    await row(page, 2).getByText('Not seen', { exact: true }).waitFor({ state: 'attached' });
    // The changes since the draft are shown unfolded.
    const changes = page.getByRole('region', { name: 'Changes since the draft' });
    await expect.poll(() => changes.locator('del').allInnerTexts()).toEqual(['THE RED HOUSE IS OLD']);
    await expect.poll(() => changes.locator('ins').allInnerTexts()).toEqual(['Das rote Haus ist alt']);
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-review-seen', 'state');
    await target(page, 1);
    await page.keyboard.press('Control+Enter');
    await target(page, 2);
    await changes.getByText('Same as the draft').waitFor();
    await expect.poll(() => progress.getAttribute('value')).toBe('2');
    await page.getByRole('button', { name: 'Approve' }).click();
    const dialog = page.getByRole('dialog', { name: 'Approve this job' });
    await dialog.getByText('You have not seen 1 segment.').waitFor();
    await takeScreenshots(page, 'workbench-review-approve', 'state');
    await page.keyboard.press('Escape');
    await target(page, 2);
  });
  // The server has stored which segments the reviewer saw, so another page starts at the first unseen segment.
  await fixture.web.visit({ context: fixture.bobContext, path: `/tasks/${review}` }, async (page) => {
    await target(page, 3);
    await page.locator('header').getByText('3 / 3').waitFor();
    await page.getByRole('button', { name: 'Return' }).click();
    const dialog = page.getByRole('dialog', { name: 'Return to the editors' });
    await dialog.getByLabel('Note').fill('A door is closed.');
    await dialog.getByRole('button', { name: 'Return' }).click();
    await page.waitForURL('**/app/queue');
  });
  const again = await claimTask(fixture.ann, claimed.task);
  const second = again.segments[1];
  await confirm(fixture.ann, again, { ...second, draft: [{ text: 'Die Tür ist zu.' }] });
  await confirmAll(fixture.ann, again);
  const later = await claimReview(fixture, { ...again, uid: claimed.uid });
  await fixture.web.visit({ context: fixture.bobContext, path: `/tasks/${later}` }, async (page) => {
    // Only the changed segment is left to see.
    await target(page, 2);
    await page.locator('header').getByText('3 / 3').waitFor();
    const changes = page.getByRole('region', { name: 'Changes since your last look' });
    await expect.poll(() => changes.locator('ins').allInnerTexts()).toEqual(['Die Tür ist zu']);
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-review-again', 'state');
    await page.keyboard.press('Control+Enter');
    const dialog = page.getByRole('dialog', { name: 'Approve this job' });
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await page.waitForURL('**/app/queue');
  });
});

it('an editor marks a segment as unsure, is asked about it once, and the reviewer sees it', async () => {
  const claimed = await fixture.createClaimedTask('Mind the gap.\nThank you.\n', { target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path: claimed.path }, async (page) => {
    const text = await target(page, 1);
    await page.keyboard.press('Control+u');
    await page.locator('[data-said]').getByText('Marked as unsure').waitFor();
    // The shortcut does not move the caret, and writes no character.
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('X', { delay: 150 });
    await expectText(text, 'XMIND THE GAP.');
    const button = row(page, 1).getByRole('button', { name: 'Unsure' });
    await expect.poll(() => button.getAttribute('aria-pressed')).toBe('true');
    await button.click();
    await page.locator('[data-said]').getByText('Mark removed').waitFor();
    await button.click();
    await row(page, 1).locator('[class*=status]').getByText('Unsure').waitFor({ state: 'attached' });
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-unsure');
    await target(page, 1);
    await page.keyboard.press('Control+Enter');
    await target(page, 2);
    await page.keyboard.press('Control+Enter');
    const dialog = page.getByRole('dialog', { name: 'Submit this task' });
    await dialog.getByText('1 segment is marked as unsure. Reviewers see the mark.').waitFor();
    await takeScreenshots(page, 'workbench-unsure-submit', 'state');
    await dialog.getByRole('button', { name: 'Submit' }).click();
    await page.waitForURL('**/app/queue');
  });
  const review = await claimTask(fixture.bob, await findReview(fixture.bob, claimed.uid));
  await fixture.web.visit({ context: fixture.bobContext, path: `/tasks/${review.task}` }, async (page) => {
    await target(page, 1);
    await page.keyboard.press('Alt+ArrowDown');
    await target(page, 2);
    await page.getByRole('button', { name: '1 segment marked as unsure: go to it' }).click();
    await target(page, 1);
  });
});

it('the workbench shows the unsure mark of the server again when two requests in a row fail', async () => {
  const claimed = await fixture.createClaimedTask('Fragile.\n', { target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path: claimed.path }, async (page) => {
    await target(page, 1);
    const marked = row(page, 1).getByRole('button', { name: 'Unsure' });
    const sent: (() => Promise<void>)[] = [];
    await page.route('**/unsure', async (route) => void sent.push(() => route.abort('connectionfailed')));
    await page.keyboard.press('Control+u');
    await expect.poll(() => marked.getAttribute('aria-pressed')).toBe('true');
    await page.keyboard.press('Control+u');
    await expect.poll(() => marked.getAttribute('aria-pressed')).toBe('false');
    // The second request waits for the first.
    for (const number of [1, 2]) {
      await expect.poll(() => sent.length).toBe(number);
      await Promise.all([page.waitForEvent('requestfailed'), sent.at(-1)!()]);
    }
    await page.getByText('The mark on segment 1 could not be saved.').waitFor();
    await expect.poll(() => marked.getAttribute('aria-pressed')).toBe('false');
    await page.unroute('**/unsure');
    await page.keyboard.press('Control+u');
    await expect
      .poll(async () => (await fixture.ann.call('GET', pathOf(claimed))).body.segments[0].unsure)
      .toBe(true);
  });
});

it('the workbench removes an unsure mark when the server refuses it', async () => {
  const claimed = await fixture.createClaimedTask('Fragile.\n', { target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path: claimed.path }, async (page) => {
    await target(page, 1);
    await page.route('**/unsure', (route) => route.abort('connectionfailed'));
    await page.keyboard.press('Control+u');
    await page.getByText('The mark on segment 1 could not be saved.').waitFor();
    const button = row(page, 1).getByRole('button', { name: 'Unsure' });
    await expect.poll(() => button.getAttribute('aria-pressed')).toBe('false');
  });
});
