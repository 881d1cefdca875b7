/** Tests of the page on which a customer translates documents. */
import { createFake } from '@dragoman/engines/fake';
import type { BrowserContext, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FULL } from '../../../scripts/full.ts';
import { editNext } from '../../server/src/testing/editors.ts';
import { createPerson, type TestPerson, until } from '../../server/src/testing/harness.ts';
import { startMailbox } from '../../server/src/testing/mailbox.ts';
import { expectAccessible, follow, PHONE, startWeb, takeScreenshots, type Web } from './browser.ts';

const PATH = '/account/translate';
const HOSTILE = '<img src=x onerror=alert(1)>.txt';
const TEXT = 'The house is big.\nThe garden is small.';
const HTML = '<h1>The house</h1>\n<p>The garden is <b>small</b>.</p>\n';

let web: Web;
let customer: TestPerson;
let context: BrowserContext;
beforeAll(async () => {
  web = await startWeb({
    engine: () => createFake({ directions: ['en>es', 'en>de', 'es>en'] }),
    settings: {
      DRAGOMAN_PRICE_MACHINE: '2',
      DRAGOMAN_PRICE_HUMAN: '10',
      DRAGOMAN_REPEAT_SHARE: '50',
      DRAGOMAN_FUZZY95_SHARE: '60',
    },
  });
  const account = await web.createAccount({ prepaid: true, balanceCents: 1_000 });
  customer = await createPerson(web, { role: 'customer', account });
  context = await web.signedIn(customer);
});
afterAll(async () => {
  await context.close();
  await web.stop();
});

const file = (name: string, content: string | Buffer) => ({
  name,
  mimeType: 'application/octet-stream',
  buffer: Buffer.from(content),
});

const chooseFiles = (page: Page, ...files: ReturnType<typeof file>[]) =>
  page.locator('input[type=file]').setInputFiles(files);

async function chooseOptions(page: Page, ...targets: string[]): Promise<void> {
  await page.getByLabel('Source language').selectOption('en');
  await page.getByLabel('Tier').selectOption('machine');
  for (const target of targets) await page.getByRole('checkbox', { name: target }).check();
}

const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });

async function jobsNamed(name: string | null): Promise<{ uid: string }[]> {
  const { body } = await customer.call('GET', '/api/account/jobs?tier=machine&limit=1000');
  return body.objects.filter((job: { name: string | null }) => job.name === name);
}

/** Drops a file on the page as a user does with the pointer. */
async function drop(page: Page, name: string, text: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle(`(() => {
    const data = new DataTransfer();
    data.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}));
    return data;
  })()`);
  const zone = page.getByText('Drop files here');
  for (const type of ['dragover', 'drop']) await zone.dispatchEvent(type, { dataTransfer });
}

it('a customer drops and chooses files, sees words and prices, sends them once, and downloads a result', async () => {
  await web.visit({ context, path: PATH }, async (page) => {
    await takeScreenshots(page, 'account-translate');
    await drop(page, HOSTILE, TEXT);
    await rowOf(page, HOSTILE).getByText('Choose a target language.').waitFor();
    await chooseOptions(page, 'Spanish', 'German');
    await chooseFiles(page, file('garden.html', HTML));
    await page.getByRole('row').filter({ hasText: '$0.16' }).nth(1).waitFor();
    await rowOf(page, 'garden.html').getByText('$0.12').nth(1).waitFor();
    await page.getByRole('button', { name: 'Send 4 jobs' }).waitFor();
    await page.getByText('$0.56').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'account-translate-ready', 'state');
    await page.getByRole('button', { name: 'Send 4 jobs' }).dblclick();
    const sent = page.getByRole('row').filter({ hasText: 'Completed' });
    await sent.nth(3).waitFor();
    await sent
      .filter({ hasText: 'garden.html' })
      .getByRole('cell', { name: '6', exact: true })
      .nth(1)
      .waitFor();
    expect([(await jobsNamed(HOSTILE)).length, (await jobsNamed('garden.html')).length]).toEqual([2, 2]);
    await expectAccessible(page);

    await sent.filter({ hasText: 'garden.html' }).filter({ hasText: 'German' }).getByRole('button').click();
    const panel = page.getByRole('dialog', { name: 'Job' });
    await panel.getByRole('region', { name: 'Source' }).getByText('The garden is').waitFor();
    await panel.getByRole('region', { name: 'Translation' }).getByText('THE GARDEN IS').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'account-translate-result', 'state');
    const downloading = page.waitForEvent('download');
    await panel.getByRole('link', { name: 'Download' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('garden.de.html');
    const written = (await (await download.createReadStream()).toArray()).join('');
    expect(written).toBe('<h1>THE HOUSE</h1>\n<p>THE GARDEN IS <b>SMALL</b>.</p>\n');
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Clear sent documents' }).click();
    await sent.first().waitFor({ state: 'detached' });
    await follow(page, '/account/jobs?tier=machine');
    await rowOf(page, HOSTILE).first().waitFor();
  });
});

