/** Tests of the operator's pages. `crawl.test.ts` tests their accessibility. */
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConnection } from '../../server/src/database/connections.ts';
import { claimTask, confirmAll, orderEdit, save } from '../../server/src/testing/editors.ts';
import {
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  type TestPerson,
  until,
} from '../../server/src/testing/harness.ts';
import { expectAccessible, follow, PHONE, startWeb, takeScreenshots, type Web } from './browser.ts';

let web: Web;
let operator: TestPerson;
let window: BrowserContext;
let receiver: Receiver;
beforeAll(async () => {
  web = await startWeb({
    settings: {
      DRAGOMAN_CALLBACK_SCHEDULE: '3600,3600',
      DRAGOMAN_ENGINES: 'apertium',
      DRAGOMAN_EDITOR_TASKS: '3',
    },
  });
  operator = await createPerson(web, { role: 'operator', name: 'Olga Operator' });
  window = await web.signedIn(operator);
  receiver = await startReceiver();
  const { production_key } = await web.createAccount({
    username: 'acme',
    email: 'hello@acme.test',
    balanceCents: 5000,
    chat: true,
  });
  const call = createClient(web.url, production_key);
  const job = {
    source_language: 'en',
    target_language: 'es',
    text: 'The house is small and the garden is large.',
  };
  for (const uid of ['order-1001', 'order-1002', 'order-1003']) {
    await call('POST', '/tapi/v2/translation/', { ...job, uid, callback_url: `${receiver.url}/hook` });
  }
  receiver.answer(() => 410);
  await call('POST', '/tapi/v2/mt_translation/', {
    ...job,
    uid: 'order-1004',
    callback_url: `${receiver.url}/hook`,
  });
  await until(async () => {
    const { body } = await call('GET', '/api/v1/deliveries/?status=dead');
    return body.objects.length === 1;
  });
  await web.createAccount({ username: 'zenith', email: undefined });
});
afterAll(async () => {
  await receiver.close();
  await web.stop();
});

const visit = (path: string, visitor: (page: Page) => Promise<void>) =>
  web.visit({ context: window, path }, visitor);

async function firstJob(): Promise<string> {
  const { body } = await operator.call('GET', '/api/console/jobs?account=acme');
  return `/console/jobs/acme/${body.jobs.at(-1).job}`;
}
async function deadDelivery(): Promise<string> {
  const { body } = await operator.call('GET', '/api/console/deliveries?status=dead');
  return `/console/deliveries/${body.deliveries[0].id}`;
}

const PAGES: [name: string, path: string | (() => Promise<string>), title: string | RegExp][] = [
  ['home', '/console', 'Console'],
  ['accounts', '/console/accounts', 'Accounts'],
  ['account', '/console/accounts/acme', 'acme'],
  ['money', '/console/accounts/acme/money', 'Money'],
  ['brands', '/console/accounts/acme/brands', 'Brands'],
  ['jobs', '/console/jobs', 'Jobs'],
  ['job', firstJob, /^Job \d+/],
  ['tasks', '/console/tasks', 'Tasks'],
  ['deliveries', '/console/deliveries', 'Callbacks'],
  ['delivery', deadDelivery, 'job.completed'],
  ['pairs', '/console/pairs', 'Pairs and prices'],
  ['routes', '/console/routes', 'Engine routes'],
  ['engines', '/console/engines', 'Engines'],
  ['compare', '/console/engines/compare', 'Compare engines'],
  ['people', '/console/people', 'People'],
  ['requests', '/console/requests', 'Sandbox requests'],
  ['audit', '/console/audit', 'Audit log'],
  ['settings', '/console/settings', 'Settings'],
];

it('each console page has its own title', async () => {
  await visit('/me', async (page) => {
    for (const [name, path, title] of PAGES) {
      await follow(page, typeof path === 'string' ? path : await path());
      await page.getByRole('heading', { name: title, level: 1 }).waitFor();
      await takeScreenshots(page, `console-${name}`);
    }
  });
});

