/** The fixture of the workbench tests: the shared server, two editors, and claimed tasks. */
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { accountNamed } from '../../server/src/access/accounts.ts';
import { saveBrand } from '../../server/src/brands/brands.ts';
import { createConnection } from '../../server/src/database/connections.ts';
import { claimTask, confirmAll, orderEdit, pathOf } from '../../server/src/testing/editors.ts';
import { createClient, createPerson, type TestPerson, until } from '../../server/src/testing/harness.ts';
import { LANGUAGES, shareWeb, startWeb, type Web } from './browser.ts';

/** How long a key is held, in milliseconds, as by a person. */
export const HELD = { delay: 150 };

export interface WorkbenchFixture {
  web: Web;
  /** Calls the API with the key of a customer whose balance is positive. */
  call: ReturnType<typeof createClient>;
  ann: TestPerson;
  annContext: BrowserContext;
  bob: TestPerson;
  bobContext: BrowserContext;
  operator: TestPerson;
  /** Creates a human job and claims its task, as Ann unless another editor is given. */
  createClaimedTask(text: string, fields?: object, editor?: TestPerson): Promise<ClaimedTask>;
  stop(): Promise<void>;
}

export interface ClaimedTask {
  uid: string;
  task: string;
  path: string;
  lease: { token: string };
  segments: { position: number; target: unknown; draft: { text?: string }[]; revision: number }[];
}

/** Creates an account, two editors and an operator on the shared server, or on one with other settings. */
export async function startWorkbench(settings?: Record<string, string>): Promise<WorkbenchFixture> {
  const web = settings ? await startWeb({ settings }) : await shareWeb();
  const call = createClient(web.url, (await web.createAccount({ balanceCents: 100_000 })).production_key);
  const languages = LANGUAGES.map((language) => `en:${language}+review`);
  const ann = await createPerson(web, { role: 'editor', languages, name: 'Ann' });
  const bob = await createPerson(web, { role: 'editor', languages, name: 'Bob' });
  const operator = await createPerson(web, { role: 'operator' });
  // Most tests use the view with rows. Tests of the flow view sign their users in without this setting.
  const inRows = { storageState: rowsState(web.url) };
  const annContext = await web.signedIn(ann, inRows);
  const bobContext = await web.signedIn(bob, inRows);
  return {
    web,
    call,
    ann,
    annContext,
    bob,
    bobContext,
    operator,
    async createClaimedTask(text, fields = {}, editor = ann) {
      const uid = await orderEdit(call, text, fields);
      const task = await claimJob(editor, uid);
      return {
        uid,
        task: task.task,
        path: `/tasks/${task.task}`,
        lease: task.lease,
        segments: task.segments,
      };
    },
    stop: () => web.stop(),
  };
}

/** Starts the fixture before the tests of a file, and stops it after them. Its fields are set in hooks and tests alone. */
export function shareWorkbench(settings?: Record<string, string>): WorkbenchFixture {
  const fixture = {} as WorkbenchFixture;
  beforeAll(async () => {
    Object.assign(fixture, await startWorkbench(settings));
  });
  afterAll(() => fixture.stop());
  return fixture;
}

/** Creates an account whose jobs have a brand, so that terms can be proposed in them. @returns it, and its calls */
export async function createBrandAccount({ web }: WorkbenchFixture) {
  const account = await web.createAccount({ balanceCents: 100_000 });
  const { ref } = await accountNamed(web.database, account.username);
  const brand = { externalId: 'acme', name: 'Acme Travel', default: true, languages: new Map() };
  await saveBrand(web.database, 'command', ref, brand, false);
  return { account, call: createClient(web.url, account.production_key) };
}

/** Claims the task of a job, whatever else is in the queue. @returns the task with its lease */
export async function claimJob(editor: TestPerson, uid: string) {
  const { body } = await editor.call('GET', '/api/editing/queue');
  const { task } = body.open.find((one: { uid: string }) => one.uid === uid);
  return claimTask(editor, task);
}

/** Submits Ann's task, waits for its review and claims it as Bob. @returns the task of the review */
export async function claimReview(
  { ann, bob }: WorkbenchFixture,
  { uid, task, lease }: { uid: string; task: string; lease: { token: string } },
): Promise<string> {
  const submitted = await ann.call('POST', pathOf({ task }, '/submit'), { token: lease.token });
  expect(submitted.status, submitted.text).toBe(200);
  const review = await findReview(bob, uid);
  await claimTask(bob, review);
  return review;
}

/** Waits until a job has a task to review it. @returns the task */
export async function findReview(reviewer: TestPerson, uid: string): Promise<string> {
  const found = await until(async () => {
    const { body } = await reviewer.call('GET', '/api/editing/queue');
    const open = body.open as { kind: string; task: string; uid: string }[];
    return open.find((one) => one.kind === 'review' && one.uid === uid);
  });
  return found.task;
}

/** Translates a text as an editor whose work is not reviewed, so that the memory of the customer learns it. */
export async function teach({ web, call, bob }: WorkbenchFixture, text: string): Promise<void> {
  const owner = createConnection(web.connection);
  await owner.connect();
  await owner.query('update users set review_share = 0 where user_id = $1', [bob.userId]);
  await owner.end();
  const uid = await orderEdit(call, text, { target_language: 'de' });
  const task = await claimJob(bob, uid);
  await confirmAll(bob, task);
  await bob.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
  await until(async () => (await call('GET', `/tapi/v2/translation/${uid}/`)).body.status === 'completed');
}

/** Returns the browser's storage of a user who chose the rows for every format. */
function rowsState(origin: string) {
  const localStorage = ['html', 'srt', 'vtt'].map((of) => ({ name: `dragoman.view.${of}`, value: 'rows' }));
  return { cookies: [], origins: [{ origin, localStorage }] };
}

/** Waits until a segment of the flow view has the focus, but not its text. */
export async function reading(page: Page, number: number): Promise<void> {
  await page.locator(`[role=row][data-flow][data-position="${number - 1}"]:focus`).waitFor();
}

/** Waits until the text field of a segment has the focus, then returns it. */
export async function target(page: Page, number: number): Promise<Locator> {
  const text = page.getByRole('textbox', { name: `Translation of segment ${number}`, exact: true });
  await text.and(page.locator(':focus')).waitFor();
  return text;
}

export const row = (page: Page, number: number) => page.locator(`[role=row][data-position="${number - 1}"]`);

/** Returns the text of a segment with its codes in brackets. */
export async function readText(text: Locator): Promise<string> {
  const html = await text.innerHTML();
  return html
    .replace(/<span[^>]*data-kind[^>]*><bdi dir="ltr">([^<]*)<\/bdi><\/span>/g, '[$1]')
    .replace(/<[^>]*>|\ufeff/g, '')
    .replaceAll('&nbsp;', '\u00a0')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** Waits until a segment shows a text, in which codes are written in brackets. */
export async function expectText(text: Locator, wanted: string): Promise<void> {
  await expect.poll(() => readText(text)).toBe(wanted);
}

export async function waitUntilSaved(page: Page): Promise<void> {
  await page.locator('header [data-state=saved]').waitFor();
}
