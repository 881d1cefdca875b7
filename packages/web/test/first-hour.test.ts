/**
 * Tests the first hour of a new installation from its empty database: the first operator sets it up and invites an
 * editor and a customer, who have a document translated. Everybody uses only the pages.
 */
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { linkForFirstOperator } from '../../server/src/access/invitations.ts';
import { type Receiver, startReceiver, until } from '../../server/src/testing/harness.ts';
import { startWeb, type Web } from './browser.ts';
import { target } from './workbench.ts';

const PASSWORD = 'a long and quiet password';
const SENTENCE = 'La casa es pequeña.';
/** How long a key is held, as by a person who types. */
const HELD = { delay: 150 };

let web: Web;
let receiver: Receiver;
beforeAll(async () => {
  // The second attempt of a callback is an hour later, so only the customer sends it in this test.
  web = await startWeb({ settings: { DRAGOMAN_CALLBACK_SCHEDULE: '3600' } });
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await web.stop();
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

/** Invites a user in the console. @returns the link relative to `/app` */
async function invite(
  context: BrowserContext,
  email: string,
  fill: (dialog: ReturnType<Page['getByRole']>) => Promise<void>,
): Promise<string> {
  let shown = '';
  await web.visit({ context, path: '/console/people' }, async (page) => {
    await page.getByRole('button', { name: 'Invite' }).click();
    const dialog = page.getByRole('dialog', { name: 'Invite' });
    await dialog.getByLabel('E-mail').fill(email);
    await fill(dialog);
    await dialog.getByRole('button', { name: 'Invite' }).click();
    shown = await dialog.locator('code').first().innerText();
  });
  return /\/invitation\/\S+/.exec(shown)![0];
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

async function edit(editor: BrowserContext): Promise<void> {
  await web.visit({ context: editor, path: '/queue' }, async (page) => {
    await page.getByRole('button', { name: 'Start next task' }).click();
    await target(page, 1);
    await page.keyboard.press('Control+a');
    await page.keyboard.type(SENTENCE, HELD);
    await page.keyboard.press('Control+Enter', HELD);
    await page.getByRole('dialog', { name: 'Submit this task' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/app/queue');
  });
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
    await edit(editor);
    // The page follows the job without a reload.
    await row.getByText('Completed').waitFor();
    await row.getByRole('button', { name: 'Open' }).click();
    const panel = page.getByRole('dialog', { name: 'Job' });
    await panel.getByRole('region', { name: 'Source' }).getByText('The house is small.').waitFor();
    await panel.getByRole('region', { name: 'Translation' }).getByText(SENTENCE).waitFor();
    const downloading = page.waitForEvent('download');
    await panel.getByRole('link', { name: 'Download' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('house.es.txt');
    const written = (await (await download.createReadStream()).toArray()).join('');
    expect(written).toBe(`${SENTENCE}\n`);
    await panel.getByRole('button', { name: 'Accept' }).click();
    const asked = page.getByRole('dialog', { name: 'Accept house.txt' });
    await asked.getByRole('button', { name: 'Accept' }).click();
    await panel.getByRole('button', { name: 'Accept' }).waitFor({ state: 'detached' });
  });
}

it('the first operator sets up the installation, and the first document is translated, edited, accepted and charged', async () => {
  const { token } = (await linkForFirstOperator(web.database))!;
  const operator = await accept(`/invitation/${token}`, 'Olga', 'olga@example.com');
  await setUp(operator);
  const toEditor = await invite(operator, 'edith@example.com', async (dialog) => {
    await dialog.getByLabel('Languages').fill('en>es');
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

  await web.visit({ context: customer, path: '/account/balance' }, async (page) => {
    const rows = page.getByRole('table', { name: 'Balance' }).getByRole('row');
    await rows.filter({ hasText: '-$0.40' }).getByText('Charged').waitFor();
    // The header, the top-up and the job.
    expect(await rows.count()).toBe(3);
    const figure = (label: string) =>
      page.locator('dl > div').filter({ hasText: label }).locator('dd').innerText();
    expect(await figure('Charged in this period')).toBe('$0.40');
    expect(await figure('On hold')).toBe('$0.00');
    expect(await figure('Closing balance')).toBe('$4.60');
  });
  await web.visit({ context: operator, path: '/console' }, async (page) => {
    await page.getByText('Set up this server').click();
    const list = page.getByRole('list').filter({ hasText: 'Receive the first job' });
    // Every step is done except mail, for which this server has no settings.
    await until(async () => (await list.getByRole('img', { name: 'Done', exact: true }).count()) === 6);
  });
});
