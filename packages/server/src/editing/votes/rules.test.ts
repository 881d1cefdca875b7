/** Tests of rules: the customer chooses one of several texts that editors confirmed for a source. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { BrandFile } from '../../brands/brands.ts';
import { deleteJobTexts } from '../../retention/store.ts';
import {
  claimTask,
  confirm,
  emptyEditing,
  HUMAN,
  orderEdit,
  overtake,
  pathOf,
  save,
  startEditing,
  votesSettled,
} from '../../testing/editors.ts';
import { createPerson, type TestPerson, until, waitForStatus } from '../../testing/harness.ts';
import { dragoman, urlOf } from '../../testing/programs.ts';
import type { ShownText } from './rules.ts';

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const LIST = '/api/account/disagreements';
const [HOUSE, HOME] = ['La casa es grande.', 'El hogar es grande.'];

const { server, owner, keys, account, call, customer, ann, bob, cy, brand } = await startEditing({
  DRAGOMAN_EDITOR_TASKS: '9',
});
const { username } = keys;
await brand('confirms', { votes: 'confirm' });
beforeEach(() => emptyEditing(owner));

/** Returns the languages of a brand that forbids a Spanish word for “house”. */
function forbidden(target: string): BrandFile['languages'] {
  const term = { source: 'house', target, caseSensitive: false, forbidden: true, doNotTranslate: false };
  return new Map([['es', { tone: undefined, instructions: undefined, terms: [term] }]]);
}

let texts = 0;
/** Returns a sentence that no other test uses. */
const sentence = () =>
  `The house by the ${'abcdefghij'[texts % 10]}${'klmnopqrst'[Math.floor(texts++ / 10)]} is big.`;

/** Returns the only segment of a job, its edit and its fill, with all their columns. */
async function stateOf(uid: string) {
  const { rows } = await owner.query(
    `select t.task_id, to_jsonb(s) as segment, to_jsonb(e) as edit, to_jsonb(f) as fill
       from segments s join jobs j using (part, account_id, job_id)
       join tasks t using (part, account_id, job_id)
       left join edits e using (part, account_id, job_id, position)
       left join fills f using (part, account_id, job_id, position)
      where j.uid = $1`,
    [uid],
  );
  expect(rows).toHaveLength(1);
  return rows[0];
}
const textOf = async (uid: string) => (await stateOf(uid)).segment.draft[0].text;

/** Orders jobs with the same source. @returns their uids */
const orderSame = (count: number, source: string, fields: object = {}) =>
  Promise.all(Array.from({ length: count }, () => orderEdit(call, source, fields)));

/** Has an editor confirm the text of a job. @returns the claimed task */
async function vote(person: TestPerson, uid: string, text: string) {
  const task = await claimTask(person, (await stateOf(uid)).task_id);
  const saved = await confirm(person, task, task.segments[0], { target: [{ text }] });
  expect(saved.status, saved.text).toBe(200);
  await votesSettled(owner);
  return task;
}

/** Has an editor confirm the text of a job, and delivers the job. */
async function deliver(person: TestPerson, uid: string, text: string): Promise<void> {
  const task = await vote(person, uid, text);
  const submitted = await person.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
  expect(submitted.status, submitted.text).toBe(200);
  await waitForStatus(call, `${HUMAN}${uid}/`);
  await votesSettled(owner);
}

interface Listed {
  disagreement: string;
  source: string;
  ruled_at: string | null;
  texts: { vote: string; hash: string; target: string; editors: number; rule: boolean }[];
}

/** Returns the disagreements about a source. */
async function listed(source: string): Promise<Listed[]> {
  const { body } = await customer.call('GET', `${LIST}?limit=200`);
  return body.disagreements.filter((one: Listed) => one.source === source);
}

/** Returns the disagreement about a source, and the vote and hash of each text. */
async function disagreement(source: string) {
  const [one] = await listed(source);
  const nameOf = (text: string) => shownIn(one!, text);
  const voteFor = (text: string) => nameOf(text).vote;
  return { path: `${LIST}/${one!.disagreement}/rule`, id: one!.disagreement, nameOf, voteFor };
}

/** Returns the vote and hash of a text of a disagreement, and the hash of its rule. */
function shownIn({ texts }: Listed, text: string): ShownText {
  const { vote, hash } = texts.find(({ target }) => target === text)!;
  return { vote, hash, rule: texts.find(({ rule }) => rule)?.hash ?? null };
}

