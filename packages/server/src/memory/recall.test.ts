/**
 * Tests that recalled translations in jobs, chats and files have their variables where the editor put them,
 * and the requested tone.
 */
import { createHash } from 'node:crypto';
import { type Format, mergeText, type Piece } from '@dragoman/documents';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import type { AccountRef } from '../base/account.ts';
import { readBrandFile } from '../brands/brand.ts';
import { saveBrand } from '../brands/brands.ts';
import { claimTask, confirm, HUMAN, orderEdit, pathOf } from '../testing/editors.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { hashOf, type StoredPair } from './form.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const MEMORY = '/api/account/memory';
const PAIR = { source_language: 'en', target_language: 'es' };

let server: TestServer;
let editor: TestPerson;
beforeAll(async () => {
  server = await startTestServer();
  editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  await server.database.query({ name: 'test.reviews', text: 'update users set review_share = 0' });
});
afterAll(() => server.stop());

interface Customer {
  call: ReturnType<typeof createClient>;
  person: TestPerson;
  ref: AccountRef;
}

async function customer(): Promise<Customer> {
  const account = await server.createAccount({ chat: true });
  const person = await createPerson(server, { role: 'customer', account });
  const { ref } = await accountNamed(server.database, account.username);
  return { call: createClient(server.url, account.production_key), person, ref };
}

/** Returns the pieces of a target in which `[2]` stands for the second protected word of the source. */
function written(target: string, source: readonly Piece[]): Piece[] {
  const kept = source.filter((piece) => 'keep' in piece);
  return target.split(/\[(\d)\]/).flatMap((part, index): Piece[] => {
    if (index % 2 === 1) return [kept[Number(part) - 1]!];
    return part === '' ? [] : [{ text: part }];
  });
}

const completed = (call: Customer['call'], path: string) =>
  until(async () => {
    const { body } = await call('GET', path);
    return body.status === 'completed' && (body.translated_text as string);
  });

/** Has an editor confirm a human job of one sentence. @returns the delivered result */
async function teach({ call }: Customer, text: string, target: string, fields: object = {}): Promise<string> {
  const uid = await orderEdit(call, text, fields);
  const task = await claimTask(editor);
  const [segment] = task.segments;
  const saved = await confirm(editor, task, segment, { target: written(target, segment.source) });
  expect(saved.status, saved.text).toBe(200);
  await editor.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
  return completed(call, `${HUMAN}${uid}/`);
}

let jobs = 0;
async function machine({ call }: Customer, text: string, fields: object = {}): Promise<string> {
  const uid = `machine-${++jobs}`;
  const created = await call('POST', MACHINE, { uid, text, ...PAIR, ...fields });
  expect(created.status, created.text).toBe(201);
  return completed(call, `${MACHINE}${uid}/`);
}

async function chat({ call }: Customer, text: string, fields: object = {}): Promise<string> {
  const { status, body } = await call('POST', '/v2/chats/messages', {
    chat_external_id: 'talk',
    external_id: `message-${++jobs}`,
    text,
    text_format: 'html',
    ...PAIR,
    ...fields,
  });
  expect(status).toBe(201);
  const { id, chat_id } = body.message;
  return until(async () => {
    const answer = (await call('GET', `/v2/chats/${chat_id}/messages/${id}`)).body;
    return (answer.message ?? answer).translated_text || false;
  });
}

