/** Tests of the customer's pages. `crawl.test.ts` tests their accessibility. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accountNamed } from '../../server/src/access/accounts.ts';
import { parseBrand } from '../../server/src/brands/brand.ts';
import { saveBrand } from '../../server/src/brands/brands.ts';
import { createConnection } from '../../server/src/database/connections.ts';
import {
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  type TestPerson,
  until,
} from '../../server/src/testing/harness.ts';
import { expectAccessible, follow, PHONE, startWeb, takeScreenshots, type Web } from './browser.ts';

const MACHINE = '/tapi/v2/mt_translation/';
let web: Web;
let receiver: Receiver;
let customer: TestPerson;
let program: ReturnType<typeof createClient>;

beforeAll(async () => {
  receiver = await startReceiver();
  web = await startWeb({ settings: { DRAGOMAN_PRICE_MACHINE: '2', DRAGOMAN_CALLBACK_SCHEDULE: '1' } });
  const account = await web.createAccount({ balanceCents: 5_000, chat: true, username: 'alpenglow' });
  customer = await createPerson(web, { role: 'customer', account, name: 'Carla' });
  program = createClient(web.url, account.production_key);
  for (const [uid, path] of [
    ['order-confirmation-2026-11', '/good'],
    ['newsletter-december', '/gone'],
  ]) {
    receiver.answer((received) => (received.path === '/gone' ? 410 : 200));
    const body = {
      uid,
      text: 'The house is big.\nThe garden is small.',
      callback_url: `${receiver.url}${path}`,
    };
    const made = await program('POST', MACHINE, { ...body, source_language: 'en', target_language: 'es' });
    expect(made.status).toBe(201);
    await until(async () => (await program('GET', `${MACHINE}${uid}/`)).body.status === 'completed');
    await receiver.next((received) => received.path === path);
  }
  const alerts = { events: ['message.failed', 'job.asked'], description: 'Alerts of the support team' };
  const made = await program('POST', '/api/v1/webhook-endpoints/', {
    url: 'https://example.com/events',
    ...alerts,
  });
  expect(made.status).toBe(201);
  const { ref } = await accountNamed(web.database, 'alpenglow');
  const languages = {
    es: {
      tone: 'Formal',
      instructions: 'Address the customer formally.',
      glossary: [
        { source: 'backpack', target: 'mochila' },
        { source: 'Alpenglow', do_not_translate: true },
      ],
    },
  };
  const brand = parseBrand('alpenglow', {
    external_id: 'alpenglow',
    name: 'Alpenglow',
    default: true,
    languages,
  });
  await saveBrand(web.database, 'command', ref, brand, false);
});
afterAll(async () => {
  await web.stop();
  await receiver.close();
});

const PAGES = [
  ['', 'Overview'],
  ['/access', 'API access'],
  ['/jobs?tier=machine', 'Jobs'],
  ['/chats', 'Chats'],
  ['/deliveries', 'Callbacks'],
  ['/balance', 'Balance'],
  ['/brands', 'Brands'],
  ['/team', 'Team'],
  ['/jobs?tier=machine&open=newsletter-december', 'Jobs'],
  ['/brands?open=alpenglow', 'Brands'],
] as const;

it('each account page has its own title', async () => {
  const context = await web.signedIn(customer);
  await web.visit({ context, path: '/me' }, async (page) => {
    for (const [path, heading] of PAGES) {
      await follow(page, `/account${path}`);
      // An open panel hides the heading from assistive technology.
      await page.getByRole('heading', { name: heading, level: 1, includeHidden: true }).waitFor();
      await takeScreenshots(page, `account${path}`.replaceAll(/[^a-z]+/g, '-'));
    }
  });
  await context.close();
});

it('the account pages have no overflow on phones', async () => {
  const context = await web.signedIn(customer);
  await web.visit({ context, path: '/me', size: PHONE, language: 'de' }, async (page) => {
    for (const [path] of PAGES) {
      await follow(page, `/account${path}`);
      const wide = await page.evaluate('document.documentElement.scrollWidth');
      expect({ path, wide }).toEqual({ path, wide: PHONE.width });
    }
  });
  await context.close();
});

/** Returns the status of an API call with a key. */
const statusWith = async (key: string) =>
  (await fetch(`${web.url}/tapi/v2/account/`, { headers: { authorization: `ApiKey ${key}` } })).status;