/** Returns the hash of the rule that the list shows now; null if there is none. */
async function ruleOf(path: string): Promise<string | null> {
  const { body } = await customer.call('GET', `${LIST}?limit=200`);
  const one = body.disagreements.find(({ disagreement }: Listed) => path.includes(disagreement));
  return one?.texts.find(({ rule }: { rule: boolean }) => rule)?.hash ?? null;
}

/** Has two editors disagree about a source in delivered jobs. @returns the disagreement and other, waiting jobs */
async function dispute(waiting: number, fields: object = {}, source = sentence()) {
  const [house, home, ...waits] = await orderSame(waiting + 2, source, fields);
  await deliver(ann, house!, HOUSE);
  await deliver(bob, home!, HOME);
  return { source, waits, house: house!, home: home!, ...(await disagreement(source)) };
}

async function make(path: string, shown: ShownText): Promise<void> {
  const answer = await customer.call('PUT', path, { ...shown, rule: await ruleOf(path) });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).toEqual({ vote: shown.vote });
  await votesSettled(owner);
}
async function end(path: string): Promise<void> {
  const answer = await customer.call('DELETE', `${path}?rule=${await ruleOf(path)}`);
  expect(answer.status, answer.text).toBe(200);
  await votesSettled(owner);
}

async function auditOf(id: string): Promise<string[]> {
  const { rows } = await owner.query('select action from audit where subject = $1 order by audit_id', [id]);
  return rows.map(({ action }) => action);
}

