/** Tests of the translated HTML page: in the flow view with the row of the active sentence, and as the preview next to the rows. */
import { type AddressInfo, createServer } from 'node:net';
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, PHONE, takeScreenshots } from './browser.ts';
import { expectText, HELD, reading, row, shareWorkbench, target, waitUntilSaved } from './workbench.ts';

const fixture = shareWorkbench();

const FIELDS = { text_format: 'html', target_language: 'de' };
const HTML = `<!doctype html><html><head><title>Summer sale</title>
<style>body{font-family:Georgia,serif;margin:2rem auto;max-width:40rem} h1{color:rgb(160, 30, 60)} .box{background:#eef;padding:1rem}</style></head>
<body><h1>Everything for the sea</h1><p>The sun is out. Our shop is <b>open again</b>. Come and see us.</p>
<div class="box"><p>You find us at the harbour.</p></div>${'<p>One more sentence for the page.</p>'.repeat(12)}
<p>The last one.</p></body></html>`;

const frameOf = (page: Page) => page.locator('iframe[title=Document]');

/** Returns the point in the middle of an element of the page in the frame. */
async function middleOf(element: Locator): Promise<{ x: number; y: number }> {
  const { x, y, width, height } = (await element.boundingBox())!;
  return { x: x + width / 2, y: y + height / 2 };
}

it('an editor reads and edits an HTML page in place, and a switch to the rows and back keeps caret and undo', async () => {
  const { path } = await fixture.createClaimedTask(HTML, FIELDS);
  const context = await fixture.web.signedIn(fixture.ann);
  await fixture.web.visit({ context, path }, async (page) => {
    const { keyboard, mouse } = page;
    const inside = frameOf(page).contentFrame();
    // The first segment is the title of the document, which the page does not show.
    await reading(page, 1);
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-flow-page');
    await reading(page, 1);
    await page.getByText('The page does not show this text.').waitFor();
    await keyboard.press('Space', HELD);
    await reading(page, 2);
    const heading = inside.getByText('EVERYTHING FOR THE SEA');
    await heading.waitFor();
    const colour = 'getComputedStyle(document.querySelector("h1")).color';
    expect(await page.frames().at(-1)!.evaluate(colour)).toBe('rgb(160, 30, 60)');
    const sentence = page.locator('[data-sentence]').first();
    await expect
      .poll(async () => {
        const [drawn, shown] = [await sentence.boundingBox(), await heading.boundingBox()];
        return drawn && shown ? Math.abs(drawn.y - shown.y) < 8 : false;
      })
      .toBe(true);
    await keyboard.press('Space', HELD);
    await reading(page, 3);
    await keyboard.press('Space', HELD);
    await reading(page, 4);
    await expectAccessible(page);
    for (const number of [3, 2, 1]) {
      await keyboard.press('Shift+Space', HELD);
      await reading(page, number);
    }

    // A click on a sentence moves the caret into its text. The page shows each typed character.
    const harbour = inside.getByText('YOU FIND US AT THE HARBOUR.');
    const point = await middleOf(harbour);
    await mouse.click(point.x, point.y, HELD);
    const text = await target(page, 6);
    await keyboard.press('Control+a', HELD);
    await keyboard.type('Sie finden uns am Hafen', { delay: 20 });
    await inside.getByText('Sie finden uns am Hafen', { exact: true }).waitFor();
    await takeScreenshots(page, 'workbench-flow-page-edit', 'state');
    await keyboard.press('Shift+F4', HELD);
    await page.getByRole('button', { name: 'Edit in rows', pressed: true }).waitFor();
    await target(page, 6);
    await keyboard.type('.', HELD);
    await expectText(text, 'Sie finden uns am Hafen.');
    await keyboard.press('Shift+F4', HELD);
    await target(page, 6);
    await waitUntilSaved(page);
    await inside.getByText('Sie finden uns am Hafen.').waitFor();
    await keyboard.press('Control+Enter', HELD);
    await target(page, 7);
    await keyboard.press('Alt+ArrowUp', HELD);
    await target(page, 6);
    for (let left = 6; left > 0 && (await text.innerText()) !== 'YOU FIND US AT THE HARBOUR.'; left -= 1)
      await keyboard.press('Control+z', HELD);
    await inside.getByText('YOU FIND US AT THE HARBOUR.').waitFor();

    // A sentence with tags is shown as the server assembles it.
    await keyboard.press('Control+g', HELD);
    await page.getByRole('dialog').getByRole('textbox').and(page.locator(':focus')).waitFor();
    await keyboard.type('4', HELD);
    await keyboard.press('Enter', HELD);
    await target(page, 4);
    await keyboard.press('End', HELD);
    await keyboard.type('!', HELD);
    await inside.locator('p', { hasText: 'OPEN AGAIN.!' }).waitFor();
  });
  await context.close();
});