it('words in repeated sentences cost half, on the list, in the job and in the statement', async () => {
  const discount = 'Repeat: 4 words at 50%';
  await web.visit({ context, path: PATH }, async (page) => {
    await chooseOptions(page, 'Spanish');
    await page.getByRole('checkbox', { name: 'German' }).uncheck();
    await chooseFiles(page, file('twice.txt', 'A small door opens.\nA small door opens.\n'));
    await rowOf(page, 'twice.txt').getByText(discount).waitFor();
    await rowOf(page, 'twice.txt').getByText('$0.12').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Send 1 job' }).click();
    await rowOf(page, 'twice.txt').getByText('Completed').waitFor();
    await rowOf(page, 'twice.txt').getByRole('button').click();
    await page.getByRole('dialog', { name: 'Job' }).getByText(discount).waitFor();
    await page.keyboard.press('Escape');
    await follow(page, '/account/balance');
    await page.getByRole('row').filter({ hasText: discount }).waitFor();
  });
});

it('a customer chooses how HTML and XLIFF are read, and sees the choices only with such documents', async () => {
  const unit =
    '<trans-unit id="1"><source>The red house</source><target state="translated">one</target></trans-unit>';
  const xliff = `<xliff version="1.2"><file source-language="en" datatype="plaintext" original="a"><body>${unit}</body></file></xliff>`;
  await web.visit({ context, path: PATH }, async (page) => {
    await chooseOptions(page, 'Spanish');
    await page.getByRole('checkbox', { name: 'German' }).uncheck();
    const again = page.getByRole('checkbox', { name: 'Retranslate XLIFF segments' });
    const language = page.getByRole('checkbox', { name: 'Set the language of HTML pages' });
    expect([await again.count(), await language.count()]).toEqual([0, 0]);
    await chooseFiles(page, file('red.xlf', xliff), file('page.html', `<html lang="en">${HTML}</html>`));
    await rowOf(page, 'red.xlf').getByText('$0.00').waitFor();
    await again.check();
    await rowOf(page, 'red.xlf').getByText('$0.06').waitFor();
    await language.check();
    await expectAccessible(page);
    await takeScreenshots(page, 'account-translate-formats', 'state');
    await page.getByRole('button', { name: 'Send 2 jobs' }).click();
    await page.getByRole('row').filter({ hasText: 'Completed' }).nth(1).waitFor();
    await again.uncheck();
    await language.uncheck();
  });
  const results = [];
  for (const name of ['red.xlf', 'page.html']) {
    const [job] = await jobsNamed(name);
    results.push((await customer.call('GET', `/api/account/jobs/${job!.uid}/result`)).text);
  }
  expect(results[0]).toContain('THE RED HOUSE');
  expect(results[1]).toContain('<html lang="es">');
});

it('similar sentences cost a share, and the list says how many sentences were compared', async () => {
  const known = 'The old house behind the river is big and the garden is small and green.';
  const seg = (language: string) => `<tuv xml:lang="${language}"><seg>${known}</seg></tuv>`;
  const tmx = `<tmx version="1.4"><body><tu>${seg('en')}${seg('es')}</tu></body></tmx>`;
  const imported = await customer.call('POST', '/api/account/memory/import', { from: 'en', to: 'es', tmx });
  expect(imported.status, imported.text).toBe(200);
  // As if an editor had confirmed it in a delivered job.
  await web.database.query({ name: 'test.confirmed', text: 'update memory set weight = 2' });
  const others = Array.from({ length: 200 }, (_, index) => `Number ${index}.`);
  await web.visit({ context, path: PATH }, async (page) => {
    await chooseOptions(page, 'Spanish');
    await page.getByRole('checkbox', { name: 'German' }).uncheck();
    await chooseFiles(page, file('alike.txt', [known.replace('green', 'grey'), ...others].join('\n')));
    const row = rowOf(page, 'alike.txt');
    await row.getByText('95–99% similar: 15 words at 60%').waitFor();
    await row.getByText('Compared with similar sentences: only the first 200 sentences').waitFor();
    await row.getByText('$8.18').waitFor();
    await expectAccessible(page);
  });
});

