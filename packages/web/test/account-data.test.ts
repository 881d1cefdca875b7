/**
 * Tests of the customer's pages for jobs, memory, data and callbacks: accepting and rejecting jobs, importing
 * and exporting, erasing, and replaying failed callbacks.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accountNamed } from '../../server/src/access/accounts.ts';
import { importEntries } from '../../server/src/memory/memory.ts';
import { editNext, HUMAN, orderEdit } from '../../server/src/testing/editors.ts';
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
let receiver: Receiver;
let editor: TestPerson;
beforeAll(async () => {
  receiver = await startReceiver();
  web = await startWeb({ settings: { DRAGOMAN_SANDBOX_HOLD: '0' } });
  editor = await createPerson(web, { role: 'editor', languages: ['en:es'] });
});
afterAll(async () => {
  await web.stop();
  await receiver.close();
});

async function createCustomer(username: string) {
  const account = await web.createAccount({ balanceCents: 5_000, username });
  const owner = await createPerson(web, { role: 'customer', account, name: 'Carla' });
  const program = createClient(web.url, account.production_key);
  return { account, owner, program };
}

/** Creates a human job and completes it. */
async function finishJob(program: ReturnType<typeof createClient>, uid: string): Promise<void> {
  await orderEdit(program, 'The house is big.', { uid });
  await editNext(editor);
  await until(async () => (await program('GET', `${HUMAN}${uid}/`)).body.status === 'completed');
}

it('a customer accepts one job and rejects another with a reason', async () => {
  const { owner, program } = await createCustomer('verdicts');
  await finishJob(program, 'good');
  await finishJob(program, 'bad');
  const context = await web.signedIn(owner);
  await web.visit({ context, path: '/account/jobs?open=good' }, async (page) => {
    const panel = page.getByRole('dialog', { name: 'Job' });
    await panel.getByRole('button', { name: 'Accept' }).click();
    const asked = page.getByRole('dialog', { name: 'Accept good' });
    await expectAccessible(page);
    await takeScreenshots(page, 'account-accept', 'state');
    await asked.getByRole('button', { name: 'Accept' }).click();
    await panel.getByRole('listitem').filter({ hasText: 'Accepted' }).filter({ hasText: 'by you' }).waitFor();
    expect(await panel.getByRole('button', { name: 'Accept' }).count()).toBe(0);
    expect((await program('GET', `${HUMAN}good/`)).body.status).toBe('accepted');
  });
  await web.visit({ context, path: '/account/jobs?open=bad', language: 'de' }, async (page) => {
    const panel = page.getByRole('dialog', { name: 'Auftrag', exact: true });
    await panel.getByRole('button', { name: 'Ablehnen' }).click();
    const asked = page.getByRole('dialog', { name: 'bad ablehnen' });
    await asked.getByText('geht mit Ihrer Begründung kostenlos an einen Bearbeiter zurück').waitFor();
    await asked.getByRole('button', { name: 'Ablehnen' }).click();
    // The error of a field is in the language of the page.
    await asked.getByText('Das darf nicht leer sein.').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'account-reject', 'state');
    await asked.getByLabel('Was stimmt nicht?').fill('The tone is wrong.');
    await asked.getByRole('button', { name: 'Ablehnen' }).click();
    await panel.getByText('The tone is wrong.').waitFor();
    expect((await program('GET', `${HUMAN}bad/`)).body.status).not.toBe('completed');
    await editNext(editor);
    await until(async () => (await program('GET', `${HUMAN}bad/`)).body.status === 'completed');
  });
  await context.close();
});

