/**
 * Presses every shortcut of `keys.ts`, then types at human speed: each key is held for 150 ms. The typed letters must
 * land in the translation of the active segment, or in the field that the shortcut opened.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { confirmAll, orderEdit } from '../../server/src/testing/editors.ts';
import type { createClient } from '../../server/src/testing/harness.ts';
import { type ActionId, bindings } from '../src/workbench/actions/keys.ts';
import {
  claimJob,
  claimReview,
  createBrandAccount,
  expectText,
  HELD,
  reading,
  row,
  startWorkbench,
  target,
  type WorkbenchFixture,
} from './workbench.ts';

let fixture: WorkbenchFixture;
let call: ReturnType<typeof createClient>;
beforeAll(async () => {
  fixture = await startWorkbench();
  ({ call } = await createBrandAccount(fixture));
});
afterAll(() => fixture.stop());

/** Letters that no source and no draft of these tests has. */
const TYPED = 'qx';

/** The typed letters in each row that has some, by the number of the row. */
const LANDED = `Object.fromEntries([...document.querySelectorAll('[role=row]')].flatMap((row) => {
  const cell = row.querySelector('[data-target]');
  const field = cell.querySelector('textarea, [role=textbox]') ?? cell.firstElementChild;
  const typed = (field.value ?? field.innerText).replace(/[^qx]/g, '');
  return typed === '' ? [] : [[Number(row.dataset.position) + 1, typed]];
}))`;
/** The text of the field that has the focus; undefined if no field has it. */
const FIELD = 'document.activeElement.value';

interface Case {
  /** Where the letters land: in the translation of a segment, in a field that the shortcut opens, or nowhere. */
  lands: number | 'field' | 'nowhere';
  /** The segment in which the shortcut is pressed; 2 by default. */
  from?: number;
  /** The key that undoes the effect of the shortcut. The letters typed after it land in the same segment. */
  back?: string;
  /** Waits for the end of an action that replaces the text. */
  until?: (page: Page) => Promise<unknown>;
}

const said = (text: string) => (page: Page) => page.locator('[data-said]').getByText(text).waitFor();

/** The shortcuts in the text of segment 2. Segments 2 and 3 are in one paragraph. */
const IN_TEXT: Partial<Record<ActionId, Case>> = {
  confirm: { lands: 3 },
  reopen: { lands: 2 },
  previous: { lands: 1 },
  next: { lands: 3 },
  previousOpen: { lands: 1 },
  nextOpen: { lands: 3 },
  save: { lands: 2 },
  find: { lands: 'field', back: 'Escape' },
  replace: { lands: 'field', back: 'Escape' },
  // The filter bar has the focus, but no field.
  filter: { lands: 'nowhere', back: 'Escape' },
  goTo: { lands: 'field', back: 'Escape' },
  comment: { lands: 'field', back: 'Escape' },
  unsure: { lands: 2, back: 'Control+u' },
  join: { lands: 2, until: said('Segments joined') },
  separate: { lands: 2, until: said('Segments separated') },
  term: { lands: 'field', back: 'Escape' },
  ask: { lands: 'field', back: 'Escape' },
  lineBreak: { lands: 2 },
  // No word is suggested, so Tab moves the focus to the next button.
  complete: { lands: 'nowhere' },
  leave: { lands: 2 },
  nextCode: { lands: 2 },
  codes: { lands: 2 },
  collapseCodes: { lands: 2, back: 'F9' },
  moveCodeBack: { lands: 2 },
  moveCodeOn: { lands: 2 },
  use1: { lands: 2 },
  use2: { lands: 2 },
  use3: { lands: 2 },
  use4: { lands: 2 },
  use5: { lands: 2 },
  cyclePrevious: { lands: 2 },
  cycleNext: { lands: 2 },
  copySource: { lands: 2 },
  reset: { lands: 2 },
  concordance: { lands: 'field', back: 'Escape' },
  plainText: { lands: 2, back: 'F2' },
  preview: { lands: 2, back: 'F4' },
  view: { lands: 2, back: 'Shift+F4' },
  // Only reviewers mark issues.
  issue: { lands: 2 },
  help: { lands: 'nowhere', back: 'Escape' },
};

/** The shortcuts on the row of segment 2. */
const ON_ROW: Partial<Record<ActionId, Case>> = {
  help: { lands: 'nowhere', back: 'Escape' },
  rowPrevious: { lands: 1 },
  rowNext: { lands: 3 },
  edit: { lands: 2 },
  select: { lands: 2 },
};

