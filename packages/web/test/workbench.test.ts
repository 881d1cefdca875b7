/** The workbench, from a customer's order to the delivery, with the keyboard alone. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Receiver, startReceiver, until } from '../../server/src/testing/harness.ts';
import { expectAccessible, shoot } from './browser.ts';
import { type Office, openOffice, read, reads, row, saved, target } from './workbench.ts';

let office: Office;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  office = await openOffice();
});
afterAll(async () => {
  await office.stop();
  await receiver.close();
});

const HTML =
  '<h1>Your order</h1><p>Hello {name}, thank you for contacting us. Your order has been <b>shipped</b> and will arrive within 3 days.</p><p>Best regards,</p>';

it('edits, checks and hands in a job by keyboard; a reviewer approves it; its customer has it and has paid', async () => {
  const { web, call, annWindow, bob, bobWindow } = office;
  const { uid, path } = await office.claimed(HTML, {
    text_format: 'html',
    target_language: 'de',
    instructions: 'Address the customer formally.',
    callback_url: `${receiver.url}/done`,
  });
  await web.visit({ context: annWindow, path }, async (page) => {
    const { keyboard } = page;
    await page.getByText('Address the customer formally.').waitFor();
    expect(await page.title()).toMatch(/^1\/4 · Job \d+ · Dragoman$/);
    await target(page, 1);
    await keyboard.press('Control+a');
    await keyboard.type('Ihre Bestellung');
    await keyboard.press('Control+Enter');
    await page.locator('[data-said]').getByText('Segment 1 confirmed. Segment 2 of 4.').waitFor();

    // A number that the source has not is a warning: it is let stand by confirming again.
    const second = await target(page, 2);
    await keyboard.press('Control+End');
    await keyboard.type(' 17');
    await keyboard.press('Control+Enter');
    await page.getByText('The number 17 is not in the source.').waitFor();
    expect(await row(page, 2).getAttribute('data-status')).toBe('draft');
    await shoot(page, 'workbench-checks', 'state');
    for (const _ of ' 17') await keyboard.press('Backspace');
    await reads(second, 'HELLO [{name}], THANK YOU FOR CONTACTING US.');
    await keyboard.press('Control+Enter');

    // Words between the halves of a pair; the chips stay.
    const third = await target(page, 3);
    await keyboard.press('Control+a');
    await keyboard.type('Ihre Bestellung ist 3 Tage unterwegs.');
    await reads(third, '[1]Ihre Bestellung ist 3 Tage unterwegs.[/1]');
    await keyboard.press('Control+Enter');
    await target(page, 4);
    await keyboard.press('Control+Enter');
    await page.getByRole('dialog', { name: 'Submit this task' }).waitFor();
    await shoot(page, 'workbench-submit', 'state');
    await keyboard.press('Enter');
    await page.waitForURL('**/app/queue');
  });

  const review = await until(async () => {
    const { body } = await bob.call('GET', '/api/editing/queue');
    return (body.open as { kind: string; task: string }[]).find(({ kind }) => kind === 'review');
  });
  await bob.call('POST', '/api/editing/claims', { task: review.task });
  await web.visit({ context: bobWindow, path: `/tasks/${review.task}` }, async (page) => {
    const { keyboard } = page;
    await target(page, 1);
    await keyboard.press('Control+i');
    const dialog = page.getByRole('dialog', { name: 'Mark an issue' });
    await dialog.getByRole('radio', { name: 'Accuracy' }).and(page.locator(':focus')).waitFor();
    await keyboard.press('4');
    await keyboard.press('n');
    await shoot(page, 'workbench-issue', 'state');
    await keyboard.press('Enter');
    await page.getByRole('complementary').getByText('Style · Neutral').waitFor();
    await shoot(page, 'workbench-review', 'state');
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

it('breaks no rule of accessibility, in any of its states', async () => {
  const text = 'Hello {name}, your order 17 is at https://example.com/17.\nIt was sent today.\n';
  const { path } = await office.claimed(text, { target_language: 'ar' });
  await office.web.visit({ context: office.annWindow, path }, async (page) => {
    await target(page, 1);
    await expectAccessible(page);
    await page.keyboard.press('F2');
    await page.locator('textarea:focus').waitFor();
    await page.keyboard.press('F4');
    await page.getByRole('region', { name: 'Preview' }).waitFor();
    await page.keyboard.press('Control+h');
    await page.getByRole('textbox', { name: 'Replace with' }).waitFor();
    await expectAccessible(page);
    await shoot(page, 'workbench-preview', 'state');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+/');
    await page.getByRole('dialog', { name: 'All keys' }).waitFor();
    await expectAccessible(page);
    await shoot(page, 'workbench-keys', 'state');
    await shoot(page, 'workbench');
  });
});

it('shows a customer’s HTML where it can do nothing', async () => {
  const canary = '<img src=x onerror="parent.ran=1;top.ran=1"><script>parent.ran=1;top.ran=1</script>';
  const { path } = await office.claimed(
    `<p>Before ${canary} after.</p><style>p{color:red}</style><iframe srcdoc="<script>top.ran=1</script>"></iframe><meta http-equiv="refresh" content="0;url=https://example.com/">`,
    { text_format: 'html', target_language: 'de' },
  );
  // The browser says in the console what it kept the frame from, so this is no visit that must be silent.
  const page = await office.annWindow.newPage();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).origin));
  await page.goto(`${office.web.url}/app${path}`);
  {
    await target(page, 1);
    await page.keyboard.press('F4');
    const frame = page.locator('iframe[title=Preview]');
    await frame.waitFor();
    expect(await frame.getAttribute('sandbox')).toBe('');
    await frame.contentFrame().getByText('BEFORE').waitFor();
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
    expect(await page.evaluate("document.querySelector('iframe[title=Preview]').contentDocument")).toBeNull();
    // In the page itself the markup is text, in a tooltip.
    expect(await page.locator('main img:not(.ProseMirror-separator)').count()).toBe(0);
    expect(new Set(asked)).toEqual(new Set([office.web.url]));
  }
  await page.close();
});