it('the navigation has groups, and counts what waits', async () => {
  await visit('/console/settings', async (page) => {
    const navigation = page.getByRole('navigation', { name: 'Navigation' });
    await navigation.getByRole('link', { name: /^Tasks\s+3\s+waiting$/ }).waitFor();
    await navigation.getByRole('link', { name: /^Callbacks\s+1\s+waiting$/ }).waitFor();
    const customers = navigation.getByRole('list', { name: 'Customers' });
    expect(await customers.getByRole('link').allTextContents()).toEqual(['Accounts', 'Sandbox requests']);
    await expectAccessible(page);
  });
});

it('Ctrl+K finds a job, an account, a user and a page, by keyboard and by pointer', async () => {
  await visit('/console/settings', async (page) => {
    const field = page.locator('[role=combobox]:focus');
    // Closed selects have options too.
    const options = page.locator('[role=option]');
    const open = async () => {
      await page.keyboard.press('Control+k');
      await field.waitFor();
    };
    await open();
    // Without a text, the pages are listed.
    await options.filter({ hasText: 'Engine routes' }).waitFor();
    await expectAccessible(page);
    await page.keyboard.type('order-1003', { delay: 40 });
    // Enter waits for the results.
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^Job \d+/, level: 1 }).waitFor();
    await page.getByText('order-1003').first().waitFor();

    await open();
    await page.keyboard.type('acme', { delay: 40 });
    const accounts = page.getByRole('group', { name: 'Accounts' });
    await accounts.getByRole('option', { name: 'hello@acme.test' }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'console-palette', 'state');
    await accounts.getByRole('option', { name: 'hello@acme.test' }).click();
    await page.getByRole('heading', { name: 'acme', level: 1 }).waitFor();

    await page.getByRole('button', { name: /^Search/ }).click();
    await field.waitFor();
    await page.keyboard.type('olga', { delay: 40 });
    await options.filter({ hasText: operator.email }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'People', level: 1 }).waitFor();
    await page.locator('[data-palette]').waitFor({ state: 'detached' });
    // The address names the user by id, because browsers keep addresses.
    expect(page.url()).not.toContain('@');
    expect(page.url()).not.toContain(encodeURIComponent(operator.email));
    await page.getByRole('dialog').getByText(operator.email).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await open();
    await page.keyboard.type('engine', { delay: 40 });
    await page.getByText('2 results').waitFor();
    expect(await options.allTextContents()).toEqual(['Engine routes', 'Engines']);
    await page.keyboard.press('ArrowDown');
    await page.locator('[role=option][aria-selected=true]', { hasText: 'Engines' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Engines', level: 1 }).waitFor();

    await open();
    await page.keyboard.type('nowhere to be found', { delay: 20 });
    await page.getByText('No results.').waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await page.locator('[data-palette]').waitFor({ state: 'detached' });
    expect(new URL(page.url()).pathname).toBe('/app/console/engines');
  });
});