describe('a source that looks the same', () => {
  const SEEN = [
    ['an apostrophe', "Don't open it.", 'Don’t open it.'],
    ['a hyphen', 'An e-mail.', 'An e\u2011mail.'],
    ['a space', 'Wait 10 hours.', 'Wait 10\u00a0hours.'],
    ['a soft hyphen', 'A motorway.', 'A motor\u00adway.'],
  ] as const;

  it.each(SEEN)(
    'as one with %s finds its translation, in both directions',
    async (_what, plain, typographic) => {
      for (const [known, asked] of [
        [plain, typographic],
        [typographic, plain],
      ] as const) {
        const one = await customer();
        await teach(one, known, 'Traducido.');
        expect(await machine(one, asked)).toBe('Traducido.');
        expect(await machine(one, known)).toBe('Traducido.');
      }
    },
  );

  it('is found in an entry of an earlier version, whose key is that of its exact text', async () => {
    const one = await customer();
    await teach(one, 'Don’t go.', 'No vayas.');
    const text = 'update memory set source_hash = $2 where account_id = $1';
    const key = hashOf([{ text: 'Don’t go.' }]);
    await server.database.query({ name: 'test.old_key', text }, [one.ref.accountId, key]);
    expect(await machine(one, "Don't go.")).toBe('No vayas.');
    expect(await machine(one, 'Don’t go.')).toBe('No vayas.');
  });

  it('gives way to exactly the same text', async () => {
    const one = await customer();
    await teach(one, 'The dogs’ house.', 'Uno.');
    await teach(one, "The dogs' house.", 'Dos.');
    await teach(one, "The dogs' house.", 'Dos.');
    expect(await machine(one, 'The dogs’ house.')).toBe('Uno.');
    expect(await machine(one, "The dogs' house.")).toBe('Dos.');
  });

  it.each([
    ['also if the correction is the translation of another spelling', ['The dogs’ house.']],
    ['if there is one spelling', []],
  ])('has its latest correction, %s', async (_when, before) => {
    const one = await customer();
    for (const source of before) await teach(one, source, 'Uno.');
    await teach(one, "The dogs' house.", 'Dos.');
    await teach(one, "The dogs' house.", 'Uno.');
    await forgetVotes(one);
    expect(await machine(one, "The dogs' house.")).toBe('Uno.');
  });

  it('has its latest correction, if it is the spelling with typographic apostrophes', async () => {
    const one = await customer();
    await teach(one, "The dogs' house.", 'Uno.');
    await teach(one, "The dogs' house.", 'Dos.');
    await teach(one, "The dogs' house.", 'Uno.');
    await teach(one, 'The dogs’ house.', 'Tres.');
    await teach(one, 'The dogs’ house.', 'Dos.');
    await forgetVotes(one);
    expect(await machine(one, 'The dogs’ house.')).toBe('Dos.');
    expect(await machine(one, "The dogs' house.")).toBe('Uno.');
  });

  it('renews an entry of an earlier version with the same text, also one that is withdrawn', async () => {
    const one = await customer();
    await teach(one, 'Don’t stop.', 'No pares.');
    const source = hashOf([{ text: 'Don’t stop.' }]);
    const target = createHash('sha256').update('[{"text":"No pares."}]').digest();
    const text = 'update memory set source_hash = $2, target_hash = $3 where account_id = $1';
    await server.database.query({ name: 'test.old_keys', text }, [one.ref.accountId, source, target]);
    await teach(one, 'Don’t stop.', 'No pares.');
    const { entries } = (await one.person.call('GET', MEMORY)).body;
    expect(entries).toMatchObject([{ source: 'Don’t stop.', target: 'No pares.' }]);
    const path = `${MEMORY}/${entries[0].memory_id}`;
    const { touched } = (await one.person.call('GET', path)).body;
    expect(touched.filter(({ how }: { how: string }) => how === 'taught')).toHaveLength(2);
    expect((await one.person.call('POST', `${path}/withdraw`, {})).status).toBe(200);
    await teach(one, 'Don’t stop.', 'No pares.');
    await forgetVotes(one);
    expect(await machine(one, 'Don’t stop.')).toBe('DON’T STOP.');
  });
});

/** Withdraws the votes of a customer's jobs, so that translations can come only from memory entries. */
async function forgetVotes({ ref }: Customer): Promise<void> {
  const text = 'update votes set withdrawn_at = now() where account_id = $1';
  await server.database.query({ name: 'test.withdrawn', text }, [ref.accountId]);
}

/** Exports the memory of one customer and imports it for another. */
async function carryOver(from: Customer, to: Customer): Promise<void> {
  const { text: tmx } = await from.person.call('GET', `${MEMORY}/export`);
  const imported = await to.person.call('POST', `${MEMORY}/import`, { from: 'en', to: 'es', tmx });
  expect(imported.body).toMatchObject({ read: 1, written: 1 });
}

/** Rewrites an entry as earlier versions stored it: with protected words as plain text and without a tone. */
async function makeOld(one: Customer): Promise<void> {
  const { ref } = one;
  const read = 'select memory_id, source, target from memory where account_id = $1';
  const rows = await server.database.query({ name: 'test.entries', text: read }, [ref.accountId]);
  expect(rows).toHaveLength(1);
  const { memory_id, source, target } = rows[0] as StoredPair & { memory_id: string };
  const text = 'update memory set source = $2, target = $3, tone = null where memory_id = $1';
  const old = [source, target].map((pieces) => JSON.stringify(bareOf(pieces)));
  await server.database.query({ name: 'test.old', text }, [memory_id, ...old]);
  await forgetVotes(one);
}

/** Converts protected words to plain text, as in entries of earlier versions and of other tools. */
const bareOf = (pieces: readonly Piece[]): Piece[] =>
  mergeText(pieces.map((piece) => ('keep' in piece ? { text: piece.text } : piece)));

const variable = (name: string, example: string) =>
  `<span class="notranslate" origval="%${name}%">${example}</span>`;
const value = (name: string) => variable(name, `%${name}%`);
const xliff = (source: string) =>
  '<?xml version="1.0"?><xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">' +
  '<file original="a" source-language="en" target-language="es" datatype="plaintext"><body>' +
  `<trans-unit id="1"><source>${source}</source></trans-unit></body></file></xliff>`;

