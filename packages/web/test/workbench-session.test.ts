/** Tests of a session that ends while an editor types, and of a conflict about a moved tag. */
import { expect, it } from 'vitest';
import { pathOf, save } from '../../server/src/testing/editors.ts';
import { until } from '../../server/src/testing/harness.ts';
import { expectAccessible, takeScreenshots } from './browser.ts';
import { expectText, shareWorkbench, target, waitUntilSaved } from './workbench.ts';

const HELD = { delay: 60 };

const fixture = shareWorkbench();

it('the workbench asks for the password when the session has ended, and saves the unsent text after sign-in', async () => {
  const { path, task } = await fixture.createClaimedTask('One house.\n', { target_language: 'de' });
  const context = await fixture.web.signedIn(fixture.ann);
  await fixture.web.visit({ context, path }, async (page) => {
    const text = await target(page, 1);
    // The text is not on the server yet when the session ends.
    const saves = '**/api/editing/tasks/*/segments/*';
    await page.route(saves, (route) => route.abort('connectionfailed'));
    await page.keyboard.press('End');
    await page.keyboard.type(' Ja');
    await context.clearCookies({ name: /dragoman$/ });
    await page.unroute(saves);
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByText(`Enter the password of ${fixture.ann.email} to continue here.`).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-session', 'state');
    await dialog.getByLabel('Password').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(fixture.ann.password);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await target(page, 1);
    await page.keyboard.type('!');
    await expectText(text, 'ONE HOUSE. Ja!');
    await waitUntilSaved(page);
    const { body } = await fixture.ann.call('GET', pathOf({ task }));
    expect(body.segments[0].target).toEqual([{ text: 'ONE HOUSE. Ja!' }]);
  });
  await context.close();
});

it('a note that an editor types in a dialog stays when the session ends meanwhile', async () => {
  const { path } = await fixture.createClaimedTask('One house.\n', { target_language: 'de' });
  const context = await fixture.web.signedIn(fixture.ann);
  await fixture.web.visit({ context, path }, async (page) => {
    const text = await target(page, 1);
    await page.getByText('More', { exact: true }).click();
    await page.getByRole('button', { name: 'Report' }).click();
    const report = page.getByRole('dialog', { name: 'Report' });
    await report.getByLabel('Note').click();
    await page.keyboard.type('Words are', HELD);
    await context.clearCookies({ name: /dragoman$/ });
    await report.getByRole('button', { name: 'Report' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Password').and(page.locator(':focus')).waitFor();
    await takeScreenshots(page, 'workbench-session-dialog', 'state');
    await page.keyboard.type(fixture.ann.password, HELD);
    await page.keyboard.press('Enter', HELD);
    await dialog.waitFor({ state: 'detached' });
    expect(await report.getByLabel('Note').inputValue()).toBe('Words are');
    await expectText(text, 'ONE HOUSE.');
    await report.getByRole('button', { name: 'Report' }).click();
    await page.waitForURL('**/app/queue');
  });
  await context.close();
});

it('the active time of a task continues from its earlier total when the task is opened again', async () => {
  const claimed = await fixture.createClaimedTask('One house.\n', { target_language: 'de' });
  const worked = { target: [{ text: 'Ein Haus.' }], active_ms: 2_700_000 };
  expect((await save(fixture.ann, claimed, claimed.segments[0]!, worked)).status).toBe(200);
  await fixture.web.visit({ context: fixture.annContext, path: claimed.path }, async (page) => {
    await target(page, 1);
    await page.keyboard.type('!');
    await page
      .locator('header')
      .getByText(/^4[5-9]:\d\d$/)
      .waitFor();
    const { body } = await until(async () => {
      const read = await fixture.ann.call('GET', pathOf(claimed));
      return read.body.segments[0].revision === 2 && read;
    });
    // The page sends only the time since it was opened, not the total.
    expect(body.active_ms).toBeGreaterThanOrEqual(2_700_000);
    expect(body.active_ms).toBeLessThan(2 * 2_700_000);
  });
});

it('a second tab says that the task is open in another tab, until that tab is closed', async () => {
  const { path } = await fixture.createClaimedTask('One house.\n', { target_language: 'de' });
  const context = fixture.annContext;
  const first = await context.newPage();
  await first.goto(`${fixture.web.url}/app${path}`);
  await target(first, 1);
  await fixture.web.visit({ context, path }, async (second) => {
    const banner = second.getByText('This task is also open in another tab.');
    await banner.waitFor();
    await target(second, 1);
    await expectAccessible(second);
    await takeScreenshots(second, 'workbench-other-tab', 'state');
    expect(await first.getByText('This task is also open in another tab.').count()).toBe(0);
    await first.close();
    await banner.waitFor({ state: 'detached' });
  });
});

it('the conflict dialog shows the tags of both versions of a segment', async () => {
  const claimed = await fixture.createClaimedTask('Hello {name}, thanks.\n', { target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path: claimed.path }, async (page) => {
    await target(page, 1);
    const keep = { keep: 1, text: '{name}' };
    const saved = await save(fixture.ann, claimed, claimed.segments[0]!, {
      target: [keep, { text: ' danke.' }],
    });
    expect(saved.status).toBe(200);
    await page.keyboard.press('End');
    await page.keyboard.type('!');
    await page.getByRole('button', { name: 'Conflict in 1' }).click();
    const dialog = page.getByRole('dialog', { name: 'Two versions of segment 1' });
    await dialog.waitFor();
    expect(await dialog.locator('[data-kind=keep]').count()).toBe(2);
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-conflict-tags', 'state');
  });
});
