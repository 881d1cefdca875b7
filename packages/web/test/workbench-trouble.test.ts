/** Tests of edge cases of the workbench: codes, carets, input methods, lost connections and leases. */
import { expect, it } from 'vitest';
import { orderEdit } from '../../server/src/testing/editors.ts';
import { takeScreenshots } from './browser.ts';
import { expectText, readText, row, shareWorkbench, target, waitUntilSaved } from './workbench.ts';

const fixture = shareWorkbench();

const LINKED = '<p>See <a href="/x">our {shop} page</a> today.</p><p>Bye.</p>';
const BEFORE = 'SEE [1]OUR [{shop}] PAGE[/1] TODAY.';

it('a segment keeps every code when text is typed over, deleted, cut or pasted, and each edit can be undone', async () => {
  const { path } = await fixture.createClaimedTask(LINKED, { text_format: 'html', target_language: 'de' });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const { keyboard } = page;
    const announcement = page.locator('[data-said]');
    const text = await target(page, 1);
    await expectText(text, BEFORE);
    await keyboard.press('Control+a');
    await keyboard.type('neu');
    await expectText(text, '[1]neu[{shop}][/1]');
    await keyboard.press('Control+z');
    await expectText(text, BEFORE);
    await keyboard.press('Control+a');
    await keyboard.press('Delete');
    await expectText(text, '[1][{shop}][/1]');
    await keyboard.press('Control+z');
    await expectText(text, BEFORE);
    // Pasting copied text doubles its words, but not its codes.
    await keyboard.press('Control+a');
    await keyboard.press('Control+c');
    await keyboard.press('End');
    await keyboard.press('Control+v');
    await expectText(text, `${BEFORE}SEE OUR  PAGE TODAY.`);
    await keyboard.press('Control+z');
    await keyboard.press('Control+a');
    await keyboard.press('Control+x');
    await expectText(text, '[1][{shop}][/1]');
    await keyboard.press('Control+z');
    await expectText(text, BEFORE);
    // Backspace and Delete move over a code.
    await keyboard.press('Home');
    for (let step = 0; step < 4; step += 1) await keyboard.press('ArrowRight');
    await keyboard.press('Delete');
    await announcement.getByText('Tag 1 is protected').waitFor();
    await keyboard.press('Backspace');
    await expectText(text, BEFORE);
    // `<` opens the list of codes; Enter moves a code to the caret, Esc keeps the character.
    await keyboard.press('End');
    await keyboard.type('<');
    await page.getByRole('listbox', { name: 'Tags of this segment' }).and(page.locator(':focus')).waitFor();
    await takeScreenshots(page, 'workbench-tags', 'state');
    await keyboard.press('ArrowDown');
    await keyboard.press('Enter');
    await expectText(text, 'SEE [1]OUR  PAGE[/1] TODAY.[{shop}]');
    await keyboard.press('Alt+Shift+ArrowLeft');
    await expectText(text, 'SEE [1]OUR  PAGE[/1] TODAY[{shop}].');
    await keyboard.press('Alt+Shift+ArrowRight');
    await expectText(text, 'SEE [1]OUR  PAGE[/1] TODAY.[{shop}]');
    await keyboard.type('<');
    await page.getByRole('listbox').and(page.locator(':focus')).waitFor();
    await keyboard.press('Escape');
    await (await target(page, 1)).waitFor();
    await expectText(text, 'SEE [1]OUR  PAGE[/1] TODAY.[{shop}]<');
    // In plain text mode, a missing token is appended and reported.
    await keyboard.press('F2');
    const tokens = ['{1} <a href="/x">', '{=1} {shop}', '{/1} </a>'];
    await expect.poll(() => row(page, 1).getByRole('listitem').allInnerTexts()).toEqual(tokens);
    await takeScreenshots(page, 'workbench-plain-text', 'state');
    await (await target(page, 1)).fill('Siehe {1}Seite{/1}.');
    await keyboard.press('Tab');
    await page.getByText('Tag {shop} was missing. It was added at the end.').waitFor();
    await keyboard.press('F2');
    await expectText(await target(page, 1), 'Siehe [1]Seite[/1].[{shop}]');
    await waitUntilSaved(page);
  });
});

it('the workbench stores edits while offline, restores them after a reload, and sends them', async () => {
  const { path, task } = await fixture.createClaimedTask('One.\nTwo.\n', { target_language: 'de' });
  const page = await fixture.annContext.newPage();
  await page.goto(`${fixture.web.url}/app${path}`);
  await target(page, 1);
  const saves = '**/api/editing/tasks/*/segments/*';
  await page.route(saves, (route) => route.abort('connectionfailed'));
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Eins.');
  await page.keyboard.press('Control+Enter');
  await target(page, 2);
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Zwei');
  await page.locator('header').getByText('Offline, 2 texts not sent').waitFor();
  await takeScreenshots(page, 'workbench-offline', 'state');
  page.on('dialog', (dialog) => void dialog.accept());
  await page.reload();
  await target(page, 2);
  expect(await readText(row(page, 1).getByRole('gridcell').nth(1))).toBe('Eins.');
  await expectText(await target(page, 2), 'Zwei');
  await page.unroute(saves);
  await page.reload();
  await waitUntilSaved(page);
  const { body } = await fixture.ann.call('GET', `/api/editing/tasks/${task}`);
  expect(body.segments.map(({ target: text, status }: never) => ({ text, status }))).toMatchObject([
    { text: [{ text: 'Eins.' }], status: 'confirmed' },
    { text: [{ text: 'Zwei' }], status: 'draft' },
  ]);
  await page.close();
});