it('finds and replaces in the whole task, and undoes it', async () => {
  const { path } = await office.claimed('One old house.\nTwo old houses.\nThree.\n', {
    target_language: 'de',
  });
  await office.web.visit({ context: office.annWindow, path }, async (page) => {
    const first = await target(page, 1);
    await page.keyboard.press('Control+h');
    await page.getByRole('textbox', { name: 'Find' }).fill('OLD');
    await page.getByText('4 places in 2 segments').waitFor();
    await page.getByRole('textbox', { name: 'Replace with' }).fill('NEW');
    await page.getByRole('button', { name: 'Replace all' }).click();
    await page.locator('[data-said]').getByText('Replaced in 2 segments').waitFor();
    await page.keyboard.press('Escape');
    await reads(first, 'ONE NEW HOUSE.');
    await page.keyboard.press('Control+z');
    await reads(first, 'ONE OLD HOUSE.');
    await saved(page);
    expect(await read(row(page, 2).getByRole('gridcell').nth(1))).toBe('TWO NEW HOUSES.');
    await page.keyboard.press('Control+g');
    await page.getByRole('dialog').getByRole('textbox').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('3');
    await page.keyboard.press('Enter');
    await target(page, 3);
  });
});

it('shows why a segment is kept, confirms the copy at once, and takes a translation instead', async () => {
  const { path } = await office.claimed(
    '<h1>Our languages</h1><ul><li>Русский</li><li lang="fr">Français</li><li>العربية (2024).</li></ul><p>🎉🎉🎉🎉🎉🎉 ok</p><p>Choose one of them.</p>',
    { text_format: 'html', target_language: 'es' },
  );
  await office.web.visit({ context: office.annWindow, path }, async (page) => {
    await target(page, 1);
    await row(page, 2).getByText('written in another script').waitFor();
    await row(page, 3).getByText('marked as another language').waitFor();
    await row(page, 5).getByText('mostly symbols').waitFor();
    expect(await row(page, 6).getByText('Kept as it is').count()).toBe(0);
    // Its letters say in which direction a kept text runs: the job's languages do not.
    const setting = row(page, 4).locator('[dir=auto][lang=und]');
    expect(await setting.first().textContent()).toBe('العربية (2024).');

    await shoot(page, 'workbench-kept');
    await target(page, 1);
    await page.keyboard.press('Alt+ArrowDown');
    await reads(await target(page, 2), 'Русский');
    await page.getByText('Not translated: kept as it is').waitFor();
    await page.keyboard.press('Control+Enter');
    const third = await target(page, 3);
    expect(await row(page, 2).getAttribute('data-status')).toBe('confirmed');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('Francés');
    await reads(third, 'Francés');
    await page.keyboard.press('Control+Enter');
    await target(page, 4);
    await saved(page);
  });
});