it('Tab goes to the next doubtful sentence of a page, and leaves the page after the last one', async () => {
  const html = '<p>A red boat. A blue boat. A green boat.</p><p>That is all.</p>';
  const { path } = await fixture.createClaimedTask(html, FIELDS);
  const context = await fixture.web.signedIn(fixture.ann);
  await fixture.web.visit({ context, path }, async (page) => {
    const { keyboard } = page;
    await reading(page, 1);
    await keyboard.press('Space', HELD);
    await reading(page, 2);
    await keyboard.press('Enter', HELD);
    await target(page, 2);
    await keyboard.press('Control+a', HELD);
    await keyboard.type('Ein blaues Boot.', { delay: 20 });
    await keyboard.press('Escape', HELD);
    await reading(page, 2);
    // The sentences before and after the edited one are doubtful.
    await keyboard.press('Tab', HELD);
    await reading(page, 3);
    await row(page, 3).getByText('Doubtful: the text before or after it was changed').waitFor();
    await keyboard.press('Shift+Tab', HELD);
    await reading(page, 1);
    await keyboard.press('Tab', HELD);
    await reading(page, 3);
    await keyboard.press('Tab', HELD);
    await page.locator('[role=row]:not(:focus)[data-position="2"]').waitFor();
    await page.locator('button:focus, [role=textbox]:focus').waitFor();
  });
  await context.close();
});

it('an editor edits an HTML page in place by touch on a phone', async () => {
  const { path } = await fixture.createClaimedTask(HTML, FIELDS);
  const context = await fixture.web.signedIn(fixture.ann, {
    hasTouch: true,
    isMobile: true,
    viewport: PHONE,
  });
  await fixture.web.visit({ context, path, size: PHONE }, async (page) => {
    await reading(page, 1);
    // The header has two lines, and the button that submits the task is in the first one.
    const header = page.locator('header');
    const heading = (await header.getByRole('heading').boundingBox())!;
    const submit = (await header.getByRole('button', { name: 'Submit' }).boundingBox())!;
    expect(submit.y).toBeLessThan(heading.y + heading.height);
    expect((await header.boundingBox())!.height).toBeLessThan(3 * submit.height);
    const inside = frameOf(page).contentFrame();
    const point = await middleOf(inside.getByText('EVERYTHING FOR THE SEA'));
    await page.touchscreen.tap(point.x, point.y);
    const text = await target(page, 2);
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('Alles fürs Meer');
    await expectText(text, 'Alles fürs Meer');
    await inside.getByText('Alles fürs Meer').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-flow-page-touch', 'state');
    const bar = page.getByRole('toolbar', { name: 'Segment actions' });
    await bar.getByRole('button', { name: 'Confirm' }).tap();
    await target(page, 3);
  });
  await context.close();
});

