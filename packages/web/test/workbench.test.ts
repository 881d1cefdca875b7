/** Tests of the workbench by keyboard alone, from a customer's job to its delivery. */
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimTask } from '../../server/src/testing/editors.ts';
import { type Receiver, startReceiver } from '../../server/src/testing/harness.ts';
import { expectAccessible, takeScreenshots } from './browser.ts';
import {
  expectText,
  findReview,
  readText,
  row,
  startWorkbench,
  target,
  type WorkbenchFixture,
  waitUntilSaved,
} from './workbench.ts';

let fixture: WorkbenchFixture;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  fixture = await startWorkbench();
});
afterAll(async () => {
  await fixture.stop();
  await receiver.close();
});

const HTML =
  '<h1>Your order</h1><p>Hello {name}, thank you for contacting us. Your order has been <b>shipped</b> and will arrive within 3 days.</p><p>Best regards,</p>';

it('editors edit, submit and approve a job by keyboard; it is delivered and charged', async () => {
  const { web, call, annContext, bob, bobContext } = fixture;
  const { uid, path } = await fixture.createClaimedTask(HTML, {
    text_format: 'html',
    target_language: 'de',
    instructions: 'Address the customer formally.',
    callback_url: `${receiver.url}/done`,
  });
  await web.visit({ context: annContext, path }, async (page) => {
    const { keyboard } = page;
    await page.getByText('Address the customer formally.').waitFor();
    expect(await page.title()).toMatch(/^1\/4 · edit-\d+ · Dragoman$/);
    await target(page, 1);
    await keyboard.press('Control+a');
    await keyboard.type('Ihre Bestellung');
    await keyboard.press('Control+Enter');
    await page.locator('[data-said]').getByText('Segment 1 confirmed. Segment 2 of 4.').waitFor();

    // A number that is not in the source causes a warning.
    const second = await target(page, 2);
    await keyboard.press('Control+End');
    await keyboard.type(' 17');
    await keyboard.press('Control+Enter');
    await page.getByRole('complementary').getByText('Number 17 is not in the source').waitFor();
    expect(await row(page, 2).getAttribute('data-status')).toBe('draft');
    await takeScreenshots(page, 'workbench-checks', 'state');
    for (const _ of ' 17') await keyboard.press('Backspace');
    await expectText(second, 'HELLO [{name}], THANK YOU FOR CONTACTING US.');
    await keyboard.press('Control+Enter');

    // When the whole text is typed over, the pair of codes stays.
    const third = await target(page, 3);
    await keyboard.press('Control+a');
    await keyboard.type('Ihre Bestellung ist 3 Tage unterwegs.');
    await expectText(third, '[1]Ihre Bestellung ist 3 Tage unterwegs.[/1]');
    await keyboard.press('Control+Enter');
    await target(page, 4);
    await keyboard.press('Control+Enter');
    await page.getByRole('dialog', { name: 'Submit this task' }).waitFor();
    await takeScreenshots(page, 'workbench-submit', 'state');
    await keyboard.press('Enter');
    await page.waitForURL('**/app/queue');
  });

  const review = await findReview(bob, uid);
  await claimTask(bob, review);
  await web.visit({ context: bobContext, path: `/tasks/${review}` }, async (page) => {
    const { keyboard } = page;
    await target(page, 1);
    await keyboard.press('Control+i');
    const dialog = page.getByRole('dialog', { name: 'Mark an issue' });
    await dialog.getByRole('radio', { name: 'Accuracy' }).and(page.locator(':focus')).waitFor();
    await keyboard.press('4');
    await keyboard.press('n');
    await takeScreenshots(page, 'workbench-issue', 'state');
    await keyboard.press('Enter');
    await page.getByRole('complementary').getByText('Style · Neutral').waitFor();
    await takeScreenshots(page, 'workbench-review', 'state');
    await page.getByRole('button', { name: 'Approve' }).press('Enter');
    await page.getByRole('dialog', { name: 'Approve this job' }).waitFor();
    await keyboard.press('Enter');
    await page.waitForURL('**/app/queue');
  });

  const callback = await receiver.next(({ path: at }) => at === '/done');
  const delivered = JSON.parse(callback.body);
  expect(delivered).toMatchObject({ uid, status: 'completed' });
  expect(delivered.translated_text).toBe(
    '<h1>Ihre Bestellung</h1><p>HELLO {name}, THANK YOU FOR CONTACTING US. <b>Ihre Bestellung ist 3 Tage unterwegs.</b></p><p>BEST REGARDS,</p>',
  );
  const { body } = await call('GET', '/tapi/v2/account/');
  expect(body.objects[0].account.balance).toBeLessThan(100_000);
});

it('the workbench is accessible in all of its states', async () => {
  const text = 'Hello {name}, your order 17 is at https://example.com/17.\nIt was sent today.\n';
  const { path } = await fixture.createClaimedTask(text, { target_language: 'ar' });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    await target(page, 1);
    await expectAccessible(page);
    await page.keyboard.press('F2');
    await page.locator('textarea:focus').waitFor();
    await page.keyboard.press('F4');
    await page.getByRole('region', { name: 'Preview' }).waitFor();
    await page.keyboard.press('Control+h');
    await page.getByRole('textbox', { name: 'Replace with' }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-preview', 'state');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+/');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-keys', 'state');
    await takeScreenshots(page, 'workbench');
  });
});

