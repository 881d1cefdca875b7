/**
 * Tests of the translation memory: entries of finished jobs, exact and fuzzy matches, weights, withdrawal,
 * search.
 */
import { type Piece, plainText } from '@dragoman/documents';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import type { AccountRef } from '../base/account.ts';
import { uuidv7 } from '../base/ids.ts';
import { createClient, startTestServer, type TestServer, until, waitForStatus } from '../testing/harness.ts';
import { concordance, readEntry, restore, searchMemory, type WithdrawVotes, withdraw } from './entries.ts';
import { fit, hashOf, searchable, toStoredForm } from './form.ts';
import {
  type FinishedJob,
  findMatches,
  importEntries,
  learnFromJob,
  type MemoryPurpose,
  rateLessons,
} from './memory.ts';
import { sketchOf } from './sketch.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
const PAIR = { from: 'en', to: 'es', brand: undefined, tone: undefined };
const NOWHERE = { jobId: '0197a5b0-0000-7000-8000-000000000001', position: 0 };
const text = (written: string): Piece[] => [{ text: written }];

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

async function customer(): Promise<{ ref: AccountRef; call: ReturnType<typeof createClient> }> {
  const { username, production_key } = await server.createAccount();
  const { ref } = await accountNamed(server.database, username);
  return { ref, call: createClient(server.url, production_key) };
}

/** Adds the segments of a finished job to the memory, like the editing module. */
function teach(
  account: AccountRef,
  lines: readonly (readonly [source: string, target: string | undefined])[],
  fields: Partial<FinishedJob> = {},
): Promise<number> {
  const segments = lines.map(([source, target], position) => ({
    position,
    source: text(source),
    target: target === undefined ? undefined : text(target),
    editor: undefined,
  }));
  const job = {
    environment: 'production',
    jobId: uuidv7(),
    ...PAIR,
    outcome: 'delivered',
    segments,
  } as const;
  return server.database.transaction((transaction) =>
    learnFromJob(transaction, account, { ...job, ...fields }),
  );
}

const targets = async (account: AccountRef, source: string, purpose: Partial<MemoryPurpose> = {}) =>
  (await findMatches(server.database, account, { ...PAIR, ...purpose }, text(source))).map((match) =>
    plainText(match.target),
  );

