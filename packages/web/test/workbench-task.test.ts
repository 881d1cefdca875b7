/**
 * Tests of the actions on a task: lease, repeats, reports, reviews, comments, subtitles and leaving the page.
 */
import { expect, it } from 'vitest';
import { createConnection } from '../../server/src/database/connections.ts';
import { claimTask, confirm, confirmAll, orderEdit, pathOf, save } from '../../server/src/testing/editors.ts';
import { expectAccessible, takeScreenshots } from './browser.ts';
import {
  claimJob,
  claimReview,
  createBrandAccount,
  expectText,
  readText,
  row,
  shareWorkbench,
  target,
  waitUntilSaved,
} from './workbench.ts';

const fixture = shareWorkbench();

it('an editor whose claim has ended claims the task again from its notice, with the text of before', async () => {
  const { path, task } = await fixture.createClaimedTask('Nearly over.\n', { target_language: 'de' });
  const owner = createConnection(fixture.web.connection);
  await owner.connect();
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    await target(page, 1);
    // Only reviewers mark issues. The browser does not get the key, with which it opens a window of its own.
    await page.keyboard.press('Control+i');
    await page.locator('[data-said]').getByText('Not possible here').waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('Fast vorbei.');
    await owner.query(`update claims set lease_until = now() where task_id = $1`, [task]);
    await owner.end();
    // Each reading of a queue ends the claims that have expired, and the page gets a live update.
    await fixture.ann.call('GET', '/api/editing/queue');
    const claim = page.getByRole('button', { name: 'Claim', exact: true });
    await claim.waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-late', 'state');
    await claim.click();
    await expectText(await target(page, 1), 'Fast vorbei.');
    await page.keyboard.press('Control+Enter');
    await waitUntilSaved(page);
  });
});

it('confirming a segment fills its repeats, and the editor can undo this', async () => {
  const { path } = await fixture.createClaimedTask('Send it.\nWait.\nSend it.\n', { target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    await target(page, 1);
    const top = (await row(page, 1).boundingBox())!.y;
    await page.keyboard.press('Control+a');
    await page.keyboard.type('Abschicken.');
    await page.keyboard.press('Control+Enter');
    await page.getByText('1 other segment has the same source and got this translation.').waitFor();
    // The rows stay in place when the message appears.
    expect((await row(page, 1).boundingBox())!.y).toBe(top);
    const third = row(page, 3).getByRole('gridcell').nth(1);
    expect(await readText(third)).toBe('Abschicken.');
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-repeats', 'state');
    await page.getByRole('button', { name: 'Undo' }).click();
    await expectText(third, 'SEND IT.');
    await waitUntilSaved(page);
    expect(await row(page, 3).getAttribute('data-status')).toBe('draft');
    expect(await row(page, 1).getAttribute('data-status')).toBe('confirmed');
  });
});

it('an editor can undo a replacement in all segments at once', async () => {
  const { path } = await fixture.createClaimedTask('One old house.\nTwo old houses.\nOld.\n', {
    target_language: 'de',
  });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    await target(page, 1);
    await page.keyboard.press('Control+Enter');
    await target(page, 2);
    await page.keyboard.press('Control+h');
    await page.getByRole('textbox', { name: 'Find' }).fill('OLD');
    await page.getByRole('textbox', { name: 'Replace with' }).fill('NEW');
    await page.getByRole('button', { name: 'Replace all' }).click();
    const text = (number: number) => row(page, number).getByRole('gridcell').nth(1).locator('[lang]').first();
    await expectText(text(3), 'NEW.');
    await takeScreenshots(page, 'workbench-replaced', 'state');
    await page.locator('[data-notice]').getByRole('button', { name: 'Undo' }).click();
    await expectText(text(1), 'ONE OLD HOUSE.');
    await expectText(text(2), 'TWO OLD HOUSES.');
    await expectText(text(3), 'OLD.');
    expect(await row(page, 1).getAttribute('data-status')).toBe('confirmed');
    await waitUntilSaved(page);
  });
});

