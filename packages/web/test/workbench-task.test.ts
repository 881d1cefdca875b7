/** What becomes of a task besides its text: its time, its repeats, what is reported, returned and said about it. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConnection } from '../../server/src/database/connections.ts';
import { claimTask, confirmAll, pathOf, save } from '../../server/src/testing/editors.ts';
import { until } from '../../server/src/testing/harness.ts';
import { expectAccessible, shoot } from './browser.ts';
import { type Office, openOffice, read, reads, row, saved, target } from './workbench.ts';

let office: Office;
beforeAll(async () => {
  office = await openOffice();
});
afterAll(() => office.stop());

it('warns when the time is nearly over, and extends it once', async () => {
  const { path, task } = await office.claimed('Nearly late.\n', { target_language: 'de' });
  const owner = createConnection(office.web.connection);
  await owner.connect();
  await owner.query(
    `update claims set claimed_at = now() - interval '50 minutes', limit_until = now() + interval '5 minutes' where task_id = $1`,
    [task],
  );
  await owner.end();
  await office.web.visit({ context: office.annWindow, path }, async (page) => {
    await page.getByText(/^The task goes back to the queue at /).waitFor();
    await expectAccessible(page);
    await shoot(page, 'workbench-late', 'state');
    await page.getByRole('button', { name: 'Extend' }).click();
    await page.locator('[data-said]').getByText('Time extended').waitFor();
    // Once: more than that is to be asked of an operator.
    await page.getByRole('button', { name: 'Extend' }).waitFor({ state: 'detached' });
  });
});

it('fills repeats, says so, and takes it back', async () => {
  const { path } = await office.claimed('Send it.\nWait.\nSend it.\n', { target_language: 'de' });
  await office.web.visit({ context: office.annWindow, path }, async (page) => {
    await target(page, 1);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('Abschicken.');
    await page.keyboard.press('Control+Enter');
    await page.getByText('1 repeat was filled with the same text.').waitFor();
    const third = row(page, 3).getByRole('gridcell').nth(1);
    expect(await read(third)).toBe('Abschicken.');
    await expectAccessible(page);
    await shoot(page, 'workbench-repeats', 'state');
    await page.getByRole('button', { name: 'Undo' }).click();
    await reads(third, 'SEND IT.');
    await saved(page);
    expect(await row(page, 3).getAttribute('data-status')).toBe('draft');
    expect(await row(page, 1).getAttribute('data-status')).toBe('confirmed');
  });
});

it('reports what is wrong with a source, which an operator then reads', async () => {
  const { path, task } = await office.claimed('Not a sentence the.\n', { target_language: 'de' });
  await office.web.visit({ context: office.annWindow, path }, async (page) => {
    await target(page, 1);
    await page.getByText('More', { exact: true }).click();
    await page.getByRole('button', { name: 'Report' }).click();
    const dialog = page.getByRole('dialog', { name: 'Report' });
    await dialog.getByLabel('Reason').selectOption('The source cannot be understood');
    await dialog.getByLabel('Note').fill('Words are missing.');
    await expectAccessible(page);
    await shoot(page, 'workbench-report', 'state');
    await dialog.getByRole('button', { name: 'Report' }).click();
    await page.waitForURL('**/app/queue');
  });
  const { body } = await office.operator.call('GET', '/api/console/tasks?status=reported');
  expect(body.tasks).toMatchObject([
    { task, reports: [{ reason: 'bad_source', note: 'Words are missing.' }] },
  ]);
});

it('goes back to its editor by a reviewer, who has marked what is wrong', async () => {
  const { path, task, lease } = await office.claimed('The door is shut.\n', { target_language: 'ar' });
  await confirmAll(office.ann, { task, lease });
  expect((await office.ann.call('POST', pathOf({ task }, '/submit'), { token: lease.token })).status).toBe(
    200,
  );
  const review = await until(async () => {
    const { body } = await office.bob.call('GET', '/api/editing/queue');
    return (body.open as { kind: string; task: string }[]).find(({ kind }) => kind === 'review');
  });
  await claimTask(office.bob, review.task);
  await office.web.visit({ context: office.bobWindow, path: `/tasks/${review.task}` }, async (page) => {
    await target(page, 1);
    await page.keyboard.press('Control+i');
    const mark = page.getByRole('dialog', { name: 'Mark an issue' });
    await mark.getByLabel('Note').fill('The door, not the gate.');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary').getByText('The door, not the gate.').waitFor();
    await page.getByRole('button', { name: 'Return' }).click();
    const dialog = page.getByRole('dialog', { name: 'Return to the editors' });
    await dialog.getByText('1 issue is marked.').waitFor();
    await dialog.getByLabel('Note').fill('Please look at the door.');
    await expectAccessible(page);
    await shoot(page, 'workbench-return', 'state');
    await dialog.getByRole('button', { name: 'Return' }).click();
    await page.waitForURL('**/app/queue');
  });
  await claimTask(office.ann, task);
  await office.web.visit({ context: office.annWindow, path }, async (page) => {
    await target(page, 1);
    await page.locator('header').getByText('Returned').waitFor();
    const about = page.getByRole('complementary');
    await about.getByText('The door, not the gate.').waitFor();
    await about.getByText('Please look at the door.').waitFor();
    await shoot(page, 'workbench-returned', 'state');
  });
});

