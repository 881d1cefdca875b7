/**
 * Tests the first hour of a new installation from its empty database: the first operator sets it up and invites an
 * editor and a customer by e-mail. The customer has a document translated, rejects it once, and gets it corrected.
 * Everybody uses only the pages and their e-mails.
 */
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { linkForFirstOperator } from '../../server/src/access/invitations.ts';
import { type Receiver, startReceiver, until } from '../../server/src/testing/harness.ts';
import { type Mailbox, startMailbox } from '../../server/src/testing/mailbox.ts';
import { startWeb, type Web } from './browser.ts';
import { HELD, target } from './workbench.ts';

const PASSWORD = 'a long and quiet password';
const SENTENCE = 'La casa es pequeña.';
const REASON = 'We say “vivienda”.';
const CORRECTED = 'La vivienda es pequeña.';

let web: Web;
let receiver: Receiver;
let mailbox: Mailbox;
beforeAll(async () => {
  receiver = await startReceiver();
  mailbox = await startMailbox();
  web = await startWeb({
    settings: {
      // The second attempt of a callback is an hour later, so only the customer sends it in this test.
      DRAGOMAN_CALLBACK_SCHEDULE: '3600',
      DRAGOMAN_SMTP_URL: mailbox.url,
      DRAGOMAN_MAIL_FROM: 'dragoman@example.com',
    },
  });
});
afterAll(async () => {
  await web.stop();
  await receiver.close();
  await mailbox.close();
});