it('the preview next to the rows marks the active sentence, and a click on a sentence goes to its row', async () => {
  // These sentences differ from those of the other tests. Otherwise the texts that were confirmed there would
  // be the drafts here.
  const own = HTML.replace('Everything for the sea', 'Nothing but hills')
    .replace('You find us at the harbour.', 'You find us in the valley.')
    .replace('The last one.', 'The last line.');
  const { path } = await fixture.createClaimedTask(own, FIELDS);
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const { keyboard, mouse } = page;
    await target(page, 1);
    await keyboard.press('F4', HELD);
    const preview = page.getByRole('region', { name: 'Preview' });
    const inside = page.locator('iframe[title=Preview]').contentFrame();
    const sentence = page.locator('[data-sentence]').first();
    /** Waits until the mark is over an element of the page, and both are visible. */
    const marked = (element: Locator) =>
      expect
        .poll(async () => {
          const boxes = [sentence, element, preview].map((one) => one.boundingBox());
          const [drawn, shown, region] = await Promise.all(boxes);
          if (!drawn || !shown || !region) return false;
          const visible = drawn.y >= region.y && drawn.y + drawn.height <= region.y + region.height;
          return visible && Math.abs(drawn.y - shown.y) < 8;
        })
        .toBe(true);
    await row(page, 19).locator('[data-target]').click(HELD);
    await target(page, 19);
    await marked(inside.getByText('THE LAST LINE.'));
    await keyboard.press('Control+g', HELD);
    await page.getByRole('dialog').getByRole('textbox').and(page.locator(':focus')).waitFor();
    await keyboard.type('2', HELD);
    await keyboard.press('Enter', HELD);
    await target(page, 2);
    await marked(inside.getByText('NOTHING BUT HILLS'));

    const point = await middleOf(inside.getByText('YOU FIND US IN THE VALLEY.'));
    await mouse.click(point.x, point.y, HELD);
    await target(page, 6);
    await marked(inside.getByText('YOU FIND US IN THE VALLEY.'));
    await keyboard.press('Control+a', HELD);
    await keyboard.type('Sie finden uns im Tal.', { delay: 20 });
    await marked(inside.getByText('Sie finden uns im Tal.', { exact: true }));
    await waitUntilSaved(page);
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-preview-page', 'state');

    // On a phone, the preview replaces the rows.
    await page.setViewportSize(PHONE);
    await row(page, 6).waitFor({ state: 'hidden' });
    await takeScreenshots(page, 'workbench-preview-page-phone', 'state');
    const heading = await middleOf(inside.getByText('NOTHING BUT HILLS'));
    await mouse.click(heading.x, heading.y, HELD);
    await preview.waitFor({ state: 'hidden' });
    await target(page, 2);
  });
});

it('a hostile page in the flow view runs nothing, loads nothing and takes no input', async () => {
  let connections = 0;
  const listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const there = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const { path } = await fixture.createClaimedTask(
    `<html onclick="top.ran=1"><head><link rel="preconnect" href="${there}"><base href="${there}" target="_top">
<meta http-equiv="refresh" content="0;url=${there}"><style>@import "${there}/a.css"; @font-face{font-family:x;src:url(${there}/f.woff)}
p{background:u\\72l(${there}/b.png);font-family:x} .over{position:fixed;inset:0;z-index:2147483647;background:rgb(255, 0, 0)}</style></head>
<body onload="top.ran=1"><p onmouseover="top.ran=1" style="background:url(${there}/c.png)">A small house.</p>
<a class="over" href="${there}" target="_top">Click here.</a><img src="${there}/d.png" onerror="top.ran=1"><script>top.ran=1</script>
<form action="${there}"><input autofocus name="password"></form><svg><image href="${there}/e.png"/><use href="${there}/s.svg#x"/></svg>
<iframe srcdoc="<script>top.ran=1</script>"></iframe><video src="${there}/v.mp4" autoplay></video></body></html>`,
    FIELDS,
  );
  const context = await fixture.web.signedIn(fixture.ann);
  // The test opens the page itself, because the browser logs what it blocks, and `visit` fails on such log
  // lines.
  const page = await context.newPage();
  const requested = new Set<string>();
  page.on('request', (request) => requested.add(new URL(request.url()).origin));
  await page.goto(`${fixture.web.url}/app${path}`);
  await reading(page, 1);
  const frame = frameOf(page);
  await frame.contentFrame().getByText('A SMALL HOUSE.').waitFor({ state: 'attached' });
  expect(await frame.getAttribute('sandbox')).toBe('allow-same-origin');
  const could =
    'link, script, template, iframe, base, meta, [src], [href]:not(a), [onload], [onclick], [autofocus]';
  expect(await frame.contentFrame().locator(could).count()).toBe(0);

  // The page covers its own frame, but neither the row of the sentence nor the workbench.
  const box = (await frame.boundingBox())!;
  await page.mouse.click(box.x + box.width - 30, box.y + box.height - 30, HELD);
  expect(page.url()).toBe(`${fixture.web.url}/app${path}`);
  const covered = await page.evaluate(
    "document.elementFromPoint(...(({ x, y, width, height }) => [x + width / 2, y + height / 2])(document.querySelector('[role=row]').getBoundingClientRect())).closest('[role=row]') !== null",
  );
  expect(covered).toBe(true);
  await page.keyboard.press('Alt+ArrowUp', HELD);
  expect(await page.evaluate('document.activeElement.tagName')).not.toBe('IFRAME');
  expect(await page.evaluate('globalThis.ran')).toBeUndefined();
  expect(requested).toEqual(new Set([fixture.web.url]));
  // By the time this page is loaded, the frame would have sent its requests.
  await page.goto(`${fixture.web.url}/healthz`);
  expect(connections).toBe(0);
  await context.close();
  listener.close();
});

