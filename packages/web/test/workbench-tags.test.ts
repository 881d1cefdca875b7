/** Tests of selecting tags, of typing over tags, and of segments with many tags. */
import { expect, it } from 'vitest';
import { takeScreenshots, waitUntilRendered } from './browser.ts';
import { expectText, HELD, row, shareWorkbench, target } from './workbench.ts';

const fixture = shareWorkbench();

it('a tag at the start of selected words stays before the text that is typed over the words', async () => {
  const { path } = await fixture.createClaimedTask('Hello {name}, thank you.\n', { target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const { keyboard } = page;
    const text = await target(page, 1);
    await keyboard.press('End', HELD);
    // The first three presses select ".", "you" and "thank". The fourth selects the comma and also the tag in
    // front of it.
    for (let presses = 0; presses < 4; presses += 1) await keyboard.press('Control+Shift+ArrowLeft', HELD);
    await keyboard.type(', danke.', HELD);
    await expectText(text, 'HELLO [{name}], danke.');
    await keyboard.press('Control+z', HELD);
    await keyboard.press('Control+z', HELD);
  });
});

it('the text field highlights selected tags, and a message names the new place of a tag that was typed over', async () => {
  const { path } = await fixture.createClaimedTask('Hello {name}, thank you.\n', { target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const { keyboard } = page;
    const text = await target(page, 1);
    const chip = text.locator('[data-kind]');
    await keyboard.press('Control+a', HELD);
    await text.locator('.chip-selected').waitFor();
    await takeScreenshots(page, 'workbench-tag-selected', 'state');
    await keyboard.press('ArrowLeft', HELD);
    await text.locator('.chip-selected').waitFor({ state: 'detached' });
    expect(await chip.count()).toBe(1);
    await keyboard.press('Control+a', HELD);
    await keyboard.type('Hallo', HELD);
    await page.getByText('Tag {name} was moved behind your text.').waitFor();
    await expectText(text, 'Hallo[{name}]');
    await takeScreenshots(page, 'workbench-tag-moved', 'state');
  });
});

it('a key that follows the focus at once moves the caret to the start of the text', async () => {
  const { path } = await fixture.createClaimedTask('Hello {name}, thank you.\n', { target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const { keyboard } = page;
    const text = await target(page, 1);
    for (const [times, keys] of [
      [1, ['Control+a', 'ArrowLeft']],
      [2, ['Control+a', 'Home']],
      [3, ['End', 'Home']],
    ] as const) {
      await text.blur();
      await text.focus();
      for (const key of keys) await keyboard.press(key);
      // The field reads the caret after the browser has moved it.
      await waitUntilRendered(page);
      await keyboard.type('x');
      await expectText(text, `${'x'.repeat(times)}HELLO [{name}], THANK YOU.`);
    }
  });
});

const TAGS = {
  html: '<p>Call <b>{name}</b> or <i>us</i> now.</p><p><b><i>Both</i></b> are here.</p>',
  fields: { text_format: 'html', target_language: 'de' },
};

it('one key inserts the tags in the order of the source while an editor types a sentence again', async () => {
  const { path } = await fixture.createClaimedTask(TAGS.html, TAGS.fields);
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const { keyboard } = page;
    const text = await target(page, 1);
    await expectText(text, 'CALL [1][{name}][/1] OR [2]US[/2] NOW.');
    await keyboard.press('Control+a', HELD);
    await keyboard.type('Rufen Sie ', { delay: 30 });
    for (let tags = 0; tags < 3; tags += 1) await keyboard.press('F8', HELD);
    await keyboard.type(' oder ', { delay: 30 });
    // The list has the order of the source, and its first choice is the next tag.
    await keyboard.press('<', HELD);
    const options = page.getByRole('option');
    expect(await options.locator('[data-kind]').allInnerTexts()).toEqual(['1', '{name}', '/1', '2', '/2']);
    await page.getByRole('option', { name: 'Tag 2 opens', selected: true }).waitFor();
    await takeScreenshots(page, 'workbench-tag-list', 'state');
    await keyboard.press('Enter', HELD);
    await keyboard.type('uns', { delay: 30 });
    await keyboard.press('F8', HELD);
    await keyboard.type(' an.', { delay: 30 });
    await expectText(text, 'Rufen Sie [1][{name}][/1] oder [2]uns[/2] an.');
    await keyboard.press('F8', HELD);
    await page.locator('[data-said]').getByText('No tags left').waitFor();
    await expectText(text, 'Rufen Sie [1][{name}][/1] oder [2]uns[/2] an.');
  });
});

it('one key moves the next tag behind the caret to the caret, and leaves the tags before the caret in place', async () => {
  const { path } = await fixture.createClaimedTask(TAGS.html, TAGS.fields);
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const { keyboard } = page;
    const text = await target(page, 1);
    await keyboard.press('Home', HELD);
    await keyboard.press('Delete', HELD);
    await keyboard.press('F8', HELD);
    await keyboard.type('x', HELD);
    await expectText(text, '[1]xALL [{name}][/1] OR [2]US[/2] NOW.');
    await keyboard.press('F8', HELD);
    await expectText(text, '[1]x[{name}]ALL [/1] OR [2]US[/2] NOW.');
  });
});

it('neighboring tags are shown as one chip until the caret is at them', async () => {
  const { path } = await fixture.createClaimedTask(TAGS.html, TAGS.fields);
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const { keyboard } = page;
    await target(page, 1);
    const chips = row(page, 2).getByRole('gridcell').first().getByRole('img');
    expect(await chips.allInnerTexts()).toEqual(['1', '2', '/2', '/1']);
    await keyboard.press('F9', HELD);
    await expect.poll(() => chips.allInnerTexts()).toEqual(['1–2', '/2–/1']);
    await takeScreenshots(page, 'workbench-tags-collapsed', 'state');
    await keyboard.press('Alt+ArrowDown', HELD);
    const text = await target(page, 2);
    await keyboard.press('End', HELD);
    await text.locator('[data-run="1–2"]').waitFor();
    await keyboard.press('Home', HELD);
    await text.locator('[data-run="1–2"]').waitFor({ state: 'detached' });
    expect(await text.locator('[data-run="/2–/1"]').count()).toBe(1);
    await keyboard.type('x', HELD);
    await expectText(text, 'x[1][2]BOTH[/2][/1] ARE HERE.');
    await keyboard.press('F9', HELD);
    await text.locator('[data-run]').waitFor({ state: 'detached' });
  });
});