it('the command palette opens over no other dialog', async () => {
  await visit('/console/accounts', async (page) => {
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('dialog', { name: 'Create account' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.locator('[data-palette]').count()).toBe(0);
  });
});

it.each([
  ['de', 'Menü', 'Navigation', 'Suchen'],
  ['ar', 'القائمة', 'التنقل', 'بحث'],
] as const)('the command palette works on a phone in %s', async (language, menu, navigation, search) => {
  await web.visit({ context: window, path: '/console', language, size: PHONE }, async (page) => {
    await page.getByRole('button', { name: menu }).click();
    await page.getByRole('button', { name: search }).click();
    await page.locator('[role=combobox]:focus').waitFor();
    await page.keyboard.type('acme', { delay: 40 });
    const option = page.getByRole('option', { name: 'hello@acme.test' }).first();
    await option.waitFor();
    await expectAccessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
    await option.click();
    await page.getByRole('heading', { name: 'acme', level: 1 }).waitFor();
    // The menu is closed, so that the page is visible.
    await page.getByRole('navigation', { name: navigation }).waitFor({ state: 'hidden' });
  });
});

it('console lists read filters from the address, have a button that clears them, and move the focus with arrow keys', async () => {
  await visit('/console/jobs?q=nowhere', async (page) => {
    await page.getByText('No results match these filters.').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('link', { name: 'order-1004' }).waitFor();
    expect(new URL(page.url()).search).toBe('');
    await page.getByRole('link', { name: 'order-1004' }).focus();
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('order-1003');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('order-1004');
  });
  await visit('/console/jobs', async (page) => {
    await page.getByRole('link', { name: 'order-1004' }).waitFor();
    await page.getByLabel('Target language').selectOption({ label: 'English' });
    await page.getByText('No results match these filters.').waitFor();
    await page.getByLabel('Target language').selectOption({ label: 'Spanish' });
    await page.getByLabel('Source language').selectOption({ label: 'English' });
    await page.getByRole('link', { name: 'order-1004' }).waitFor();
    expect(new URL(page.url()).search).toContain('source_language=en');
  });
  // The last page has a button that leads back to the first page.
  await visit('/console/accounts?after=zenith', async (page) => {
    await page.getByRole('button', { name: 'First page' }).click();
    await page.getByRole('link', { name: 'acme' }).waitFor();
    expect(new URL(page.url()).search).toBe('');
  });
});

it('the console shows how many segments an engine failed on, and no hourly rate for less than five minutes of work', async () => {
  const owner = createConnection(web.connection);
  await owner.connect();
  await owner.query(
    `insert into engine_minutes (engine, minute, worker_id, answered, failed, milliseconds, slowest, segments, failed_segments)
     values ('apertium', date_trunc('minute', now()), gen_random_uuid(), 1000, 0, 1000, 10, 1000, 516)`,
  );
  await owner.end();
  await visit('/console/engines', async (page) => {
    // The engine has also answered the requests of the other tests.
    await page.getByText(/^516 of 1,0\d\d \(\d\d(\.\d)?%\)$/).waitFor();
  });
  const { production_key } = await web.createAccount({ balanceCents: 5000 });
  const call = createClient(web.url, production_key);
  const uid = await orderEdit(call, 'The house is small and the garden is large.');
  const eva = await createPerson(web, { role: 'editor', languages: ['en:es'], name: 'Eva' });
  const { body: queue } = await eva.call('GET', '/api/editing/queue');
  const claimed = await claimTask(eva, queue.open.find((one: { uid: string }) => one.uid === uid).task);
  const rateAfter = async (revision: number, active_ms: number, rate: string) => {
    const edited = { draft: claimed.segments[0].draft, position: 0, revision };
    expect((await save(eva, claimed, edited, { status: 'confirmed', active_ms })).status).toBe(200);
    await visit('/console/people', async (page) => {
      const effort = page.getByRole('table', { name: 'Work and quality' }).getByRole('row', { name: 'Eva' });
      await effort.getByRole('cell', { name: rate, exact: true }).waitFor();
    });
  };
  // Nine words in four minutes give no rate, nine words in twelve minutes do.
  await rateAfter(0, 240_000, '–');
  await rateAfter(1, 480_000, '45');
});

it('an operator re-runs the machine translation of a job with a chosen engine', async () => {
  await visit(await firstJob(), async (page) => {
    await page.getByRole('button', { name: 'Re-run machine translation' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/^1 segment gets a new draft/).waitFor();
    await dialog.getByLabel('Engine').selectOption('fake');
    await dialog.getByRole('button', { name: 'Re-run machine translation' }).click();
    await dialog.waitFor({ state: 'detached' });
  });
  const { body } = await operator.call('GET', '/api/console/audit?action=job.redrafted');
  expect(body.entries).toMatchObject([{ account: 'acme', detail: { engine: 'fake' } }]);
});

it('the list of tasks is shown when the editors cannot be read, and a task that suits no editor cannot be reassigned', async () => {
  const account = await web.createAccount({ username: 'reported', balanceCents: 5000 });
  const uid = await orderEdit(createClient(web.url, account.production_key), 'Four houses.');
  const gus = await createPerson(web, { role: 'editor', languages: ['en:es'] });
  const { body: listed } = await operator.call('GET', '/api/console/tasks?account=reported');
  const { task, lease } = await claimTask(gus, listed.tasks[0].task);
  const report = { token: lease.token, reason: 'bad_source' };
  expect((await gus.call('POST', `/api/editing/tasks/${task}/report`, report)).body.status).toBe('reported');
  await visit('/console', async (page) => {
    let people: { status: number; json: object } = {
      status: 500,
      json: { error: { code: 'server_error', message: 'A test.' } },
    };
    await page.route('**/api/console/people?role=editor', (route) => route.fulfill(people));
    await follow(page, '/console/tasks?account=reported');
    await page.getByRole('checkbox', { name: `Select ${uid}, reported` }).press('Space');
    const bar = page.getByRole('region', { name: 'Actions on the selected entries' });
    await bar.getByRole('button', { name: 'Reassign' }).click();
    const dialog = page.getByRole('dialog', { name: 'Reassign' });
    await dialog.getByText('This also settles the reports of these tasks.', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Try again' }).waitFor();
    const action = dialog.getByRole('button', { name: 'Reassign' });
    expect(await action.isDisabled()).toBe(true);
    people = { status: 200, json: { people: [] } };
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await dialog.getByText('No editor works in the language pairs of all these tasks.').waitFor();
    expect(await action.isDisabled()).toBe(true);
    await expectAccessible(page);
    await takeScreenshots(page, 'console-tasks-no-editor', 'state');
  });
});

it('an operator reassigns, prioritizes and releases several tasks at once, and sees which one was refused', async () => {
  const account = await web.createAccount({ username: 'queued', balanceCents: 5000 });
  const call = createClient(web.url, account.production_key);
  const uids = await Promise.all(['One', 'Two', 'Three'].map((word) => orderEdit(call, `${word} houses.`)));
  const fay = await createPerson(web, { role: 'editor', languages: ['en:es'], name: 'Fay' });
  await createPerson(web, { role: 'editor', languages: ['en:es+review'] });
  const { body: listed } = await operator.call('GET', '/api/console/tasks?account=queued');
  // The last task is submitted and waits for its review, which is a task of the same job.
  const { task } = listed.tasks.find((one: { uid: string }) => one.uid === uids[2]);
  const last = await claimTask(fay, task);
  await confirmAll(fay, last);
  const { token } = last.lease;
  expect((await fay.call('POST', `/api/editing/tasks/${task}/submit`, { token })).status).toBe(200);
  await visit('/console/tasks?account=queued', async (page) => {
    const bar = page.getByRole('region', { name: 'Actions on the selected entries' });
    const act = async (action: string, fill?: (dialog: Locator) => Promise<unknown>) => {
      await bar.getByRole('button', { name: action }).press('Enter');
      const dialog = page.getByRole('dialog', { name: action });
      await fill?.(dialog);
      await dialog.getByRole('button', { name: action }).press('Enter');
      await dialog.waitFor({ state: 'detached' });
    };
    const choose = (uid: string) =>
      page.getByRole('checkbox', { name: `Select ${uid}, queued` }).press('Space');
    for (const uid of uids.slice(0, 2)) await choose(uid!);
    await bar.getByText('2 selected').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'console-tasks-selected', 'state');
    await act('Reassign', async (dialog) => {
      await dialog.getByText('This applies to 2 entries:').waitFor();
      await dialog.getByLabel('Editor').selectOption('Fay');
      await expectAccessible(page);
    });
    await bar.waitFor({ state: 'detached' });
    for (const uid of uids.slice(0, 2)) await choose(uid!);
    const submitted = page.getByRole('row').filter({ hasText: uids[2]! }).filter({ hasText: 'Submitted' });
    await submitted.getByRole('checkbox').press('Space');
    await act('Priority', (dialog) => dialog.getByLabel('Priority').fill('7'));
    await bar.getByText('1 entry was refused and stays selected:').waitFor();
    await bar
      .getByRole('listitem')
      .filter({ hasText: `${uids[2]}, queued` })
      .waitFor();
    await bar.getByText('1 selected').waitFor();
  });
  const { body: queue } = await fay.call('GET', '/api/editing/queue');
  const reserved = queue.open.filter(({ uid }: { uid: string }) => uids.includes(uid));
  expect(reserved.map((one: { reserved: boolean }) => one.reserved)).toEqual([true, true]);
  for (const { task } of reserved) await claimTask(fay, task);
  await visit('/console/tasks?account=queued&status=claimed', async (page) => {
    await page.getByRole('checkbox').first().press('Space');
    const bar = page.getByRole('region', { name: 'Actions on the selected entries' });
    await bar.getByRole('button', { name: 'Select the whole page' }).click();
    await bar.getByText('2 selected').waitFor();
    await bar.getByRole('button', { name: 'Release' }).click();
    const dialog = page.getByRole('dialog', { name: 'Release' });
    await dialog.getByText('Each task returns to the queue.').waitFor();
    await dialog.getByRole('button', { name: 'Release' }).click();
    await page.getByRole('checkbox').first().waitFor({ state: 'detached' });
  });
  const audit = async (action: string) =>
    (await operator.call('GET', `/api/console/audit?account=queued&action=${action}`)).body.entries;
  for (const action of ['task.reassigned', 'task.prioritised', 'task.released']) {
    expect(await audit(action)).toHaveLength(2);
  }
});

it('an operator chooses the language pairs of an editor, and sees which language is missing', async () => {
  await createPerson(web, { role: 'editor', languages: ['en:es', 'en:pt+review'], name: 'Pia' });
  await visit('/console/people?q=Pia', async (page) => {
    await page.getByRole('button', { name: 'Pia' }).click();
    const dialog = page.getByRole('dialog', { name: 'Pia' });
    const focused = page.locator(':focus');
    const remove = (place: number) => dialog.getByRole('button', { name: `Remove language pair ${place}` });
    const add = dialog.getByRole('button', { name: 'Add language pair' });
    await add.click();
    await remove(3).press('Enter');
    await add.and(focused).waitFor();
    await remove(1).press('Enter');
    await remove(1).and(focused).waitFor();
    await add.click();
    await dialog.getByLabel('Source language').last().fill('ca');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('This field is required.').waitFor();
    await dialog.getByLabel('Target language').last().fill('es');
    await expectAccessible(page);
    await takeScreenshots(page, 'console-person', 'state');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: 'Pia' }).getByText('ca → es').waitFor();
  });
  const { body } = await operator.call('GET', '/api/console/people?q=Pia');
  expect(body.people[0].languages).toEqual([
    { source_language: 'ca', target_language: 'es', review: false },
    { source_language: 'en', target_language: 'pt', review: true },
  ]);
});

it('an operator finds a setting by its meaning, and lists the settings that are set', async () => {
  await visit('/console/settings', async (page) => {
    await page.getByLabel('Name or meaning').fill('Order of preference');
    await page.getByText('DRAGOMAN_CALLBACK_SCHEDULE', { exact: true }).waitFor({ state: 'detached' });
    await page.getByText('DRAGOMAN_ENGINES', { exact: true }).waitFor();
    await page.getByLabel('Name or meaning').fill('No setting says this');
    await page.getByText('No settings match.').waitFor();
    await page.getByLabel('Name or meaning').fill('');
    await page.getByLabel('Status').selectOption('Set');
    await page.getByText('DRAGOMAN_CALLBACK_SCHEDULE', { exact: true }).waitFor();
    await page.getByText('DATABASE_READ_URL', { exact: true }).waitFor({ state: 'detached' });
  });
});