it('an editor reports a faulty source to the operator', async () => {
  const { path, task } = await fixture.createClaimedTask('Not a sentence the.\n', { target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    await target(page, 1);
    await page.getByText('More', { exact: true }).click();
    await page.getByRole('button', { name: 'Report' }).click();
    const dialog = page.getByRole('dialog', { name: 'Report' });
    await dialog.getByLabel('Reason').selectOption('The source is not understandable');
    await dialog.getByLabel('Note').fill('Words are missing.');
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-report', 'state');
    await dialog.getByRole('button', { name: 'Report' }).click();
    await page.waitForURL('**/app/queue');
  });
  const { body } = await fixture.operator.call('GET', '/api/console/tasks?status=reported');
  expect(body.tasks).toMatchObject([
    { task, reports: [{ reason: 'bad_source', note: 'Words are missing.' }] },
  ]);
  const context = await fixture.web.signedIn(fixture.operator);
  await fixture.web.visit({ context, path: '/console/tasks', language: 'de' }, async (page) => {
    await page.getByText('Ausgangstext unverständlich (Ann): Words are missing.').waitFor();
    await takeScreenshots(page, 'console-tasks-reported');
  });
  await context.close();
});

it('the workbench shows notes on drafts, failures of engines and the tone in the language of the page', async () => {
  const { path, task } = await fixture.createClaimedTask('Two zips.\nOne house.\n', {
    target_language: 'de',
    tone: 'Formal',
  });
  const owner = createConnection(fixture.web.connection);
  await owner.connect();
  const segments = `from tasks t where t.task_id = $1 and s.job_id = t.job_id`;
  await owner.query(
    `update segments s set notes = '{term not inflected: zip,code moved}' ${segments} and s.position = 0`,
    [task],
  );
  await owner.query(
    `update segments s set draft = null, route = null, failure = 'too long' ${segments} and s.position = 1`,
    [task],
  );
  await owner.end();
  const visit = { context: fixture.annContext, path, language: 'de' } as const;
  await fixture.web.visit(visit, async (page) => {
    await row(page, 1)
      .getByText(
        'Entwurf: die Form des Begriffs für „zip“ ist vielleicht falsch · Entwurf: ein Tag wurde verschoben',
      )
      .waitFor();
    await row(page, 2).getByText('Kein Entwurf: Text zu lang').waitFor();
    await page.locator('header').getByText('Förmlich').waitFor();
  });
});

it('a reviewer marks issues, and the task returns to its editor', async () => {
  const { uid, path, task, lease } = await fixture.createClaimedTask('The door is shut.\n', {
    target_language: 'ar',
  });
  await confirmAll(fixture.ann, { task, lease });
  const review = await claimReview(fixture, { uid, task, lease });
  await fixture.web.visit({ context: fixture.bobContext, path: `/tasks/${review}` }, async (page) => {
    await target(page, 1);
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Control+i');
    const mark = page.getByRole('dialog', { name: 'Mark an issue' });
    await mark.getByLabel('Note').fill('The door, not the gate.');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary').getByText('The door, not the gate.').waitFor();
    const quote = page.getByRole('complementary').locator('q');
    expect(await quote.innerText()).toBe('THE DOOR IS SHUT.');
    expect(await page.locator('[data-live] [class*=issue]').innerText()).toBe('THE DOOR IS SHUT.');
    await takeScreenshots(page, 'workbench-issue-marked', 'state');
    await page.getByRole('button', { name: 'Return' }).click();
    const dialog = page.getByRole('dialog', { name: 'Return to the editors' });
    await dialog.getByText('1 issue is marked.').waitFor();
    await dialog.getByLabel('Note').fill('Please look at the door.');
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-return', 'state');
    await dialog.getByRole('button', { name: 'Return' }).click();
    await page.waitForURL('**/app/queue');
  });
  await claimTask(fixture.ann, task);
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    await target(page, 1);
    await page.locator('header').getByText('Returned').waitFor();
    const about = page.getByRole('complementary');
    await about.getByText('The door, not the gate.').waitFor();
    await about.getByText('Please look at the door.').waitFor();
    expect(await about.locator('q').innerText()).toBe('THE DOOR IS SHUT.');
    const text = page.locator('[data-live]');
    expect(await text.locator('[class*=issue]').innerText()).toBe('THE DOOR IS SHUT.');
    await takeScreenshots(page, 'workbench-returned', 'state');
    // The mark disappears when an edit changes or moves its words. The issue still quotes the words.
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('X');
    await text.locator('[class*=issue]').waitFor({ state: 'detached' });
    expect(await about.locator('q').innerText()).toBe('THE DOOR IS SHUT.');
  });
});