describe('the list of disagreements', () => {
  it('shows each text of delivered jobs with the editors who prefer it now', async () => {
    const source = sentence();
    const uids = await orderSame(5, source);
    await deliver(ann, uids[0]!, HOUSE);
    await deliver(ann, uids[1]!, HOME);
    // An editor who changes their mind disagrees with nobody.
    expect(await listed(source)).toEqual([]);
    const open = await vote(bob, uids[2]!, HOUSE);
    // The customer has not paid for the text of the open job.
    expect(await listed(source)).toEqual([]);
    await bob.call('POST', pathOf(open, '/submit'), { token: open.lease.token });
    await waitForStatus(call, `${HUMAN}${uids[2]}/`);
    await deliver(cy, uids[3]!, HOUSE);
    expect(await listed(source)).toMatchObject([
      {
        context: 'only',
        source_language: 'en',
        target_language: 'es',
        brand: null,
        tone: null,
        ruled_at: null,
        texts: [
          { target: HOUSE, editors: 2, rule: false },
          { target: HOME, editors: 1, rule: false },
        ],
      },
    ]);
    // When the editors agree, there is nothing to decide.
    await deliver(ann, uids[4]!, HOUSE);
    expect(await listed(source)).toEqual([]);
    const noted = `select from disagreements join jobs using (part, account_id, job_id) where uid = any($1)`;
    expect((await owner.query(noted, [uids])).rowCount).toBe(0);
  });

  it('shows no text of an upgrade that was canceled, because the customer has not paid for it', async () => {
    const source = sentence();
    await deliver(ann, (await orderSame(1, source))[0]!, HOUSE);
    const uid = `canceled-${texts}`;
    const path = `/tapi/v2/mt_translation/${uid}/`;
    const languages = { source_language: 'en', target_language: 'es' };
    await call('POST', '/tapi/v2/mt_translation/', { uid, text: source, ...languages });
    await waitForStatus(call, path);
    expect((await call('PATCH', path, { status: 'upgrade', properties: null })).status).toBe(202);
    await waitForStatus(call, `${HUMAN}${uid}/`, 'translating');
    await vote(bob, uid, HOME);
    expect((await call('DELETE', `${HUMAN}${uid}/`)).status).toBe(200);
    expect((await call('GET', path)).body.status).toBe('completed');
    expect(await listed(source)).toEqual([]);
    const { votes } = (await customer.call('GET', '/api/account/votes?filling=false')).body;
    const targets = votes.filter((one: { uid: string }) => one.uid === uid);
    expect(targets).toEqual([]);
  });

  it('keeps a disagreement while kept votes still differ, and ends it when they agree', async () => {
    const source = sentence();
    const uids = (await orderSame(3, source)) as [string, string, string];
    await deliver(ann, uids[0], HOUSE);
    await deliver(bob, uids[1], HOME);
    await deliver(cy, uids[2], HOUSE);
    const expire = async (uid: string) => {
      await owner.query(`update jobs set finished_at = now() - interval '2 days' where uid = $1`, [uid]);
      const deleted = await server.database.transaction((transaction) =>
        deleteJobTexts(transaction, account, LAST_ID, 1, 100),
      );
      expect(deleted).toBe(1);
      await votesSettled(owner);
    };
    await expire(uids[2]);
    expect(await listed(source)).toMatchObject([
      {
        texts: [
          { target: HOUSE, editors: 1 },
          { target: HOME, editors: 1 },
        ],
      },
    ]);
    await expire(uids[0]);
    expect(await listed(source)).toEqual([]);
    const noted = `select from disagreements join jobs using (part, account_id, job_id) where uid = any($1)`;
    expect((await owner.query(noted, [uids])).rowCount).toBe(0);
  });

  it('comes in pages, latest first', async () => {
    const [older, newer] = [await dispute(0), await dispute(0)];
    const first = (await customer.call('GET', `${LIST}?limit=1`)).body;
    expect(first).toMatchObject({ disagreements: [{ source: newer.source }], next: newer.id });
    const second = (await customer.call('GET', `${LIST}?limit=1&before=${first.next}`)).body;
    expect(second).toMatchObject({ disagreements: [{ source: older.source }] });
    expect((await customer.call('GET', `${LIST}?before=${older.id}`)).body.next).toBeNull();
    expect((await customer.call('GET', `${LIST}?before=x`)).status).toBe(400);
  });

  it('is printed by the command in pages', async () => {
    const { source } = await dispute(0);
    // These disagreements fill the first page. Their votes do not exist.
    await owner.query(
      `insert into disagreements (part, account_id, disagreement_id, reading, context, job_id)
       select part, account_id, ('ffffffff-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, sha256(n::text::bytea),
              context, job_id
         from (select * from disagreements limit 1) d, generate_series(1, 200) n`,
    );
    const list = (...args: string[]) =>
      dragoman(['rule', 'list', username, ...args], { DATABASE_URL: urlOf(server.connection) });
    const first = await list();
    expect(first.stdout).toBe('There are no disagreements or rules on this page.\n');
    const next = 'ffffffff-0000-7000-8000-000000000001';
    expect(first.stderr).toContain(`There are more. Continue with --before ${next}.`);
    expect(JSON.parse((await list('--json')).stdout)).toEqual({ disagreements: [], next });
    const second = await list('--before', next);
    expect(second.stdout).toContain(source);
    expect(second.stderr).not.toContain('There are more');
    expect((await list('--before', 'x')).stderr).toContain('It must be the id of a disagreement.');
    await owner.query(`delete from disagreements where disagreement_id >= '${next}'`);
  });

  it('is printed without characters that control a terminal, as is the memory', async () => {
    const { id } = await dispute(0, {}, 'The red \u001b[31mhouse\u202e stands here.');
    const run = async (...args: string[]) =>
      (await dragoman(args, { DATABASE_URL: urlOf(server.connection) })).stdout;
    const shown = 'The red  [31mhouse  stands here.';
    const line = (await run('rule', 'list', username)).split('\n').find((one) => one.startsWith(id));
    expect(line).toContain(`${shown}  ${HOUSE}`);
    expect(await run('memory', 'search', username, 'red')).toContain(`  ${shown}\n  ${HOUSE}\n`);
  });

  it('keeps places of a source apart, and accounts', async () => {
    const { source, path, nameOf } = await dispute(0);
    const [first] = await orderSame(1, `${source}\nSomething else.\n`);
    await make(path, nameOf(HOME));
    const { rows } = await owner.query(
      `select s.draft from segments s join jobs j using (part, account_id, job_id) where j.uid = $1 and position = 0`,
      [first],
    );
    expect(rows[0].draft).toEqual([{ text: HOUSE }]);
    const stranger = await createPerson(server, { role: 'customer' });
    expect((await stranger.call('GET', LIST)).body).toEqual({ disagreements: [], next: null });
    for (const answer of [
      await stranger.call('PUT', path, nameOf(HOUSE)),
      await stranger.call('DELETE', `${path}?rule=${nameOf(HOME).hash}`),
    ]) {
      expect(answer.status).toBe(404);
    }
    expect((await listed(source))[0]).toMatchObject({
      texts: [{ target: HOME, rule: true }, { rule: false }],
    });
  });
});