it('keeps what is said about a segment, for whoever comes to it', async () => {
  const { path, task } = await office.claimed('Mind the gap.\nThank you.\n', { target_language: 'de' });
  await office.web.visit({ context: office.annWindow, path }, async (page) => {
    await target(page, 1);
    await page.keyboard.press('Control+m');
    const field = page.getByRole('textbox', { name: 'Comment' });
    await field.and(page.locator(':focus')).waitFor();
    await field.fill('Which gap?');
    await page.keyboard.press('Control+Enter');
    await page.locator('[data-said]').getByText('Comment sent').waitFor();
    const about = page.getByRole('complementary');
    await about.getByText('Which gap?').waitFor();
    await expectAccessible(page);
    // It is of the first segment alone.
    await page.keyboard.press('Escape');
    await page.keyboard.press('Alt+ArrowDown');
    await about.getByText('No comments').waitFor();
  });
  const { body } = await office.ann.call('GET', pathOf({ task }, '/comments'));
  expect(body.comments).toMatchObject([{ text: 'Which gap?', position: 0, by: 'Ann' }]);
});

it('shows subtitles as they will be read, and leads from one to its segment', async () => {
  const text =
    '1\n00:00:01,000 --> 00:00:02,500\nHello.\n\n2\n00:00:03,000 --> 00:00:03,500\nThis is far too much to be read at once.\n';
  const { path } = await office.claimed(text, { text_format: 'srt', target_language: 'de' });
  await office.web.visit({ context: office.annWindow, path }, async (page) => {
    await target(page, 1);
    await page.keyboard.press('F4');
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByText('00:00:03,000 --> 00:00:03,500').waitFor();
    await preview.getByText('4 characters/s').waitFor();
    // Twice what can be read is said so.
    expect(await preview.locator('[data-fast=true]').count()).toBe(1);
    await expectAccessible(page);
    await shoot(page, 'workbench-subtitles', 'state');
    await preview.getByRole('button').filter({ hasText: 'FAR TOO MUCH' }).click();
    await target(page, 2);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('Zu viel.');
    await preview.getByText('Zu viel.').waitFor();
  });
});

it('says what is shown only while the task is held, and shows what was written in it after that', async () => {
  const text = '1\n00:00:01,000 --> 00:00:02,500\nHello.\n';
  const { path, task, lease, segments } = await office.claimed(text, {
    text_format: 'srt',
    target_language: 'de',
  });
  await office.ann.call('POST', pathOf({ task }, '/release'), { token: lease.token });
  await office.web.visit({ context: office.bobWindow, path }, async (page) => {
    await page.getByText('You are reading. Claim the task to edit it.').waitFor();
    const about = page.getByRole('complementary', { name: 'About this segment' });
    await about.getByText('shown while you hold the task').waitFor();
    await page.keyboard.press('F4');
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByText('Only the segments of this page.').waitFor();
    await page.getByRole('button', { name: 'Claim' }).click();
    await target(page, 1);
    await page.keyboard.press('F4');
    await preview.getByText('00:00:01,000 --> 00:00:02,500').waitFor();
    await about.getByRole('heading', { name: 'Comments' }).waitFor();
  });
  const claimed = await claimTask(office.bob, task);
  await save(office.bob, claimed, segments[0]!, { target: [{ text: 'Hallo.' }] });
  await office.bob.call('POST', pathOf({ task }, '/skip'), { token: claimed.lease.token, reason: 'other' });
  await office.web.visit({ context: office.bobWindow, path }, async (page) => {
    await page.getByText('You see only what you wrote in this task.').waitFor();
    await page.getByText('Hallo.').first().waitFor();
    await expectAccessible(page);
  });
});

it('waits for what is being saved before it is left, and asks where that cannot be', async () => {
  const { path, task } = await office.claimed('One.\n', { target_language: 'de' });
  const page = await office.annWindow.newPage();
  await page.goto(`${office.web.url}/app${path}`);
  await target(page, 1);
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Eins.');
  await page.getByRole('link', { name: 'Back to the queue' }).click();
  await page.waitForURL('**/app/queue');
  const first = async () => (await office.ann.call('GET', pathOf({ task }))).body.segments[0];
  expect(await first()).toMatchObject({ target: [{ text: 'Eins.' }] });

  await page.goto(`${office.web.url}/app${path}`);
  await target(page, 1);
  const saves = '**/api/editing/tasks/*/segments/*';
  await page.route(saves, (route) => route.abort('connectionfailed'));
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Zwei.');
  await page.getByRole('link', { name: 'Back to the queue' }).click();
  const dialog = page.getByRole('dialog', { name: 'Leave this task?' });
  await dialog.getByText('1 text is not on the server yet.').waitFor();
  await expectAccessible(page);
  await shoot(page, 'workbench-leave', 'state');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await reads(page.getByRole('textbox', { name: 'Translation of segment 1' }), 'Zwei.');
  await page.getByRole('link', { name: 'Back to the queue' }).click();
  await dialog.getByRole('button', { name: 'Leave' }).click();
  await page.waitForURL('**/app/queue');

  // Nothing was lost: it is taken up where it was left.
  await page.unroute(saves);
  await page.goto(`${office.web.url}/app${path}`);
  await saved(page);
  await expect.poll(async () => (await first()).target).toMatchObject([{ text: 'Zwei.' }]);
  await page.close();
});
