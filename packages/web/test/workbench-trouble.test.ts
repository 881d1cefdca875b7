/** What must not go wrong in the workbench: codes, carets, compositions, connections, leases. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { orderEdit } from '../../server/src/testing/editors.ts';
import { shoot } from './browser.ts';
import { type Office, openOffice, read, reads, row, saved, target } from './workbench.ts';

let office: Office;
beforeAll(async () => {
  office = await openOffice();
});
afterAll(() => office.stop());

const LINKED = '<p>See <a href="/x">our {shop} page</a> today.</p><p>Bye.</p>';
const BEFORE = 'SEE [1]OUR [{shop}] PAGE[/1] TODAY.';

it('keeps every tag: typing over all, deleting all, cutting, pasting, erasing; and undo gives back the text', async () => {
  const { path } = await office.claimed(LINKED, { text_format: 'html', target_language: 'de' });
  await office.web.visit({ context: office.annWindow, path }, async (page) => {
    const { keyboard } = page;
    const said = page.locator('[data-said]');
    const text = await target(page, 1);
    await reads(text, BEFORE);
    await keyboard.press('Control+a');
    await keyboard.type('neu');
    await reads(text, '[1]neu[{shop}][/1]');
    await keyboard.press('Control+z');
    await reads(text, BEFORE);
    await keyboard.press('Control+a');
    await keyboard.press('Delete');
    await reads(text, '[1][{shop}][/1]');
    await keyboard.press('Control+z');
    await reads(text, BEFORE);
    // A copy of all, pasted after all: words come twice, tags do not.
    await keyboard.press('Control+a');
    await keyboard.press('Control+c');
    await keyboard.press('End');
    await keyboard.press('Control+v');
    await reads(text, `${BEFORE}SEE OUR  PAGE TODAY.`);
    await keyboard.press('Control+z');
    await keyboard.press('Control+a');
    await keyboard.press('Control+x');
    await reads(text, '[1][{shop}][/1]');
    await keyboard.press('Control+z');
    await reads(text, BEFORE);
    // Erasing beside a tag is a step over it.
    await keyboard.press('Home');
    for (let step = 0; step < 4; step += 1) await keyboard.press('ArrowRight');
    await keyboard.press('Delete');
    await said.getByText('Tag 1 is protected').waitFor();
    await keyboard.press('Backspace');
    await reads(text, BEFORE);
    // The list: `<` opens it, Enter moves the tag to the caret, Esc keeps the character.
    await keyboard.press('End');
    await keyboard.type('<');
    await page.getByRole('listbox', { name: 'Tags of this segment' }).and(page.locator(':focus')).waitFor();
    await shoot(page, 'workbench-tags', 'state');
    await keyboard.press('ArrowDown');
    await keyboard.press('Enter');
    await reads(text, 'SEE [1]OUR  PAGE[/1] TODAY.[{shop}]');
    await keyboard.press('Control+,');
    await reads(text, 'SEE [1]OUR  PAGE[/1] TODAY[{shop}].');
    await keyboard.press('Control+.');
    await reads(text, 'SEE [1]OUR  PAGE[/1] TODAY.[{shop}]');
    await keyboard.type('<');
    await page.getByRole('listbox').and(page.locator(':focus')).waitFor();
    await keyboard.press('Escape');
    await (await target(page, 1)).waitFor();
    await reads(text, 'SEE [1]OUR  PAGE[/1] TODAY.[{shop}]<');
    // Plain text: a token that is gone comes back at the end, and is named.
    await keyboard.press('F2');
    await (await target(page, 1)).fill('Siehe {1}Seite{/1}.');
    await keyboard.press('Tab');
    await page.getByText('Tag {shop} was missing and stands at the end.').waitFor();
    await keyboard.press('F2');
    await reads(await target(page, 1), 'Siehe [1]Seite[/1].[{shop}]');
    await saved(page);
  });
});

it('loses no word on a dead connection: it is kept, restored after a reload, and sent', async () => {
  const { path, task } = await office.claimed('One.\nTwo.\n', { target_language: 'de' });
  const page = await office.annWindow.newPage();
  await page.goto(`${office.web.url}/app${path}`);
  await target(page, 1);
  const saves = '**/api/editing/tasks/*/segments/*';
  await page.route(saves, (route) => route.abort('connectionfailed'));
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Eins.');
  await page.keyboard.press('Control+Enter');
  await target(page, 2);
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Zwei');
  await page.locator('header').getByText('Offline, 2 waiting').waitFor();
  await shoot(page, 'workbench-offline', 'state');
  page.on('dialog', (dialog) => void dialog.accept());
  await page.reload();
  await target(page, 2);
  expect(await read(row(page, 1).getByRole('gridcell').nth(1))).toBe('Eins.');
  await reads(await target(page, 2), 'Zwei');
  await page.unroute(saves);
  await page.reload();
  await saved(page);
  const { body } = await office.ann.call('GET', `/api/editing/tasks/${task}`);
  expect(body.segments.map(({ target: text, status }: never) => ({ text, status }))).toMatchObject([
    { text: [{ text: 'Eins.' }], status: 'confirmed' },
    { text: [{ text: 'Zwei' }], status: 'draft' },
  ]);
  await page.close();
});

it('gives a task to one of two editors, and shows both texts where one editor wrote twice', async () => {
  await orderEdit(office.call, 'Raced for.\n', { target_language: 'ja' });
  const { body } = await office.ann.call('GET', '/api/editing/queue');
  const { task } = body.open.find((one: { target_language: string }) => one.target_language === 'ja');
  const claims = await Promise.all(
    [office.ann, office.bob].map(({ call }) => call('POST', '/api/editing/claims', { task })),
  );
  expect(claims.map(({ status }) => status).sort()).toEqual([201, 409]);
  const winner = claims[0]!.status === 201 ? office.ann : office.bob;
  const winnerWindow = winner === office.ann ? office.annWindow : office.bobWindow;
  const { lease } = claims.find(({ status }) => status === 201)!.body;
  await office.web.visit({ context: winnerWindow, path: `/tasks/${task}` }, async (page) => {
    await target(page, 1);
    // The same editor at another machine.
    const elsewhere = { token: lease.token, revision: 0, target: [{ text: 'よそ' }], status: 'draft' };
    const answer = await winner.call('PUT', `/api/editing/tasks/${task}/segments/0`, elsewhere);
    expect(answer.status).toBe(200);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('ここ');
    await page.getByRole('button', { name: 'Conflict in 1' }).click();
    const dialog = page.getByRole('dialog', { name: 'Two texts for segment 1' });
    await dialog.getByText('よそ').waitFor();
    await dialog.getByText('ここ').waitFor();
    await shoot(page, 'workbench-conflict', 'state');
    await dialog.getByRole('button', { name: 'Take yours' }).click();
    await saved(page);
    const now = (await winner.call('GET', `/api/editing/tasks/${task}`)).body.segments[0];
    expect(now).toMatchObject({ target: [{ text: 'ここ' }], revision: 2 });
  });
});

it('becomes read-only when the task is somebody else’s, and keeps the text', async () => {
  const { path, task } = await office.claimed('Kept.\n', { target_language: 'de' });
  // Told at once, nobody could type any more: here the save is what finds out.
  await office.annWindow.route('**/api/live?*', (route) => route.abort());
  await office.web.visit({ context: office.annWindow, path }, async (page) => {
    const text = await target(page, 1);
    const freed = await office.operator.call('POST', `/api/console/tasks/${task}/release`, {});
    expect(freed.status).toBe(200);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('Behalten.');
    await page
      .getByRole('main')
      .getByText('The task is not yours any more. What you wrote was kept.')
      .waitFor();
    await text.waitFor({ state: 'detached' });
    expect(await read(row(page, 1).getByRole('gridcell').nth(1))).toBe('Behalten.');
    await page.locator('header').getByText('Read only, 1 kept here').waitFor();
    await shoot(page, 'workbench-lost', 'state');
  });
  await office.annWindow.unroute('**/api/live?*');
  // Whoever has it next finds the text as its draft.
  const claimed = await office.bob.call('POST', '/api/editing/claims', { task });
  expect(claimed.status).toBe(201);
  expect(claimed.body.task.segments[0]).toMatchObject({ status: 'draft', target: [{ text: 'Behalten.' }] });
});

