/** Tests of split segments, by keyboard, pointer and touch. Keys are pressed at human speed. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { pathOf } from '../../server/src/testing/editors.ts';
import { expectAccessible, PHONE, takeScreenshots } from './browser.ts';
import { expectText, HELD, row, shareWorkbench, target, teach, waitUntilSaved } from './workbench.ts';

const fixture = shareWorkbench();

const SLOWLY = { delay: 40 };

const announced = (page: Page, text: string) => page.locator('[data-said]').getByText(text).waitFor();
const place = (page: Page) =>
  page.getByRole('textbox', { name: 'Place the cursor where the second part begins' });
/** The parts that the dialog shows. */
const parts = (page: Page) => page.getByRole('dialog').getByRole('listitem');

it('an editor splits a segment by keyboard, uses a match of a part, and joins the parts', async () => {
  await teach(fixture, 'the cat eats.\n');
  const text = 'The dog sleeps; the cat eats.\nBye now.\n';
  const claimed = await fixture.createClaimedTask(text, { target_language: 'de' });
  const { annContext: context } = fixture;
  await fixture.web.visit({ context, path: claimed.path }, async (page) => {
    const { keyboard } = page;
    const first = await target(page, 1);
    await keyboard.press('Control+a', HELD);
    await keyboard.type('Der Hund schläft; sie frisst.', SLOWLY);
    await keyboard.press('Control+Shift+b', HELD);
    await place(page).and(page.locator(':focus')).waitFor();
    await keyboard.press('Home', HELD);
    for (let word = 0; word < 3; word += 1) await keyboard.press('Control+ArrowRight', HELD);
    await keyboard.type('x', SLOWLY);
    // The text is cut before words only, not before the semicolon.
    await parts(page).getByText('The dog', { exact: true }).waitFor();
    expect(await place(page).inputValue()).toBe('The dog sleeps; the cat eats.');
    for (let step = 0; step < 40; step += 1) {
      const second = await parts(page).nth(1).innerText();
      if (second === 'the cat eats.') break;
      await keyboard.press(second.length > 'the cat eats.'.length ? 'ArrowRight' : 'ArrowLeft', HELD);
    }
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-splitting', 'state');
    await keyboard.press('Enter', HELD);
    await announced(page, 'Segment split');
    await target(page, 1);
    await expectText(first, 'Der Hund schläft; [✂]sie frisst.');
    await expectAccessible(page);

    // The match of the second part replaces only that part.
    const panel = page.getByRole('complementary');
    await panel.getByRole('button', { name: 'THE CAT EATS.', exact: true }).waitFor();
    await panel.getByText('Part 2').waitFor();
    await keyboard.press('Control+2', HELD);
    await expectText(first, 'Der Hund schläft; [✂]THE CAT EATS.');
    // A new text does not remove the cut. It is undone apart from the match, although it is typed at once.
    await keyboard.press('Control+a', HELD);
    await keyboard.type('Er schläft; sie frisst.', SLOWLY);
    await expectText(first, 'Er schläft; sie frisst.[✂]');
    await keyboard.press('Control+z', HELD);
    await expectText(first, 'Der Hund schläft; [✂]THE CAT EATS.');
    await waitUntilSaved(page);
    await takeScreenshots(page, 'workbench-split');
    await target(page, 1);
    await keyboard.press('Control+Enter', HELD);
    await target(page, 2);
    await waitUntilSaved(page);
    await row(page, 1).and(page.locator('[data-status=confirmed]')).waitFor();

    await keyboard.press('Alt+ArrowUp', HELD);
    await target(page, 1);
    await keyboard.press('Control+b', HELD);
    await announced(page, 'Parts joined');
    await expectText(first, 'Der Hund schläft; THE CAT EATS.');
  });
  const { body } = await fixture.ann.call('GET', pathOf(claimed));
  expect(body.segments[0]).toMatchObject({
    status: 'draft',
    source: [{ text: 'The dog sleeps; the cat eats.' }],
    target: [{ text: 'Der Hund schläft; THE CAT EATS.' }],
  });
});

