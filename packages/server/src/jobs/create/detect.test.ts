/** Tests of creating jobs without a source language, over HTTP. */
import { createFake } from '@dragoman/engines/fake';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, startTestServer, type TestServer } from '../../testing/harness.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
const SEVEN = ['en', 'es', 'pt', 'fr', 'ca', 'gl', 'it'];

let server: TestServer;
let call: ReturnType<typeof createClient>;

beforeAll(async () => {
  const directions = [...SEVEN, 'ja'].map((language) => `${language}>de`);
  server = await startTestServer({
    engine: () => createFake({ directions: [...directions, 'en>es', 'fr>es'] }),
  });
});
afterAll(() => server.stop());

async function newAccount() {
  const { production_key, sandbox_key } = await server.createAccount({ balanceCents: 10_000 });
  const sandbox = createClient(`${server.url}/sandbox`, sandbox_key);
  return Object.assign(createClient(server.url, production_key), { sandbox });
}
const job = (text: string, fields: object = {}) => ({ text, target_language: 'de', ...fields });

describe('a job without source_language', () => {
  beforeAll(async () => {
    call = await newAccount();
  });

  // Typical short customer texts. The detector was trained with some of the words, but with none of these
  // sentences.
  it.each([
    ['en', 'Hello, world!'],
    ['en', 'Good morning'],
    ['en', 'This is a test'],
    ['en', 'The house is big.'],
    ['en', 'How are you today?'],
    ['en', 'I love this product!'],
    ['en', 'Where is my order?'],
    ['es', '¿Dónde está mi pedido?'],
    ['es', 'Quiero devolver este producto.'],
    ['es', 'El paquete llegó roto.'],
    ['pt', 'Onde está o meu pedido?'],
    ['pt', 'Não consigo entrar na minha conta.'],
    ['pt', 'Muito obrigado pela ajuda!'],
    ['fr', 'Où est ma commande ?'],
    ['fr', 'Merci beaucoup'],
    ['ca', 'On és la meva comanda?'],
    ['ca', 'Moltes gràcies per tot.'],
    ['gl', 'Onde está a miña compra?'],
    ['gl', 'Moitas grazas pola axuda.'],
    ['it', 'Dov’è il mio ordine?'],
    ['it', 'Vorrei restituire questo prodotto.'],
    ['ja', 'ありがとう'],
  ])('gets the source language %s when its text is: %s', async (language, text) => {
    const { status, body } = await call('POST', MACHINE, job(text));
    expect({ status, language: body.source_language }).toEqual({ status: 201, language });
  });

  it.each(['12 345', '👍🎉', '… !?'])('is refused when its text has no letters: %s', async (text) => {
    const { status, body } = await call('POST', MACHINE, job(text));
    expect(status).toBe(400);
    expect(body.error).toMatch(/^source_language: The text has no letters/);
  });

  it('never gets the target language as its source language', async () => {
    const text = '¿Dónde está mi pedido?';
    expect((await call('POST', MACHINE, job(text))).body.source_language).toBe('es');
    const { status, body } = await call('POST', MACHINE, job(text, { target_language: 'es' }));
    expect(status).toBe(201);
    expect(['en', 'fr']).toContain(body.source_language);
  });
});

describe('the source languages of an account’s latest jobs', () => {
  const CLOSE = 'Hola';

  it('decide the language of an ambiguous text in the same environment, but not of an unambiguous text', async () => {
    const [catalan, spanish] = [await newAccount(), await newAccount()];
    await catalan('POST', MACHINE, job('Bon dia a tothom', { source_language: 'ca' }));
    await spanish('POST', HUMAN, job('Buenos días a todos', { source_language: 'es' }));
    const languageOf = async (by: typeof call, text: string) =>
      (await by('POST', MACHINE, job(text))).body.source_language;
    expect(await languageOf(catalan, CLOSE)).toBe('ca');
    expect(await languageOf(catalan.sandbox, CLOSE)).toBe('es');
    expect(await languageOf(spanish, CLOSE)).toBe('es');
    expect(await languageOf(catalan, '¿Dónde está mi pedido?')).toBe('es');
  });

  it('do not change the language of a repeated request, which still returns its job', async () => {
    const account = await newAccount();
    await account('POST', MACHINE, job('Bon dia a tothom', { source_language: 'ca' }));
    const body = job(CLOSE, { uid: 'close' });
    const headers = { 'idempotency-key': 'close' };
    const first = await account('POST', HUMAN, body, headers);
    for (const text of ['uno', 'dos', 'tres']) {
      await account('POST', MACHINE, job(text, { source_language: 'es' }));
    }
    const other = await account('POST', HUMAN, job(CLOSE));
    expect([first.body.source_language, other.body.source_language]).toEqual(['ca', 'es']);
    for (const repeated of [
      await account('POST', HUMAN, body),
      await account('POST', HUMAN, body, headers),
    ]) {
      expect(repeated.status).toBe(200);
      expect(repeated.body).toMatchObject({
        order_number: first.body.order_number,
        source_language: 'ca',
      });
    }
  });
});
