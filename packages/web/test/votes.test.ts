/**
 * Tests of the pages on which operators and users of an account withdraw votes, which are confirmed texts that other
 * jobs use, and make one of several texts the rule.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConnection } from '../../server/src/database/connections.ts';
import { claimTask, confirm, disagree, HUMAN, orderEdit, pathOf } from '../../server/src/testing/editors.ts';
import { createClient, createPerson, type TestPerson, until } from '../../server/src/testing/harness.ts';
import { expectAccessible, startWeb, takeScreenshots, type Web } from './browser.ts';

const TITLE = 'Texts used in other jobs';
const RULES = 'Sources with several translations';
const RULED = 'The customer made this text the rule';

let web: Web;
let call: ReturnType<typeof createClient>;
let member: TestPerson;
let operator: TestPerson;
let ann: TestPerson;
let bob: TestPerson;
beforeAll(async () => {
  web = await startWeb({ settings: { DRAGOMAN_EDITOR_TASKS: '9' } });
  const account = await web.createAccount({ balanceCents: 10_000, username: 'acme' });
  call = createClient(web.url, account.production_key);
  await createPerson(web, { role: 'customer', account });
  member = await createPerson(web, { role: 'customer', account });
  operator = await createPerson(web, { role: 'operator' });
  ann = await createPerson(web, { role: 'editor', languages: ['en:es'], name: 'Ann' });
  bob = await createPerson(web, { role: 'editor', languages: ['en:es'], name: 'Bob' });
  for (const { userId } of [ann, bob]) {
    await operator.call('PATCH', `/api/console/people/${userId}`, { review_share: 0 });
  }
});
afterAll(() => web.stop());

/** Claims the task of a job as Ann. */
async function claimed(uid: string) {
  const { open } = (await ann.call('GET', '/api/editing/queue')).body;
  return claimTask(ann, open.find((one: { uid: string }) => one.uid === uid).task);
}

/**
 * Confirms a text that fills a segment of another job. Claims the task of the other job if `held`.
 * @returns the first task and the uid of the other job
 */
async function fill(source: string, text: string, held = false) {
  const [from, to] = [await orderEdit(call, source), await orderEdit(call, source)];
  const task = await claimed(from);
  expect((await confirm(ann, task, task.segments[0], { target: [{ text }] })).status).toBe(200);
  const listed = async () => (await operator.call('GET', '/api/console/accounts/acme/votes')).body.votes;
  await until(async () => (await listed()).some((one: { target: string }) => one.target === text));
  if (held) await claimed(to);
  return { task, to };
}

it('an operator withdraws a vote and sees which segments keep its text', async () => {
  const { to: held } = await fill('The door is green.', 'La puerta es verde.', true);
  const context = await web.signedIn(operator);
  await web.visit({ context, path: '/console/accounts/acme' }, async (page) => {
    await page.getByRole('link', { name: TITLE }).click();
    const row = page.getByRole('row', { name: /La puerta es verde\..*Ann/ });
    await row.waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'console-votes');
    await row.getByRole('button', { name: 'Withdraw' }).click();
    const asked = page.getByRole('dialog', { name: 'Withdraw this text?' });
    await takeScreenshots(page, 'console-votes-undo', 'state');
    await asked.getByRole('button', { name: 'Withdraw' }).click();
    const done = page.getByRole('dialog', { name: 'Text withdrawn' });
    await done.getByText('No segment could get its former draft back.').waitFor();
    await done
      .getByRole('listitem')
      .filter({ hasText: `${held} · Segment 1: its task is claimed` })
      .waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'console-votes-undone', 'state');
    await done.getByRole('button', { name: 'Close' }).click();
    await row.getByText('Withdrawn').waitFor();
  });
  await context.close();
});