/**
 * Each row has a source, the editor's target (`[1]` is the first variable), the delivered result, and whether the
 * variables can still be found when an entry has plain words in their place. For example, `X-7` occurs once, so it is
 * the variable. `Al` in "Al final, Al ya está aquí." occurs twice, and either could be the variable.
 */
const TABLE: readonly [what: string, Format, source: string, target: string, delivered: string, boolean][] = [
  [
    'an example that is a word of the target',
    'html',
    `In the end, ${variable('CUSTOMER', 'Al')} is here.`,
    'Al final, [1] ya está aquí.',
    `Al final, ${value('CUSTOMER')} ya está aquí.`,
    false,
  ],
  [
    'a digit that is part of another number',
    'html',
    `You have read ${variable('COUNT', '3')} of 13 messages.`,
    'De 13 mensajes has leído [1].',
    `De 13 mensajes has leído ${value('COUNT')}.`,
    false,
  ],
  [
    'one letter',
    'html',
    'Press <kbd class="notranslate">A</kbd> and then continue.',
    'A continuación pulse [1] y siga.',
    'A continuación pulse <kbd class="notranslate">A</kbd> y siga.',
    false,
  ],
  [
    'placeholders that look alike',
    'xliff',
    xliff('<x id="INTERPOLATION"/> sent a gift to <x id="INTERPOLATION_1"/> yesterday.'),
    'Ayer [2] recibió un regalo de [1].',
    'Ayer <x id="INTERPOLATION_1"/> recibió un regalo de <x id="INTERPOLATION"/>.',
    false,
  ],
  [
    'two with the same example',
    'html',
    `${variable('SENDER', 'Anna')} wrote to ${variable('RECEIVER', 'Anna')} today.`,
    '[2] tiene hoy una carta de [1].',
    `${value('RECEIVER')} tiene hoy una carta de ${value('SENDER')}.`,
    false,
  ],
  [
    'one without an example',
    'html',
    `You have ${variable('N', '')} new messages.`,
    'Hay [1] mensajes nuevos.',
    `Hay ${value('N')} mensajes nuevos.`,
    false,
  ],
  [
    'words that occur once',
    'html',
    `Dear {name}, your order ${variable('ORDER', 'X-7')} is here.`,
    'Ya está aquí su pedido [2], {name}.',
    `Ya está aquí su pedido ${value('ORDER')}, {name}.`,
    true,
  ],
];

describe.each(TABLE)('a confirmed sentence with %s', (_what, format, source, target, delivered, clear) => {
  const fields = { text_format: format };
  // Variables in braces are written literally in the target.
  const given = target.replace('{name}', '[1]');

  it('is recalled in jobs, chats and files with each variable where the editor put it', async () => {
    const owner = await customer();
    const human = await teach(owner, source, given, fields);
    expect(human).toContain(delivered);
    expect(await machine(owner, source, fields)).toBe(human);
    if (format === 'html') expect(await chat(owner, source)).toBe(human);
    const other = await customer();
    await carryOver(owner, other);
    expect(await machine(other, source, fields)).toBe(human);
  });

  it('is recalled from an entry whose variables are plain words, but only if the positions of the variables are certain', async () => {
    const owner = await customer();
    const human = await teach(owner, source, given, fields);
    await makeOld(owner);
    const expected = clear ? human : await machine(await customer(), source, fields);
    expect(await machine(owner, source, fields)).toBe(expected);
    // The editor still sees the entry's words as a match.
    if (!clear) {
      const uid = await orderEdit(owner.call, source, fields);
      const task = await claimTask(editor);
      const [segment] = task.segments;
      expect(segment.origin).toBe('machine');
      const { matches } = (await editor.call('GET', pathOf(task, '/segments/0/matches'))).body;
      expect(matches).toMatchObject([{ kind: 'fuzzy', score: 97 }]);
      expect(matches[0].target.every((piece: Piece) => !('keep' in piece))).toBe(true);
      expect((await owner.call('DELETE', `${HUMAN}${uid}/`)).status).toBe(200);
    }
  });
});