it('the page shows why a file cannot be translated, and sends only the other files', async () => {
  await web.visit({ context, path: PATH }, async (page) => {
    await chooseOptions(page, 'Spanish');
    await page.getByRole('checkbox', { name: 'German' }).uncheck();
    await chooseFiles(
      page,
      file('photo.png', 'x'),
      file('latin-1.txt', Buffer.from([0x47, 0x72, 0xfc, 0xdf, 0x65])),
      file('blank.txt', ' \n'),
      file('film.srt', 'Hello.\nThere are no times here.'),
      file('parts.xlf', '<xliff version="1.2">\n<file></xliff>'),
      file('good.txt', TEXT),
    );
    for (const [name, reason] of [
      ['photo.png', 'This type of file cannot be translated.'],
      ['latin-1.txt', 'The file is not UTF-8.'],
      ['blank.txt', 'The file contains no text.'],
      ['film.srt', 'Line 1, column 1: This is not SRT'],
      ['parts.xlf', /Line 2, column \d+: The XLIFF document is not well-formed/],
    ] as const) {
      await rowOf(page, name).getByText(reason).waitFor();
    }
    await rowOf(page, 'good.txt').getByText('Ready to send').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'account-translate-refused', 'state');
    await page.getByRole('button', { name: 'Send 1 job' }).click();
    await rowOf(page, 'good.txt').getByText('Completed').waitFor();
    expect(await jobsNamed('film.srt')).toEqual([]);
    await page.getByRole('button', { name: 'Remove photo.png' }).click();
    await rowOf(page, 'photo.png').waitFor({ state: 'detached' });
  });
});

it('a large file is sent with visible progress and translated, and a file over the limit is refused', async () => {
  const sender = await createPerson(web, { role: 'customer' });
  const own = await web.signedIn(sender);
  // A file at the limit takes seconds of processor time.
  const limit = 10 * 1024 ** 2;
  const size = FULL ? limit : 1024 ** 2;
  const [start, end] = ['<p>The house is big.</p><!--', '-->'];
  const large = start + 'x'.repeat(size - start.length - end.length) + end;
  await web.visit({ context: own, path: PATH }, async (page) => {
    await chooseOptions(page, 'Spanish');
    await chooseFiles(page, file('large.html', large), file('too-large.html', 'x'.repeat(limit + 1)));
    await rowOf(page, 'too-large.html').getByText('The file is too large.').waitFor();
    const row = rowOf(page, 'large.html');
    await row.getByText('Ready to send').waitFor();
    // The connection is slow until the page has shown that a part of the file is sent.
    const network = await own.newCDPSession(page);
    const setSpeed = (bytesPerSecond: number) =>
      network.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput: bytesPerSecond,
      });
    await setSpeed(512 * 1024);
    await page.getByRole('button', { name: 'Send 1 job' }).click();
    const sent = row.getByRole('progressbar', { name: 'Sending' });
    await until(async () => Number(await sent.getAttribute('value')) > 0);
    expect(Number(await sent.getAttribute('value'))).toBeLessThan(1);
    await takeScreenshots(page, 'account-translate-sending', 'state');
    await setSpeed(-1);
    await row.getByText('Completed').waitFor();
  });
  const { body } = await sender.call('GET', '/api/account/jobs?tier=machine');
  expect(body.objects).toMatchObject([{ name: 'large.html', status: 'completed', price: 8 }]);
  await own.close();
});