it('a customer creates and rolls a key, and the old key is rejected after the overlap', async () => {
  const context = await web.signedIn(customer);
  await web.visit({ context, path: '/account/access' }, async (page) => {
    await page.getByRole('button', { name: 'Create key' }).click();
    const form = page.getByRole('dialog', { name: 'Create key' });
    await form.getByRole('button', { name: 'Create key' }).click();
    // The form refuses a key without a name.
    await form.locator('[aria-invalid=true][name=name]').waitFor();
    await form.getByLabel('Name').fill('Build server');
    await form.getByRole('group', { name: 'Parts of the API' }).getByLabel('Chat').uncheck();
    await form.getByLabel('Limit per day').fill('five');
    await form.getByRole('button', { name: 'Create key' }).click();
    await form.locator('[aria-invalid=true][name=daily_cents]').waitFor();
    await form.getByLabel('Limit per day').fill('12.50');
    await takeScreenshots(page, 'account-key-create', 'state');
    await form.getByRole('button', { name: 'Create key' }).click();
    const shown = page.getByRole('dialog', { name: 'Copy it now' });
    const first = (await shown.locator('code').first().innerText()).trim();
    expect(await statusWith(first)).toBe(200);
    await expectAccessible(page);
    await takeScreenshots(page, 'account-key-shown', 'state');
    await shown.getByRole('button', { name: 'I have saved it' }).click();

    const row = page.getByRole('row').filter({ hasText: 'Build server' });
    // The row shows the scopes of a key that does not have all of them.
    await row.getByText('All jobs', { exact: true }).waitFor();
    await row.getByText('$0.00 of $12.50 today').waitFor();
    expect(await row.getByText('Chat', { exact: true }).count()).toBe(0);
    await row.getByRole('button', { name: 'Roll' }).click();
    await page
      .getByRole('dialog', { name: 'Roll Build server' })
      .getByRole('button', { name: 'Roll' })
      .click();
    const second = (await shown.locator('code').first().innerText()).trim();
    expect([await statusWith(first), await statusWith(second)]).toEqual([200, 200]);
    await shown.getByRole('button', { name: 'I have saved it' }).click();
    await row.filter({ hasText: 'Expires soon' }).waitFor();

    // Expires the old key, which otherwise works until the overlap ends.
    const owner = createConnection(web.connection);
    await owner.connect();
    await owner.query('update keys set revoked_at = now() where revoked_at > now()');
    await owner.end();
    await until(async () => (await statusWith(first)) === 401);
    expect(await statusWith(second)).toBe(200);
    await page.reload();
    await row.filter({ hasText: 'Revoked' }).waitFor();

    await row.filter({ hasText: 'Active' }).getByRole('button', { name: 'Revoke' }).click();
    const asked = page.getByRole('dialog', { name: 'Revoke Build server' });
    await expectAccessible(page);
    await asked.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The key was revoked.').first().waitFor();
    await until(async () => (await statusWith(second)) === 401);
  });
  await context.close();
});

it('a customer allows web pages to call the API, and an address with a path is refused', async () => {
  const context = await web.signedIn(customer);
  await web.visit({ context, path: '/account/access' }, async (page) => {
    const preflight = async () => {
      const headers = {
        origin: 'https://app.example.com',
        'sec-fetch-site': 'cross-site',
        'access-control-request-method': 'POST',
      };
      return (await fetch(`${web.url}/tapi/v2/translation/`, { method: 'OPTIONS', headers })).status;
    };
    expect(await preflight()).toBe(401);
    const addresses = page.getByLabel('Allowed addresses');
    await addresses.fill('https://app.example.com/path');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Enter the address of a web page without a path').waitFor();
    await addresses.fill('https://app.example.com/');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The addresses were saved.').first().waitFor();
    await until(async () => (await preflight()) === 204);
    await expectAccessible(page);
  });
});

