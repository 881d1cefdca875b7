/**
 * Tests of what a row shows next to its texts: where the target comes from, what kind of text the segment is,
 * and which words the checks name.
 */
import { expect, it } from 'vitest';
import { expectAccessible, takeScreenshots } from './browser.ts';
import { expectText, HELD, row, shareWorkbench, target, teach, waitUntilSaved } from './workbench.ts';

const fixture = shareWorkbench();

it('a row shows where its target comes from, and that the editor has changed it', async () => {
  await teach(fixture, 'The red house.\nIt is very old.\n');
  const { path } = await fixture.createClaimedTask(
    'The red house.\nIt is very old.\nIt has a brand new roof.\nIt has a brand new roof.\nIt is a very old one.\n',
    { target_language: 'de' },
  );
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const edge = (number: number) => row(page, number).getByRole('gridcell').last();
    await target(page, 1);
    await edge(1).getByText('Translation memory: exact match in the same context', { exact: true }).waitFor();
    await edge(2).getByText('Translation memory: exact match', { exact: true }).waitFor();
    await edge(3).getByText('Machine translation by fake', { exact: true }).waitFor();
    await edge(4).getByText('Same source as segment 3').waitFor();
    await expectAccessible(page);

    await page.keyboard.press('Control+End', HELD);
    await page.keyboard.type('!', HELD);
    await edge(1)
      .getByText('Edited. Draft: Translation memory: exact match in the same context', { exact: true })
      .waitFor();
    await page.keyboard.press('Control+z', HELD);
    await edge(1).getByText('Translation memory: exact match in the same context', { exact: true }).waitFor();

    await page.keyboard.press('Control+g', HELD);
    await page.keyboard.type('5', HELD);
    await page.keyboard.press('Enter', HELD);
    const fifth = await target(page, 5);
    await page.getByRole('complementary').getByText('IT IS VERY OLD.').waitFor();
    await page.keyboard.press('Control+2', HELD);
    await expectText(fifth, 'IT IS VERY OLD.');
    await edge(5)
      .getByText(/^Translation memory: \d\d % match$/)
      .waitFor();
    await takeScreenshots(page, 'workbench-origin');
  });
});

it('a row with a draft of an engine shows the confidence of the engine, and marks a low one', async () => {
  const { path } = await fixture.createClaimedTask(
    'The weather is uncertain.\nIt certainly rains.\nThe sun shines.\n',
    { target_language: 'de' },
  );
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const label = (number: number) => row(page, number).locator('[data-from]');
    await target(page, 1);
    const low = 'Machine translation by fake. Its confidence: 31 % on average, 4 % at the lowest';
    await label(1).getByText(low, { exact: true }).waitFor();
    expect(await label(1).locator('bdi').textContent()).toBe('MT 31\u00a0%');
    expect(await label(2).locator('bdi').textContent()).toBe('MT 97\u00a0%');
    expect(await label(3).locator('bdi').textContent()).toBe('MT');
    expect(await page.locator('[data-low]').count()).toBe(1);
    expect(await label(1).getAttribute('data-low')).toBe('true');
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-confidence', 'state');

    // The confidence is that of the draft, not that of a changed text.
    await page.keyboard.press('Control+End', HELD);
    await page.keyboard.type('!', HELD);
    await row(page, 1).getByText(`Edited. Draft: ${low}`, { exact: true }).waitFor();
    expect(await page.locator('[data-low]').count()).toBe(0);
  });
});

it('the words that a check names are underlined in source and target, without disturbing caret and undo', async () => {
  const { path } = await fixture.createClaimedTask('The 17 houses are old.\nThree.\n', {
    target_language: 'de',
  });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const { keyboard } = page;
    const first = await target(page, 1);
    const underlined = () =>
      page.evaluate<string[]>("[...(CSS.highlights.get('finding') ?? [])].map((range) => range.toString())");
    const inSource = row(page, 1).getByRole('gridcell').first().locator('mark');
    await keyboard.press('Control+a', HELD);
    await keyboard.type('Die 18 alten Häuser.', { delay: 40 });
    await expect.poll(underlined).toEqual(['18']);
    expect(await inSource.textContent()).toBe('17');
    expect(await inSource.getAttribute('title')).toBe('Missing number 17');
    // The mark changes no element of the text field, and the caret stays behind the last letter.
    expect(await first.locator('*').count()).toBe(0);
    await takeScreenshots(page, 'workbench-marks', 'state');
    // After a pause in typing, the text is saved, and further typing is a separate undo step.
    await waitUntilSaved(page);
    await keyboard.type(' Ja.', HELD);
    await expectText(first, 'Die 18 alten Häuser. Ja.');
    await keyboard.press('Control+z', HELD);
    await expectText(first, 'Die 18 alten Häuser.');
    await expect.poll(underlined).toEqual(['18']);

    // A row that is not edited shows the same marks.
    await keyboard.press('Alt+ArrowDown', HELD);
    await target(page, 2);
    await expect.poll(underlined).toEqual([]);
    const inTarget = row(page, 1).getByRole('gridcell').nth(1).locator('mark');
    expect(await inTarget.textContent()).toBe('18');
    expect(await inTarget.getAttribute('title')).toBe('Number 18 is not in the source');
    await expectAccessible(page);
  });
});

it('a row shows the kind of its segment, such as a heading or a link', async () => {
  const page = `<h1>Our houses</h1><p>They are old.</p><ul><li>One red house</li></ul>
<table><tr><td>Two houses</td></tr></table><p><a href="/">See all houses</a></p><button>Order a house</button>
<p>A house: <img src="x" alt="A picture of a house"></p>`;
  const { path } = await fixture.createClaimedTask(page, { target_language: 'de', text_format: 'html' });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    await target(page, 1);
    const headers = await page.getByRole('rowheader').allTextContents();
    expect(headers).toEqual([
      '1Heading',
      '2',
      '3List item',
      '4Table cell',
      '5Link',
      '6Button',
      '7',
      '8Text of an attribute',
    ]);
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-elements');
  });
});

it('a row shows the time of its subtitle', async () => {
  const cues = `1\n00:00:01,000 --> 00:00:03,500\nThe train leaves at ten.\n\n2\n01:02:03,000 --> 01:02:06,000\nIt is late.\n`;
  const { path } = await fixture.createClaimedTask(cues, { target_language: 'de', text_format: 'srt' });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    await target(page, 1);
    await row(page, 1).getByText('Subtitle, 0:01 to 0:03').waitFor();
    await row(page, 2).getByText('Subtitle, 1:02:03 to 1:02:06').waitFor();
    await takeScreenshots(page, 'workbench-times', 'state');
  });
});