it('puts the caret before a leading tag in a text from right to left', async () => {
  const { path } = await office.claimed('<p><b>Bold</b> and <i>last</i></p>', {
    text_format: 'html',
    target_language: 'ar',
  });
  await office.web.visit({ context: office.annWindow, path }, async (page) => {
    const text = await target(page, 1);
    expect(await text.getAttribute('dir')).toBe('rtl');
    await reads(text, '[1]BOLD[/1] AND [3]LAST[/3]');
    await page.keyboard.press('Home');
    await page.keyboard.type('ا');
    await reads(text, 'ا[1]BOLD[/1] AND [3]LAST[/3]');
    await page.keyboard.press('End');
    await page.keyboard.type('ب');
    await reads(text, 'ا[1]BOLD[/1] AND [3]LAST[/3]ب');
    // Between two tags that stand beside each other.
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.type('ت');
    await reads(text, '[1][/1][3]ت[/3]');
    await saved(page);
  });
});

it('takes what an input method composes, beside tags and over everything', async () => {
  const { path } = await office.claimed('<p>Go <b>to</b></p><p>the shop</p>', {
    text_format: 'html',
    target_language: 'ja',
  });
  await office.web.visit({ context: office.annWindow, path }, async (page) => {
    const text = await target(page, 1);
    await reads(text, 'GO [1]TO[/1]');
    const devtools = await page.context().newCDPSession(page);
    const compose = async (steps: string[]) => {
      for (const step of steps) {
        await devtools.send('Input.imeSetComposition', {
          text: step,
          selectionStart: step.length,
          selectionEnd: step.length,
        });
      }
      await devtools.send('Input.insertText', { text: steps.at(-1)! });
    };
    await page.keyboard.press('End');
    await compose(['n', 'に', 'にほ', '日本']);
    await reads(text, 'GO [1]TO[/1]日本');
    await page.keyboard.press('Control+a');
    await compose(['s', 'す', 'すし', '寿司']);
    await expect.poll(async () => (await read(text)).replace(/\[\/?1\]/g, '')).toBe('寿司');
    await expect.poll(async () => (await read(text)).match(/\[\/?1\]/g)?.sort()).toEqual(['[/1]', '[1]']);
    // Enter that ends a composition confirms nothing.
    await devtools.send('Input.imeSetComposition', { text: 'か', selectionStart: 1, selectionEnd: 1 });
    await text.dispatchEvent('keydown', { key: 'Enter', ctrlKey: true, isComposing: true, keyCode: 229 });
    await devtools.send('Input.insertText', { text: 'か' });
    await expect.poll(() => read(text)).toContain('か');
    expect(await row(page, 1).getAttribute('data-status')).toBe('draft');
    await saved(page);
  });
});
