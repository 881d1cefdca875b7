/** Tests of terms that editors propose, from the task to the draft of the brand. */
import { describe, expect, it } from 'vitest';
import { claimTask, confirm, orderEdit, pathOf, save, startEditing } from '../../testing/editors.ts';
import { createClient } from '../../testing/harness.ts';

const { server, keys, call, customer, operator, ann, bob, brand } = await startEditing({
  DRAGOMAN_EDITOR_TASKS: '20',
});
const flags = { caseSensitive: false, forbidden: false };
const terms = [
  { source: 'house', target: 'casa', ...flags, doNotTranslate: false },
  { source: 'Acme', target: '', ...flags, doNotTranslate: true },
];
const languages = new Map([['es', { tone: undefined, instructions: undefined, terms }]]);
await brand('acme', { name: 'Acme', default: true, languages });
const brandPath = `/api/console/accounts/${keys.username}/brands/acme`;

type Claimed = Awaited<ReturnType<typeof claimTask>>;

async function claimNew(text: string): Promise<Claimed> {
  await orderEdit(call, text);
  const { body } = await ann.call('GET', '/api/editing/queue');
  const [newest] = body.open.toSorted(
    (one: { order_number: number }, other: { order_number: number }) => other.order_number - one.order_number,
  );
  return claimTask(ann, newest.task);
}
const propose = (task: Claimed, term: object) =>
  ann.call('POST', pathOf(task, '/terms'), { token: task.lease.token, ...term });
const termsOf = async (task: Claimed, person = ann) => (await person.call('GET', pathOf(task))).body.terms;
const proposals = async () => (await customer.call('GET', '/api/account/brands/acme/proposals')).body.objects;