/** Accepts an invitation in a new browser. @param link relative to `/app` */
async function accept(link: string, name: string, email?: string): Promise<BrowserContext> {
  const context = await web.context();
  await web.visit({ context, path: link }, async (page) => {
    await page.getByLabel('Name', { exact: true }).fill(name);
    if (email !== undefined) await page.getByLabel('E-mail', { exact: true }).fill(email);
    await page.getByLabel('New password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/app\/(console|queue|account)$/);
  });
  return context;
}

/**
 * Waits for the e-mail to a user that contains a text.
 * @returns the path of its link relative to `/app`. The link has the public address, which is not that of the test server
 */
async function linkInMail(to: string, text: string): Promise<string> {
  const mail = await until(() =>
    mailbox.received.find((one) => one.to.includes(to) && one.text.includes(text)),
  );
  return /\/app(\/\S+)/.exec(mail.text)![1]!;
}

/** Invites a user in the console. @returns the link of the e-mail, relative to `/app` */
async function invite(
  context: BrowserContext,
  email: string,
  fill: (dialog: Locator) => Promise<void>,
): Promise<string> {
  await web.visit({ context, path: '/console/people' }, async (page) => {
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Invite', exact: true });
    await dialog.getByLabel('E-mail').fill(email);
    await fill(dialog);
    await dialog.getByRole('button', { name: 'Invite', exact: true }).click();
    await dialog.getByText(`An e-mail with a link was sent to ${email}.`, { exact: true }).waitFor();
  });
  return linkInMail(email, 'You are invited to Dragoman.');
}

/** Tests the engine, creates the account `acme` with 5 dollars, and sets the price of a word to 10 cents. */
async function setUp(operator: BrowserContext): Promise<void> {
  await web.visit({ context: operator, path: '/console/engines' }, async (page) => {
    await page.getByRole('button', { name: 'Test engine' }).last().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Translate' }).click();
    await dialog.getByText('THE HOUSE IS SMALL.', { exact: true }).waitFor();
  });
  await web.visit({ context: operator, path: '/console/accounts' }, async (page) => {
    await page.getByRole('button', { name: 'Create account' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Username').fill('acme');
    await dialog.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('button', { name: 'I have saved them' }).click();
    await page.getByRole('link', { name: 'acme' }).click();
    await page.getByRole('link', { name: 'Money' }).click();
    await page.getByLabel('Amount in dollars').fill('5.00');
    await page.getByLabel('Reason').fill('Invoice 1');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('row', { name: /Topped up Invoice 1/ }).waitFor();
  });
  await web.visit({ context: operator, path: '/console/pairs' }, async (page) => {
    await page.getByRole('button', { name: 'Set price' }).click();
    const dialog = page.getByRole('dialog', { name: 'Set price' });
    await dialog.getByLabel('Cents per word').fill('10');
    await dialog.getByRole('button', { name: 'Preview' }).click();
    await dialog.getByRole('button', { name: 'Set price' }).click();
    const row = page.getByRole('row', { name: /All language pairs/ });
    await row.getByText('$0.10').waitFor();
  });
}

/** Registers an endpoint that gets the events of the account. */
async function addEndpoint(customer: BrowserContext, url: string): Promise<void> {
  await web.visit({ context: customer, path: '/account/access' }, async (page) => {
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    const form = page.getByRole('dialog', { name: 'Add endpoint' });
    await form.getByLabel('URL').fill(url);
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('row').filter({ hasText: url }).getByText('All events').waitFor();
  });
}

/** Translates the next task with a sentence and submits it. @param comment what the customer wrote about the job */
async function edit(editor: BrowserContext, sentence: string, comment?: string): Promise<void> {
  await web.visit({ context: editor, path: '/queue' }, async (page) => {
    await page.getByRole('button', { name: 'Start next task' }).click();
    await target(page, 1);
    if (comment !== undefined) {
      await page.getByRole('complementary').getByText(comment, { exact: true }).waitFor();
    }
    await page.keyboard.press('Control+a');
    await page.keyboard.type(sentence, HELD);
    await page.keyboard.press('Control+Enter', HELD);
    await page.getByRole('dialog', { name: 'Submit this task' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/app/queue');
  });
}

/** Clicks a link that downloads a file. */
async function download(page: Page, link: Locator): Promise<{ name: string; text: string }> {
  const downloading = page.waitForEvent('download');
  await link.click();
  const file = await downloading;
  const text = Buffer.concat(await (await file.createReadStream()).toArray()).toString();
  return { name: file.suggestedFilename(), text };
}

/** Waits until the panel of the job shows a sentence as its translation, and downloads it. */
async function downloadResult(page: Page, panel: Locator, sentence: string): Promise<void> {
  const result = panel.getByRole('region', { name: 'Translation', exact: true });
  await result.getByText(sentence, { exact: true }).waitFor();
  const file = await download(page, panel.getByRole('link', { name: 'Download', exact: true }));
  expect(file).toEqual({ name: 'house.es.txt', text: `${sentence}\n` });
}

/** Sends a file of four words and follows its job on the same page until the editor has finished it. */
async function translate(customer: BrowserContext, editor: BrowserContext): Promise<void> {
  await web.visit({ context: customer, path: '/account/translate' }, async (page) => {
    await page.getByLabel('Source language').selectOption('en');
    await page.getByLabel('Tier').selectOption('human');
    await page.getByRole('checkbox', { name: 'Spanish' }).check();
    const buffer = Buffer.from('The house is small.\n');
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'house.txt', mimeType: 'text/plain', buffer });
    const row = page.getByRole('row').filter({ hasText: 'house.txt' });
    await row.getByText('$0.40').waitFor();
    await page.getByRole('button', { name: 'Send 1 job' }).click();
    await row.getByText('Translating').waitFor();
    await edit(editor, SENTENCE);
    // The page follows the job without a reload.
    await row.getByText('Completed', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Open house.txt' }).click();
    const panel = page.getByRole('dialog', { name: 'Job', exact: true });
    const source = panel.getByRole('region', { name: 'Source', exact: true });
    await source.getByText('The house is small.', { exact: true }).waitFor();
    await downloadResult(page, panel, SENTENCE);
  });
}

/** Opens the job with the link of an e-mail, rejects it with a reason, and accepts the corrected translation. */
async function rejectAndAccept(
  customer: BrowserContext,
  editor: BrowserContext,
  path: string,
): Promise<void> {
  await web.visit({ context: customer, path }, async (page) => {
    const panel = page.getByRole('dialog', { name: 'Job', exact: true });
    await panel.getByRole('button', { name: 'Reject', exact: true }).click();
    const rejecting = page.getByRole('dialog', { name: 'Reject house.txt', exact: true });
    await rejecting.getByLabel('What is wrong?').fill(REASON);
    await rejecting.getByRole('button', { name: 'Reject', exact: true }).click();
    const step = panel.getByRole('listitem').filter({ hasText: 'by you' });
    await step.getByText('Rejected', { exact: true }).waitFor();
    await edit(editor, CORRECTED, REASON);
    await downloadResult(page, panel, CORRECTED);
    await panel.getByRole('button', { name: 'Accept', exact: true }).click();
    const accepting = page.getByRole('dialog', { name: 'Accept house.txt', exact: true });
    await accepting.getByRole('button', { name: 'Accept', exact: true }).click();
    await step.getByText('Accepted', { exact: true }).waitFor();
  });
}

/** Checks the statement: the job was charged once, and the amounts of the CSV add up to the balance. */
async function checkStatement(customer: BrowserContext): Promise<void> {
  await web.visit({ context: customer, path: '/account/balance' }, async (page) => {
    const rows = page.getByRole('table', { name: 'Balance', exact: true }).getByRole('row');
    await rows.filter({ hasText: '-$0.40' }).getByText('Charged', { exact: true }).waitFor();
    // The header, the top-up and the job.
    expect(await rows.count()).toBe(3);
    const figure = (label: string) =>
      page
        .locator('dl > div')
        .filter({ has: page.getByText(label, { exact: true }) })
        .locator('dd')
        .innerText();
    expect(await figure('Charged in this period')).toBe('$0.40');
    expect(await figure('On hold')).toBe('$0.00');
    expect(await figure('Closing balance')).toBe('$4.60');

    const csv = await download(page, page.getByRole('link', { name: 'Download as CSV', exact: true }));
    const [header, ...lines] = csv.text
      .trimEnd()
      .split('\n')
      .map((line) => line.split(','));
    const cents = (line: string[], column: string) => Number(line[header!.indexOf(column)]);
    const transfers = lines.slice(1, -1);
    expect(transfers.map((line) => [line[1], cents(line, 'change')])).toEqual([
      ['top_up', 500],
      ['hold', -40],
      ['capture', 0],
    ]);
    const opening = cents(lines[0]!, 'balance');
    const sum = transfers.reduce((balance, line) => balance + cents(line, 'change'), opening);
    expect([opening, sum, cents(lines.at(-1)!, 'balance')]).toEqual([0, 460, 460]);
  });
}

it('the first operator sets up the installation, and the first document is edited, rejected, corrected, accepted and charged once', async () => {
  const { token } = (await linkForFirstOperator(web.database))!;
  const operator = await accept(`/invitation/${token}`, 'Olga', 'olga@example.com');
  await setUp(operator);
  const toEditor = await invite(operator, 'edith@example.com', async (dialog) => {
    await dialog.getByLabel('Source language').fill('en');
    await dialog.getByLabel('Target language').fill('es');
    await dialog.getByLabel('Share of work that is reviewed').fill('0');
  });
  const toCustomer = await invite(operator, 'carla@example.com', async (dialog) => {
    await dialog.getByLabel('Role').selectOption('customer');
    await dialog.getByLabel('Account').fill('acme');
  });
  const editor = await accept(toEditor, 'Edith');
  const customer = await accept(toCustomer, 'Carla');

  const url = `${receiver.url}/events`;
  receiver.answer(() => 503);
  await addEndpoint(customer, url);
  await translate(customer, editor);

  // The customer finds out why the callback failed, repairs the receiver and sends the callback again.
  await web.visit({ context: customer, path: '/account/deliveries' }, async (page) => {
    const row = page.getByRole('row').filter({ hasText: url });
    await row.getByText('503', { exact: true }).waitFor();
    await row.getByRole('button', { name: url }).click();
    const panel = page.getByRole('dialog', { name: 'Callback' });
    await panel.getByText('job.completed', { exact: true }).waitFor();
    await panel.getByText('Next attempt').waitFor();
    await panel.getByText('Request', { exact: true }).click();
    await panel.getByText('POST /events HTTP/1.1').waitFor();
    receiver.answer(() => 200);
    await panel.getByRole('button', { name: 'Send now' }).click();
    await panel.getByText('200', { exact: true }).waitFor();
    await panel.getByText('Delivered', { exact: true }).waitFor();
  });
  expect(receiver.received).toHaveLength(2);

  await rejectAndAccept(customer, editor, await linkInMail('carla@example.com', 'house, en to es'));
  // The corrected translation is delivered again.
  await until(() => receiver.received.length === 3);
  await checkStatement(customer);
  // Every step of the checklist is done, so the home page does not show it.
  await web.visit({ context: operator, path: '/console' }, async (page) => {
    await page.getByRole('heading', { name: 'Needs attention' }).waitFor();
    expect(await page.getByText('Set up this server').count()).toBe(0);
  });
});
