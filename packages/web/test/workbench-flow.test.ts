/** Tests of the flow view of subtitles: the cues over their timeline, edited in place by keyboard and by touch. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { orderEdit } from '../../server/src/testing/editors.ts';
import { createPerson } from '../../server/src/testing/harness.ts';
import { expectAccessible, PHONE, takeScreenshots } from './browser.ts';
import { expectText, HELD, reading, row, shareWorkbench, target, waitUntilSaved } from './workbench.ts';

const fixture = shareWorkbench();

const FIELDS = { text_format: 'srt', target_language: 'de' };
/** The third subtitle has too many characters per second. */
const SRT = `1
00:00:01,000 --> 00:00:03,500
The wind was stronger
than anything.

2
00:00:04,000 --> 00:00:05,000
Nobody came.

3
00:00:09,000 --> 00:00:11,000
This is far too much to be read at once.

4
00:00:11,500 --> 00:00:13,000
It was late.
`;

const status = (page: Page, number: number) => row(page, number).getAttribute('data-status');

it('an editor reads, edits and submits subtitles over their timeline by keyboard', async () => {
  await orderEdit(fixture.call, SRT, FIELDS);
  const context = await fixture.web.signedIn(fixture.ann);
  await fixture.web.visit({ context, path: '/queue' }, async (page) => {
    const { keyboard } = page;
    await page.getByRole('button', { name: 'Start next task' }).press('Enter');
    await reading(page, 1);
    await row(page, 1).getByText('00:01.0').waitFor();
    await row(page, 3).getByText('Pause of 4 s').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-flow-subtitles');
    await reading(page, 1);

    // Space moves to the next subtitle without confirming.
    await keyboard.press('Space', HELD);
    await reading(page, 2);
    await keyboard.press('Shift+Space', HELD);
    await reading(page, 1);
    expect(await status(page, 1)).toBe('open');

    // Tab moves to the doubtful subtitle, and Enter moves the focus into its text.
    await keyboard.press('Tab', HELD);
    await reading(page, 3);
    await row(page, 3).getByText('Doubtful: a check reports a problem').waitFor();
    await row(page, 3).getByText('This is far too much to be read at once.', { exact: true }).waitFor();
    await keyboard.press('Enter', HELD);
    const third = await target(page, 3);
    await keyboard.press('Control+a', HELD);
    await keyboard.type('Das ist viel', { delay: 20 });
    await keyboard.press('Shift+Enter', HELD);
    await keyboard.type('zu viel Text.', { delay: 20 });
    await expectText(third, 'Das ist viel\nzu viel Text.');
    await takeScreenshots(page, 'workbench-flow-subtitle', 'state');
    await keyboard.press('Control+Enter', HELD);
    await target(page, 4);
    expect(await status(page, 3)).toBe('confirmed');

    // The subtitle before the edited one is doubtful now.
    await keyboard.press('Escape', HELD);
    await reading(page, 4);
    await keyboard.press('Shift+Tab', HELD);
    await reading(page, 2);
    await row(page, 2).getByText('Doubtful: the text before or after it was changed').waitFor();
    // A typed letter is written into the text.
    await keyboard.press('End');
    await keyboard.type('!', HELD);
    await expectText(await target(page, 2), '!NOBODY CAME.');
    await keyboard.press('Control+z', HELD);
    await expectText(await target(page, 2), 'NOBODY CAME.');
    await keyboard.press('Escape', HELD);
    await keyboard.press('Control+Enter', HELD);
    await reading(page, 4);
    await keyboard.press('Control+Enter', HELD);
    await reading(page, 1);
    await keyboard.press('Control+Enter', HELD);
    await page.getByRole('dialog', { name: 'Submit this task' }).waitFor();
    await keyboard.press('Enter', HELD);
    await page.waitForURL('**/app/queue');
  });
  await context.close();
});

it('Tab moves the focus out of the subtitles when no doubtful subtitle follows', async () => {
  // Another text than in the other tests, because what editors confirm there may arrive at any moment.
  const text = SRT.replace('The wind was stronger\nthan anything.', 'Both boats left\nbefore noon.')
    .replace('Nobody came.', 'Ships sank.')
    .replace('This is far too much to be read', 'These words cannot possibly be understood')
    .replace('It was late.', 'Rain fell.');
  const { path } = await fixture.createClaimedTask(text, FIELDS);
  const context = await fixture.web.signedIn(fixture.ann);
  await fixture.web.visit({ context, path }, async (page) => {
    await reading(page, 1);
    await page.keyboard.press('Tab', HELD);
    await reading(page, 3);
    await page.keyboard.press('Tab', HELD);
    await page.locator('[role=row]:not(:focus)[data-position="2"]').waitFor();
    await page.locator('button:focus, [role=textbox]:focus').waitFor();
  });
  await context.close();
});