it('the job panel shows why a job can no longer be accepted', async () => {
  const { owner, program } = await createCustomer('late');
  await finishJob(program, 'late');
  const context = await web.signedIn(owner);
  // Blocks live updates, because with them the page would remove the button.
  await context.route('**/api/live?*', (route) => route.abort());
  await web.visit({ context, path: '/account/jobs?open=late' }, async (page) => {
    const panel = page.getByRole('dialog', { name: 'Job' });
    await panel.getByRole('button', { name: 'Reject' }).waitFor();
    // While the panel is open, a program rejects the job.
    expect((await program('POST', `${HUMAN}late/reject/`, { reason: 'too late' })).status).toBe(200);
    await panel.getByRole('button', { name: 'Accept' }).click();
    const asked = page.getByRole('dialog', { name: 'Accept late' });
    await asked.getByRole('button', { name: 'Accept' }).click();
    await asked.getByText('Only a completed job can be accepted.').waitFor();
    await editNext(editor);
  });
  await context.close();
});

const TMX = `<tmx version="1.4"><body>
<tu><tuv xml:lang="en"><seg>The invoice is due.</seg></tuv><tuv xml:lang="es"><seg>La factura vence.</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>Thank you.</seg></tuv><tuv xml:lang="es"><seg>Gracias.</seg></tuv></tu>
</body></tmx>`;

it('a customer imports a TMX file after a preview, finds an entry and withdraws it', async () => {
  const { owner } = await createCustomer('memory');
  const context = await web.signedIn(owner);
  await web.visit({ context, path: '/account/memory' }, async (page) => {
    await page.getByText('No entries yet.').waitFor();
    await page.getByRole('button', { name: 'Import TMX' }).click();
    const form = page.getByRole('dialog', { name: 'Import TMX' });
    const choose = (buffer: Buffer) =>
      form.getByLabel('TMX file').setInputFiles({ name: 'old.tmx', mimeType: 'application/xml', buffer });
    await form.getByLabel('Source language').fill('English');
    await form.getByLabel('Target language').fill('es');
    await choose(Buffer.from(TMX.replace('vence', 'venció'), 'latin1'));
    await form.getByRole('button', { name: 'Preview' }).click();
    await form.getByText('The file is not text in the encoding that it declares.').waitFor();
    await choose(Buffer.from(TMX));
    await form.getByRole('button', { name: 'Preview' }).click();
    await form.getByText('This must be a language code').waitFor();
    await form.getByLabel('Source language').fill('en');
    await expectAccessible(page);
    await form.getByRole('button', { name: 'Preview' }).click();
    await form.getByText('2 entries will be imported.').waitFor();
    expect((await owner.call('GET', '/api/account/memory')).body.entries).toEqual([]);
    await form.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText('2 entries in use').waitFor();

    await page.getByLabel('Search entries').fill('factura');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'The invoice is due.' }).click();
    const panel = page.getByRole('dialog', { name: 'Entry' });
    await panel.getByText('La factura vence.').waitFor();
    await panel.getByRole('button', { name: 'Withdraw' }).click();
    const asked = page.getByRole('dialog', { name: 'Withdraw' });
    await asked.getByLabel('Reason').fill('old wording');
    await asked.getByRole('button', { name: 'Withdraw' }).click();
    await panel.getByText('old wording').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'account-memory-entry', 'state');
    await panel.getByRole('button', { name: 'Restore' }).click();
    await panel.getByRole('button', { name: 'Withdraw' }).waitFor();
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export TMX' }).click();
    const written = await (await downloading).createReadStream();
    expect((await written.toArray()).join('')).toContain('<seg>La factura vence.</seg>');
  });
  await context.close();
});