it('a customer adds a webhook endpoint, sees why a URL is refused, changes its events, and deletes it', async () => {
  const context = await web.signedIn(customer);
  await web.visit({ context, path: '/account/access' }, async (page) => {
    const section = page.getByRole('region', { name: 'Webhook endpoints' });
    await section.getByText('Alerts of the support team').waitFor();
    await section.getByRole('button', { name: 'Add endpoint' }).click();
    const form = page.getByRole('dialog', { name: 'Add endpoint' });
    await form.getByLabel('URL').fill('https://10.0.0.1/events');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText('This URL cannot be used. This URL must point to a public address').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'account-endpoint-form', 'state');
    await form.getByLabel('URL').fill(`${receiver.url}/events`);
    await form.getByLabel('Description').fill('Shop');
    await form.getByLabel('job.asked').uncheck();
    await form.getByRole('button', { name: 'Save' }).click();
    const shown = page.getByRole('dialog', { name: 'Copy it now' });
    expect((await shown.locator('code').first().innerText()).trim()).toMatch(/^whsec_/);
    await shown.getByRole('button', { name: 'I have saved it' }).click();
    const row = section.getByRole('row').filter({ hasText: `${receiver.url}/events` });
    await row.getByText('job.canceled').waitFor();
    expect(await row.getByText('job.asked').count()).toBe(0);

    await row.getByRole('button', { name: 'Edit' }).click();
    const editing = page.getByRole('dialog', { name: 'Edit webhook endpoint' });
    expect(await editing.getByLabel('job.asked').isChecked()).toBe(false);
    await editing.getByLabel('job.asked').check();
    await editing.getByLabel('Status').selectOption('disabled');
    await editing.getByRole('button', { name: 'Save' }).click();
    await row.getByText('All events').waitFor();
    await row.getByText('Disabled').waitFor();
    await takeScreenshots(page, 'account-endpoints', 'state');
    await row.getByRole('button', { name: 'Roll secret' }).click();
    const rolling = page.getByRole('dialog', { name: 'Roll the secret of this endpoint' });
    await rolling.getByRole('button', { name: 'Roll' }).click();
    await shown.getByRole('button', { name: 'I have saved it' }).click();
    await row.getByRole('button', { name: 'Delete' }).click();
    const asked = page.getByRole('dialog', { name: 'Delete webhook endpoint' });
    await asked.getByText(`${receiver.url}/events`).waitFor();
    await expectAccessible(page);
    await asked.getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await section.getByRole('row').count()).toBe(2);
  });
  await context.close();
});

it('a customer sees that an endpoint was disabled because it failed, and enables it with one click', async () => {
  const account = await web.createAccount({ username: 'failing' });
  const url = 'https://example.com/failing';
  await createClient(web.url, account.production_key)('POST', '/api/v1/webhook-endpoints/', { url });
  const owner = createConnection(web.connection);
  await owner.connect();
  await owner.query("update webhook_endpoints set status = 'failed' where url = $1", [url]);
  await owner.end();
  const context = await web.signedIn(await createPerson(web, { role: 'customer', account }));
  await web.visit({ context, path: '/account' }, async (page) => {
    await page
      .getByText('1 webhook endpoint was disabled, because at least 10 of its callbacks failed')
      .waitFor();
    await page.getByRole('link', { name: 'View endpoints' }).click();
    const row = page.getByRole('row').filter({ hasText: url });
    await row.getByText('Failed', { exact: true }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'account-endpoint-failed');
    await row.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('dialog').getByLabel('Description').fill('Moved soon');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await row.getByText('Moved soon').waitFor();
    expect(await row.getByText('Failed', { exact: true }).count()).toBe(1);
    await row.getByRole('button', { name: 'Enable' }).click();
    await row.getByText('Active', { exact: true }).waitFor();
    expect(await row.getByRole('button', { name: 'Enable' }).count()).toBe(0);
  });
  await context.close();
});