it('only one of two editors can claim a task, and a conflict shows both texts', async () => {
  const uid = await orderEdit(fixture.call, 'Raced for.\n', { target_language: 'ja' });
  const { body } = await fixture.ann.call('GET', '/api/editing/queue');
  const { task } = body.open.find((one: { uid: string }) => one.uid === uid);
  const claims = await Promise.all(
    [fixture.ann, fixture.bob].map(({ call }) => call('POST', '/api/editing/claims', { task })),
  );
  expect(claims.map(({ status }) => status).sort()).toEqual([201, 409]);
  const winner = claims[0]!.status === 201 ? fixture.ann : fixture.bob;
  const winnerContext = winner === fixture.ann ? fixture.annContext : fixture.bobContext;
  const { lease } = claims.find(({ status }) => status === 201)!.body;
  await fixture.web.visit({ context: winnerContext, path: `/tasks/${task}` }, async (page) => {
    await target(page, 1);
    // The same editor saves another text from a second browser.
    const elsewhere = { token: lease.token, revision: 0, target: [{ text: 'よそ' }], status: 'draft' };
    const answer = await winner.call('PUT', `/api/editing/tasks/${task}/segments/0`, elsewhere);
    expect(answer.status).toBe(200);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('ここ');
    await page.getByRole('button', { name: 'Conflict in 1' }).click();
    const dialog = page.getByRole('dialog', { name: 'Two versions of segment 1' });
    await dialog.getByText('よそ').waitFor();
    await dialog.getByText('ここ').waitFor();
    await takeScreenshots(page, 'workbench-conflict', 'state');
    await dialog.getByRole('button', { name: 'Keep your version' }).click();
    await waitUntilSaved(page);
    const now = (await winner.call('GET', `/api/editing/tasks/${task}`)).body.segments[0];
    expect(now).toMatchObject({ target: [{ text: 'ここ' }], revision: 2 });
  });
});

it('the workbench becomes read-only when an operator releases the task, and keeps the text', async () => {
  const { path, task } = await fixture.createClaimedTask('Kept.\n', { target_language: 'de' });
  // Without live updates, the page learns of the release by its next save.
  await fixture.annContext.route('**/api/live?*', (route) => route.abort());
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const text = await target(page, 1);
    const freed = await fixture.operator.call('POST', `/api/console/tasks/${task}/release`, {});
    expect(freed.status).toBe(200);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('Behalten.');
    await page
      .getByRole('main')
      .getByText('Your claim on this task has ended. Your text was kept.')
      .waitFor();
    await text.waitFor({ state: 'detached' });
    expect(await readText(row(page, 1).getByRole('gridcell').nth(1))).toBe('Behalten.');
    await page.locator('header').getByText('Read only, 1 text saved in this browser').waitFor();
    await takeScreenshots(page, 'workbench-lost', 'state');
  });
  await fixture.annContext.unroute('**/api/live?*');
  // The next editor gets the text as a draft.
  const claimed = await fixture.bob.call('POST', '/api/editing/claims', { task });
  expect(claimed.status).toBe(201);
  expect(claimed.body.task.segments[0]).toMatchObject({ status: 'draft', target: [{ text: 'Behalten.' }] });
});

it('the Home key puts the caret before a leading code in right-to-left text', async () => {
  const { path } = await fixture.createClaimedTask('<p><b>Bold</b> and <i>last</i></p>', {
    text_format: 'html',
    target_language: 'ar',
  });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const text = await target(page, 1);
    expect(await text.getAttribute('dir')).toBe('rtl');
    await expectText(text, '[1]BOLD[/1] AND [2]LAST[/2]');
    await page.keyboard.press('Home');
    await page.keyboard.type('ا');
    await expectText(text, 'ا[1]BOLD[/1] AND [2]LAST[/2]');
    await page.keyboard.press('End');
    await page.keyboard.type('ب');
    await expectText(text, 'ا[1]BOLD[/1] AND [2]LAST[/2]ب');
    // Composes between two adjacent codes.
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.type('ت');
    await expectText(text, '[1][/1][2]ت[/2]');
    await waitUntilSaved(page);
  });
});

it('a segment accepts input method compositions next to codes and over selected text', async () => {
  const { path } = await fixture.createClaimedTask('<p>Go <b>to</b></p><p>the shop</p>', {
    text_format: 'html',
    target_language: 'ja',
  });
  await fixture.web.visit({ context: fixture.annContext, path }, async (page) => {
    const text = await target(page, 1);
    await expectText(text, 'GO [1]TO[/1]');
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
    await expectText(text, 'GO [1]TO[/1]日本');
    await page.keyboard.press('Control+a');
    await compose(['s', 'す', 'すし', '寿司']);
    await expect.poll(async () => (await readText(text)).replace(/\[\/?1\]/g, '')).toBe('寿司');
    await expect.poll(async () => (await readText(text)).match(/\[\/?1\]/g)?.sort()).toEqual(['[/1]', '[1]']);
    // The Enter key that ends a composition does not confirm the segment.
    await devtools.send('Input.imeSetComposition', { text: 'か', selectionStart: 1, selectionEnd: 1 });
    await text.dispatchEvent('keydown', { key: 'Enter', ctrlKey: true, isComposing: true, keyCode: 229 });
    await devtools.send('Input.insertText', { text: 'か' });
    await expect.poll(() => readText(text)).toContain('か');
    expect(await row(page, 1).getAttribute('data-status')).toBe('draft');
    await waitUntilSaved(page);
  });
});