describe('a memory match', () => {
  it('is exact or fuzzy, and the best match comes first', async () => {
    const { ref } = await customer();
    await importEntries(server.database, ref, PAIR, [
      { source: text('The file could not be opened.'), target: text('No se pudo abrir el archivo.') },
      { source: text('The file could not be saved.'), target: text('No se pudo guardar el archivo.') },
      { source: text('The folder could not be saved.'), target: text('No se pudo guardar la carpeta.') },
      { source: text('Welcome back, dear customer!'), target: text('¡Bienvenido de nuevo!') },
      { source: text('Файл не удалось открыть.'), target: text('No se pudo abrir.') },
      { source: text('ファイルを開けませんでした。'), target: text('No se pudo.') },
    ]);
    const found = await findMatches(server.database, ref, PAIR, text('The file could not be saved.'));
    expect(found.map(({ kind, score }) => [kind, score])).toEqual([
      ['exact', 100],
      ['fuzzy', expect.any(Number)],
      ['fuzzy', expect.any(Number)],
    ]);
    expect(plainText(found[0]!.target)).toBe('No se pudo guardar el archivo.');
    expect(found[1]!.score).toBeGreaterThanOrEqual(found[2]!.score);
    // Sources in every script are found, whichever letters the locale of the database knows.
    expect(await targets(ref, 'Файл не удалось сохранить.')).toEqual(['No se pudo abrir.']);
    expect(await targets(ref, 'ファイルを保存できませんでした。')).toEqual(['No se pudo.']);
    expect(await targets(ref, 'Something else altogether.')).toEqual([]);
    // Entries are not found for another account, pair or brand.
    expect(await targets((await customer()).ref, 'The file could not be saved.')).toEqual([]);
    const other = await findMatches(
      server.database,
      ref,
      { ...PAIR, to: 'fr' },
      text('The file could not be saved.'),
    );
    expect(other).toEqual([]);
  });

  it('is shown once if its source is stored in two spellings, and leaves the place of no other exact match', async () => {
    const { ref } = await customer();
    for (const target of ['Uno.', 'Dos.', 'Tres.', 'Cuatro.', 'Cinco.']) {
      await teach(ref, [["Don't open it.", target]]);
      await teach(ref, [['Don’t open it.', target]]);
    }
    const found = await findMatches(server.database, ref, PAIR, text("Don't open it."));
    const shown = found.map(({ source, target, score }) => [plainText(source), plainText(target), score]);
    expect(shown).toEqual(
      ['Cinco.', 'Cuatro.', 'Tres.', 'Dos.', 'Uno.'].map((target) => ["Don't open it.", target, 100]),
    );
  });

  it('is ranked first when the segments before and after its source are also the same', async () => {
    const { ref, call } = await customer();
    await teach(ref, [
      ['Press the button.', 'Pulse el botón.'],
      ['Open', 'Abrir'],
      ['The door is wide.', undefined],
    ]);
    await teach(ref, [
      ['The shop is', undefined],
      ['Open', 'Abierto'],
      ['until ten.', undefined],
    ]);
    const between = (previous: string, next: string) =>
      findMatches(server.database, ref, PAIR, text('Open'), { previous: text(previous), next: text(next) });
    const [first, second] = await between('Press the button.', 'The door is wide.');
    expect(first).toMatchObject({ kind: 'context', target: text('Abrir'), origin: 'job' });
    expect(second).toMatchObject({ kind: 'exact', target: text('Abierto') });
    expect((await between('The shop is', 'until ten.'))[0]).toMatchObject({ target: text('Abierto') });
    // An in-context match is also used as the draft, before any engine is asked.
    const source = 'The shop is\nOpen\nuntil ten.\nPress the button.\nOpen\nThe door is wide.';
    await call('POST', MACHINE, { uid: 'c', text: source, source_language: 'en', target_language: 'es' });
    const { body } = await until(async () => {
      const answer = await call('GET', `${MACHINE}c/`);
      return answer.body.status === 'completed' && answer;
    });
    expect(body.translated_text).toMatch(/^.+\nAbierto\n.+\nPulse el botón.\nAbrir\n.+$/);
  });

  it('numbers its codes like the looked-up segment, and has no codes if they do not fit', async () => {
    const { ref } = await customer();
    const target: Piece[] = [
      { text: 'Haga clic ' },
      { open: 1 },
      { text: 'aquí' },
      { close: 1 },
      { text: '.' },
    ];
    await importEntries(server.database, ref, PAIR, [
      { source: [{ text: 'Click ' }, { open: 1 }, { text: 'here' }, { close: 1 }, { text: '.' }], target },
      { source: text('Dear {name}, your order is here.'), target: text('{name}: su pedido está aquí.') },
    ]);
    const asked = (pieces: Piece[]) => findMatches(server.database, ref, PAIR, pieces);
    expect(
      await asked([{ text: 'Click ' }, { open: 7 }, { text: 'here' }, { close: 7 }, { text: '.' }]),
    ).toMatchObject([
      {
        kind: 'exact',
        score: 100,
        target: [{ text: 'Haga clic ' }, { open: 7 }, { text: 'aquí' }, { close: 7 }, { text: '.' }],
      },
    ]);
    expect(await asked(text('Click here.'))).toMatchObject([
      { kind: 'fuzzy', score: 96, target: text('Haga clic aquí.') },
    ]);
    expect(
      await asked([{ text: 'Dear ' }, { keep: 4, text: '{name}' }, { text: ', your order is here.' }]),
    ).toMatchObject([
      { kind: 'exact', target: [{ keep: 4, text: '{name}' }, { text: ': su pedido está aquí.' }] },
    ]);
    expect(
      await asked([{ text: 'Dear ' }, { keep: 4, text: '{user}' }, { text: ', your order is here.' }]),
    ).toMatchObject([{ kind: 'fuzzy', target: text('{name}: su pedido está aquí.') }]);
  });

  it('from the brand of the job comes first, and is hidden from other brands', async () => {
    const { ref } = await customer();
    await importEntries(server.database, ref, PAIR, [
      { source: text('Good day.'), target: text('Buenos días.') },
    ]);
    await importEntries(server.database, ref, { ...PAIR, brand: 'acme' }, [
      { source: text('Good day.'), target: text('¡Hola!') },
    ]);
    expect(await targets(ref, 'Good day.', { brand: 'acme' })).toEqual(['¡Hola!', 'Buenos días.']);
    expect(await targets(ref, 'Good day.', { brand: 'other' })).toEqual(['Buenos días.']);
    expect(await targets(ref, 'Good day.')).toEqual(['Buenos días.']);
  });
});