it('the job list finds a job by a part of its uid, keeps the filter in the address, and opens the job', async () => {
  const context = await web.signedIn(customer);
  await web.visit({ context, path: '/account/jobs?tier=machine' }, async (page) => {
    await page.getByText('2 jobs').waitFor();
    await page.getByLabel('Search by uid').fill('newsletter');
    await page.keyboard.press('Enter');
    await page.getByText('1 job', { exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe('?tier=machine&uid=newsletter');
    await page.getByRole('button', { name: 'newsletter-december' }).click();
    const panel = page.getByRole('dialog', { name: 'Job' });
    await panel.getByRole('region', { name: 'Source' }).getByText('The garden is small.').waitFor();
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await page.getByLabel('Search by uid').fill('no such uid');
    await page.keyboard.press('Enter');
    await page.getByText('No jobs match.').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText('2 jobs').waitFor();
  });
  await context.close();
});

it('a customer replays a dead callback', async () => {
  const context = await web.signedIn(customer);
  await web.visit({ context, path: '/account/deliveries' }, async (page) => {
    const search = page.getByLabel('Callbacks of the job with this uid');
    await search.fill('no such uid');
    await page.keyboard.press('Enter');
    await page.getByText('No callbacks match.').waitFor();
    await search.fill('newsletter-december');
    await page.keyboard.press('Enter');
    const row = page.getByRole('row').filter({ hasText: 'newsletter-december' });
    await row.getByText('410', { exact: true }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await expectAccessible(page);
    await takeScreenshots(page, 'account-deliveries-of-job', 'state');
    await page.getByRole('button', { name: `${receiver.url}/gone` }).click();
    const panel = page.getByRole('dialog', { name: 'Callback' });
    await panel.getByText('410', { exact: true }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'account-delivery', 'state');
    receiver.answer(() => 200);
    const before = receiver.received.length;
    await panel.getByRole('button', { name: 'Replay' }).click();
    await page.getByText('The callback is being sent again.').first().waitFor();
    await until(() => receiver.received.length > before);
  });
  await context.close();
});

it('the statement has one line for each job, adds up, and can be printed without navigation', async () => {
  const context = await web.signedIn(customer);
  await web.visit({ context, path: '/account/balance' }, async (page) => {
    const rows = page.getByRole('table', { name: 'Balance' }).getByRole('row');
    await rows.filter({ hasText: 'order-confirmation-2026-11' }).getByText('Charged').waitFor();
    // The table has a header, the opening top-up, and one line for each of the two jobs with 8 words at 2 cents.
    expect(await rows.count()).toBe(4);
    expect(await rows.getByText('-$0.16').count()).toBe(2);
    const figure = (label: string) =>
      page.locator('dl > div').filter({ hasText: label }).locator('dd').innerText();
    expect(await figure('Charged in this period')).toBe('$0.32');
    expect(await figure('Closing balance')).toBe('$49.68');
    expect(await figure('On hold')).toBe('$0.00');
    await expectAccessible(page);
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('navigation').isVisible()).toBe(false);
    expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false);
    expect(await rows.first().isVisible()).toBe(true);
  });
  await context.close();
});

it('the team page invites a colleague and shows the link once', async () => {
  const context = await web.signedIn(customer);
  await web.visit({ context, path: '/account/team' }, async (page) => {
    await page.getByRole('button', { name: 'Invite' }).click();
    const form = page.getByRole('dialog', { name: 'Invite' });
    await form.getByLabel('E-mail').fill('colleague@example.com');
    await form.getByRole('button', { name: 'Invite' }).click();
    const shown = page.getByRole('dialog', { name: 'Invitation link' });
    await shown.getByText('/app/invitation/').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('row').filter({ hasText: 'colleague@example.com' }).getByText('Invited').waitFor();
  });
  await context.close();
});
