/** Tests of subtitles: the line breaks of a cue, and its duration, reading speed and line length. */
import { expect, it } from 'vitest';
import { expectAccessible, takeScreenshots } from './browser.ts';
import { HELD, row, shareWorkbench, target, waitUntilSaved } from './workbench.ts';

const fixture = shareWorkbench();

const SRT = `1
00:00:01,000 --> 00:00:03,500
The wind was stronger
than anything.

2
00:00:04,000 --> 00:00:05,000
Nobody came.
`;

it.each([
  ['srt', SRT],
  ['vtt', `WEBVTT\n\n${SRT.replaceAll(',', '.')}`],
])('Shift+Enter breaks a subtitle of %s into two lines, as its preview does', async (format, text) => {
  const { path } = await fixture.createClaimedTask(text, { text_format: format, target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const { keyboard } = page;
    const first = await target(page, 1);
    // The row also shows the line breaks of the source.
    const source = row(page, 1).getByRole('gridcell').first().locator('[lang]');
    expect(await source.innerText()).toBe('The wind was stronger\nthan anything.');
    await keyboard.press('Control+a', HELD);
    await keyboard.insertText('Der Wind war stärker');
    await keyboard.press('Shift+Enter', HELD);
    await keyboard.type('als alles.', { delay: 20 });
    await expect.poll(() => first.innerText()).toBe('Der Wind war stärker\nals alles.');
    const cue = row(page, 1);
    await cue.getByText('2.5 s').waitFor();
    await cue.getByText('13 / 17 characters/s').waitFor();
    await cue.getByText('20 / 42 characters/line').waitFor();
    await takeScreenshots(page, 'workbench-subtitle', 'state');
    await keyboard.press('Control+Enter', HELD);
    await target(page, 2);
    await waitUntilSaved(page);
    await keyboard.press('F4');
    const preview = page.getByRole('region', { name: 'Preview' });
    await expect
      .poll(() => preview.getByText('Der Wind war').innerText())
      .toBe('Der Wind war stärker\nals alles.');
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-subtitle-preview', 'state');
  });
});

it('Shift+Enter types a space where no line break is possible', async () => {
  const { path } = await fixture.createClaimedTask('One house.\n', { target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const text = await target(page, 1);
    await page.keyboard.press('Control+a', HELD);
    await page.keyboard.type('Ein', HELD);
    await page.keyboard.press('Shift+Enter', HELD);
    await page.keyboard.type('Haus.', HELD);
    await expect.poll(() => text.innerText()).toBe('Ein Haus.');
  });
});