it('a document that is sent again after a lost answer creates no second job, unless the user chooses “Send again”', async () => {
  await web.visit({ context, path: PATH }, async (page) => {
    await chooseOptions(page, 'Spanish');
    await chooseFiles(page, file('lost.txt', TEXT));
    await page.route('**/api/account/documents', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await page.getByRole('button', { name: 'Send 1 job' }).click();
    await rowOf(page, 'lost.txt').getByText('The server does not respond.').waitFor();
    await page.unroute('**/api/account/documents');
    await page.getByRole('button', { name: 'Send 1 job' }).click();
    await rowOf(page, 'lost.txt').getByText('This document was sent before.').waitFor();
    expect(await jobsNamed('lost.txt')).toHaveLength(1);
    await page.getByRole('button', { name: 'Send again' }).click();
    await until(async () => (await jobsNamed('lost.txt')).length === 2);
    await rowOf(page, 'lost.txt').getByText('Completed').waitFor();
  });
});

it('the page shows the new price before it sends a document when the price has changed', async () => {
  await web.visit({ context, path: PATH }, async (page) => {
    await chooseOptions(page, 'Spanish');
    await page.route(
      '**/api/account/documents/quote',
      async (route) => {
        const response = await route.fetch();
        const { quotes } = await response.json();
        const json = { quotes: [{ ...quotes[0], quote: { ...quotes[0].quote, price: 7 } }] };
        await route.fulfill({ response, json });
      },
      { times: 1 },
    );
    await chooseFiles(page, file('price.txt', TEXT));
    await rowOf(page, 'price.txt').getByText('$0.07').waitFor();
    await page.getByRole('button', { name: 'Send 1 job' }).click();
    await rowOf(page, 'price.txt').getByText('The price has changed.').waitFor();
    await rowOf(page, 'price.txt').getByText('$0.16').waitFor();
    expect(await jobsNamed('price.txt')).toEqual([]);
    await page.getByRole('button', { name: 'Send 1 job' }).click();
    await rowOf(page, 'price.txt').getByText('Completed').waitFor();
  });
});

it('a document is uploaded once for the prices of all its target languages, and two are uploaded at a time', async () => {
  const sender = await createPerson(web, { role: 'customer' });
  const own = await web.signedIn(sender);
  await web.visit({ context: own, path: PATH }, async (page) => {
    await chooseOptions(page, 'Spanish', 'German');
    const uploads: { name: string; target_languages: string[] }[] = [];
    let [current, most] = [0, 0];
    await page.route('**/api/account/documents/quote', async (route) => {
      uploads.push(route.request().postDataJSON());
      most = Math.max(most, ++current);
      await until(async () => current > 1 || uploads.length === 4);
      const response = await route.fetch();
      current--;
      await route.fulfill({ response });
    });
    const names = ['one.txt', 'two.txt', 'three.txt', 'four.txt'];
    await chooseFiles(page, ...names.map((name) => file(name, TEXT)));
    for (const name of names) await rowOf(page, name).getByText('Ready to send').nth(1).waitFor();
    expect(uploads.map(({ name }) => name).sort()).toEqual([...names].sort());
    for (const { target_languages } of uploads) expect([...target_languages].sort()).toEqual(['de', 'es']);
    expect(most).toBe(2);
  });
  await own.close();
});

it('a document that a busy server refuses waits visibly, and is quoted and sent after Retry-After', async () => {
  await web.visit({ context, path: PATH }, async (page) => {
    await chooseOptions(page, 'Spanish');
    /** Refuses requests until the returned function is called, so that a slow machine sees the refusal too. */
    const refuse = async (path: string, status: number, code: string) => {
      const handler = (route: Route) =>
        route.fulfill({
          status,
          headers: { 'retry-after': '1' },
          json: { error: { code, message: 'Too many texts are being read. Try again.' } },
        });
      await page.route(path, handler);
      return () => page.unroute(path, handler);
    };
    const quotesAgain = await refuse('**/api/account/documents/quote', 503, 'unavailable');
    await chooseFiles(page, file('busy.txt', TEXT));
    await rowOf(page, 'busy.txt').getByText('The server is busy.').waitFor();
    expect(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true);
    await expectAccessible(page);
    await quotesAgain();
    await rowOf(page, 'busy.txt').getByText('Ready to send').waitFor();
    const sendsAgain = await refuse('**/api/account/documents', 429, 'rate_limited');
    await page.getByRole('button', { name: 'Send 1 job' }).click();
    await rowOf(page, 'busy.txt').getByText('The server is busy.').waitFor();
    await sendsAgain();
    await rowOf(page, 'busy.txt').getByText('Completed').waitFor();
    expect(await jobsNamed('busy.txt')).toHaveLength(1);
  });
});

it('a customer stops sending while the server is busy, and sends the documents later', async () => {
  await web.visit({ context, path: PATH }, async (page) => {
    await chooseOptions(page, 'Spanish');
    const names = ['stopped-1.txt', 'stopped-2.txt'];
    await chooseFiles(page, ...names.map((name) => file(name, `${TEXT}\nThe file is ${name}.`)));
    for (const name of names) await rowOf(page, name).getByText('Ready to send').waitFor();
    const refuse = (route: Route) =>
      route.fulfill({
        status: 503,
        headers: { 'retry-after': '60' },
        json: { error: { code: 'unavailable', message: 'Too many texts are being read. Try again.' } },
      });
    await page.route('**/api/account/documents', refuse);
    await page.getByRole('button', { name: 'Send 2 jobs' }).click();
    await rowOf(page, names[0]!).getByText('The server is busy.').waitFor();
    const stop = page.getByRole('button', { name: 'Stop sending' });
    await expectAccessible(page);
    await stop.click();
    await stop.waitFor({ state: 'detached' });
    for (const name of names) await rowOf(page, name).getByText('Ready to send').waitFor();
    for (const name of names) expect(await jobsNamed(name)).toHaveLength(0);
    await page.unroute('**/api/account/documents', refuse);
    await page.getByRole('button', { name: 'Send 2 jobs' }).click();
    for (const name of names) await rowOf(page, name).getByText('Completed').waitFor();
    for (const name of names) expect(await jobsNamed(name)).toHaveLength(1);
  });
});

it('a customer gets an e-mail when a document is finished, whose link opens the job', async () => {
  const mailbox = await startMailbox();
  await web.restart({ DRAGOMAN_SMTP_URL: mailbox.url, DRAGOMAN_MAIL_FROM: 'dragoman@example.com' });
  const account = await web.createAccount({ balanceCents: 1_000 });
  const sender = await createPerson(web, { role: 'customer', account });
  const editor = await createPerson(web, { role: 'editor', languages: ['en:es'] });
  await web.database.query({ name: 'test.reviews', text: 'update users set review_share = 0' });
  const own = await web.signedIn(sender);
  await web.visit({ context: own, path: PATH }, async (page) => {
    await chooseOptions(page, 'Spanish');
    const choice = page.getByRole('checkbox', { name: 'E-mail me when the documents are finished' });
    expect(await choice.count()).toBe(0);
    await page.getByLabel('Tier').selectOption('human');
    expect(await choice.isChecked()).toBe(true);
    await expectAccessible(page);
    await chooseFiles(page, file('mailed.txt', 'The house is big.'));
    await page.getByRole('button', { name: 'Send 1 job' }).click();
    await rowOf(page, 'mailed.txt').getByText('Translating').waitFor();
    await choice.uncheck();
    await chooseFiles(page, file('silent.txt', 'The garden is small.'));
    await page.getByRole('button', { name: 'Send 1 job' }).click();
    await rowOf(page, 'silent.txt').getByText('Translating').waitFor();
    await editNext(editor);
    await editNext(editor);
    const completed = rowOf(page, '.txt').filter({ hasText: 'Completed' });
    await completed.nth(1).waitFor();
    const mail = await until(() => mailbox.received.find(({ to }) => to.includes(sender.email)));
    expect(mail.text).not.toContain('silent.txt');
    // The mail has the public address, which is not the address of the test server.
    await page.goto(`${web.url}${/\/app\/account\/jobs\S+/.exec(mail.text)![0]}`);
    const panel = page.getByRole('dialog', { name: 'Job' });
    await panel.getByText('mailed.txt').waitFor();
  });
  await web.visit({ context: own, path: `${PATH}?environment=sandbox` }, async (page) => {
    await chooseOptions(page, 'Spanish');
    await page.getByLabel('Tier').selectOption('human');
    expect(await page.getByRole('checkbox', { name: 'E-mail me when' }).count()).toBe(0);
  });
  await own.close();
  await web.restart();
  await mailbox.close();
});

it('a sent document is not read again after its job is completed', async () => {
  await web.visit({ context, path: PATH }, async (page) => {
    await chooseOptions(page, 'Spanish');
    const reads: string[] = [];
    page.on('request', (request) => {
      const [, uid] = /\/api\/account\/jobs\/([^/?]+)/.exec(request.url()) ?? [];
      if (uid !== undefined) reads.push(uid);
    });
    await chooseFiles(page, file('early.txt', TEXT));
    await page.getByRole('button', { name: 'Send 1 job' }).click();
    await rowOf(page, 'early.txt').getByText('Completed').waitFor();
    const [early] = await jobsNamed('early.txt');
    const before = reads.filter((uid) => uid === early!.uid).length;
    await chooseFiles(page, file('late.txt', TEXT));
    await page.getByRole('button', { name: 'Send 1 job' }).click();
    await rowOf(page, 'late.txt').getByText('Completed').waitFor();
    expect(reads.filter((uid) => uid === early!.uid)).toHaveLength(before);
  });
});

it('the page says how much money is missing, and sends nothing, when the balance is too low', async () => {
  await web.visit({ context, path: PATH }, async (page) => {
    await chooseOptions(page, 'Spanish');
    await chooseFiles(page, file('book.txt', 'The house is big. '.repeat(1_000)));
    // Four words cost 2 cents each, and 3,996 repeated words half of it. The balance is below 10 dollars.
    await rowOf(page, 'book.txt').getByText('$40.04').waitFor();
    const { body } = await customer.call('GET', '/api/account');
    const missing = (4_004 - body.balances[0].balance) / 100;
    await page.getByText(`$${missing.toFixed(2)} is missing`).waitFor();
    expect(await page.getByRole('button', { name: 'Send 1 job' }).isDisabled()).toBe(true);
    await expectAccessible(page);
    await takeScreenshots(page, 'account-translate-missing', 'state');
  });
});

it('the page keeps its documents when the user visits another page, and its choices until the next visit', async () => {
  await web.visit({ context, path: PATH }, async (page) => {
    await chooseOptions(page, 'Spanish');
    await page.getByLabel('Instructions').fill('Be brief.');
    await page.getByLabel('Or paste a text').fill(TEXT);
    await page.getByRole('button', { name: 'Add text' }).click();
    await rowOf(page, 'Pasted text').getByText('$0.16').waitFor();
    await follow(page, '/account/jobs');
    await follow(page, PATH);
    await page.getByRole('button', { name: 'Send 1 job' }).click();
    await rowOf(page, 'Pasted text').getByText('Completed').waitFor();
    expect(await jobsNamed(null)).toHaveLength(1);
  });
  await web.visit({ context, path: PATH }, async (page) => {
    expect(await page.getByLabel('Tier').inputValue()).toBe('machine');
    expect(await page.getByRole('checkbox', { name: 'Spanish' }).isChecked()).toBe(true);
    expect(await page.getByLabel('Instructions').inputValue()).toBe('Be brief.');
    expect(await page.getByRole('row').count()).toBe(0);
  });
});

it('nothing more is sent when another user signs in during an upload', async () => {
  const sender = await createPerson(web, { role: 'customer' });
  const other = await createPerson(web, { role: 'customer' });
  const own = await web.signedIn(sender);
  await web.visit({ context: own, path: PATH }, async (page) => {
    await chooseOptions(page, 'Spanish');
    await chooseFiles(page, file('first.txt', TEXT), file('second.txt', TEXT), file('third.txt', TEXT));
    // A page reads its user again after a minute. This one keeps the first user for the whole test.
    const me = await (await own.request.get('/api/session')).json();
    await page.route('**/api/session', (route) => route.fulfill({ json: me }));
    // The page reads the balance again after the first job. If it did so while the other user signs in, its request
    // would have the cookie of the session that has just ended, and the page would ask the user to sign in.
    const account = await (await own.request.get('/api/account')).json();
    await page.route('**/api/account', (route) => route.fulfill({ json: account }));
    let posts = 0;
    await page.route('**/api/account/documents', async (route) => {
      posts++;
      const response = await route.fetch();
      // Another window of the browser signs in, and the windows share the cookie.
      const { email, password } = other;
      if (posts === 1) await own.request.post('/api/session', { data: { email, password } });
      await route.fulfill({ response });
    });
    await page.getByRole('button', { name: 'Send 3 jobs' }).click();
    await rowOf(page, 'second.txt').getByText('Someone else changed this').waitFor();
    await rowOf(page, 'third.txt').getByText('Ready to send').waitFor();
    expect(posts).toBe(2);
    expect((await other.call('GET', '/api/account/jobs?tier=machine')).body.total).toBe(0);
    expect((await sender.call('GET', '/api/account/jobs?tier=machine')).body.total).toBe(1);
  });
  await own.close();
});

it('documents stay in the list when the session ends, and after the next sign-in', async () => {
  const sender = await createPerson(web, { role: 'customer' });
  const own = await web.signedIn(sender);
  await web.visit({ context: own, path: PATH }, async (page) => {
    await chooseOptions(page, 'Spanish');
    await chooseFiles(page, file('kept.txt', TEXT));
    await rowOf(page, 'kept.txt').getByText('Ready to send').waitFor();
    await own.clearCookies({ name: /dragoman$/ });
    await page.getByRole('button', { name: 'Send 1 job' }).click();
    await page.getByLabel('E-mail', { exact: true }).fill(sender.email);
    await page.getByLabel('Password', { exact: true }).fill(sender.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('link', { name: 'Translate', exact: true }).click();
    await rowOf(page, 'kept.txt').waitFor();
    await page.getByRole('button', { name: 'Send 1 job' }).click();
    await rowOf(page, 'kept.txt').getByText('Completed').waitFor();
  });
  await own.close();
});

it('a customer can send a document in production after sending it in the sandbox', async () => {
  await web.visit({ context, path: `${PATH}?environment=sandbox` }, async (page) => {
    const environment = page.getByRole('radiogroup', { name: 'Environment' });
    await chooseOptions(page, 'Spanish');
    await chooseFiles(page, file('trial.txt', TEXT));
    await page.getByRole('button', { name: 'Send 1 job' }).click();
    await rowOf(page, 'trial.txt').getByText('Completed').waitFor();
    await environment.getByText('Production').click();
    await rowOf(page, 'trial.txt').getByText('Ready to send').waitFor();
    expect(await jobsNamed('trial.txt')).toEqual([]);
    await page.getByRole('button', { name: 'Send 1 job' }).click();
    await rowOf(page, 'trial.txt').getByText('Completed').waitFor();
    expect(await jobsNamed('trial.txt')).toHaveLength(1);
    await environment.getByText('Sandbox').click();
    await rowOf(page, 'trial.txt').getByRole('button', { name: 'Open' }).click();
    const panel = page.getByRole('dialog', { name: 'Job' });
    await panel.getByRole('region', { name: 'Translation' }).getByText('THE HOUSE IS BIG').waitFor();
  });
});

it('a stored brand or source language that is no longer offered is not sent', async () => {
  const sender = await createPerson(web, { role: 'customer' });
  const own = await web.signedIn(sender);
  const stored = { tier: 'machine', source: 'tlh', brand: 'gone', targets: ['es'] };
  const [key, value] = [`dragoman_translate ${sender.email}`, JSON.stringify(stored)].map((one) =>
    JSON.stringify(one),
  );
  await own.addInitScript(`localStorage.setItem(${key}, ${value})`);
  await web.visit({ context: own, path: PATH }, async (page) => {
    const text = 'The quick brown fox jumps over the lazy dog, and nobody in the village is surprised.';
    await chooseFiles(page, file('fox.txt', text));
    await page.getByRole('button', { name: 'Send 1 job' }).click();
    await rowOf(page, 'fox.txt').getByText('Completed').waitFor();
  });
  await own.close();
});

it('the words of a sent document stay in the list when the customer chooses another tone', async () => {
  const own = await web.signedIn(await createPerson(web, { role: 'customer' }));
  await web.visit({ context: own, path: PATH }, async (page) => {
    await chooseOptions(page, 'Spanish');
    await chooseFiles(page, file('garden.txt', 'The garden is small.\n'));
    await page.getByRole('button', { name: 'Send 1 job' }).click();
    const row = rowOf(page, 'garden.txt');
    await row.getByText('Completed').waitFor();
    await page.getByLabel('Tone').selectOption('Formal');
    await row.getByRole('cell', { name: '4', exact: true }).waitFor();
  });
  await own.close();
});

it.each(['ar', 'de'] as const)('the page “Translate” has no overflow on a phone in %s', async (language) => {
  await web.visit({ context, path: PATH, language, size: PHONE }, async (page) => {
    const name = 'ein-langer-dateiname-ohne-leerzeichen-für-die-übersetzung.txt';
    await chooseFiles(page, file(name, TEXT), file('film.srt', 'x'));
    await rowOf(page, name).getByText('0.16').or(rowOf(page, name).getByText('0,16')).waitFor();
    await rowOf(page, 'film.srt').getByRole('alert').waitFor();
    const wide = await page.evaluate('document.documentElement.scrollWidth');
    expect(wide).toBe(PHONE.width);
  });
});
