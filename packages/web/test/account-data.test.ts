/** What customers do with their jobs' results, their memory, their data and all failed callbacks at once. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accountNamed } from '../../server/src/accounts/accounts.ts';
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
import { expectAccessible, PHONE, quiet, shoot, startWeb, type Web } from './browser.ts';

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

/** An edited job that is completed. */
async function finishJob(program: ReturnType<typeof createClient>, uid: string): Promise<void> {
  await orderEdit(program, 'The house is big.', { uid });
  await editNext(editor);
  await until(async () => (await program('GET', `${HUMAN}${uid}/`)).body.status === 'completed');
}

it('accepts a job, and sends another back with a reason', async () => {
  const { owner, program } = await createCustomer('verdicts');
  await finishJob(program, 'good');
  await finishJob(program, 'bad');
  const context = await web.signedIn(owner);
  await web.visit({ context, path: '/account/jobs?open=good' }, async (page) => {
    const panel = page.getByRole('dialog', { name: 'Job' });
    await panel.getByRole('button', { name: 'Accept' }).click();
    const asked = page.getByRole('dialog', { name: 'Accept good' });
    await expectAccessible(page);
    await shoot(page, 'account-accept', 'state');
    await asked.getByRole('button', { name: 'Accept' }).click();
    await panel.getByRole('listitem').filter({ hasText: 'Accepted' }).filter({ hasText: 'by you' }).waitFor();
    expect(await panel.getByRole('button', { name: 'Accept' }).count()).toBe(0);
    expect((await program('GET', `${HUMAN}good/`)).body.status).toBe('accepted');
  });
  await web.visit({ context, path: '/account/jobs?open=bad', language: 'de' }, async (page) => {
    const panel = page.getByRole('dialog', { name: 'Auftrag', exact: true });
    await panel.getByRole('button', { name: 'Zurückweisen' }).click();
    const asked = page.getByRole('dialog', { name: 'bad zurückweisen' });
    await asked.getByText('geht mit Ihrer Begründung an einen Bearbeiter zurück').waitFor();
    await asked.getByRole('button', { name: 'Zurückweisen' }).click();
    // What is wrong with a field is said in the language of the page.
    await asked.getByText('Das darf nicht leer sein.').waitFor();
    await expectAccessible(page);
    await shoot(page, 'account-reject', 'state');
    await asked.getByLabel('Was stimmt nicht?').fill('The tone is wrong.');
    await asked.getByRole('button', { name: 'Zurückweisen' }).click();
    await panel.getByText('The tone is wrong.').waitFor();
    expect((await program('GET', `${HUMAN}bad/`)).body.status).not.toBe('completed');
    await editNext(editor);
    await until(async () => (await program('GET', `${HUMAN}bad/`)).body.status === 'completed');
  });
  await context.close();
});

it('says why a job cannot be accepted any more', async () => {
  const { owner, program } = await createCustomer('late');
  await finishJob(program, 'late');
  const context = await web.signedIn(owner);
  // A page that hears of it at once takes the button away.
  await context.route('**/api/live?*', (route) => route.abort());
  await web.visit({ context, path: '/account/jobs?open=late' }, async (page) => {
    const panel = page.getByRole('dialog', { name: 'Job' });
    await panel.getByRole('button', { name: 'Send back' }).waitFor();
    // Meanwhile a program does it.
    expect((await program('POST', `${HUMAN}late/reject/`, { reason: 'too late' })).status).toBe(200);
    await panel.getByRole('button', { name: 'Accept' }).click();
    const asked = page.getByRole('dialog', { name: 'Accept late' });
    await asked.getByRole('button', { name: 'Accept' }).click();
    await asked.getByText('The job is not completed now, so it cannot be accepted').waitFor();
    await editNext(editor);
  });
  await context.close();
});

const TMX = `<tmx version="1.4"><body>
<tu><tuv xml:lang="en"><seg>The invoice is due.</seg></tuv><tuv xml:lang="es"><seg>La factura vence.</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>Thank you.</seg></tuv><tuv xml:lang="es"><seg>Gracias.</seg></tuv></tu>
</body></tmx>`;

it('looks at a memory: brings a file in after a look at it, finds an entry, takes it back', async () => {
  const { owner } = await createCustomer('memory');
  const context = await web.signedIn(owner);
  await web.visit({ context, path: '/account/memory' }, async (page) => {
    await page.getByText('Nothing yet.').waitFor();
    await page.getByRole('button', { name: 'Import TMX' }).click();
    const form = page.getByRole('dialog', { name: 'Import TMX' });
    await form.getByLabel('TMX file').setInputFiles({
      name: 'old.tmx',
      mimeType: 'application/xml',
      buffer: Buffer.from(TMX),
    });
    await form.getByLabel('Source language').fill('English');
    await form.getByLabel('Target language').fill('es');
    await form.getByRole('button', { name: 'Look at it first' }).click();
    await form.getByText('This must be the short name of a language').waitFor();
    await form.getByLabel('Source language').fill('en');
    await expectAccessible(page);
    await form.getByRole('button', { name: 'Look at it first' }).click();
    await form.getByText('2 entries would be brought in. Nothing is written yet.').waitFor();
    expect((await owner.call('GET', '/api/account/memory')).body.entries).toEqual([]);
    await form.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText('2 translations are used again').waitFor();

    await page.getByLabel('Find words').fill('factura');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'The invoice is due.' }).click();
    const panel = page.getByRole('dialog', { name: 'Entry' });
    await panel.getByText('La factura vence.').waitFor();
    await panel.getByRole('button', { name: 'Take back' }).click();
    const asked = page.getByRole('dialog', { name: 'Take back' });
    await asked.getByLabel('Why').fill('old wording');
    await asked.getByRole('button', { name: 'Take back' }).click();
    await panel.getByText('old wording').waitFor();
    await expectAccessible(page);
    await shoot(page, 'account-memory-entry', 'state');
    await panel.getByRole('button', { name: 'Use again' }).click();
    await panel.getByRole('button', { name: 'Take back' }).waitFor();
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export TMX' }).click();
    const written = await (await downloading).createReadStream();
    expect((await written.toArray()).join('')).toContain('<seg>La factura vence.</seg>');
  });
  await context.close();
});