it('Tab goes to the subtitle whose draft the engine was not confident of', async () => {
  const text = SRT.replace('Nobody came.', 'All uncertain.').replace(
    'This is far too much to be read',
    'Here',
  );
  const { path } = await fixture.createClaimedTask(text, FIELDS);
  const context = await fixture.web.signedIn(fixture.ann);
  await fixture.web.visit({ context, path }, async (page) => {
    await reading(page, 1);
    await page.keyboard.press('Tab', HELD);
    await reading(page, 2);
    await row(page, 2).getByText('Doubtful: the engine had little confidence in the draft').waitFor();
    await row(page, 2).getByText('MT 31').waitFor();
    await expectAccessible(page);
  });
  await context.close();
});

it('an editor edits subtitles over their timeline by touch on a phone', async () => {
  await orderEdit(fixture.call, SRT, FIELDS);
  // An editor who gets no reviews of the other tests' tasks.
  const mia = await createPerson(fixture.web, { role: 'editor', languages: ['en:de'], name: 'Mia' });
  const context = await fixture.web.signedIn(mia, {
    hasTouch: true,
    isMobile: true,
    viewport: PHONE,
  });
  await fixture.web.visit({ context, path: '/queue', size: PHONE }, async (page) => {
    await page.getByRole('button', { name: 'Start next task' }).tap();
    await reading(page, 1);
    const bar = page.getByRole('toolbar', { name: 'Segment actions' });
    await bar.getByRole('button', { name: 'Next segment' }).tap();
    await reading(page, 2);
    // The source is shown below its translation.
    const source = (await row(page, 2).getByText('Nobody came.', { exact: true }).boundingBox())!;
    const translation = (await row(page, 2).getByText('NOBODY CAME.', { exact: true }).boundingBox())!;
    expect(source.y).toBeGreaterThan(translation.y + translation.height);
    await row(page, 3).locator('[data-target]').tap();
    const third = await target(page, 3);
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-flow-touch', 'state');
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('Das ist viel zu viel Text.');
    await expectText(third, 'Das ist viel zu viel Text.');
    const confirm = bar.getByRole('button', { name: 'Confirm' });
    await confirm.tap();
    await target(page, 4);
    await confirm.tap();
    await target(page, 1);
    await confirm.tap();
    await target(page, 2);
    await confirm.tap();
    const submit = page.getByRole('dialog', { name: 'Submit this task' });
    await submit.getByRole('button', { name: 'Submit' }).tap();
    await page.waitForURL('**/app/queue');
  });
  await context.close();
});

it('the chosen view is remembered, and a switch between the views keeps caret, undo history and saved text', async () => {
  const { path } = await fixture.createClaimedTask(SRT, FIELDS);
  const context = await fixture.web.signedIn(fixture.ann);
  await fixture.web.visit({ context, path }, async (page) => {
    const { keyboard } = page;
    await reading(page, 1);
    await keyboard.press('Space', HELD);
    await keyboard.press('Enter', HELD);
    const second = await target(page, 2);
    await keyboard.press('Home', HELD);
    await keyboard.press('ArrowRight', HELD);
    await keyboard.type('xy', HELD);
    await keyboard.press('Shift+F4', HELD);
    await page.getByRole('button', { name: 'Edit in rows', pressed: true }).waitFor();
    await target(page, 2);
    await keyboard.type('z', HELD);
    await expectText(second, 'NxyzOBODY CAME.');
    await page.getByRole('button', { name: 'Edit in the document' }).click(HELD);
    await target(page, 2);
    await keyboard.type('!', HELD);
    await expectText(second, 'Nxyz!OBODY CAME.');
    for (let left = 4; left > 0 && (await second.innerText()) !== 'NOBODY CAME.'; left -= 1)
      await keyboard.press('Control+z', HELD);
    await expectText(second, 'NOBODY CAME.');
    await waitUntilSaved(page);
    await keyboard.press('Shift+F4', HELD);
    await page.getByRole('button', { name: 'Edit in rows', pressed: true }).waitFor();
    await page.reload();
    await target(page, 1);
    await page.getByRole('button', { name: 'Edit in rows', pressed: true }).waitFor();
  });
  await context.close();
});

it('the flow view renders only the visible subtitles when a task has 2,000', async () => {
  const cue = (at: number) => {
    const second = (part: number) =>
      `00:${String(Math.floor(at / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')},${part}00`;
    return `${at + 1}\n${second(0)} --> ${second(9)}\nLine ${at + 1}.\n`;
  };
  const { path } = await fixture.createClaimedTask(
    Array.from({ length: 2_000 }, (_, at) => cue(at)).join('\n'),
    FIELDS,
  );
  const context = await fixture.web.signedIn(fixture.ann);
  await fixture.web.visit({ context, path }, async (page) => {
    await reading(page, 1);
    for (let number = 2; number <= 30; number += 1) {
      await page.keyboard.press('Space');
      await reading(page, number);
    }
    expect(await page.getByRole('row').count()).toBeLessThan(60);
    await page.keyboard.press('Control+g', HELD);
    await page.getByRole('dialog').getByRole('textbox').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('1999', { delay: 20 });
    await page.keyboard.press('Enter', HELD);
    await page.keyboard.press('Escape');
    await page.locator('[role=row][data-position="1998"][data-active=true]').waitFor();
    expect(await page.getByRole('row').count()).toBeLessThan(60);
  });
  await context.close();
});