it('an editor adds a comment to a segment', async () => {
  const { path, task } = await fixture.createClaimedTask('Mind the gap.\nThank you.\n', {
    target_language: 'de',
  });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
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
    // Another segment does not show the comment.
    await page.keyboard.press('Escape');
    await page.keyboard.press('Alt+ArrowDown');
    await about.getByText('No comments').waitFor();
  });
  const { body } = await fixture.ann.call('GET', pathOf({ task }));
  expect(body.comments).toMatchObject([{ text: 'Which gap?', position: 0, by: 'Ann' }]);
});

it('a comment that could not be sent is still there when the editor returns to its segment', async () => {
  const { path } = await fixture.createClaimedTask('Mind the gap.\nThank you.\n', { target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    await target(page, 1);
    const refused = Promise.withResolvers<void>();
    await page.route('**/comments', async (route) => {
      await refused.promise;
      await route.abort('connectionfailed');
    });
    await page.keyboard.press('Control+m');
    const field = page.getByRole('textbox', { name: 'Comment' });
    await field.fill('Which gap?');
    await page.keyboard.press('Control+Enter');
    await page.keyboard.press('Alt+ArrowDown');
    await target(page, 2);
    refused.resolve();
    await page.locator('[data-notice]').getByText('The comment on segment 1 was not sent').waitFor();
    await page.keyboard.press('Alt+ArrowUp');
    await target(page, 1);
    await page.keyboard.press('Control+m');
    await expect.poll(() => field.inputValue()).toBe('Which gap?');
  });
});

it('the preview shows subtitles, and a click opens the segment of a subtitle', async () => {
  const text =
    '1\n00:00:01,000 --> 00:00:02,500\nHello.\n\n2\n00:00:03,000 --> 00:00:03,500\nThis is far too much to be read at once.\n';
  const { path } = await fixture.createClaimedTask(text, { text_format: 'srt', target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    await target(page, 1);
    await page.keyboard.press('F4');
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByText('00:00:03,000 --> 00:00:03,500').waitFor();
    await preview.getByText('4 characters/s').waitFor();
    // The second subtitle has too many characters per second.
    expect(await preview.locator('[data-fast=true]').count()).toBe(1);
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-subtitles', 'state');
    await preview.getByRole('button').filter({ hasText: 'FAR TOO MUCH' }).click();
    await target(page, 2);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('Zu viel.');
    await preview.getByText('Zu viel.').waitFor();
  });
});

it('the workbench shows glossary and comments only during a claim, and afterwards only the editor’s own edits', async () => {
  const text = '1\n00:00:01,000 --> 00:00:02,500\nHello.\n';
  const { path, task, lease, segments } = await fixture.createClaimedTask(text, {
    text_format: 'srt',
    target_language: 'de',
  });
  await fixture.ann.call('POST', pathOf({ task }, '/release'), { token: lease.token });
  await fixture.web.visit({ context: fixture.bobContext, path }, async (page) => {
    await page.getByText('Read only. Claim the task to edit it.').waitFor();
    const about = page.getByRole('complementary', { name: 'Segment details' });
    await about.getByText('Claim the task to see the glossary').waitFor();
    await page.keyboard.press('F4');
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByText('The preview shows only the segments of this page.').waitFor();
    await page.getByRole('button', { name: 'Claim' }).click();
    await target(page, 1);
    await page.keyboard.press('F4');
    await preview.getByText('00:00:01,000 --> 00:00:02,500').waitFor();
    await about.getByRole('heading', { name: 'Comments' }).waitFor();
  });
  const claimed = await claimTask(fixture.bob, task);
  await save(fixture.bob, claimed, segments[0]!, { target: [{ text: 'Hallo.' }] });
  await fixture.bob.call('POST', pathOf({ task }, '/skip'), { token: claimed.lease.token, reason: 'other' });
  await fixture.web.visit({ context: fixture.bobContext, path }, async (page) => {
    await page.getByText('You see only what you wrote in this task.').waitFor();
    await page.getByText('Hallo.').first().waitFor();
    await expectAccessible(page);
  });
});