describe('an entry that a job adds to the memory', () => {
  it('has a higher weight after a better outcome of the job, and the weight 0 after a rejection', async () => {
    const { ref } = await customer();
    const [one, two] = [uuidv7(), uuidv7()];
    await importEntries(server.database, ref, PAIR, [
      { source: text('Thank you.'), target: text('Importado.') },
    ]);
    await teach(ref, [['Thank you.', 'Entregado.']], { jobId: one });
    expect(await targets(ref, 'Thank you.')).toEqual(['Entregado.', 'Importado.']);
    await teach(ref, [['Thank you.', 'Revisado.']], { jobId: two, outcome: 'reviewed' });
    expect(await targets(ref, 'Thank you.')).toEqual(['Revisado.', 'Entregado.', 'Importado.']);
    const say = (job: string, outcome: 'accepted' | 'rejected') =>
      server.database.transaction((transaction) => rateLessons(transaction, ref, job, outcome));
    await say(one, 'accepted');
    expect(await targets(ref, 'Thank you.')).toEqual(['Entregado.', 'Revisado.', 'Importado.']);
    await say(two, 'rejected');
    expect(await targets(ref, 'Thank you.')).toEqual(['Entregado.', 'Importado.']);
    // When the job is finished again, the entries that it added before are deleted.
    await teach(ref, [['Thank you.', 'Corregido.']], { jobId: two });
    expect(await targets(ref, 'Thank you.')).toEqual(['Entregado.', 'Corregido.', 'Importado.']);
    await teach(ref, [['Thank you.', 'Importado.']], { jobId: one });
    expect((await targets(ref, 'Thank you.')).sort()).toEqual(['Corregido.', 'Importado.']);
  });

  it('never comes from the sandbox or from unconfirmed segments', async () => {
    const { ref } = await customer();
    expect(await teach(ref, [['Yes.', 'Sí.']], { environment: 'sandbox' })).toBe(0);
    expect(await teach(ref, [['Yes.', undefined]])).toBe(0);
    expect(await targets(ref, 'Yes.')).toEqual([]);
    expect(await searchMemory(server.database, ref, { limit: 10, state: 'all' })).toEqual([]);
  });
});

describe('a withdrawn memory entry', () => {
  it('is not used, and lists the jobs that made or used it', async () => {
    const { ref, call } = await customer();
    const created = await call('POST', HUMAN, {
      uid: 'teacher',
      text: 'One line.',
      source_language: 'en',
      target_language: 'es',
    });
    expect(created.status).toBe(201);
    await waitForStatus(call, `${HUMAN}teacher/`, 'translating');
    const jobOf = async (uid: string) => {
      const text = 'select job_id from jobs where account_id = $1 and uid = $2';
      const rows = await server.database.query({ name: 'test.job', text }, [ref.accountId, uid]);
      return (rows[0] as { job_id: string }).job_id;
    };
    const jobId = await jobOf('teacher');
    await teach(ref, [['One line.', 'Una lína.']], { jobId });
    const fields = { text: 'Before.\nOne line.', source_language: 'en', target_language: 'es' };
    await call('POST', MACHINE, { uid: 'machine', ...fields });
    await call('POST', HUMAN, { uid: 'human', ...fields });
    await until(
      async () => (await call('GET', `${MACHINE}machine/`)).body.translated_text === 'BEFORE.\nUna lína.',
    );
    await waitForStatus(call, `${HUMAN}human/`, 'translating');

    const [entry] = await searchMemory(server.database, ref, { q: 'lína', limit: 10 });
    expect(entry).toMatchObject({ source: 'One line.', target: 'Una lína.', weight: 2, origin: 'job' });
    const id = entry!.memory_id;
    const touched = (await readEntry(server.database, ref, id))!.touched;
    expect(touched.map(({ uid, position, how }) => `${uid} ${position} ${how}`).sort()).toEqual([
      'human 1 applied',
      'machine 1 applied',
      'teacher 0 taught',
    ]);
    const stranger = await customer();
    const change = server.database.transaction.bind(server.database);
    const entryOf = { memoryId: id, reason: 'a typo', touched };
    const taught: string[] = [];
    const withdrawVotes: WithdrawVotes = async (_, account, segments) => {
      expect(account).toBe(ref);
      taught.push(...segments.map(({ position }) => `segment ${position}`));
    };
    const takeBack = (account: AccountRef) =>
      change((transaction) => withdraw(transaction, 'command', account, entryOf, withdrawVotes));
    const putBack = () => change((transaction) => restore(transaction, 'command', ref, id));
    expect(await takeBack(stranger.ref)).toBe(false);
    expect(await readEntry(server.database, stranger.ref, id)).toBeUndefined();
    expect(await takeBack(ref)).toBe(true);
    expect(await takeBack(ref)).toBe(false);
    expect(taught).toEqual(['segment 0']);
    expect(await targets(ref, 'One line.')).toEqual([]);
    expect(await concordance(server.database, ref, PAIR, 'line', NOWHERE)).toEqual([]);
    // A later job with the same translation does not restore the entry; a user can.
    await teach(ref, [['One line.', 'Una lína.']], { jobId: await jobOf('human') });
    const now = (await readEntry(server.database, ref, id))!.touched;
    expect(now.filter(({ how }) => how === 'taken')).toMatchObject([{ uid: 'human', position: 0 }]);
    expect(await targets(ref, 'One line.')).toEqual([]);
    const [withdrawn] = await searchMemory(server.database, ref, { state: 'withdrawn', limit: 10 });
    expect(withdrawn).toMatchObject({
      memory_id: id,
      weight: 0,
      withdrawn: { by: 'operator', reason: 'a typo' },
    });
    expect(await putBack()).toBe(true);
    expect(await putBack()).toBe(false);
    expect(await targets(ref, 'One line.')).toEqual(['Una lína.']);
  });
});

