/** Tests of an operator's work in the console and of its effect for the customer. */
import { createFake } from '@dragoman/engines/fake';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimTask, orderEdit } from '../../server/src/testing/editors.ts';
import {
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  type TestPerson,
  until,
} from '../../server/src/testing/harness.ts';
import { expectAccessible, follow, startWeb, takeScreenshots, type Web } from './browser.ts';

const engine = createFake();
let web: Web;
let operator: TestPerson;
let window: BrowserContext;
let receiver: Receiver;
let call: ReturnType<typeof createClient>;
beforeAll(async () => {
  web = await startWeb({ engine: () => engine, settings: { DRAGOMAN_CALLBACK_SCHEDULE: '3600' } });
  operator = await createPerson(web, { role: 'operator', name: 'Olga Operator' });
  window = await web.signedIn(operator);
  receiver = await startReceiver();
  const { production_key } = await web.createAccount({ username: 'acme' });
  call = createClient(web.url, production_key);
});
afterAll(async () => {
  await receiver.close();
  await web.stop();
});

const visit = (path: string, look: (page: Page) => Promise<void>) =>
  web.visit({ context: window, path }, look);
const JOB = { source_language: 'en', target_language: 'es', text: 'The house is small.' };

it('an operator tops up an account once after a preview, however often the button is clicked', async () => {
  await visit('/console/accounts/acme/money', async (page) => {
    await page.getByRole('button', { name: 'Preview' }).click();
    // The form shows errors for empty fields.
    await page.getByText('Enter an amount such as 25.00.').waitFor();
    await page.getByLabel('Amount in dollars').fill('25,50');
    await page.getByLabel('Reason').fill('Invoice 7');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('$25.50').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'console-top-up', 'state');
    const moved = page.waitForResponse('**/transfers');
    await page.getByRole('button', { name: 'Apply' }).dblclick();
    expect((await moved).status()).toBe(200);
    await page.getByRole('row', { name: /Topped up Invoice 7/ }).waitFor();
  });
  const { body } = await operator.call('GET', '/api/console/accounts/acme/statement');
  expect(body.closing).toBe(2550);
  expect(body.entries).toHaveLength(1);
});