it('an owner shortens the retention only after a warning, and exports all data', async () => {
  const { owner, account } = await createCustomer('keeper');
  const member = await createPerson(web, { role: 'customer', account });
  const context = await web.signedIn(owner);
  await web.visit({ context, path: '/account/data' }, async (page) => {
    await page.getByLabel('Texts').selectOption('365');
    await page.getByRole('button', { name: 'Save' }).click();
    const asked = page.getByRole('dialog', { name: 'Shorten retention' });
    await expectAccessible(page);
    expect((await owner.call('GET', '/api/account/retention')).body.texts).toBeNull();
    await asked.getByRole('button', { name: 'Delete older data' }).click();
    await page.getByText('Saved.').first().waitFor();
    expect((await owner.call('GET', '/api/account/retention')).body).toMatchObject({ texts: 365 });
    await page.reload();
    expect(await page.getByLabel('Texts').inputValue()).toBe('365');

    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download all data' }).click();
    const file = await downloading;
    expect(file.suggestedFilename()).toBe('keeper.jsonl');
    const lines = (await (await file.createReadStream()).toArray()).join('').trimEnd().split('\n');
    await page.getByText(`Complete: ${lines.length} rows`).waitFor();
    expect(lines.map((line) => JSON.parse(line).table)).toContain('accounts');
  });
  await context.close();
  const theirs = await web.signedIn(member);
  await web.visit({ context: theirs, path: '/account/data' }, async (page) => {
    await page
      .getByText(
        'Only an owner of the account can change the retention, export all data or erase the account.',
      )
      .waitFor();
    await page.getByText('365 days').waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /Erase/ }).count()).toBe(0);
    await expectAccessible(page);
    await takeScreenshots(page, 'account-data-member', 'state');
  });
  await theirs.close();
});

it('an owner erases the account by typing its name, and all users are signed out', async () => {
  const { owner, program } = await createCustomer('leaving');
  const context = await web.signedIn(owner);
  await web.visit({ context, path: '/account/data' }, async (page) => {
    await page.getByRole('button', { name: 'Erase account' }).click();
    const asked = page.getByRole('dialog', { name: 'Erase leaving permanently' });
    const erase = asked.getByRole('button', { name: 'Erase permanently' });
    expect(await erase.isDisabled()).toBe(true);
    await asked.getByLabel('Type the name of the account').fill('leavin');
    expect(await erase.isDisabled()).toBe(true);
    await asked.getByLabel('Type the name of the account').fill('leaving');
    await expectAccessible(page);
    await takeScreenshots(page, 'account-erase', 'state');
    await erase.click();
    await page.getByLabel('Password').waitFor();
  });
  await until(async () => (await program('GET', HUMAN)).status === 401);
  await until(async () => (await accountNamed(web.database, 'leaving').catch(() => undefined)) === undefined);
  await context.close();
});

it('the replay dialog sends as many failed callbacks as it announced', async () => {
  const { owner, program } = await createCustomer('unlucky');
  receiver.answer(() => 410);
  for (const path of ['/one', '/two']) {
    await program('POST', '/api/v1/test-event/', { url: `${receiver.url}${path}` });
  }
  const failed = async () => (await owner.call('GET', '/api/account/deliveries/failed')).body.failed;
  await until(async () => (await failed()) === 2);
  receiver.answer(() => 200);
  const context = await web.signedIn(owner);
  await web.visit({ context, path: '/account/deliveries' }, async (page) => {
    await page.getByRole('button', { name: 'Replay failed callbacks' }).click();
    const asked = page.getByRole('dialog', { name: 'Replay failed callbacks' });
    await asked.getByText('2 callbacks will be sent again').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'account-resend', 'state');
    await asked.getByRole('button', { name: 'Replay 2 callbacks' }).dblclick();
    await page.getByText('2 callbacks are being sent again.').first().waitFor();
  });
  await until(async () => {
    const { body } = await owner.call('GET', '/api/account/deliveries?status=delivered');
    return body.objects.length === 2;
  });
  expect(receiver.received).toHaveLength(4);
  await context.close();
});

