/** Tests of texts that arrive in an open task because another editor confirmed them in another task or job. */
import { expect, it } from 'vitest';
import { claimTask, confirm, orderEdit, pathOf, save } from '../../server/src/testing/editors.ts';
import { until } from '../../server/src/testing/harness.ts';
import { expectAccessible, takeScreenshots } from './browser.ts';
import {
  claimJob,
  expectText,
  HELD,
  reading,
  row,
  shareWorkbench,
  target,
  waitUntilSaved,
} from './workbench.ts';

const fixture = shareWorkbench({ DRAGOMAN_EDITOR_TASKS: '20', DRAGOMAN_TASK_WORDS: '13' });

const textOf = (page: Parameters<typeof row>[0], number: number) =>
  row(page, number).locator('[data-target] [lang]');

it('a text that another editor of the document confirms arrives while this editor types in another segment, and can be refused', async () => {
  const { web, annContext, bob, bobContext } = fixture;
  const source = 'The harbour opens at nine.';
  const draft = 'THE HARBOUR OPENS AT NINE.';
  const text = 'El puerto abre a las nueve.';
  // The last line is a task of its own.
  const own = await fixture.createClaimedTask(`${source}\nThe boats are blue.\nThe sea is calm.\n${source}`);
  const { task: other } = await claimJob(bob, own.uid);
  await web.visit({ context: annContext, path: own.path }, async (page) => {
    const { keyboard } = page;
    await target(page, 1);
    await keyboard.press('Alt+ArrowDown', HELD);
    const typed = await target(page, 2);
    await keyboard.press('Home', HELD);
    await keyboard.type('Los ', { delay: 40 });
    for (let left = 'THE'.length; left > 0; left -= 1) await keyboard.press('Shift+ArrowRight', HELD);

    await web.visit({ context: bobContext, path: `/tasks/${other}` }, async (bobs) => {
      await target(bobs, 4);
      await bobs.keyboard.press('Control+a', HELD);
      await bobs.keyboard.type(text, { delay: 20 });
      await bobs.keyboard.press('Control+Enter', HELD);
      await row(bobs, 4).and(bobs.locator('[data-status=confirmed]')).waitFor();
      await waitUntilSaved(bobs);
    });

    await expectText(textOf(page, 1), text);
    await page.locator('[data-said]', { hasText: '1 segment has a new text' }).waitFor();
    await row(page, 1).getByText('Confirmed elsewhere by Bob').waitFor();
    // The caret, the selection and the text that was being typed are as before.
    await keyboard.type('barcos', { delay: 40 });
    await expectText(typed, 'Los barcos BOATS ARE BLUE.');
    await waitUntilSaved(page);

    await keyboard.press('Alt+ArrowUp', HELD);
    const arrived = await target(page, 1);
    await page.getByRole('button', { name: 'Refuse' }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'workbench-vote');
    await target(page, 1);
    await keyboard.press('Control+Shift+Backspace', HELD);
    await expectText(arrived, draft);
    await page.getByRole('button', { name: 'Refuse' }).waitFor({ state: 'detached' });
    await waitUntilSaved(page);
    await page.reload();
    await expectText(await target(page, 1), draft);
  });
  const { body } = await fixture.ann.call('GET', pathOf(own));
  expect(body.segments[0]).toMatchObject({ status: 'draft', target: [{ text: draft }] });
});

it('an editor refuses a text that filled a segment before the task was claimed, and gets the earlier draft back', async () => {
  const { web, annContext, ann, bob, call } = fixture;
  const source = 'The lighthouse is closed.';
  const uid = await orderEdit(call, source);
  const { body } = await bob.call('GET', '/api/editing/queue');
  const { task } = body.open.find((one: { uid: string }) => one.uid === uid);
  const other = await fixture.createClaimedTask(source, {}, bob);
  const confirmed = [{ text: 'El faro cierra hoy.' }];
  expect((await confirm(bob, other, other.segments[0]!, { target: confirmed })).status).toBe(200);
  await until(async () => (await bob.call('GET', pathOf({ task }))).body.segments[0].route === 'memory:vote');
  await claimTask(ann, task);
  await web.visit({ context: annContext, path: `/tasks/${task}` }, async (page) => {
    const text = await target(page, 1);
    await expectText(text, 'El faro cierra hoy.');
    await page.getByRole('button', { name: 'Refuse' }).click(HELD);
    await expectText(text, 'THE LIGHTHOUSE IS CLOSED.');
    await waitUntilSaved(page);
    await page.getByRole('button', { name: 'Refuse' }).waitFor({ state: 'detached' });
  });
});

