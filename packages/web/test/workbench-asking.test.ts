/** Tests of what an editor asks of others: proposed terms and questions to the customer. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { orderEdit } from '../../server/src/testing/editors.ts';
import { type createClient, createPerson, type TestPerson } from '../../server/src/testing/harness.ts';
import { expectAccessible, takeScreenshots } from './browser.ts';
import {
  claimJob,
  createBrandAccount,
  row,
  startWorkbench,
  target,
  type WorkbenchFixture,
} from './workbench.ts';

let fixture: WorkbenchFixture;
let customer: TestPerson;
let call: ReturnType<typeof createClient>;
beforeAll(async () => {
  fixture = await startWorkbench();
  const made = await createBrandAccount(fixture);
  call = made.call;
  customer = await createPerson(fixture.web, { role: 'customer', account: made.account });
});
afterAll(() => fixture.stop());

async function claimNew(text: string): Promise<{ path: string; uid: string }> {
  const uid = await orderEdit(call, text, { target_language: 'de' });
  const { task } = await claimJob(fixture.ann, uid);
  return { path: `/tasks/${task}`, uid };
}

it('an editor proposes the selected words as a term, and the customer takes it', async () => {
  const { path } = await claimNew('Kiosk closed today.\nKiosk hours.\n');
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    await target(page, 1);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('Verkaufsstand', { delay: 30 });
    await page.keyboard.press('Control+a');
    // The editor selects the source with the mouse. The selection in the translation stays.
    await row(page, 1)
      .locator('[data-source]')
      .dblclick({ position: { x: 12, y: 12 } });
    await page.keyboard.press('Control+e');
    const dialog = page.getByRole('dialog', { name: 'Propose a term' });
    await dialog.getByText('enters the glossary of Acme Travel').waitFor();
    await expect.poll(() => dialog.getByLabel('Source').inputValue()).toBe('Kiosk');
    await expect.poll(() => dialog.getByLabel('Translation').inputValue()).toBe('Verkaufsstand');
    await dialog.getByLabel('Translation').fill('');
    await page.keyboard.press('Enter');
    await dialog.getByText('must not be empty', { exact: false }).waitFor();
    await dialog.getByLabel('Translation').fill('Verkaufsstand');
    await dialog.getByLabel('Note').fill('Not “Bude”.');
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-term', 'state');
    await dialog.getByRole('button', { name: 'Propose' }).click();
    await dialog.waitFor({ state: 'detached' });
    // The focus is in the translation again, and the term applies at once.
    await target(page, 1);
    const panel = page.getByRole('complementary');
    await panel.getByText('proposed by Ann').waitFor();
    await page.keyboard.press('Alt+ArrowDown');
    await target(page, 2);
    await panel.getByText('Glossary: “Kiosk” → “Verkaufsstand”').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-term-proposed');
  });
  const context = await fixture.web.signedIn(customer);
  await fixture.web.visit({ context, path: '/account/brands' }, async (page) => {
    await page.getByRole('button', { name: 'Acme Travel' }).click();
    const proposals = page.getByRole('region', { name: 'Proposed terms' });
    await proposals.getByText('Not “Bude”.').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'account-proposals');
    await proposals.getByRole('button', { name: 'Take “Kiosk”' }).click();
    await page.getByText('The term is in the draft of the brand.').first().waitFor();
    await proposals.waitFor({ state: 'detached' });
  });
  await context.close();
});

it('an editor asks the customer, and sees the answer when it arrives', async () => {
  const { path, uid } = await claimNew('The bank is closed.\nThank you.\n');
  const context = await fixture.web.signedIn(customer);
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    await target(page, 1);
    await page.keyboard.press('Control+j');
    const dialog = page.getByRole('dialog', { name: 'Ask the customer' });
    const question = dialog.getByLabel('Question');
    await question.and(page.locator(':focus')).waitFor();
    await page.keyboard.type('Money or river?', { delay: 20 });
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-ask', 'state');
    await dialog.getByRole('button', { name: 'Ask the customer' }).click();
    await target(page, 1);
    await row(page, 1).getByText('Waits for the customer').waitFor({ state: 'attached' });
    await page.keyboard.press('Control+Enter');
    await page.getByText('Segment 1 waits for the customer.').waitFor();
    await page.keyboard.press('Alt+ArrowDown');
    await target(page, 2);
    await page.keyboard.press('Control+Enter');
    const submit = page.getByRole('dialog', { name: 'Submit this task' });
    await submit.getByText('1 segment waits for the customer.').waitFor();
    await expect.poll(() => submit.getByRole('button', { name: 'Submit' }).isDisabled()).toBe(true);
    await takeScreenshots(page, 'workbench-ask-submit', 'state');
    await submit.getByRole('button', { name: '1', exact: true }).click();
    await target(page, 1);
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-asked');
    await target(page, 1);

    await fixture.web.visit({ context, path: '/account/jobs' }, async (account) => {
      await account.getByText('An editor asks a question.').waitFor();
      await expectAccessible(account);
      await takeScreenshots(account, 'account-queries');
      await account.getByRole('button', { name: 'Answer' }).click();
      const queries = account.getByRole('region', { name: 'Questions of the editors' });
      await queries.getByText('Money or river?').waitFor();
      await expectAccessible(account);
      await takeScreenshots(account, 'account-query', 'state');
      await queries.getByLabel('Answer').fill('Money.');
      await queries.getByRole('button', { name: 'Send the answer' }).click();
      await account.getByText('The editor has your answer.').first().waitFor();
      await queries.getByText('Money.').waitFor();
      await account.getByText('An editor asks a question.').waitFor({ state: 'detached' });
    });
    await page.getByText('The customer has answered the question on segment 1.').waitFor();
    await page.getByRole('complementary').getByText('Money.').waitFor();
    await takeScreenshots(page, 'workbench-answered', 'state');
    await page.keyboard.press('Control+Enter');
    await submit.getByRole('button', { name: 'Submit' }).click();
    await page.waitForURL('**/app/queue');
  });
  await context.close();
  expect((await call('GET', `/tapi/v2/translation/${uid}/`)).status).toBe(200);
});
