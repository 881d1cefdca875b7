/** Tests of the editor's queue: claiming a task, skipping a task, and past work. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConnection } from '../../server/src/database/connections.ts';
import { claimTask, editNext, orderEdit } from '../../server/src/testing/editors.ts';
import { createClient, createPerson } from '../../server/src/testing/harness.ts';
import { expectAccessible, PHONE, startWeb, takeScreenshots, type Web } from './browser.ts';

let web: Web;
let call: ReturnType<typeof createClient>;
beforeAll(async () => {
  web = await startWeb({ settings: { DRAGOMAN_EDIT_PAY: '3.5' } });
  call = createClient(web.url, (await web.createAccount({ balanceCents: 1_000_000 })).production_key);
});
afterAll(() => web.stop());

const TEXT = 'The house is big.\nThe garden is small.\nThe tree is old.\n';

it('the queue shows a message when there is no task for an editor', async () => {
  const context = await web.signedIn(await createPerson(web, { role: 'editor', languages: ['en:fr'] }));
  await web.visit({ context, path: '/queue' }, async (page) => {
    await page.getByText('No tasks for you right now.').waitFor();
    expect(await page.getByRole('button', { name: 'Start next task' }).isDisabled()).toBe(true);
    await expectAccessible(page);
    await takeScreenshots(page, 'queue-empty');
  });
  await web.visit({ context, path: '/work' }, async (page) => {
    await page.getByText('No finished tasks yet.').waitFor();
    await expectAccessible(page);
  });
  await context.close();
});

it('an editor claims the next task and opens the workbench by keyboard', async () => {
  await orderEdit(call, TEXT);
  await orderEdit(call, 'The second text is short.\n');
  const editor = await createPerson(web, { role: 'editor', languages: ['en:es'] });
  const context = await web.signedIn(editor);
  await web.visit({ context, path: '/queue' }, async (page) => {
    await page.getByText('2 tasks are available.').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Start next task' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/app/tasks/*');
  });
  await web.visit({ context, path: '/queue' }, async (page) => {
    await page.getByRole('table', { name: 'Your tasks' }).getByRole('link', { name: 'Continue' }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'queue');
  });
  await web.visit({ context, path: '/queue', size: PHONE, language: 'ar', theme: 'dark' }, async (page) => {
    await page.getByRole('heading', { name: 'قائمة الانتظار' }).waitFor();
    await expectAccessible(page);
    // The page has no overflow on phones.
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  });
  await context.close();
});

it('the queue shows what each task is about, in groups that an editor can sort, and one key starts the first task', async () => {
  const owner = createConnection(web.connection);
  await owner.connect();
  const languages = { source_language: 'es', target_language: 'en' };
  const short = await orderEdit(call, 'Una nota.\n', languages);
  const long = await orderEdit(call, 'La montaña es alta y el río es hondo.\n', languages);
  const returned = await orderEdit(call, 'Mira esto otra vez.\n', languages);
  const review = await orderEdit(call, 'La casa es grande.\n', languages);
  const change = (fields: string, uid: string) =>
    owner.query(`update tasks t set ${fields} from jobs j where j.job_id = t.job_id and j.uid = $1`, [uid]);
  await change('returned = true', returned);
  await change(`kind = 'review'`, review);
  const editor = await createPerson(web, { role: 'editor', languages: ['es:en+review'] });
  const context = await web.signedIn(editor);
  await web.visit({ context, path: '/queue' }, async (page) => {
    const groups = page.getByRole('table');
    await groups.nth(2).waitFor();
    const labels = [0, 1, 2].map((index) => groups.nth(index).getAttribute('aria-label'));
    expect(await Promise.all(labels)).toEqual(['Returned tasks', 'Reviews', 'Translations to edit']);
    const rows = page.getByRole('table', { name: 'Translations to edit' }).getByRole('row');
    await rows.filter({ hasText: short }).getByText('Una nota.', { exact: true }).waitFor();
    await rows.filter({ hasText: long }).getByText('1 min').waitFor();
    await rows.filter({ hasText: long }).getByText('$0.32').waitFor();
    await takeScreenshots(page, 'queue-groups');
    await page.getByLabel('Order').selectOption('Longest first');
    await rows.nth(1).getByText('La montaña es alta').waitFor();
    await page.getByLabel('Order').selectOption('Shortest first');
    await rows.nth(1).getByText('Una nota.').waitFor();
    await expectAccessible(page);
    // A letter in a field does not start a task.
    await page.getByLabel('Order').press('n');
    await page.getByRole('heading', { level: 1 }).click();
    await page.keyboard.press('n');
    await page.waitForURL('**/app/tasks/*');
    await page.getByRole('heading', { name: returned, level: 1 }).waitFor();
  });
  await owner.end();
  await context.close();
});

it('the queue shows a message and updates its list when another editor claimed the task first', async () => {
  const [slow, fast] = [
    await createPerson(web, { role: 'editor', languages: ['en:es'] }),
    await createPerson(web, { role: 'editor', languages: ['en:es'] }),
  ];
  await orderEdit(call, 'Only one can have this.\n');
  const context = await web.signedIn(slow);
  // Blocks live updates, because with them the row would disappear before the click.
  await context.route('**/api/live?*', (route) => route.abort());
  await web.visit({ context, path: '/queue' }, async (page) => {
    const rows = page
      .getByRole('table', { name: 'Translations to edit' })
      .getByRole('button', { name: 'Claim' });
    const before = await rows.count();
    const { job } = await claimTask(fast);
    const row = page.getByRole('row').filter({ hasText: job.uid });
    await row.getByRole('button', { name: 'Claim' }).click();
    await page.getByText('Someone else just claimed this task.').first().waitFor();
    await row.waitFor({ state: 'detached' });
    expect(await rows.count()).toBe(before - 1);
    await expectAccessible(page);
  });
  await context.close();
});

it('an editor skips a task with a reason and is not offered it again', async () => {
  const editor = await createPerson(web, { role: 'editor', languages: ['en:es'] });
  await orderEdit(call, 'This is not for everybody.\n');
  const context = await web.signedIn(editor);
  await web.visit({ context, path: '/queue' }, async (page) => {
    const buttons = page.getByRole('button', { name: 'Skip' });
    const before = await buttons.count();
    await buttons.first().click();
    const dialog = page.getByRole('dialog', { name: 'Skip this task?' });
    await dialog.getByLabel('Reason').selectOption('Not my topic');
    await expectAccessible(page);
    await takeScreenshots(page, 'queue-skip', 'state');
    await dialog.getByRole('button', { name: 'Skip task' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.waitForFunction(
      `[...document.querySelectorAll('main button')].filter((one) => one.textContent === 'Skip').length === ${before - 1}`,
    );
  });
  await context.close();
});

it('the page “My work” shows an editor’s past work', async () => {
  const editor = await createPerson(web, { role: 'editor', languages: ['en:es'] });
  await orderEdit(call, TEXT);
  await editNext(editor);
  const context = await web.signedIn(editor);
  await web.visit({ context, path: '/work' }, async (page) => {
    await page.getByRole('cell', { name: 'Submitted' }).waitFor();
    await page.getByRole('img', { name: /^Words confirmed: [1-9]/ }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'work');
  });
  await context.close();
});