/** The shortcuts on the active subtitle of the flow view. The third of four subtitles is doubtful. */
const READING: Partial<Record<ActionId, Case>> = {
  readOn: { lands: 3 },
  readBack: { lands: 1 },
  nextDoubt: { lands: 3 },
  previousDoubt: { from: 4, lands: 3 },
};

const HTML = '<p>One house.</p><p>Two <b>old</b> boats. Three boats.</p><p>Four.</p>';
const SRT = `1
00:00:01,000 --> 00:00:03,500
The wind was strong.

2
00:00:04,000 --> 00:00:06,000
Nobody came.

3
00:00:09,000 --> 00:00:11,000
This was by far too much to be read at once.

4
00:00:11,500 --> 00:00:13,500
It was late.
`;

/** Returns the combinations of some shortcuts as Playwright names them, with the case of each. */
function listKeys(cases: Partial<Record<ActionId, Case>>, place: readonly string[]): [string, Case][] {
  return bindings
    .filter(({ where }) => place.includes(where))
    .flatMap(({ action, keys }) =>
      keys.map((key): [string, Case] => {
        expect(cases[action], action).toBeDefined();
        const named = key.replace('Mod', 'Control').replace('Ctrl', 'Control');
        return [named.replace(/(?<=\+)[A-Z]$/, (letter) => letter.toLowerCase()), cases[action]!];
      }),
    );
}

/** Claims a task of the brand and opens it, in rows unless `flow` is given. */
async function visit(text: string, fields: object, use: (page: Page) => Promise<void>, flow = false) {
  const uid = await orderEdit(call, text, { target_language: 'de', ...fields });
  const { task } = await claimJob(fixture.ann, uid);
  const context = flow ? await fixture.web.signedIn(fixture.ann) : fixture.annContext;
  await fixture.web.visit({ context, path: `/tasks/${task}` }, use);
  if (flow) await context.close();
}

/** Clicks into the text of a segment and moves the caret to its end. */
async function startIn(page: Page, number: number): Promise<void> {
  await row(page, number)
    .locator('[data-target]')
    .click({ position: { x: 24, y: 12 }, ...HELD });
  await target(page, number);
  await page.keyboard.press('End', HELD);
}

/** Types, and waits until the letters have landed in addition to those typed before. */
async function typeInto(page: Page, segment: number, before = ''): Promise<void> {
  await page.keyboard.type(TYPED, HELD);
  await expect.poll(() => page.evaluate(LANDED)).toEqual({ [segment]: before + TYPED });
}

/** Presses a shortcut and types. Afterwards, every segment has its draft again. */
async function check(page: Page, key: string, { lands, from = 2, back, until }: Case): Promise<void> {
  const { keyboard } = page;
  await keyboard.press(key, HELD);
  await until?.(page);
  if (typeof lands === 'number') await typeInto(page, lands);
  else {
    await keyboard.type(TYPED, HELD);
    if (lands === 'field') await expect.poll(() => page.evaluate(FIELD)).toBe(TYPED);
    expect(await page.evaluate(LANDED)).toEqual({});
  }
  if (back !== undefined) {
    await keyboard.press(back, HELD);
    await typeInto(page, typeof lands === 'number' ? lands : from, typeof lands === 'number' ? TYPED : '');
  }
  if (lands === 'nowhere' && back === undefined) return;
  await keyboard.press('Control+Shift+Backspace', HELD);
  await expect.poll(() => page.evaluate(LANDED)).toEqual({});
}

/** Runs a check and names the shortcut in its error. */
async function checkAll(cases: [string, Case][], start: (one: Case) => Promise<void>, page: Page) {
  for (const [key, one] of cases) {
    try {
      await start(one);
      await check(page, key, one);
    } catch (error) {
      (error as Error).message = `${key}: ${(error as Error).message}`;
      throw error;
    }
  }
}

it('text typed after each shortcut lands in the active segment or in the field that the shortcut opened', () =>
  visit(HTML, { text_format: 'html' }, async (page) => {
    const anywhere = ['anywhere', 'segment'];
    await checkAll(listKeys(IN_TEXT, [...anywhere, 'target']), ({ from = 2 }) => startIn(page, from), page);
    await checkAll(
      listKeys(ON_ROW, ['row', 'outside']),
      async ({ from = 2 }) => {
        await startIn(page, from);
        await page.keyboard.press('Escape', HELD);
        await row(page, from).and(page.locator(':focus')).waitFor();
      },
      page,
    );
    // Selects the text of the row, not the page.
    await startIn(page, 1);
    await page.keyboard.press('Escape', HELD);
    await row(page, 1).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Control+a', HELD);
    await page.keyboard.type(TYPED, HELD);
    await expectText(await target(page, 1), TYPED);
  }));