describe('an imported memory entry', () => {
  it('stays usable when a job with the same translation is rejected, whether import or job came first', async () => {
    const { ref } = await customer();
    const entry = { source: text('One line.'), target: text('Una línea.') };
    const import_ = () => importEntries(server.database, ref, PAIR, [entry]);
    const jobId = uuidv7();
    await teach(ref, [['One line.', 'Una línea.']], { jobId });
    await import_();
    await server.database.transaction((transaction) => rateLessons(transaction, ref, jobId, 'rejected'));
    expect(await targets(ref, 'One line.')).toEqual(['Una línea.']);
    const [found] = await searchMemory(server.database, ref, { limit: 1 });
    expect(found).toMatchObject({ origin: 'import', weight: 1 });
    // A later job with the same translation does not change the origin `import`.
    const later = uuidv7();
    await teach(ref, [['One line.', 'Una línea.']], { jobId: later });
    await server.database.transaction((transaction) => rateLessons(transaction, ref, later, 'rejected'));
    expect(await targets(ref, 'One line.')).toEqual(['Una línea.']);
  });
});

describe('the concordance search', () => {
  it('finds words in sources and targets', async () => {
    const { ref } = await customer();
    await importEntries(server.database, ref, PAIR, [
      { source: text('The Purchase Order (PO) is late.'), target: text('La orden de compra está atrasada.') },
      { source: text('An order for tea.'), target: text('Un pedido de té.') },
      { source: text('100% of %s_ are \\ gone.'), target: text('Nada 日本語.') },
    ]);
    const found = async (question: string) =>
      (await concordance(server.database, ref, PAIR, question, NOWHERE)).map(({ sourceText }) => sourceText);
    expect(await found('order purchase')).toEqual(['The Purchase Order (PO) is late.']);
    expect(await found('TÉ')).toEqual(['An order for tea.']);
    expect(await found('本')).toEqual(['100% of %s_ are \\ gone.']);
    expect((await found('order')).length).toBe(2);
    for (const nothing of ['%', '_', '\\', ' ', 'nowhere', 'order nowhere'])
      expect(await found(nothing)).toEqual([]);
    expect(await concordance(server.database, (await customer()).ref, PAIR, 'order', NOWHERE)).toEqual([]);
  });
});

describe('the stored form of a segment', () => {
  const code = fc.oneof(
    fc.record({ text: fc.string({ minLength: 1 }) }),
    fc.integer({ min: 1, max: 9 }).map((single) => ({ single: single + 20 })),
    fc.record({ keep: fc.integer({ min: 1, max: 9 }), text: fc.constantFrom('{a}', '{b}') }),
  );
  const segment = fc.uniqueArray(code, {
    selector: (piece) => ('text' in piece && !('keep' in piece) ? {} : JSON.stringify(piece)),
  });

  it('restores the same text when a later segment numbers its codes differently', () => {
    fc.assert(
      fc.property(segment, fc.integer({ min: 1, max: 50 }), (pieces, shift) => {
        const kept = pieces.filter((piece) => 'keep' in piece);
        fc.pre(new Set(kept.map((piece) => (piece as { text: string }).text)).size === kept.length);
        fc.pre(new Set(kept.map((piece) => (piece as { keep: number }).keep)).size === kept.length);
        fc.pre(!pieces.some((piece) => 'text' in piece && !('keep' in piece) && /[{}]/.test(piece.text)));
        const renumbered = pieces.map(
          (piece): Piece => ('single' in piece ? { single: piece.single + shift } : piece),
        );
        expect(hashOf(renumbered)).toEqual(hashOf(pieces));
        const { pieces: fitted, complete } = fit(renumbered, toStoredForm(pieces, pieces));
        expect(complete).toBe(true);
        expect(plainText(fitted)).toBe(plainText(pieces));
        expect(fitted.filter((piece) => !('text' in piece))).toEqual(
          renumbered.filter((piece) => !('text' in piece)),
        );
      }),
    );
  });

  it('has searchable words in ASCII only, and fingerprints that differ when the salt differs', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (written) => {
        expect(searchable(written)).toMatch(/^[a-z0-9 ]*$/);
        const [one, other] = [sketchOf(written, 'one'), sketchOf(written, 'other')];
        expect(one.length).toBe(other.length);
        expect(one.filter((value) => other.includes(value)).length).toBeLessThan(3);
      }),
    );
  });
});