it('a user of the account withdraws a vote of a delivered job, and does not see its editor', async () => {
  const { task } = await fill('The window is open.', 'La ventana abre.');
  const submitted = await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
  expect(submitted.status, submitted.text).toBe(200);
  await until(async () => (await call('GET', `${HUMAN}${task.job.uid}/`)).body.status === 'completed');
  const theirs = await web.signedIn(member);
  await web.visit({ context: theirs, path: '/account/memory' }, async (page) => {
    const row = page.getByRole('table', { name: TITLE }).getByRole('row', { name: /La ventana abre\./ });
    await row.waitFor();
    expect(await page.getByText('Ann').count()).toBe(0);
    await expectAccessible(page);
    await takeScreenshots(page, 'account-votes');
    await row.getByRole('button', { name: 'Withdraw' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
    await page.getByText('1 segment has its former draft again.').waitFor();
    await row.waitFor({ state: 'detached' });
  });
  await web.visit({ context: theirs, path: '/account/balance' }, async (page) => {
    const row = page
      .getByRole('table', { name: 'Balance' })
      .getByRole('row')
      .filter({ hasText: task.job.uid });
    await row.getByText('Confirmed by editors: 4 words. Taken from other jobs: 0 words').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'account-balance-words');
  });
  await theirs.close();
});

it('a member of the account makes one of several texts the rule, an operator ends it, and an editor sees both', async () => {
  const source = 'The garden is quiet.';
  const waits = await orderEdit(call, source);
  const { texts } = await disagree(call, [ann, bob], member, '/api/account/disagreements', source);
  const [elected, other] = texts.map(({ target }) => target) as [string, string];
  const task = await claimed(waits);
  const editor = await web.signedIn(ann);
  const theirs = await web.signedIn(member);
  const operators = await web.signedIn(operator);
  await web.visit({ context: editor, path: `/tasks/${task.task}` }, async (workbench) => {
    await workbench.getByText(elected).first().waitFor();
    await web.visit({ context: theirs, path: '/account/memory' }, async (page) => {
      const table = page.getByRole('table', { name: RULES });
      const row = table.getByRole('row', { name: other });
      await row.waitFor();
      await expectAccessible(page);
      await row.getByRole('button', { name: 'Make it the rule' }).click();
      const asked = page.getByRole('dialog', { name: 'Make this text the rule?' });
      await expectAccessible(page);
      await takeScreenshots(page, 'account-rule-make', 'state');
      await asked.getByRole('button', { name: 'Make it the rule' }).click();
      await row.getByText('Rule', { exact: true }).waitFor();
      await row.getByRole('button', { name: 'End the rule' }).waitFor();
      await expectAccessible(page);
      await takeScreenshots(page, 'account-rules');
    });
    await workbench.getByText(RULED).first().waitFor();
    await workbench.getByText(other).first().waitFor();
    await web.visit({ context: operators, path: '/console/accounts/acme/votes' }, async (page) => {
      const row = page.getByRole('table', { name: RULES }).getByRole('row', { name: other });
      await row.waitFor();
      await takeScreenshots(page, 'console-rules');
      await row.getByRole('button', { name: 'End the rule' }).click();
      await page.getByRole('dialog').waitFor();
      await takeScreenshots(page, 'console-rule-end', 'state');
      await page.getByRole('dialog').getByRole('button', { name: 'End the rule' }).click();
      await row.getByRole('button', { name: 'Make it the rule' }).waitFor();
      await expectAccessible(page);
    });
    await workbench.getByText(RULED).first().waitFor({ state: 'detached' });
  });
  await Promise.all([editor, theirs, operators].map((context) => context.close()));
});

it('a text that changed after the list was shown does not become the rule, and the list is read again', async () => {
  const source = 'The kitchen is warm.';
  const { texts } = await disagree(call, [ann, bob], member, '/api/account/disagreements', source);
  const text = 'La cocina es cálida.';
  const theirs = await web.signedIn(member);
  await web.visit({ context: theirs, path: '/account/memory' }, async (page) => {
    const table = page.getByRole('table', { name: RULES });
    const row = table.getByRole('row').filter({ hasText: source }).filter({ hasText: texts[0]!.target });
    await row.getByRole('button', { name: 'Make it the rule' }).click();
    const asked = page.getByRole('dialog', { name: 'Make this text the rule?' });
    await asked.waitFor();
    // As if the editor had confirmed another text in the same place.
    const owner = createConnection(web.connection);
    await owner.connect();
    await owner.query('update votes set target = $2, target_hash = sha256($3) where vote_id = $1', [
      texts[0]!.vote,
      JSON.stringify([{ text }]),
      Buffer.from(text),
    ]);
    await owner.end();
    await asked.getByRole('button', { name: 'Make it the rule' }).click();
    await asked.getByText('The text has changed.').waitFor();
    await expectAccessible(page);
    await asked.getByRole('button', { name: 'Cancel' }).click();
    await table.getByRole('row', { name: text }).waitFor();
    await row.waitFor({ state: 'detached' });
    await table.getByRole('button', { name: 'End the rule' }).waitFor({ state: 'detached' });
  });
  await theirs.close();
});

it('a rule that another user replaced after the list was shown is not ended, and the list is read again', async () => {
  const source = 'The window is open.';
  const list = '/api/account/disagreements';
  const { disagreement, texts } = await disagree(call, [ann, bob], member, list, source);
  const [first, second] = texts as [(typeof texts)[0], (typeof texts)[0]];
  const path = `${list}/${disagreement}/rule`;
  const { vote, hash } = first;
  expect((await member.call('PUT', path, { vote, hash, rule: null })).status).toBe(200);
  const theirs = await web.signedIn(member);
  await web.visit({ context: theirs, path: '/account/memory' }, async (page) => {
    const rows = page.getByRole('table', { name: RULES }).getByRole('row').filter({ hasText: source });
    const row = (text: string) => rows.filter({ hasText: text });
    await row(first.target).getByRole('button', { name: 'End the rule' }).click();
    const asked = page.getByRole('dialog', { name: 'End this rule?' });
    await asked.waitFor();
    const other = { vote: second.vote, hash: second.hash, rule: hash };
    expect((await member.call('PUT', path, other)).status).toBe(200);
    await asked.getByRole('button', { name: 'End the rule' }).click();
    await asked.getByText('The rule has changed.').waitFor();
    await expectAccessible(page);
    await asked.getByRole('button', { name: 'Cancel' }).click();
    await row(second.target).getByRole('button', { name: 'End the rule' }).waitFor();
    await row(first.target).getByRole('button', { name: 'Make it the rule' }).waitFor();
  });
  await theirs.close();
});