it('keeps data for a shorter time only after a warning, and takes all of it out', async () => {
  const { owner, account } = await createCustomer('keeper');
  const member = await createPerson(web, { role: 'customer', account });
  const context = await web.signedIn(owner);
  await web.visit({ context, path: '/account/data' }, async (page) => {
    await page.getByLabel('Texts').selectOption('365');
    await page.getByRole('button', { name: 'Save' }).click();
    const asked = page.getByRole('dialog', { name: 'Keep it for a shorter time' });
    await expectAccessible(page);
    expect((await owner.call('GET', '/api/account/retention')).body.texts).toBeNull();
    await asked.getByRole('button', { name: 'Delete what is older' }).click();
    await page.getByText('Saved.').first().waitFor();
    expect((await owner.call('GET', '/api/account/retention')).body).toMatchObject({ texts: 365 });
    await page.reload();
    expect(await page.getByLabel('Texts').inputValue()).toBe('365');

    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download all data' }).click();
    const file = await downloading;
    expect(file.suggestedFilename()).toBe('keeper.jsonl');
    const lines = (await (await file.createReadStream()).toArray()).join('').trimEnd().split('\n');
    await page.getByText(`All of it: ${lines.length} rows`).waitFor();
    expect(lines.map((line) => JSON.parse(line).table)).toContain('accounts');
  });
  await context.close();
  const theirs = await web.signedIn(member);
  await web.visit({ context: theirs, path: '/account/data' }, async (page) => {
    await page.getByText('Only an owner of the account changes this.').waitFor();
    await page.getByText('365 days').waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /Erase/ }).count()).toBe(0);
    await expectAccessible(page);
    await shoot(page, 'account-data-member', 'state');
  });
  await theirs.close();
});

it('erases an account when its name is written, and signs everybody out', async () => {
  const { owner, program } = await createCustomer('leaving');
  const context = await web.signedIn(owner);
  await web.visit({ context, path: '/account/data' }, async (page) => {
    await page.getByRole('button', { name: 'Erase the account' }).click();
    const asked = page.getByRole('dialog', { name: 'Erase leaving for good' });
    const erase = asked.getByRole('button', { name: 'Erase for good' });
    expect(await erase.isDisabled()).toBe(true);
    await asked.getByLabel('Write the name of the account').fill('leavin');
    expect(await erase.isDisabled()).toBe(true);
    await asked.getByLabel('Write the name of the account').fill('leaving');
    await expectAccessible(page);
    await shoot(page, 'account-erase', 'state');
    await erase.click();
    await page.getByLabel('Password').waitFor();
  });
  await until(async () => (await program('GET', HUMAN)).status === 401);
  await until(async () => (await accountNamed(web.database, 'leaving').catch(() => undefined)) === undefined);
  await context.close();
});

it('sends all failed callbacks again, as many as it said', async () => {
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
    await page.getByRole('button', { name: 'Send all failed again' }).click();
    const asked = page.getByRole('dialog', { name: 'Send all failed again' });
    await asked.getByText('2 callbacks are sent again').waitFor();
    await expectAccessible(page);
    await shoot(page, 'account-resend', 'state');
    await asked.getByRole('button', { name: 'Send 2 again' }).dblclick();
    await page.getByText('2 callbacks are on their way again.').first().waitFor();
  });
  await until(async () => {
    const { body } = await owner.call('GET', '/api/account/deliveries?status=delivered');
    return body.objects.length === 2;
  });
  expect(receiver.received).toHaveLength(4);
  await context.close();
});

it('begins with a key and a line that works when it is pasted', async () => {
  const { owner } = await createCustomer('newcomer');
  const context = await web.signedIn(owner);
  await web.visit({ context, path: '/account?environment=sandbox' }, async (page) => {
    await shoot(page, 'account-first');
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

it('shows and fits a phone on the pages of a memory and of data', async () => {
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
  for (const path of ['/account/memory', '/account/data']) {
    await web.visit({ context, path }, async (page) => {
      await quiet(page);
      await expectAccessible(page);
      await shoot(page, path.slice(1).replaceAll('/', '-'));
    });
    await web.visit({ context, path, size: PHONE, language: 'de' }, async (page) => {
      await quiet(page);
      const wide = await page.evaluate('document.documentElement.scrollWidth');
      expect({ path, wide }).toEqual({ path, wide: PHONE.width });
    });
  }
  await context.close();
});