describe('a proposed term', () => {
  it('applies to its job at once, and enters the draft of the brand when the customer takes it', async () => {
    const task = await claimNew('The gate is open.\n');
    const made = await propose(task, { source: ' gate ', target: 'portón', note: 'Not a door.' });
    expect(made.status, made.text).toBe(201);
    expect(made.body).toMatchObject({ source: 'gate', target: 'portón', note: 'Not a door.' });
    expect(made.body.proposal).toMatchObject({ by: 'Ann', may_withdraw: true });
    expect(await termsOf(task)).toContainEqual(made.body);
    const { body } = await ann.call('GET', pathOf(task, '/segments/0/matches'));
    expect(body.terms).toEqual([made.body]);
    // The server's checks use the term, too.
    const [segment] = task.segments;
    const wrong = await save(
      ann,
      task,
      { ...segment, draft: [{ text: 'La puerta está abierta.' }] },
      { status: 'confirmed' },
    );
    expect(wrong.body.error.findings).toContainEqual(
      expect.objectContaining({ check: 'terms', values: { source: 'gate', target: 'portón' } }),
    );
    // Jobs other than the editor's do not have the term.
    const other = await claimNew('Another gate is open.\n');
    expect((await termsOf(other)).map(({ source }: { source: string }) => source)).toEqual(['house', 'Acme']);

    const [proposal] = await proposals();
    expect(proposal).toMatchObject({ language: 'es', source: 'gate', target: 'portón', note: 'Not a door.' });
    const listed = (await customer.call('GET', '/api/account/brands')).body.objects;
    expect(listed).toMatchObject([{ external_id: 'acme', proposals: 1 }]);
    const path = `/api/account/proposals/${proposal.proposal}`;
    const taken = await customer.call('POST', `${path}/take`);
    expect([taken.status, taken.body]).toEqual([200, { objects: [] }]);
    expect((await customer.call('POST', `${path}/take`)).status).toBe(404);
    expect((await customer.call('POST', `${path}/decline`)).status).toBe(404);
    // The term still applies to its job, but the editor cannot withdraw it any more.
    expect((await termsOf(task)).at(-1).proposal).toMatchObject({ may_withdraw: false });
    const withdrawn = { token: task.lease.token };
    const gone = await ann.call('DELETE', pathOf(task, `/terms/${proposal.proposal}`), withdrawn);
    expect(gone.status).toBe(404);

    const { draft } = (await operator.call('GET', brandPath)).body;
    expect(draft).toMatchObject({ revision: 1, changed_by: customer.name });
    const published = await operator.call('POST', `${brandPath}/publish`, { revision: 1 });
    expect(published.status, published.text).toBe(200);
    const glossary = (await customer.call('GET', '/api/account/brands/acme')).body.languages[0].terms;
    expect(glossary).toContainEqual({ source: 'gate', target: 'portón', note: 'Not a door.' });
    await confirm(ann, task, { ...segment, draft: [{ text: 'El portón está abierto.' }] });
  });

  it('does not apply any more when the customer declines it or the editor withdraws it', async () => {
    const task = await claimNew('The roof is red.\n');
    await propose(task, { source: 'roof', target: 'techo' });
    await propose(task, { source: 'red', target: 'rojo' });
    const [roof, red] = await proposals();
    expect(
      (await customer.call('POST', `/api/account/proposals/${roof.proposal}/decline`)).body.objects,
    ).toEqual([red]);
    const { token } = task.lease;
    const path = pathOf(task, `/terms/${red.proposal}`);
    expect((await bob.call('DELETE', path, { token })).status).toBe(409);
    expect((await ann.call('DELETE', path, { token })).status).toBe(200);
    expect((await termsOf(task)).every(({ proposal }: { proposal?: object }) => proposal === undefined)).toBe(
      true,
    );
    expect(await proposals()).toEqual([]);
    // The draft of the brand is unchanged.
    expect((await operator.call('GET', brandPath)).body.draft).toBeNull();
  });

  it('is refused with the name of the field when it is empty, too long, already in the glossary, or contradicts it', async () => {
    const task = await claimNew('The wall is high.\n');
    const fieldsOf = async (term: object) => (await propose(task, term)).body.error.fields;
    expect(await fieldsOf({ source: '  ', target: 'muro' })).toHaveProperty('source');
    expect(await fieldsOf({ source: 'wall', target: '' })).toHaveProperty('target');
    const long = await fieldsOf({ source: 'w'.repeat(501), target: 'm'.repeat(501) });
    expect(Object.keys(long)).toEqual(['source', 'target']);
    expect(await fieldsOf({ source: 'wa\u0007ll', target: 'muro' })).toHaveProperty('source');
    expect(await fieldsOf({ source: 'wall', target: 'muro', note: ' ' })).toHaveProperty('note');
    expect(await fieldsOf({ source: 'house', target: 'casa' })).toEqual({
      target: 'is in the glossary already.',
    });
    expect(await fieldsOf({ source: 'Acme', target: 'Acmé' })).toHaveProperty('source');
    expect((await propose(task, { source: 'wall', target: 'muro' })).status).toBe(201);
    expect(await fieldsOf({ source: ' wall', target: 'muro ' })).toHaveProperty('target');
    // Another job may propose another translation, but not the same one.
    const other = await claimNew('A second wall is high.\n');
    const again = await propose(other, { source: 'wall', target: 'muro' });
    expect(again.body.error.fields).toEqual({ target: 'is proposed already.' });
    expect((await propose(other, { source: 'wall', target: 'pared' })).status).toBe(201);
  });

  it('is refused when the job has no brand', async () => {
    const bare = await server.createAccount({ balanceCents: 100_000 });
    const uid = await orderEdit(createClient(server.url, bare.production_key), 'No brand here.\n');
    expect(uid).toBeDefined();
    const { body } = await ann.call('GET', '/api/editing/queue');
    const task = await claimTask(ann, body.open.find((one: { brand: unknown }) => one.brand === null).task);
    const refused = await propose(task, { source: 'brand', target: 'marca' });
    expect(refused.body.error).toMatchObject({ code: 'invalid_request' });
    expect(refused.text).toContain('has no brand');
  });
});
