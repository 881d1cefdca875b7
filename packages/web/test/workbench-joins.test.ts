/** Tests of joined segments, by keyboard, pointer and touch. Keys are pressed at human speed. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { pathOf } from '../../server/src/testing/editors.ts';
import { expectAccessible, PHONE, takeScreenshots } from './browser.ts';
import { expectText, HELD, row, shareWorkbench, target, waitUntilSaved } from './workbench.ts';

const fixture = shareWorkbench();

const SLOWLY = { delay: 40 };

const rows = (page: Page) =>
  page
    .locator('[role=row]')
    .evaluateAll((all) =>
      all.map((one) => Number((one as unknown as { dataset: { position: string } }).dataset.position) + 1),
    );
const announced = (page: Page, text: string) => page.locator('[data-said]').getByText(text).waitFor();

it('an editor joins two segments, moves words between them, confirms them as one and separates others', async () => {
  const text = 'The dog sleeps.  The cat eats. Rain falls.\nBye.\n';
  const claimed = await fixture.createClaimedTask(text, { target_language: 'de' });
  const { annContext: context } = fixture;
  await fixture.web.visit({ context, path: claimed.path }, async (page) => {
    const { keyboard } = page;
    const first = await target(page, 1);
    await keyboard.press('Control+a', HELD);
    await keyboard.type('Der Hund schlief.', SLOWLY);
    // The text is sent before the join, although the pause after typing has not passed.
    await keyboard.press('Control+b', HELD);
    await announced(page, 'Segments joined');
    await expect.poll(() => rows(page)).toEqual([1, 3, 4]);
    await target(page, 1);
    await expectText(first, 'Der Hund schlief.  THE CAT EATS.');
    await row(page, 1).getByRole('rowheader').getByText('1–2').waitFor();
    await row(page, 1).locator('[data-source]').getByText('The dog sleeps. The cat eats.').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-joined');
    await target(page, 1);

    await keyboard.press('Control+a', HELD);
    await keyboard.type('Die Katze frisst und der Hund schläft.', SLOWLY);
    await keyboard.press('Control+Enter', HELD);
    await target(page, 3);
    await waitUntilSaved(page);
    await row(page, 1).and(page.locator('[data-status=confirmed]')).waitFor();

    // The next line is another paragraph.
    await keyboard.press('Control+b', HELD);
    await page.getByText('The next segment is not in the same line', { exact: false }).waitFor();
    expect(await rows(page)).toEqual([1, 3, 4]);

    // The joined segment is joined with the third one, and all three are separated again.
    await keyboard.press('Alt+ArrowUp', HELD);
    await target(page, 1);
    await row(page, 1).getByRole('button', { name: 'Join' }).click();
    await expect.poll(() => rows(page)).toEqual([1, 4]);
    await expectText(first, 'Die Katze frisst und der Hund schläft. RAIN FALLS.');
    await keyboard.press('Control+Shift+b', HELD);
    await announced(page, 'Segments separated');
    await expect.poll(() => rows(page)).toEqual([1, 2, 3, 4]);
    await target(page, 1);
  });
  const { body } = await fixture.ann.call('GET', pathOf(claimed));
  expect(body.segments.map(({ status }: { status: string }) => status)).toEqual([
    'draft',
    'draft',
    'draft',
    'open',
  ]);
});

it('segments are not joined without a connection, and a second page shows the join of the first', async () => {
  const claimed = await fixture.createClaimedTask('One dog. Two cats.\n', { target_language: 'de' });
  const { annContext: context } = fixture;
  await fixture.web.visit({ context, path: claimed.path }, async (page) => {
    await target(page, 1);
    await page.route('**/join', (route) => route.abort('connectionfailed'));
    await row(page, 1).getByRole('button', { name: 'Join' }).click();
    await page.getByText('Nothing was changed. Try again when all texts are saved.').waitFor();
    expect(await rows(page)).toEqual([1, 2]);
    await page.unroute('**/join');
    await fixture.web.visit({ context, path: '/me' }, async (second) => {
      const subscribed = second.waitForResponse((response) => response.url().includes('/api/live'));
      await second.goto(`${fixture.web.url}/app${claimed.path}`);
      await row(second, 2).waitFor();
      await subscribed;
      await row(page, 1).getByRole('button', { name: 'Join' }).click();
      await announced(page, 'Segments joined');
      await expect.poll(() => rows(second)).toEqual([1]);
      await row(second, 1).getByText('ONE DOG. TWO CATS.', { exact: true }).waitFor();
    });
  });
});

it('text typed while two segments are being joined stays in the joined segment', async () => {
  const claimed = await fixture.createClaimedTask('One dog. Two cats.\n', { target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path: claimed.path }, async (page) => {
    const { keyboard } = page;
    const text = await target(page, 1);
    await keyboard.press('End', HELD);
    const { promise: typed, resolve: join } = Promise.withResolvers<void>();
    await page.route('**/join', async (route) => {
      await typed;
      await route.continue();
    });
    await keyboard.press('Control+b', HELD);
    await keyboard.type(' Wau', HELD);
    join();
    await announced(page, 'Segments joined');
    await expectText(text, 'ONE DOG. Wau TWO CATS.');
    await keyboard.type('!', HELD);
    await expectText(text, 'ONE DOG. Wau! TWO CATS.');
    await waitUntilSaved(page);
  });
  const { body } = await fixture.ann.call('GET', pathOf(claimed));
  expect(body.segments).toMatchObject([{ target: [{ text: 'ONE DOG. Wau! TWO CATS.' }], joined_to: 1 }]);
});

it('segments of a page are joined and separated by touch in the flow view', async () => {
  const fields = { text_format: 'html', target_language: 'de' };
  const claimed = await fixture.createClaimedTask(
    '<p>A small <i>boat. It</i> sails. Wind blows.</p>',
    fields,
  );
  const context = await fixture.web.signedIn(fixture.ann, {
    hasTouch: true,
    isMobile: true,
    viewport: PHONE,
  });
  await fixture.web.visit({ context, path: claimed.path, size: PHONE }, async (page) => {
    // A tap on the page edits the sentence.
    const frame = page.frameLocator('iframe[title=Document]');
    const { x, y } = (await frame.getByText('A SMALL').boundingBox())!;
    await page.touchscreen.tap(x + 10, y + 10);
    await target(page, 1);
    await row(page, 1).getByRole('button', { name: 'Join' }).tap();
    const text = await target(page, 1);
    await expectText(text, 'A SMALL [1]BOAT. IT[/1] SAILS.');
    await frame.getByText('A SMALL BOAT. IT SAILS. WIND BLOWS.').waitFor();
    await expectAccessible(page);
    await row(page, 1).getByRole('button', { name: 'Separate' }).tap();
    await expectText(text, 'A SMALL [1/]BOAT.');
    await row(page, 1).getByRole('button', { name: 'Join' }).waitFor();
  });
  await context.close();
});