it('text typed after each shortcut of the flow view lands in the sentence that is active then', () =>
  visit(
    SRT,
    { text_format: 'srt' },
    async (page) => {
      await checkAll(
        listKeys(READING, ['reading']),
        async ({ from = 2 }) => {
          await startIn(page, from);
          await page.keyboard.press('Escape', HELD);
          await reading(page, from);
        },
        page,
      );
      await page.keyboard.press('Escape', HELD);
      await reading(page, 3);
      await page.keyboard.press('Control+a', HELD);
      await page.keyboard.type(TYPED, HELD);
      await expectText(await target(page, 3), TYPED);
    },
    true,
  ));

it('a field that is already open takes the focus when its shortcut is pressed again', () =>
  visit('One house.\nTwo houses.\n', {}, async (page) => {
    const { keyboard } = page;
    await target(page, 1);
    for (const key of ['Control+f', 'Control+k', 'Control+m']) {
      await keyboard.press(key, HELD);
      await keyboard.type(TYPED, HELD);
      await expect.poll(() => page.evaluate(FIELD)).toBe(TYPED);
      await startIn(page, 1);
      await keyboard.press(key, HELD);
      await keyboard.press('End', HELD);
      await keyboard.type('x', HELD);
      await expect.poll(() => page.evaluate(FIELD)).toBe(`${TYPED}x`);
      expect(await page.evaluate(LANDED), key).toEqual({});
      await keyboard.press('Escape', HELD);
      await target(page, 1);
    }
  }));

it('Enter in the search goes to the next match, and the search keeps the focus until Esc', () =>
  visit('One house.\nTwo houses.\nThree houses.\n', {}, async (page) => {
    const { keyboard } = page;
    await target(page, 1);
    await keyboard.press('Control+f', HELD);
    await keyboard.type('HOUSES', HELD);
    for (const number of [2, 3]) {
      await keyboard.press('Enter', HELD);
      await row(page, number).and(page.locator('[data-active=true]')).waitFor();
    }
    await keyboard.type(TYPED, HELD);
    await expect.poll(() => page.evaluate(FIELD)).toBe(`HOUSES${TYPED}`);
    await keyboard.press('Escape', HELD);
    await typeInto(page, 3);
  }));

it('text typed after a reviewer has marked an issue lands in the active segment', async () => {
  const claimed = await fixture.createClaimedTask('One house.\n', { target_language: 'de' });
  await confirmAll(fixture.ann, claimed);
  const path = `/tasks/${await claimReview(fixture, claimed)}`;
  await fixture.web.visit({ context: fixture.bobContext, path }, async (page) => {
    const { keyboard } = page;
    await target(page, 1);
    await keyboard.press('Control+i', HELD);
    await keyboard.type('3j', HELD);
    await keyboard.press('Enter', HELD);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await typeInto(page, 1);
    await page.getByRole('complementary').getByRole('button', { name: 'Remove' }).click(HELD);
    await page.getByRole('complementary').getByText('No issues marked here').waitFor();
    await typeInto(page, 1, TYPED);
  });
});

it('text typed after a dialog was closed, by Esc or by its action, lands in the active segment', () =>
  visit('One house.\nTwo houses.\n', {}, async (page) => {
    const { keyboard } = page;
    const menu = page.getByText('More', { exact: true });
    let landed = '';
    const type = async () => {
      await typeInto(page, 1, landed);
      landed += TYPED;
    };
    await target(page, 1);
    await keyboard.press('End', HELD);
    await keyboard.press('Control+e', HELD);
    await keyboard.type('house', HELD);
    await keyboard.press('Tab', HELD);
    await keyboard.type('Haus', HELD);
    await keyboard.press('Enter', HELD);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await type();
    await keyboard.press('Control+j', HELD);
    await keyboard.type('Which one?', HELD);
    await page.getByRole('dialog').getByRole('button', { name: 'Ask the customer' }).click(HELD);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await type();
    for (const name of ['Release', 'Skip', 'Report', 'Submit']) {
      const button = page.getByRole('button', { name, exact: true });
      if (name !== 'Submit' && !(await button.isVisible())) await menu.click(HELD);
      await button.click(HELD);
      await page.getByRole('dialog').waitFor();
      await keyboard.press('Escape', HELD);
      await type();
    }
    // The preview opens and closes without taking the focus.
    for (let press = 0; press < 2; press += 1) {
      await page.getByRole('button', { name: 'Preview', exact: true }).click(HELD);
      await type();
    }
  }));
