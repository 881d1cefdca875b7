/** Presses the keys that the guide lists for each kind of segment, and counts them. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { pathOf } from '../../server/src/testing/editors.ts';
import { until } from '../../server/src/testing/harness.ts';
import { HELD, row, shareWorkbench, target, teach } from './workbench.ts';

const fixture = shareWorkbench();

const TEXT = '*text*';

/** The maximum number of keys for each kind of segment, without the text. A kind is a row of the table in the guide. */
const MOST: Readonly<Record<string, number>> = {
  'good draft': 1,
  'repeat of a confirmed segment': 0,
  'good draft with a warning': 2,
  'match from the memory': 2,
  'text typed again': 2,
  'text with one tag, typed again': 3,
  'text with a pair of tags and a placeholder, typed again': 5,
  'subtitle of two lines, typed again': 3,
};

/** Returns the keys of each kind of segment, as the guide lists them. */
function readGuide(): Map<string, string[]> {
  const guide = readFileSync(new URL('../../../docs/workbench.md', import.meta.url), 'utf8');
  const section = guide.split('\n## ').find((one) => one.startsWith('Keys for a segment\n'))!;
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  return new Map(
    rows.slice(2).map((line) => {
      const [kind, keys, count] = line.split('|').slice(1, -1);
      const pressed = keys!.trim() === 'none' ? [] : keys!.trim().split(', ');
      expect(Number(count), kind).toBe(pressed.filter((key) => key !== TEXT).length);
      return [kind!.trim(), pressed];
    }),
  );
}

const GUIDE = readGuide();

/** Presses the keys of the guide at human speed. @param typed what is typed for each *text* */
async function edit({ keyboard }: Page, kind: string, typed: readonly string[] = []): Promise<void> {
  const texts = [...typed];
  for (const key of GUIDE.get(kind)!) {
    if (key === TEXT) await keyboard.type(texts.shift()!, { delay: 20 });
    else await keyboard.press(key.replace('Ctrl', 'Control').replace('+A', '+a'), HELD);
  }
  expect(texts, kind).toEqual([]);
}

/** Waits until all segments are confirmed. @returns their texts, with `|` for each half of a pair of tags */
async function readTexts(task: { task: string }): Promise<string[]> {
  type Piece = { text: string } | { open: number } | { close: number };
  type Segment = { status: string; target: Piece[] };
  const segments = await until(async () => {
    const { body } = await fixture.ann.call('GET', pathOf(task));
    const found = body.segments as Segment[];
    return found.every(({ status }) => status === 'confirmed') ? found : undefined;
  });
  return segments.map(({ target }) => target.map((piece) => ('text' in piece ? piece.text : '|')).join(''));
}

it('the guide lists each kind of segment, with no more keys than it may need', () => {
  expect(
    Object.fromEntries([...GUIDE].map(([kind, keys]) => [kind, keys.filter((key) => key !== TEXT).length])),
  ).toEqual(MOST);
});

it('the listed keys confirm each kind of segment of a page and go to the next one', async () => {
  await teach(fixture, 'It is very old.\n');
  const html = `<p>The harbour is open.</p><p>It is a very old one.</p><p>The boats are blue.</p>
<p>Hello {name}, thank you.</p><p>Call <b>us</b> or {name} now.</p><p>The harbour is open.</p>`;
  const fields = { text_format: 'html', target_language: 'de' };
  const claimed = await fixture.createClaimedTask(html, fields);
  await fixture.web.visit({ context: fixture.annContext, path: claimed.path }, async (page) => {
    await target(page, 1);
    await edit(page, 'good draft');
    await target(page, 2);
    await row(page, 6).and(page.locator('[data-status=confirmed]')).waitFor();
    await page.getByRole('complementary').getByRole('button', { name: 'IT IS VERY OLD.' }).waitFor();
    await edit(page, 'match from the memory');
    await target(page, 3);
    await edit(page, 'text typed again', ['Die Boote sind blau.']);
    await target(page, 4);
    await edit(page, 'text with one tag, typed again', ['Hallo ', ', danke.']);
    await target(page, 5);
    const typed = ['Rufen Sie ', 'uns', ' oder ', ' an.'];
    await edit(page, 'text with a pair of tags and a placeholder, typed again', typed);
    await page.getByRole('dialog', { name: 'Submit this task' }).waitFor();
    expect(await readTexts(claimed)).toEqual([
      'THE HARBOUR IS OPEN.',
      'IT IS VERY OLD.',
      'Die Boote sind blau.',
      'Hallo {name}, danke.',
      'Rufen Sie |uns| oder {name} an.',
      'THE HARBOUR IS OPEN.',
    ]);
  });
});

it('the listed keys confirm a subtitle with a warning and a subtitle of two lines', async () => {
  const cues = `1
00:00:01,000 --> 00:00:02,000
Nobody came today or yesterday.

2
00:00:04,000 --> 00:00:08,000
The wind was stronger
than anything.
`;
  const claimed = await fixture.createClaimedTask(cues, { text_format: 'srt', target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path: claimed.path }, async (page) => {
    await target(page, 1);
    await edit(page, 'good draft with a warning');
    await target(page, 2);
    await edit(page, 'subtitle of two lines, typed again', ['Der Wind war stärker', 'als alles.']);
    await page.getByRole('dialog', { name: 'Submit this task' }).waitFor();
    const texts = await readTexts(claimed);
    expect(texts).toEqual(['NOBODY CAME TODAY OR YESTERDAY.', 'Der Wind war stärker\nals alles.']);
  });
});