describe('a rule', () => {
  it('fills segments that wait now and later, and votes count but change nothing', async () => {
    const { source, waits, path, nameOf } = await dispute(3);
    const [formal] = await orderSame(1, source, { tone: 'Formal' });
    const machine = await textOf(formal!);
    const [wait, ...more] = waits as [string, string, string];
    expect(await textOf(wait)).toBe(HOUSE);
    await make(path, nameOf(HOME));
    expect(await stateOf(wait)).toMatchObject({ segment: { route: 'memory:vote' }, edit: null });
    expect(await textOf(wait)).toBe(HOME);
    expect(await textOf(formal!)).toBe(machine);
    for (const [person, uid] of [
      [cy, more[0]],
      [bob, more[1]],
    ] as const) {
      await deliver(person, uid!, HOUSE);
    }
    expect(await textOf(wait)).toBe(HOME);
    const [later] = await orderSame(1, source);
    await votesSettled(owner);
    expect(await textOf(later!)).toBe(HOME);
    // Now all editors prefer the other text.
    expect(await listed(source)).toMatchObject([
      {
        ruled_at: expect.any(String),
        texts: [
          { target: HOME, editors: 0, rule: true },
          { target: HOUSE, editors: 3, rule: false },
        ],
      },
    ]);
    await end(path);
    expect(await textOf(wait)).toBe(HOUSE);
    expect(await textOf(later!)).toBe(HOUSE);
    expect(await listed(source)).toEqual([]);
    expect((await customer.call('DELETE', `${path}?rule=${nameOf(HOME).hash}`)).status).toBe(404);
  });

  it('is replaced, repeated and ended with an audit entry for each change', async () => {
    const { source, waits, path, id, nameOf, voteFor } = await dispute(1);
    await make(path, nameOf(HOME));
    await make(path, nameOf(HOME));
    await make(path, nameOf(HOUSE));
    expect(await textOf(waits[0]!)).toBe(HOUSE);
    expect((await listed(source))[0]!.texts).toMatchObject([
      { target: HOUSE, rule: true },
      { target: HOME, rule: false },
    ]);
    await end(path);
    await end(path);
    expect(await auditOf(id)).toEqual(['rule.made', 'rule.replaced', 'rule.ended']);
    const { rows } = await owner.query(
      `select user_id, detail from audit where subject = $1 and action = 'rule.replaced'`,
      [id],
    );
    expect(rows[0]).toEqual({
      user_id: customer.userId,
      detail: { vote: voteFor(HOUSE), replaced: voteFor(HOME) },
    });
  });

  it('restores when it ends what it replaced, byte for byte, after the votes have expired', async () => {
    const source = sentence();
    const plain = await orderSame(3, source);
    const confirming = await orderSame(4, source, { brand: 'confirms' });
    await deliver(ann, plain[0]!, HOUSE);
    await deliver(bob, plain[1]!, HOME);
    await deliver(ann, confirming[0]!, HOUSE);
    await deliver(cy, confirming[1]!, HOUSE);
    await deliver(bob, confirming[2]!, HOME);
    const waits = [plain[2]!, confirming[3]!];
    const before = await Promise.all(waits.map(stateOf));
    expect(before).toMatchObject([
      { edit: null },
      { edit: { status: 'confirmed', target: [{ text: HOUSE }] } },
    ]);
    const all = await listed(source);
    expect(all).toHaveLength(2);
    for (const replaced of [false, true]) {
      for (const one of all) {
        const path = `${LIST}/${one.disagreement}/rule`;
        await make(path, shownIn(one, HOME));
        if (replaced) await make(path, shownIn(one, HOUSE));
      }
      const ruled = replaced ? HOUSE : HOME;
      expect(await Promise.all(waits.map(stateOf))).toMatchObject([
        { segment: { draft: [{ text: ruled }] }, edit: null },
        { segment: { draft: [{ text: ruled }] }, edit: { status: 'confirmed', target: [{ text: ruled }] } },
      ]);
      if (replaced) {
        await server.database.transaction((transaction) =>
          deleteJobTexts(transaction, account, LAST_ID, 0, 100),
        );
        // The rules outlive the votes, and the list still shows them.
        expect(await listed(source)).toMatchObject(
          all.map(() => ({ texts: [{ target: HOUSE, editors: 0, rule: true }] })),
        );
        expect(await textOf(waits[0]!)).toBe(HOUSE);
      }
      for (const { disagreement: id } of all) await end(`${LIST}/${id}/rule`);
      expect(await Promise.all(waits.map(stateOf))).toEqual(before);
    }
    expect(await listed(source)).toEqual([]);
  });

  it('restores a machine draft when no vote counts any more', async () => {
    const source = sentence();
    const [wait] = await orderSame(1, source);
    const before = await stateOf(wait!);
    const { path, nameOf, house, home } = await dispute(0, {}, source);
    await make(path, nameOf(HOME));
    for (const uid of [house, home]) {
      const rejected = await customer.call('POST', `/api/account/jobs/${uid}/reject`, { reason: 'No.' });
      expect(rejected.status, rejected.text).toBeLessThan(300);
    }
    await votesSettled(owner);
    expect(await textOf(wait!)).toBe(HOME);
    await end(path);
    expect(await stateOf(wait!)).toEqual(before);
  });

  it('leaves the machine draft when it ends, if the text under it was withdrawn and its votes have expired', async () => {
    const source = sentence();
    const [wait] = await orderSame(1, source);
    const before = await stateOf(wait!);
    const { path, nameOf, voteFor } = await dispute(0, {}, source);
    await make(path, nameOf(HOME));
    expect((await customer.call('POST', `/api/account/votes/${voteFor(HOUSE)}/undo`)).status).toBe(200);
    await votesSettled(owner);
    expect(await textOf(wait!)).toBe(HOME);
    await server.database.transaction((transaction) => deleteJobTexts(transaction, account, LAST_ID, 0, 100));
    await end(path);
    expect(await stateOf(wait!)).toEqual(before);
  });

  it('does not keep the text of a withdrawn vote in a segment that it does not fit, or where votes are off', async () => {
    async function disputeOf(name: string) {
      await brand(name, {});
      const source = sentence();
      const [wait] = await orderSame(1, source, { brand: name });
      const before = await stateOf(wait!);
      return { wait: wait!, before, ...(await dispute(0, { brand: name }, source)) };
    }
    const [late, stopped] = [await disputeOf('late'), await disputeOf('stopped')];
    // An editor holds the segment until the new term applies to it. The page of the task shows no rule then.
    const task = await claimTask(cy, late.before.task_id);
    await make(late.path, late.nameOf(HOME));
    await brand('late', { languages: forbidden('hogar') });
    await until(async () => (await cy.call('GET', pathOf(task))).body.segments[0].vote === undefined);
    await cy.call('POST', pathOf(task, '/release'), { token: task.lease.token });
    await brand('stopped', { votes: 'off' });
    await make(stopped.path, stopped.nameOf(HOME));
    for (const { wait, before, house } of [late, stopped]) {
      expect(await textOf(wait)).toBe(HOUSE);
      const rejected = await customer.call('POST', `/api/account/jobs/${house}/reject`, { reason: 'No.' });
      expect(rejected.status, rejected.text).toBeLessThan(300);
      await votesSettled(owner);
      expect(await stateOf(wait)).toEqual(before);
    }
  });

  it('is not changed by the end of its vote, and leaves edited segments alone', async () => {
    const { source, waits, path, nameOf, voteFor, home } = await dispute(2);
    const [wait, edited] = waits as [string, string];
    const task = await claimTask(cy, (await stateOf(edited)).task_id);
    const own = [{ text: 'Mi casa es grande.' }];
    expect((await save(cy, task, task.segments[0], { target: own })).status).toBe(200);
    await cy.call('POST', pathOf(task, '/release'), { token: task.lease.token });
    await make(path, nameOf(HOME));
    const undone = await customer.call('POST', `/api/account/votes/${voteFor(HOME)}/undo`);
    expect(undone.body).toEqual({ restored: 0, kept: [] });
    await votesSettled(owner);
    expect(await textOf(wait)).toBe(HOME);
    const { votes } = (await customer.call('GET', '/api/account/votes')).body;
    expect(votes.map((one: { vote: string }) => one.vote)).not.toContain(voteFor(HOME));
    await customer.call('POST', `/api/account/jobs/${home}/reject`, { reason: 'Not this.' });
    await votesSettled(owner);
    expect(await textOf(wait)).toBe(HOME);
    expect((await stateOf(edited)).edit).toMatchObject({ status: 'draft', target: own });
    expect((await listed(source))[0]!.texts).toMatchObject([
      { target: HOME, editors: 0, rule: true },
      { target: HOUSE, editors: 1, rule: false },
    ]);
    await end(path);
    expect(await textOf(wait)).toBe(HOUSE);
  });

  it('is shown to an editor who holds a segment, and fills it when the claim ends', async () => {
    const { waits, path, nameOf } = await dispute(1);
    const { task_id, segment } = await stateOf(waits[0]!);
    const task = await claimTask(cy, task_id);
    await make(path, nameOf(HOME));
    const shown = (await cy.call('GET', pathOf(task))).body.segments[0];
    expect(shown.vote).toMatchObject({ target: [{ text: HOME }], state: 'next', rule: true, agree: 1 });
    expect((await stateOf(waits[0]!)).segment).toEqual(segment);
    await cy.call('POST', pathOf(task, '/release'), { token: task.lease.token });
    await votesSettled(owner);
    expect(await textOf(waits[0]!)).toBe(HOME);
    // The end of a rule also waits for the end of a claim.
    const again = await claimTask(cy, task_id);
    expect(again.segments[0].vote).toMatchObject({ state: 'filled', rule: true });
    await end(path);
    expect(await textOf(waits[0]!)).toBe(HOME);
    await cy.call('POST', pathOf(again, '/release'), { token: again.lease.token });
    await votesSettled(owner);
    expect((await stateOf(waits[0]!)).segment).toEqual(segment);
  });

  it('changes nothing in the jobs of a brand whose votes are off', async () => {
    await brand('quiet', { votes: 'off' });
    const { waits, path, nameOf } = await dispute(1, { brand: 'quiet' });
    const before = await stateOf(waits[0]!);
    await make(path, nameOf(HOME));
    expect(await stateOf(waits[0]!)).toEqual(before);
    await end(path);
    expect(await stateOf(waits[0]!)).toEqual(before);
  });

  it('is refused for a text that fails the checks, or is not from a delivered job', async () => {
    await brand('strict', { languages: forbidden('hogar') });
    // The editor accepts the warning about the forbidden term.
    const { path, id, nameOf, home, waits } = await dispute(1, { brand: 'strict' });
    const refused = await customer.call('PUT', path, nameOf(HOME));
    expect(refused.status).toBe(400);
    expect(refused.body.error.reasons).toEqual({ vote: { code: 'rule_fails' } });

    await vote(cy, waits[0]!, 'La morada es grande.');
    const { rows } = await owner.query(
      `select vote_id, encode(target_hash, 'hex') as hash from votes v join jobs j using (part, account_id, job_id) where j.uid = $1`,
      [waits[0]],
    );
    const unseen = { vote: rows[0].vote_id, hash: rows[0].hash, rule: null };
    expect((await customer.call('PUT', path, unseen)).status).toBe(404);
    await customer.call('POST', `/api/account/jobs/${home}/reject`, { reason: 'No.' });
    await votesSettled(owner);
    expect((await customer.call('PUT', path, nameOf(HOME))).status).toBe(404);
    // Confirmed again, the text is in an open job.
    const again = await claimTask(bob, (await stateOf(home)).task_id);
    const segment = { ...again.segments[0], draft: again.segments[0].target };
    expect((await confirm(bob, again, segment)).status).toBe(200);
    await votesSettled(owner);
    expect((await customer.call('PUT', path, nameOf(HOME))).status).toBe(404);
    const other = await dispute(0);
    expect((await customer.call('PUT', path, other.nameOf(HOUSE))).status).toBe(404);
    const { status, body } = await customer.call('PUT', path, {});
    expect([status, Object.keys(body.error.reasons).sort()]).toEqual([400, ['hash', 'rule', 'vote']]);
    expect(await auditOf(id)).toEqual([]);
  });

  it('is refused if its vote has another text than the list showed', async () => {
    const { source, waits, path, id, nameOf } = await dispute(1);
    const shown = nameOf(HOME);
    const other = 'El hogar es enorme.';
    // As if the editor had confirmed another text in the same place.
    await owner.query('update votes set target = $2, target_hash = sha256($3) where vote_id = $1', [
      shown.vote,
      JSON.stringify([{ text: other }]),
      Buffer.from(other),
    ]);
    const before = await stateOf(waits[0]!);
    const refused = await customer.call('PUT', path, shown);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'text_changed']);
    const run = (...args: string[]) =>
      dragoman(['rule', ...args], { DATABASE_URL: urlOf(server.connection) });
    expect((await run('make', username, id, shown.vote, shown.hash)).stderr).toContain(
      'The text has changed.',
    );
    await votesSettled(owner);
    expect(await stateOf(waits[0]!)).toEqual(before);
    expect(await auditOf(id)).toEqual([]);
    const now = shownIn((await listed(source))[0]!, other);
    expect(now.vote).toBe(shown.vote);
    expect((await run('list', username)).stdout).toContain(`${id}  ${now.vote}  ${now.hash}`);
    expect((await run('make', username, id, now.vote, now.hash)).stdout).toBe('The text is the rule.\n');
    await votesSettled(owner);
    expect(await textOf(waits[0]!)).toBe(other);
  });

  it('is not replaced or ended by a user who has not seen it', async () => {
    const { source, path, id, nameOf } = await dispute(0);
    const [house, home] = [nameOf(HOUSE), nameOf(HOME)];
    await make(path, house);
    const run = (...args: string[]) =>
      dragoman(['rule', ...args], { DATABASE_URL: urlOf(server.connection) });
    // The first user saw no rule, the second one saw another rule.
    for (const refused of [
      await customer.call('PUT', path, home),
      await customer.call('DELETE', `${path}?rule=${home.hash}`),
    ]) {
      expect([refused.status, refused.body.error.code]).toEqual([409, 'rule_changed']);
    }
    for (const args of [
      ['make', username, id, home.vote, home.hash],
      ['end', username, id, home.hash],
    ]) {
      expect((await run(...args)).stderr).toContain('The rule has changed.');
    }
    expect((await listed(source))[0]!.texts[0]).toMatchObject({ target: HOUSE, rule: true });
    const replaced = await run('make', username, id, home.vote, home.hash, '--replaces', house.hash);
    expect(replaced.stdout).toBe('The text is the rule.\n');
    expect((await run('end', username, id, home.hash)).stdout).toBe('The rule has ended.\n');
    expect(await auditOf(id)).toEqual(['rule.made', 'rule.replaced', 'rule.ended']);
    await votesSettled(owner);
  });

  it('is not missed when it changes while a worker still writes what was right before', async () => {
    const { waits, path, nameOf } = await dispute(1);
    const put = () => customer.call('PUT', path, nameOf(HOME));
    const remove = () => customer.call('DELETE', `${path}?rule=${nameOf(HOME).hash}`);
    await overtake(server.connection, waits[0]!, put, remove);
    expect(await textOf(waits[0]!)).toBe(HOUSE);
    await make(path, nameOf(HOME));
    await overtake(server.connection, waits[0]!, remove, put);
    expect(await textOf(waits[0]!)).toBe(HOME);
  });

  it('is one text at a time when users change it at the same time', async () => {
    const { source, waits, path, id, nameOf } = await dispute(4);
    for (let round = 0; round < 5; round++) {
      const shown = await ruleOf(path);
      const put = (text: string) => customer.call('PUT', path, { ...nameOf(text), rule: shown });
      const remove = () => customer.call('DELETE', `${path}?rule=${shown}`);
      const answers = await Promise.all([put(HOME), remove(), put(HOUSE), put(HOME)]);
      const statuses = answers.map(({ status }) => status);
      expect(statuses).toContain(200);
      expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
      await votesSettled(owner);
      const rule = (await listed(source))[0]!.texts.find((one) => one.rule)?.target ?? HOUSE;
      expect(await Promise.all(waits.map(textOf))).toEqual(waits.map(() => rule));
    }
    let ruled = false;
    for (const action of await auditOf(id)) {
      expect(action === 'rule.made').toBe(!ruled);
      ruled = action !== 'rule.ended';
    }
    await end(path);
    expect(await Promise.all(waits.map(textOf))).toEqual(waits.map(() => HOUSE));
  });
});
