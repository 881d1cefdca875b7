/** E1 and E5: what waits for an editor, the claim that opens the workbench, and what they have done. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimTask, editNext, orderEdit } from '../../server/src/testing/editors.ts';
import { createClient, createPerson } from '../../server/src/testing/harness.ts';
import { expectAccessible, PHONE, shoot, startWeb, type Web } from './browser.ts';

let web: Web;
let call: ReturnType<typeof createClient>;
beforeAll(async () => {
  web = await startWeb();
  call = createClient(web.url, (await web.createAccount({ balanceCents: 1_000_000 })).production_key);
});
afterAll(() => web.stop());

const TEXT = 'The house is big.\nThe garden is small.\nThe tree is old.\n';

it('has one sentence for an editor for whom nothing waits', async () => {
  const context = await web.signedIn(await createPerson(web, { role: 'editor', languages: ['en:fr'] }));
  await web.visit({ context, path: '/queue' }, async (page) => {
    await page.getByText('Nothing waits for you now.').waitFor();
    expect(await page.getByRole('button', { name: 'Start next task' }).isDisabled()).toBe(true);
    await expectAccessible(page);
    await shoot(page, 'queue-empty');
  });
  await web.visit({ context, path: '/work' }, async (page) => {
    await page.getByText('No finished tasks yet.').waitFor();
    await expectAccessible(page);
  });
  await context.close();
});

it('goes from the queue to the workbench with the task in hand, by keyboard', async () => {
  await orderEdit(call, TEXT);
  await orderEdit(call, 'The second text is short.\n');
  const editor = await createPerson(web, { role: 'editor', languages: ['en:es'] });
  const context = await web.signedIn(editor);
  await web.visit({ context, path: '/queue' }, async (page) => {
    await page.getByText('2 tasks wait for you.').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Start next task' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/app/tasks/*');
  });
  await web.visit({ context, path: '/queue' }, async (page) => {
    await page
      .getByRole('table', { name: 'In your hands' })
      .getByRole('link', { name: 'Continue' })
      .waitFor();
    await expectAccessible(page);
    await shoot(page, 'queue');
  });
  await web.visit({ context, path: '/queue', size: PHONE, language: 'ar', theme: 'dark' }, async (page) => {
    await page.getByRole('heading', { name: 'قائمة المهام' }).waitFor();
    await expectAccessible(page);
    // Nothing is wider than the window.
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  });
  await context.close();
});

it('says that somebody else was faster, and shows what is left', async () => {
  const [slow, fast] = [
    await createPerson(web, { role: 'editor', languages: ['en:es'] }),
    await createPerson(web, { role: 'editor', languages: ['en:es'] }),
  ];
  await orderEdit(call, 'Only one can have this.\n');
  const context = await web.signedIn(slow);
  // Who is told at once finds no row to press.
  await context.route('**/api/live?*', (route) => route.abort());
  await web.visit({ context, path: '/queue' }, async (page) => {
    const rows = page.getByRole('table', { name: 'Waiting' }).getByRole('button', { name: 'Take' });
    const before = await rows.count();
    const { job } = await claimTask(fast);
    const order = `№ ${job.order_number}`;
    const row = page.getByRole('row').filter({ hasText: order });
    await row.getByRole('button', { name: 'Take' }).click();
    await page.getByRole('alert').getByText('Somebody else has just taken it.').waitFor();
    await row.waitFor({ state: 'detached' });
    expect(await rows.count()).toBe(before - 1);
    await expectAccessible(page);
  });
  await context.close();
});

it('passes a task on with a reason, and is not offered it again', async () => {
  const editor = await createPerson(web, { role: 'editor', languages: ['en:es'] });
  await orderEdit(call, 'This is not for everybody.\n');
  const context = await web.signedIn(editor);
  await web.visit({ context, path: '/queue' }, async (page) => {
    const buttons = page.getByRole('button', { name: 'Not for me' });
    const before = await buttons.count();
    await buttons.first().click();
    const dialog = page.getByRole('dialog', { name: 'Not for you?' });
    await dialog.getByLabel('Why?').selectOption('Not my subject');
    await expectAccessible(page);
    await shoot(page, 'queue-skip', 'state');
    await dialog.getByRole('button', { name: 'Pass it on' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.waitForFunction(
      `[...document.querySelectorAll('main button')].filter((one) => one.textContent === 'Not for me').length === ${before - 1}`,
    );
  });
  await context.close();
});

it('shows what an editor has done', async () => {
  const editor = await createPerson(web, { role: 'editor', languages: ['en:es'] });
  await orderEdit(call, TEXT);
  await editNext(editor);
  const context = await web.signedIn(editor);
  await web.visit({ context, path: '/work' }, async (page) => {
    await page.getByRole('cell', { name: 'Submitted' }).waitFor();
    await page.getByRole('img', { name: /^Words confirmed: [1-9]/ }).waitFor();
    await expectAccessible(page);
    await shoot(page, 'work');
  });
  await context.close();
});