it('the preview shows a customer’s HTML with its styles and without connections', async () => {
  let connections = 0;
  const listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const there = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const link = `<link rel="preconnect" href="${there}">`;
  const { path } = await fixture.createClaimedTask(
    `<html><head>${link}<base href="${there}"><meta http-equiv="x-dns-prefetch-control" content="on">
<style>p{color:rgb(1, 2, 3)} h1{background:url(${there}/a.png)} @import "${there}/b.css";</style></head>
<body><p>A small house.</p><h1>Sea</h1><iframe srcdoc='${link}'></iframe><div><template shadowrootmode=open>${link}</template></div>
<svg><style><a title="</style>${link}"></svg><noscript>${link}</noscript><img src="${there}/c.png"></body></html>`,
    { text_format: 'html', target_language: 'de' },
  );
  const page = await fixture.annContext.newPage();
  await page.goto(`${fixture.web.url}/app${path}`);
  await target(page, 1);
  await page.keyboard.press('F4');
  const frame = page.locator('iframe[title=Preview]');
  const paragraph = frame.contentFrame().getByText('A SMALL HOUSE.');
  await paragraph.waitFor();
  expect(await page.frames().at(-1)!.evaluate('getComputedStyle(document.querySelector("p")).color')).toBe(
    'rgb(1, 2, 3)',
  );
  // Headless browsers open no preconnections, so the test also counts the elements that would open them.
  const could = 'link, script, template, iframe, base, meta';
  expect(await frame.contentFrame().locator(could).count()).toBe(0);
  // By the time this page is loaded, the frame would have sent its requests.
  await page.goto(`${fixture.web.url}/healthz`);
  expect(connections).toBe(0);
  await page.close();
  listener.close();
});

it('the preview shows a customer’s HTML without running its scripts', async () => {
  const canary = '<img src=x onerror="parent.ran=1;top.ran=1"><script>parent.ran=1;top.ran=1</script>';
  const { path } = await fixture.createClaimedTask(
    `<p>Before ${canary} after.</p><style>p{color:red}</style><iframe srcdoc="<script>top.ran=1</script>"></iframe><meta http-equiv="refresh" content="0;url=https://example.com/">`,
    { text_format: 'html', target_language: 'de' },
  );
  // The browser logs everything that it blocks in the frame, and `visit` fails on such log lines. The test therefore
  // opens the page itself.
  const page = await fixture.annContext.newPage();
  const requested: string[] = [];
  page.on('request', (request) => requested.push(new URL(request.url()).origin));
  await page.goto(`${fixture.web.url}/app${path}`);
  {
    await target(page, 1);
    await page.keyboard.press('F4');
    const frame = page.locator('iframe[title=Preview]');
    await frame.waitFor();
    expect(await frame.getAttribute('sandbox')).toBe('allow-same-origin');
    await frame.contentFrame().getByText('BEFORE').waitFor();
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
    // The page itself shows the markup as text in a tooltip.
    expect(await page.locator('main img:not(.ProseMirror-separator)').count()).toBe(0);
    expect(new Set(requested)).toEqual(new Set([fixture.web.url]));
  }
  await page.close();
});

it('the workbench finds and replaces text in the whole task, and undoes a replacement', async () => {
  const { path } = await fixture.createClaimedTask('One old house.\nTwo old houses.\nThree.\n', {
    target_language: 'de',
  });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const first = await target(page, 1);
    await page.keyboard.press('Control+h');
    await page.getByRole('textbox', { name: 'Find' }).fill('OLD');
    await page.getByText('4 results in 2 segments').waitFor();
    await page.getByRole('textbox', { name: 'Replace with' }).fill('NEW');
    await page.getByRole('button', { name: 'Replace all' }).click();
    await page.locator('[data-said]').getByText('Replaced in 2 segments').waitFor();
    await page.keyboard.press('Escape');
    await expectText(first, 'ONE NEW HOUSE.');
    await page.keyboard.press('Control+z');
    await expectText(first, 'ONE OLD HOUSE.');
    await waitUntilSaved(page);
    expect(await readText(row(page, 2).getByRole('gridcell').nth(1))).toBe('TWO NEW HOUSES.');
    await page.keyboard.press('Control+g');
    await page.getByRole('dialog').getByRole('textbox').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('3');
    await page.keyboard.press('Enter');
    await target(page, 3);
  });
});

it('the workbench shows why a segment is not translated, and an editor can confirm its source text or a translation', async () => {
  const { path } = await fixture.createClaimedTask(
    '<h1>Our languages</h1><ul><li>Русский</li><li lang="fr">Français</li><li>العربية (2024).</li></ul><p>🎉🎉🎉🎉🎉🎉 ok</p><p>Choose one of them.</p>',
    { text_format: 'html', target_language: 'es' },
  );
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    await target(page, 1);
    await row(page, 2).getByText('written in another script').waitFor();
    await row(page, 3).getByText('marked as another language').waitFor();
    await row(page, 5).getByText('mostly symbols').waitFor();
    expect(await row(page, 6).getByText('Not translated').count()).toBe(0);
    // The writing direction of a text that is not translated follows its letters, not the languages of the job.
    const setting = row(page, 4).locator('[dir=auto][lang=und]');
    expect(await setting.first().textContent()).toBe('العربية (2024).');

    await takeScreenshots(page, 'workbench-kept');
    await target(page, 1);
    await page.keyboard.press('Alt+ArrowDown');
    await expectText(await target(page, 2), 'Русский');
    await page.getByRole('complementary').getByText('Not translated', { exact: true }).waitFor();
    await page.keyboard.press('Control+Enter');
    const third = await target(page, 3);
    expect(await row(page, 2).getAttribute('data-status')).toBe('confirmed');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('Francés');
    await expectText(third, 'Francés');
    await page.keyboard.press('Control+Enter');
    await target(page, 4);
    await waitUntilSaved(page);
  });
});