it('a customer tests a URL, and sees the request, the answer and the fault of the connection in words', async () => {
  const { owner, program } = await createCustomer('tester');
  receiver.answer(() => 500);
  await program('POST', '/api/v1/test-event/', { url: `${receiver.url}/known` });
  const context = await web.signedIn(owner);
  await web.visit({ context, path: '/account/deliveries' }, async (page) => {
    const asked = page.getByRole('dialog', { name: 'Test a URL' });
    const panel = page.getByRole('dialog', { name: 'Callback', exact: true });
    const test = async (url: string) => {
      await page.getByRole('button', { name: 'Test a URL' }).click();
      await asked.getByLabel('URL').fill(url);
      await asked.getByRole('button', { name: 'Send test' }).click();
    };
    await page.getByRole('row').filter({ hasText: '/known' }).waitFor();
    await page.getByRole('button', { name: 'Test a URL' }).click();
    expect(await asked.locator('option').getAttribute('value')).toBe(`${receiver.url}/known`);
    await expectAccessible(page);
    await takeScreenshots(page, 'account-test-url', 'state');
    await asked.getByRole('button', { name: 'Cancel' }).click();
    await test('http://10.0.0.1/');
    await asked.getByText('This URL cannot be used.').waitFor();
    await asked.getByRole('button', { name: 'Cancel' }).click();

    await test(`${receiver.url}/tried?x=<b>`);
    await panel.getByText('A test is attempted only once.').waitFor();
    await panel.getByText('500', { exact: true }).waitFor();
    await panel.getByText('Request', { exact: true }).click();
    const request = panel.locator('pre').filter({ hasText: 'POST /tried?x=%3Cb%3E HTTP/1.1' });
    await request.filter({ hasText: 'webhook-signature: v1,…' }).waitFor();
    await panel.getByText('Body of the request').click();
    await panel.locator('pre').filter({ hasText: '"type":"test"' }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'account-tested-url', 'state');
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });

    // Nothing listens at this port.
    await test('http://127.0.0.1:9999/');
    await panel.getByText('No server accepts connections at this address and port.').waitFor();
    expect(await panel.getByText('Request', { exact: true }).count()).toBe(0);
  });
  await web.visit({ context, path: '/account/deliveries', language: 'ar', size: PHONE }, async (page) => {
    await page.getByRole('button', { name: 'اختبار عنوان URL' }).click();
    await page.getByRole('button', { name: 'إرسال الاختبار' }).waitFor();
    await expectAccessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
  });
  await context.close();
});

it('the section “Your first translation” shows a new key and a command that works unchanged', async () => {
  const { owner } = await createCustomer('newcomer');
  const context = await web.signedIn(owner);
  await web.visit({ context, path: '/account?environment=sandbox' }, async (page) => {
    await takeScreenshots(page, 'account-first');
    await page.getByRole('button', { name: 'Create key' }).click();
    const line = await page.locator('pre').filter({ hasText: 'curl' }).innerText();
    await expectAccessible(page);
    const [, address] = /curl -X POST (\S+)/.exec(line)!;
    const [, key] = /Authorization: (ApiKey [^']+)'/.exec(line)!;
    const [, body] = /-d '(.+)'/s.exec(line)!;
    const answer = await fetch(address!, {
      method: 'POST',
      headers: { authorization: key!, 'content-type': 'application/json' },
      body: body!,
    });
    expect(answer.status).toBe(201);
  });
  await context.close();
});

it('the pages for memory and data have no overflow on phones', async () => {
  const { owner, account } = await createCustomer('phone');
  const { ref } = await accountNamed(web.database, account.username);
  await importEntries(web.database, ref, { from: 'en', to: 'es', brand: undefined }, [
    {
      source: [{ text: 'The invoice is due on the first day of each month.' }],
      target: [{ text: 'La factura vence el primer día de cada mes.' }],
    },
    { source: [{ text: 'Thank you for your order.' }], target: [{ text: 'Gracias por su pedido.' }] },
  ]);
  const context = await web.signedIn(owner);
  const paths = ['/account/memory', '/account/data'];
  await web.visit({ context, path: '/me' }, async (page) => {
    for (const path of paths) {
      await follow(page, path);
      await expectAccessible(page);
      await takeScreenshots(page, path.slice(1).replaceAll('/', '-'));
    }
  });
  await web.visit({ context, path: '/me', size: PHONE, language: 'de' }, async (page) => {
    for (const path of paths) {
      await follow(page, path);
      const wide = await page.evaluate('document.documentElement.scrollWidth');
      expect({ path, wide }).toEqual({ path, wide: PHONE.width });
    }
  });
  await context.close();
});