it('a text that another editor confirms becomes the last suggestion when its segment is the active one', async () => {
  const { web, annContext, bob } = fixture;
  const source = 'The market is full today.';
  const own = await fixture.createClaimedTask(`${source}\nThe fish is fresh.`);
  const other = await fixture.createClaimedTask(source, {}, bob);
  const confirmed = [{ text: 'El mercado se llena hoy.' }];
  await web.visit({ context: annContext, path: own.path }, async (page) => {
    const { keyboard } = page;
    const first = await target(page, 1);
    const suggestions = page.getByRole('listitem').filter({ hasText: 'Ctrl' });
    await suggestions.filter({ hasText: 'Machine translation' }).waitFor();
    expect((await confirm(bob, other, other.segments[0]!, { target: confirmed })).status).toBe(200);
    const voted = suggestions.filter({ hasText: 'Confirmed elsewhere by Bob' });
    await voted.getByText('El mercado se llena hoy.').waitFor();
    expect(await suggestions.first().innerText()).toContain('Machine translation');
    await expectText(first, 'THE MARKET IS FULL TODAY.');
    await takeScreenshots(page, 'workbench-vote-suggestion', 'state');
    // When the editor leaves the segment without an edit, the segment gets the text.
    await keyboard.press('Alt+ArrowDown', HELD);
    await target(page, 2);
    await expectText(textOf(page, 1), 'El mercado se llena hoy.');
    await keyboard.press('Alt+ArrowUp', HELD);
    await target(page, 1);
    await suggestions.filter({ hasText: 'Machine translation' }).waitFor();
    await keyboard.press('Control+1', HELD);
    await expectText(first, 'THE MARKET IS FULL TODAY.');
    await keyboard.press('Control+2', HELD);
    await expectText(first, 'El mercado se llena hoy.');
    await waitUntilSaved(page);
  });
});

it('a text that its editor withdraws leaves the page and the suggestions, and the other suggestions keep their keys', async () => {
  const { web, ann, bob } = fixture;
  const fields = { text_format: 'html' };
  const html = '<p>The bakery opens early.</p><p>The bread is still warm.</p>';
  const own = await fixture.createClaimedTask(html, fields);
  const other = await fixture.createClaimedTask(html, fields, bob);
  const texts = ['La panadería abre temprano.', 'El pan aún está caliente.'];
  const context = await web.signedIn(ann);
  await web.visit({ context, path: own.path }, async (page) => {
    const { keyboard } = page;
    await page.route('**/segments/0/matches', (route) => {
      const match = { target: [{ text: 'La panadería.' }], source: [{ text: 'The bakery.' }], score: 80 };
      return route.fulfill({ json: { matches: [{ ...match, origin: 'job' }] } });
    });
    await page.reload();
    const inside = page.locator('iframe[title=Document]').contentFrame();
    await reading(page, 1);
    await inside.getByText('THE BREAD IS STILL WARM.').waitFor();
    const suggestions = page.getByRole('complementary').getByRole('listitem').filter({ hasText: 'Ctrl' });
    await suggestions.getByText('La panadería.').waitFor();
    const confirmed = [];
    for (const [index, text] of texts.entries()) {
      const target = [{ text }];
      const answer = await confirm(bob, other, other.segments[index]!, { target });
      confirmed.push({ ...other.segments[index]!, revision: answer.body.segment.revision, draft: target });
    }
    await inside.getByText(texts[1]!).waitFor();
    const voted = suggestions.filter({ hasText: texts[0]! });
    await voted.getByText('3', { exact: true }).waitFor();

    // Bob saves both confirmed segments as drafts, which withdraws his votes.
    for (const segment of confirmed) expect((await save(bob, other, segment)).status).toBe(200);
    await inside.getByText('THE BREAD IS STILL WARM.').waitFor();
    await voted.waitFor({ state: 'detached' });
    await keyboard.press('Enter', HELD);
    const first = await target(page, 1);
    await keyboard.press('Control+3', HELD);
    await expectText(first, 'THE BAKERY OPENS EARLY.');
    await keyboard.press('Control+2', HELD);
    await expectText(first, 'La panadería.');
    await keyboard.press('Control+Shift+ArrowDown', HELD);
    await expectText(first, 'THE BAKERY OPENS EARLY.');
    await waitUntilSaved(page);
  });
  await context.close();
});