describe('an imported entry that has its variables as plain words', () => {
  it.each([
    [
      'in a number',
      `Order ${variable('NR', '5')} of 15 was sent today to {name}.`,
      'De 15 pedidos, el 5 se envió hoy a {name}.',
    ],
    ['in a word', `Press ${variable('KEY', 'a')} now.`, 'Pulse la tecla.'],
    ['twice in the source', `${variable('WHO', 'Will')} said: Will.`, 'Dijo Will.'],
  ])('is not used as a draft when a variable is %s', async (_where, source, target) => {
    const owner = await customer();
    const bare = source.replaceAll(/<[^>]*>/g, '');
    const tmx = `<tmx version="1.4"><body><tu><tuv xml:lang="en"><seg>${bare}</seg></tuv><tuv xml:lang="es"><seg>${target}</seg></tuv></tu></body></tmx>`;
    await owner.person.call('POST', `${MEMORY}/import`, { from: 'en', to: 'es', tmx });
    const expected = await machine(await customer(), source, { text_format: 'html' });
    expect(await machine(owner, source, { text_format: 'html' })).toBe(expected);
    // The entry is used for a text in which the word is not a variable.
    expect(await machine(owner, bare)).toBe(target);
  });

  it('does not prevent the use of entries that have codes or other variables', async () => {
    const owner = await customer();
    const [kept, plain] = [`The ${variable('PET', 'cat')} saw the cat.`, 'The cat saw the cat.'];
    const html = { text_format: 'html' };
    const one = await teach(owner, kept, 'El gato vio: [1].', html);
    const other = await teach(owner, `The cat saw the ${variable('PET', 'cat')}.`, '[1] vio al gato.', html);
    const none = await teach(owner, plain, 'El gato vio al gato.', html);
    expect(await machine(owner, kept, html)).toBe(one);
    expect(await machine(owner, `The cat saw the ${variable('PET', 'cat')}.`, html)).toBe(other);
    expect(await machine(owner, plain, html)).toBe(none);
  });
});

describe('a sentence that was confirmed with a tone', () => {
  const source = 'How are you, my friend?';
  const formal = '¿Cómo está usted, amigo mío?';
  const informal = '¿Qué tal, amigo mío?';
  const drafted = source.toUpperCase();

  it('is the draft of jobs with the same tone or no tone, also after an import, but not of jobs with another tone', async () => {
    const owner = await customer();
    await teach(owner, source, formal, { tone: 'Formal' });
    const other = await customer();
    await carryOver(owner, other);
    for (const one of [owner, other]) {
      expect(await machine(one, source, { tone: 'Informal' })).toBe(drafted);
      expect(await machine(one, source, { tone: 'Formal' })).toBe(formal);
      expect(await machine(one, source)).toBe(formal);
    }
    // The memory keeps a separate entry for each tone.
    await teach(owner, source, informal, { tone: 'Informal' });
    expect(await machine(owner, source, { tone: 'Informal' })).toBe(informal);
    expect(await machine(owner, source, { tone: 'Formal' })).toBe(formal);
  });

  it('is shown as a match with its tone in a job of another tone', async () => {
    const owner = await customer();
    await teach(owner, source, formal, { tone: 'Formal' });
    const uid = await orderEdit(owner.call, source, { tone: 'Informal' });
    const task = await claimTask(editor);
    expect(task.segments).toMatchObject([{ origin: 'machine', draft: [{ text: drafted }] }]);
    const { matches } = (await editor.call('GET', pathOf(task, '/segments/0/matches'))).body;
    expect(matches).toMatchObject([{ kind: 'fuzzy', score: 99, tone: 'Formal', target: [{ text: formal }] }]);
    expect((await owner.call('DELETE', `${HUMAN}${uid}/`)).status).toBe(200);
    const { entries } = (await owner.person.call('GET', MEMORY)).body;
    expect(entries).toMatchObject([{ target: formal, tone: 'Formal' }]);
  });

  it('is not used in a chat whose brand has another tone', async () => {
    const owner = await customer();
    for (const [brand, tone] of [
      ['polite', 'Formal'],
      ['friendly', 'Informal'],
    ] as const) {
      const file = { external_id: brand, name: brand, languages: { es: { tone } } };
      await saveBrand(
        server.database,
        'command',
        owner.ref,
        readBrandFile('test', JSON.stringify(file)),
        false,
      );
    }
    await teach(owner, source, formal, { tone: 'Formal' });
    const say = (brand: string) =>
      chat(owner, source, { text_format: 'text', brand, chat_external_id: brand });
    expect(await say('friendly')).toBe(drafted);
    expect(await say('polite')).toBe(formal);
    // The job is confirmed with the tone of its brand.
    await teach(owner, 'Good day.', 'Buenos días tenga usted.', { brand: 'polite' });
    expect(await machine(owner, 'Good day.', { brand: 'polite' })).toBe('Buenos días tenga usted.');
    expect(await machine(owner, 'Good day.', { brand: 'polite', tone: 'Informal' })).toBe('GOOD DAY.');
  });

  it('is the draft only of jobs without a tone when its memory entry does not record the tone', async () => {
    const owner = await customer();
    await teach(owner, source, formal, { tone: 'Formal' });
    await makeOld(owner);
    expect(await machine(owner, source)).toBe(formal);
    expect(await machine(owner, source, { tone: 'Formal' })).toBe(drafted);
  });
});