it('an editor splits a segment with the pointer, and sees why another place is refused', async () => {
  const fields = { text_format: 'html', target_language: 'de' };
  const claimed = await fixture.createClaimedTask('<p>One <b>big dog</b> runs; two cats sleep.</p>', fields);
  const { annContext: context } = fixture;
  await fixture.web.visit({ context, path: claimed.path }, async (page) => {
    await target(page, 1);
    const splitAt = async (offset: number) => {
      await row(page, 1).getByRole('button', { name: 'Split' }).click(HELD);
      await place(page).and(page.locator(':focus')).waitFor();
      await page.keyboard.press('Home', HELD);
      for (let step = 0; step < offset; step += 1) await page.keyboard.press('ArrowRight', SLOWLY);
      await parts(page).getByText('One big dog runs; two cats sleep.'.slice(offset)).waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Split' }).click(HELD);
    };
    await splitAt('One big '.length);
    await page.getByText('Both tags of a pair must be in the same part.').waitFor();
    await splitAt('One big dog runs; '.length);
    await announced(page, 'Segment split');
    const text = await target(page, 1);
    await expectText(text, 'ONE [1]BIG DOG[/1] RUNS; [✂]TWO CATS SLEEP.');
    await row(page, 1).locator('[data-source]').getByRole('img', { name: 'Split 1' }).waitFor();
    await row(page, 1).getByRole('button', { name: 'Join parts' }).click();
    await expectText(text, 'ONE [1]BIG DOG[/1] RUNS; TWO CATS SLEEP.');
  });
});

it('text typed while a segment is being split, or its parts are being joined, stays', async () => {
  const claimed = await fixture.createClaimedTask('One dog runs; two cats sleep.\n', {
    target_language: 'de',
  });
  await fixture.web.visit({ context: fixture.annContext, path: claimed.path }, async (page) => {
    const { keyboard } = page;
    const text = await target(page, 1);
    await expectText(text, 'ONE DOG RUNS; TWO CATS SLEEP.');
    /** Sends the request when `type` has ended. */
    const whileWaiting = async (path: string, request: () => Promise<void>, type: () => Promise<void>) => {
      const { promise: typed, resolve: send } = Promise.withResolvers<void>();
      await page.route(path, async (route) => {
        await typed;
        await route.continue();
      });
      const requested = page.waitForRequest(path);
      await request();
      await requested;
      await type();
      send();
    };
    await whileWaiting(
      '**/split',
      async () => {
        await keyboard.press('Control+Shift+b', HELD);
        await place(page).and(page.locator(':focus')).waitFor();
        await keyboard.press('Home', HELD);
        for (const _ of 'One dog runs; ') await keyboard.press('ArrowRight', SLOWLY);
        await parts(page).getByText('two cats sleep.', { exact: true }).waitFor();
        await keyboard.press('Enter', HELD);
      },
      async () => {
        await target(page, 1);
        await keyboard.press('Control+End', HELD);
        await keyboard.type(' Miau', HELD);
      },
    );
    await announced(page, 'Segment split');
    await expectText(text, 'ONE DOG RUNS; [✂]TWO CATS SLEEP. Miau');
    await keyboard.type('!', HELD);
    await expectText(text, 'ONE DOG RUNS; [✂]TWO CATS SLEEP. Miau!');
    await waitUntilSaved(page);
    // The split itself is not undone by the key that undoes typing.
    for (let step = 0; step < 3; step += 1) await keyboard.press('Control+z', HELD);
    await expectText(text, 'ONE DOG RUNS; [✂]TWO CATS SLEEP.');
    await whileWaiting(
      '**/unsplit',
      () => keyboard.press('Control+b', HELD),
      async () => {
        await keyboard.press('Control+End', HELD);
        await keyboard.type(' Wau', HELD);
      },
    );
    await announced(page, 'Parts joined');
    await expectText(text, 'ONE DOG RUNS; TWO CATS SLEEP. Wau');
    await waitUntilSaved(page);
  });
  const { body } = await fixture.ann.call('GET', pathOf(claimed));
  expect(body.segments[0].target).toEqual([{ text: 'ONE DOG RUNS; TWO CATS SLEEP. Wau' }]);
});

it('a segment is split by touch in the flow view', async () => {
  const fields = { text_format: 'html', target_language: 'de' };
  const claimed = await fixture.createClaimedTask('<p>A small boat sails; wind blows.</p>', fields);
  const context = await fixture.web.signedIn(fixture.ann, {
    hasTouch: true,
    isMobile: true,
    viewport: PHONE,
  });
  await fixture.web.visit({ context, path: claimed.path, size: PHONE }, async (page) => {
    const frame = page.frameLocator('iframe[title=Document]');
    const { x, y } = (await frame.getByText('A SMALL').boundingBox())!;
    await page.touchscreen.tap(x + 10, y + 10);
    await target(page, 1);
    await row(page, 1).getByRole('button', { name: 'Split' }).tap();
    await place(page).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Split' }).tap();
    const text = await target(page, 1);
    await expect.poll(() => text.innerText()).toContain('✂');
    await page.keyboard.press('End', HELD);
    await page.keyboard.type('!', HELD);
    await frame.getByText(/SAILS; !?WIND BLOWS\.!?/).waitFor();
    await expectAccessible(page);
    await row(page, 1).getByRole('button', { name: 'Join parts' }).tap();
    await expect.poll(() => text.innerText()).not.toContain('✂');
  });
  await context.close();
});