it('the workbench saves before a user leaves it, and asks when it cannot save', async () => {
  const { path, task } = await fixture.createClaimedTask('One.\n', { target_language: 'de' });
  const page = await fixture.annContext.newPage();
  await page.goto(`${fixture.web.url}/app${path}`);
  await target(page, 1);
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Eins.');
  await page.getByRole('link', { name: 'Back to the queue' }).click();
  await page.waitForURL('**/app/queue');
  const first = async () => (await fixture.ann.call('GET', pathOf({ task }))).body.segments[0];
  expect(await first()).toMatchObject({ target: [{ text: 'Eins.' }] });

  await page.goto(`${fixture.web.url}/app${path}`);
  await target(page, 1);
  const saves = '**/api/editing/tasks/*/segments/*';
  await page.route(saves, (route) => route.abort('connectionfailed'));
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Zwei.');
  await page.getByRole('link', { name: 'Back to the queue' }).click();
  const dialog = page.getByRole('dialog', { name: 'Leave this task?' });
  await dialog.getByText('1 text is not on the server yet.').waitFor();
  await expectAccessible(page);
  await takeScreenshots(page, 'workbench-leave', 'state');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await expectText(await target(page, 1), 'Zwei.');
  await page.getByRole('link', { name: 'Back to the queue' }).click();
  await dialog.getByRole('button', { name: 'Leave' }).click();
  await page.waitForURL('**/app/queue');

  // The draft that the browser stored is restored and saved.
  await page.unroute(saves);
  await page.goto(`${fixture.web.url}/app${path}`);
  await waitUntilSaved(page);
  await expect.poll(async () => (await first()).target).toMatchObject([{ text: 'Zwei.' }]);
  await page.close();
});

it('a source with two texts, and a text for different terms, are shown before the task is submitted, and in the list of findings', async () => {
  const { call } = await createBrandAccount(fixture);
  const uid = await orderEdit(call, 'Keep the box.\nKeep the box.\nKeep the crate.\nThe sea is calm.\n');
  const own = await claimJob(fixture.ann, uid);
  for (const [source, written] of Object.entries({ box: 'caja', crate: 'cajón' })) {
    const term = { token: own.lease.token, source, target: written };
    expect((await fixture.ann.call('POST', pathOf(own, '/terms'), term)).status).toBe(201);
  }
  const confirmAs = async (position: number, written: string) => {
    const { segments } = (await fixture.ann.call('GET', pathOf(own))).body;
    const saved = await confirm(fixture.ann, own, segments[position], { target: [{ text: written }] });
    expect(saved.status, saved.text).toBe(200);
  };
  await confirmAs(0, 'Guarde la caja.');
  await confirmAs(1, 'Conserve la caja.');
  await confirmAs(2, 'Guarde la caja.');
  await fixture.web.visit({ context: fixture.annContext, path: `/tasks/${own.task}` }, async (page) => {
    await target(page, 4);
    await page.getByRole('button', { name: 'Submit' }).click();
    const submit = page.getByRole('dialog', { name: 'Submit' });
    await submit.getByRole('button', { name: 'Sources with several texts: 1' }).waitFor();
    await submit.getByRole('button', { name: 'Texts for sources with different terms: 1' }).click();
    const list = page.getByRole('dialog', { name: 'List of findings' });
    await list.getByRole('heading', { name: '1 source with several texts' }).waitFor();
    await list.getByRole('heading', { name: '1 text for sources with different terms' }).waitFor();
    await list.getByRole('heading', { name: 'Guarde la caja.' }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-inconsistencies', 'state');
    await list
      .getByRole('listitem')
      .filter({ hasText: 'Conserve' })
      .getByRole('button', { name: '2' })
      .click();
    await expectText(await target(page, 2), 'Conserve la caja.');
    await page.getByRole('button', { name: 'Submit' }).click();
    await submit.getByRole('button', { name: 'Sources with several texts: 1' }).click();
    await list
      .getByRole('listitem')
      .filter({ hasText: 'Keep the crate.' })
      .getByRole('button', { name: '3' })
      .click();
    await expectText(await target(page, 3), 'Guarde la caja.');
  });
});