it('the flow view shows a page with elements named like DOM properties, and loads no image of an unclosed url()', async () => {
  const { path } = await fixture.createClaimedTask(
    `<html><body><form name="querySelectorAll"><input name="attributes"><input id="style"></form><img name="head">
<form style="color:red" id="documentElement" name="documentElement"><button name="getAttribute">Go</button>
<input name="removeAttribute"><select id="textContent"></select></form><form name="createTreeWalker"></form>
<p style="background:url(https://elsewhere.test/c.png">A small house.</p></body></html>`,
    FIELDS,
  );
  const context = await fixture.web.signedIn(fixture.ann);
  // The test opens the page itself, because the browser logs the styles that it blocks, and `visit` fails on
  // such log lines.
  const page = await context.newPage();
  await page.goto(`${fixture.web.url}/app${path}`);
  await reading(page, 1);
  await frameOf(page).contentFrame().getByText('A SMALL HOUSE.').waitFor();
  await page.locator('[data-sentence]').first().waitFor();
  const picture = 'getComputedStyle(document.querySelector("p")).backgroundImage';
  expect(await page.frames().at(-1)!.evaluate(picture)).toBe('none');
  await context.close();
});

it('the flow view keeps showing the page when a later request for it fails', async () => {
  const { path } = await fixture.createClaimedTask('<p>A small house.</p>', FIELDS);
  const context = await fixture.web.signedIn(fixture.ann);
  await fixture.web.visit({ context, path }, async (page) => {
    await reading(page, 1);
    const inside = frameOf(page).contentFrame();
    await inside.getByText('A SMALL HOUSE.').waitFor();
    let refused = 0;
    await page.route('**/api/editing/tasks/*/preview', (route) => {
      refused += 1;
      return route.abort('connectionfailed');
    });
    await page.keyboard.press('Enter', HELD);
    await target(page, 1);
    await page.keyboard.type('x', HELD);
    await waitUntilSaved(page);
    // The page tries each request twice.
    await expect.poll(() => refused).toBeGreaterThanOrEqual(2);
    await page.keyboard.type('y', HELD);
    await inside.getByText('xyA SMALL HOUSE.').waitFor();
  });
  await context.close();
});

it('the flow view scrolls to the active sentence of a page with 2,000 sentences', async () => {
  const { path } = await fixture.createClaimedTask(
    Array.from({ length: 2_000 }, (_, at) => `<p>Line ${at + 1}.</p>`).join('\n'),
    FIELDS,
  );
  const context = await fixture.web.signedIn(fixture.ann);
  await fixture.web.visit({ context, path }, async (page) => {
    await reading(page, 1);
    await page.locator('[data-sentence]').waitFor();
    for (let number = 2; number <= 30; number += 1) {
      await page.keyboard.press('Space');
      await reading(page, number);
    }
    await page.keyboard.press('Enter', HELD);
    await target(page, 30);
    await page.keyboard.type('x', HELD);
    const line = frameOf(page)
      .contentFrame()
      .getByText(/^xLINE 30\.$/);
    await line.waitFor();
    await waitUntilSaved(page);
    const [drawn, view] = [
      await page.locator('[data-sentence]').boundingBox(),
      await frameOf(page).boundingBox(),
    ];
    expect(drawn!.y).toBeGreaterThanOrEqual(view!.y);
    expect(drawn!.y + drawn!.height).toBeLessThan(view!.y + view!.height);
  });
  await context.close();
});