it('an operator publishes a brand, whose glossary then changes a translation', async () => {
  await visit('/console/accounts/acme/brands', async (page) => {
    await page.getByRole('button', { name: 'Create default brand' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('External id').fill('acme/main');
    await dialog.getByRole('button', { name: 'Create brand' }).click();
    await page.getByText('This brand was never published').waitFor();
    await page.getByRole('button', { name: 'Add language' }).click();
    await dialog.getByLabel('Target language').fill('es');
    await dialog.getByRole('button', { name: 'Add language' }).click();
    await page.getByRole('heading', { name: 'Language es' }).waitFor();
    await page.getByLabel('Tone').selectOption('Formal');
    const saved = page.waitForResponse('**/draft');
    await page.getByRole('button', { name: 'Save to draft' }).last().click();
    await saved;
    await page.getByText('Saved to the draft.').first().waitFor();

    await page.getByRole('button', { name: 'Add term' }).click();
    await dialog.getByLabel('Source term').fill('house');
    await dialog.getByLabel('Translation', { exact: true }).fill('mansión');
    await dialog.getByRole('button', { name: 'Save to draft' }).click();
    await page.getByRole('button', { name: 'house', exact: true }).waitFor();

    await page.getByLabel('Text', { exact: true }).fill('Our house has a door.');
    await page.locator('mark', { hasText: 'house' }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'console-brand');
  });
  const before = await call('POST', '/tapi/v2/mt_translation/', { ...JOB, uid: 'before' });
  expect(before.status).toBe(201);
  expect(await translated('before')).not.toContain('mansión');

  await visit('/console/accounts/acme/brands/acme%2Fmain', async (page) => {
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('1 term added').waitFor();
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Version 1').waitFor();
  });
  await call('POST', '/tapi/v2/mt_translation/', { ...JOB, uid: 'after', brand: 'acme/main' });
  expect(await translated('after')).toContain('mansión');
});

it('an operator tries the patterns of a brand on a text before they are saved', async () => {
  await visit('/console/accounts/acme/brands/acme%2Fmain', async (page) => {
    const patterns = page.getByLabel('Patterns, one a line');
    await patterns.fill('(?=a)');
    await page.getByText('has a lookahead or lookbehind, which is not supported').waitFor();
    await patterns.fill(String.raw`\bhouse \d+`);
    await page.getByLabel('Text to try').fill('Our house 12 and <b>house</b> 13.');
    await page.locator('mark', { hasText: 'house 12' }).waitFor();
    expect(await page.locator('output mark').allTextContents()).toEqual(['house 12']);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save patterns as a draft' }).click();
    await page.getByText('The protected patterns change.').waitFor();
    expect(await page.locator('output mark').allTextContents()).toEqual(['house 12']);
    // What is being written stays when another part of the draft is saved.
    await patterns.fill(String.raw`\bflat \d+`);
    await page.getByLabel('If the deadline passes').selectOption('machine');
    await page.getByRole('button', { name: 'Save to draft' }).first().click();
    await page.getByText('The fallback after the deadline changes.').waitFor();
    expect(await page.getByLabel('Text to try').inputValue()).toContain('house 12');
    expect(await patterns.inputValue()).toBe(String.raw`\bflat \d+`);
    await takeScreenshots(page, 'console-brand-patterns', 'state');
  });
  const { body } = await operator.call('GET', '/api/console/accounts/acme/brands/acme%2Fmain');
  expect(body.draft.protect).toEqual([String.raw`\bhouse \d+`]);
  await operator.call('DELETE', '/api/console/accounts/acme/brands/acme%2Fmain/draft');
});

async function translated(uid: string): Promise<string> {
  return until(async () => {
    const { body } = await call('GET', `/tapi/v2/mt_translation/${uid}/`);
    return body.status === 'completed' && body.translated_text;
  });
}

it('the glossary import shows errors by line, then imports the corrected file', async () => {
  await visit('/console/accounts/acme/brands/acme%2Fmain', async (page) => {
    const file = (text: string) => ({ name: 'terms.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
    await page.getByRole('button', { name: 'Import' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('input[type=file]').setInputFiles(file('source,target\ngarden,\ndoor,puerta\n'));
    await dialog.getByRole('button', { name: 'Dry run' }).click();
    await dialog.getByText('line 2').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'console-import', 'state');
    await dialog
      .locator('input[type=file]')
      .setInputFiles(file('source,target\ngarden,jardín\ndoor,puerta\n'));
    await dialog.getByRole('button', { name: 'Dry run' }).click();
    await dialog.getByText('2 terms added').waitFor();
    await dialog.getByRole('button', { name: 'Import' }).click();
    await page.getByRole('button', { name: 'garden', exact: true }).waitFor();
  });
  const { body } = await operator.call('GET', '/api/console/accounts/acme/brands/acme%2Fmain');
  expect(body.draft.changes.languages[0]).toMatchObject({ added: 2, changed: 0, removed: 0 });
});

it('an operator replays a dead callback', async () => {
  receiver.answer(() => 410);
  await call('POST', '/tapi/v2/mt_translation/', { ...JOB, uid: 'called', callback_url: receiver.url });
  const [dead] = await until(async () => {
    const { body } = await operator.call('GET', '/api/console/deliveries?status=dead');
    return body.deliveries.length === 1 && body.deliveries;
  });
  receiver.answer(() => 200);
  await visit('/console', async (page) => {
    await page.getByText('1 callback of acme failed').waitFor();
    await page
      .getByRole('listitem')
      .filter({ hasText: 'failed' })
      .getByRole('link', { name: 'Open callbacks' })
      .click();
    await page.getByRole('link', { name: 'job.completed' }).click();
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click();
    await page.getByText('Delivered').first().waitFor();
  });
  expect(receiver.received.filter(({ headers }) => headers['webhook-id'] === dead.id)).toHaveLength(2);
});

it('the account form does not overwrite another operator’s change', async () => {
  await visit('/console/accounts/acme', async (page) => {
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    const { body } = await operator.call('GET', '/api/console/accounts/acme');
    await operator.call('PATCH', '/api/console/accounts/acme', {
      version: body.version,
      email: 'other@acme.test',
    });
    await dialog.getByLabel('E-mail').fill('mine@acme.test');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('button', { name: 'Reload' }).click();
    await until(async () => (await dialog.getByLabel('E-mail').inputValue()) === 'other@acme.test');
    await dialog.getByLabel('Credit limit in dollars').fill('10');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'hidden' });
  });
  const { body } = await operator.call('GET', '/api/console/accounts/acme');
  expect(body).toMatchObject({ email: 'other@acme.test' });
  expect(body.balances[0]).toMatchObject({ environment: 'production', credit_limit: 1000 });
});

it('an operator creates an account and sees its working credentials once', async () => {
  let key = '';
  await visit('/console/accounts', async (page) => {
    await page.getByRole('button', { name: 'Create account' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Username').fill('acme');
    await dialog.getByRole('button', { name: 'Create account' }).click();
    await dialog.getByText('There is already an account named acme.').waitFor();
    await dialog.getByLabel('Username').fill('newcomer');
    await dialog.getByRole('button', { name: 'Create account' }).click();
    key = (await dialog.locator('code').first().textContent()) ?? '';
    await dialog.getByRole('button', { name: 'I have saved them' }).click();
    await page.getByRole('link', { name: 'newcomer' }).waitFor();
  });
  const { body } = await createClient(web.url, key)('GET', '/tapi/v2/account/');
  expect(body.objects[0].account.username).toBe('newcomer');
});

it('an operator compares engines with a text and a dropped file of references, and cancels a comparison', async () => {
  engine.rate('A garden', { mean: 0.612, minimum: 0.1 });
  await visit('/console/engines', async (page) => {
    await page.getByRole('link', { name: 'Compare engines' }).click();
    await page.locator('textarea[name=text]').fill('The house is small.\n\nA garden.');
    await page.getByLabel('Reference translations').fill('THE HOUSE IS SMALL.');
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByText('There is no reference for line 3.').waitFor();
    await expectAccessible(page);
    const file = await page.evaluateHandle(`(() => {
      const data = new DataTransfer();
      data.items.add(new File(['THE HOUSE IS SMALL.\\n\\nTHE GARDEN.'], 'references.txt'));
      return data;
    })()`);
    await page.getByLabel('Reference translations').dispatchEvent('drop', { dataTransfer: file });
    await until(async () =>
      (await page.getByLabel('Reference translations').inputValue()).endsWith('THE GARDEN.'),
    );
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByRole('heading', { name: 'Results' }).waitFor();
    const row = page.getByRole('table', { name: 'Results' }).getByRole('row', { name: /^fake/ });
    expect(await row.getByRole('cell').first().textContent()).toBe('fake');
    await row.getByRole('cell', { name: '61.2%', exact: true }).waitFor();
    const second = page.getByRole('listitem').filter({ hasText: 'Line 2' });
    await second.getByText('A GARDEN.', { exact: true }).waitFor();
    await second.getByText('THE GARDEN.', { exact: true }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'console-compare-result', 'state');

    engine.stall();
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByText('Sentences: 0 of 2').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'console-compare-progress', 'state');
    const ended = page.waitForResponse(
      (answer) => answer.request().method() === 'DELETE' && answer.url().includes('/comparisons/'),
    );
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect((await ended).status()).toBe(204);
    await page.getByRole('heading', { name: 'Progress' }).waitFor({ state: 'detached' });
    engine.resume();
  });
});

it('an operator tests an engine and disables a language pair, which is then no longer offered', async () => {
  await visit('/console/engines', async (page) => {
    await page.getByRole('heading', { name: 'fake' }).waitFor();
    await page.getByRole('button', { name: 'Test engine' }).last().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Translate' }).click();
    await dialog.getByText('fake:en-es').waitFor();
    await expectAccessible(page);
  });
  await visit('/console/pairs', async (page) => {
    const switched = page.waitForResponse('**/pairs/es/en');
    await page.getByRole('switch', { name: 'Offer es → en' }).click({ force: true });
    expect((await switched).status()).toBe(200);
    await page
      .getByText(
        'context: 30%, exact: 50%, 95–99% similar: 100%, 85–94% similar: 100%, 75–84% similar: 100%, repeats: 100%',
      )
      .waitFor();
    await page.getByRole('button', { name: 'Set price' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Cents per word').fill('7');
    await dialog.getByRole('button', { name: 'Preview' }).click();
    await dialog.getByText('$0.07').waitFor();
    await dialog.getByRole('button', { name: 'Set price' }).click();
    await page
      .getByRole('row', { name: /All language pairs/ })
      .getByText('$0.07')
      .waitFor();
  });
  await until(async () => {
    const { body } = await call('GET', '/tapi/v2/language_pair/');
    return body.objects.length === 1;
  });
});

it('the endpoints of a revoked key are marked for the customer and for the operator', async () => {
  const account = await web.createAccount({ username: 'hooked' });
  const context = await web.signedIn(await createPerson(web, { role: 'customer', account }));
  const url = 'https://example.com/hooked';
  const program = createClient(web.url, account.production_key);
  const made = await program('POST', '/api/v1/webhook-endpoints/', { url });
  const own = { context, path: '/account/access' };
  await web.visit(own, async (page) => {
    const row = page.getByRole('row').filter({ hasText: url });
    await row.getByText('URL set with the API key').waitFor();
    expect(await row.getByText('key revoked or expired').count()).toBe(0);
  });
  await operator.call('DELETE', `/api/console/accounts/hooked/keys/${made.body.key_id}`);
  await web.visit(own, async (page) => {
    await page.getByRole('row').filter({ hasText: url }).getByText('key revoked or expired').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'account-endpoint-key');
  });
  await visit('/console/accounts/hooked', async (page) => {
    const list = page.getByRole('region', { name: 'Webhook endpoints' });
    const row = list.getByRole('row').filter({ hasText: url });
    await row.getByText('Revoked').waitFor();
    await row.getByText('Active').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'console-account-endpoints');
  });
  await context.close();
});

it('an operator chooses suggested languages, a suggested account and engines for an engine route', async () => {
  await web.createAccount({ username: 'routed' });
  await visit('/console/routes', async (page) => {
    await page.getByRole('button', { name: 'Set engine route' }).click();
    const dialog = page.getByRole('dialog', { name: 'Set engine route' });
    // Suggestions are in no accessible tree, so the test reads them by the id of their list.
    const suggested = async (label: string, value: string) => {
      const id = await dialog.getByLabel(label).getAttribute('list');
      await page.locator(`datalist[id="${id}"] option[value="${value}"]`).waitFor({ state: 'attached' });
      await dialog.getByLabel(label).fill(value);
    };
    await suggested('Source language', 'en');
    await suggested('Target language', 'es');
    await dialog.getByLabel('Account').fill('route');
    await suggested('Account', 'routed');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('A route has one engine or more.').waitFor();
    await dialog.getByLabel('Engine 1').selectOption('apertium');
    await expectAccessible(page);
    await takeScreenshots(page, 'console-route-form', 'state');
    await dialog.getByRole('button', { name: 'Save' }).click();
    const row = page.getByRole('row').filter({ hasText: 'routed' });
    await row.getByText('apertium').waitFor();
    await row.getByRole('button', { name: 'Edit' }).click();
    expect(await dialog.getByLabel('Engine 1').inputValue()).toBe('apertium');
  });
});

it('an operator suspends an account, which its users see, and resumes it with one click', async () => {
  const account = await web.createAccount({ username: 'loud' });
  const customer = await web.signedIn(await createPerson(web, { role: 'customer', account }));
  await visit('/console/accounts/loud', async (page) => {
    await page.evaluate(`new MutationObserver(() => {
      const dialog = document.querySelector('[role=dialog]');
      if (dialog !== null) globalThis.firstOpacity ??= getComputedStyle(dialog).opacity;
    }).observe(document.body, { childList: true, subtree: true })`);
    await page.getByRole('button', { name: 'Suspend' }).click();
    const dialog = page.getByRole('dialog', { name: 'Suspend loud' });
    await expectAccessible(page);
    // A dialog that fades in would have too little contrast at first.
    expect(await page.evaluate('firstOpacity')).toBe('1');
    await takeScreenshots(page, 'console-suspend', 'state');
    await dialog.getByRole('button', { name: 'Suspend' }).click();
    await page.getByText('This account is suspended: its keys are refused').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'console-account-suspended');
    await web.visit({ context: customer, path: '/account' }, async (own) => {
      await own.getByText('This account is suspended. You can read everything').waitFor();
      await expectAccessible(own);
      await takeScreenshots(own, 'account-suspended');
    });
    await follow(page, '/console/accounts');
    await page.getByRole('row', { name: /loud Suspended/ }).waitFor();
    await follow(page, '/console/accounts/loud');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Suspend' }).waitFor();
  });
  await web.visit({ context: customer, path: '/account' }, async (own) => {
    await own.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    expect(await own.getByText('This account is suspended.').count()).toBe(0);
  });
  await customer.close();
});

it('an operator cancels a job that an editor has reported, and the customer reads the message in the history of the job', async () => {
  const account = await web.createAccount({ username: 'rude' });
  const person = await createPerson(web, { role: 'customer', account });
  const uid = await orderEdit(createClient(web.url, account.production_key), 'A rude house.');
  const editor = await createPerson(web, { role: 'editor', languages: ['en:es'] });
  const { tasks } = (await operator.call('GET', '/api/console/tasks?account=rude')).body;
  const { task, lease } = await claimTask(editor, tasks[0].task);
  const report = { token: lease.token, reason: 'offensive' };
  expect((await editor.call('POST', `/api/editing/tasks/${task}/report`, report)).status).toBe(200);
  await visit('/console/tasks?status=reported', async (page) => {
    const row = page.getByRole('row').filter({ hasText: uid });
    await row.getByRole('button', { name: 'Cancel job' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel job' });
    await dialog.getByLabel('Message to the customer').fill('We do not translate insults.');
    await expectAccessible(page);
    await takeScreenshots(page, 'console-cancel-job', 'state');
    await dialog.getByRole('button', { name: 'Cancel job' }).click();
    await row.waitFor({ state: 'detached' });
  });
  const customer = await web.signedIn(person);
  await web.visit({ context: customer, path: `/account/jobs?open=${uid}` }, async (page) => {
    await page.getByRole('dialog').getByText('We do not translate insults.').waitFor();
  });
  await customer.close();
});

it('the page of a job leads to its tasks, its callbacks and its audit entries', async () => {
  const account = await web.createAccount({ username: 'linked' });
  const program = createClient(web.url, account.production_key);
  const url = `${receiver.url}/linked`;
  await program('POST', '/api/v1/webhook-endpoints/', { url });
  await orderEdit(program, 'The linked house is small.', { uid: 'linked-job' });
  await orderEdit(program, 'Another house is small.', { uid: 'other-job' });
  const { jobs } = (await operator.call('GET', '/api/console/jobs?account=linked&q=linked-job')).body;
  const { job } = jobs[0];
  await operator.call('POST', `/api/console/accounts/linked/jobs/${job}/cancel`, {});
  await visit(`/console/jobs/linked/${job}`, async (page) => {
    const links = page.getByRole('navigation', { name: 'Related pages' });
    const callback = page.getByRole('link', { name: 'job.canceled' });
    await callback.waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'console-job-links');
    await links.getByRole('link', { name: 'Tasks' }).click();
    await page.getByRole('heading', { name: 'Tasks', level: 1 }).waitFor();
    await page.getByRole('row').filter({ hasText: 'linked-job' }).getByText('Canceled').waitFor();
    expect(await page.getByRole('row').filter({ hasText: 'other-job' }).count()).toBe(0);
    await page.goBack();
    await links.getByRole('link', { name: 'Audit log' }).click();
    await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();
    await page.getByRole('row').filter({ hasText: 'job.canceled' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await page.goBack();
    await callback.click();
    await page.getByText(url).first().waitFor();
  });
});

it('an operator cancels several jobs at once, and sees which one was refused', async () => {
  const account = await web.createAccount({ username: 'many' });
  const customer = createClient(web.url, account.production_key);
  const open = [
    await orderEdit(customer, 'The first house.'),
    await orderEdit(customer, 'The second house.'),
  ];
  await customer('POST', '/tapi/v2/mt_translation/', { ...JOB, uid: 'finished' });
  await until(
    async () => (await customer('GET', '/tapi/v2/mt_translation/finished/')).body.status === 'completed',
  );
  await visit('/console/jobs?account=many', async (page) => {
    const rowOf = (uid: string) => page.getByRole('row').filter({ hasText: uid });
    for (const uid of [open[0]!, 'finished']) await rowOf(uid).getByRole('checkbox').check();
    const bar = page.getByRole('region', { name: 'Actions on the selected entries' });
    await bar.getByText('2 selected').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'console-row-actions', 'state');
    await bar.getByRole('button', { name: 'Select the whole page' }).click();
    await bar.getByText('3 selected').waitFor();
    await bar.getByRole('button', { name: 'Cancel jobs' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel jobs' });
    await dialog.getByText('This applies to 3 entries:').waitFor();
    await dialog.getByLabel('Message to the customer').fill('The order was placed twice.');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Cancel jobs' }).click();
    await bar.getByText('1 entry was refused and stays selected:').waitFor();
    await bar.getByRole('listitem').filter({ hasText: 'finished, many' }).waitFor();
    await bar.getByText('1 selected').waitFor();
    for (const uid of open) await rowOf(uid).getByText('Canceled').waitFor();
    await rowOf('finished').getByText('Completed').waitFor();
    await expectAccessible(page);
    await bar.getByRole('button', { name: 'Clear selection' }).click();
    await bar.getByRole('button', { name: 'Close' }).click();
    await bar.waitFor({ state: 'detached' });
  });
  const { body } = await operator.call('GET', '/api/console/audit?account=many&action=job.canceled');
  expect(body.entries).toHaveLength(2);
  const person = await createPerson(web, { role: 'customer', account });
  for (const uid of open) {
    const { body: job } = await person.call('GET', `/api/account/jobs/${uid}`);
    expect(JSON.stringify(job)).toContain('The order was placed twice.');
  }
});

it('an operator replays several callbacks at once', async () => {
  receiver.answer(() => 410);
  const account = await web.createAccount({ username: 'several' });
  const customer = createClient(web.url, account.production_key);
  for (const uid of ['one', 'two']) {
    await customer('POST', '/tapi/v2/mt_translation/', {
      ...JOB,
      uid,
      callback_url: `${receiver.url}/${uid}`,
    });
  }
  await until(async () => {
    const { body } = await operator.call('GET', '/api/console/deliveries?status=dead&account=several');
    return body.deliveries.length === 2;
  });
  receiver.answer(() => 200);
  await visit('/console/deliveries?account=several', async (page) => {
    const list = page.getByRole('table', { name: 'Callbacks' });
    for (const uid of ['one', 'two']) {
      await list.getByRole('checkbox', { name: `Select job.completed ${uid}` }).check();
    }
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click();
    await page.getByText('2 entries: done.').first().waitFor();
    await list.getByText('Delivered').nth(1).waitFor();
  });
});
