/** Tests of selecting tags, of typing over tags, and of segments with many tags. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { takeScreenshots } from './browser.ts';
import { expectText, startWorkbench, target, type WorkbenchFixture } from './workbench.ts';

let fixture: WorkbenchFixture;
beforeAll(async () => {
  fixture = await startWorkbench();
});
afterAll(() => fixture.stop());

const HELD = { delay: 150 };

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
