/** Tests of the confidence of drafts: the probabilities of a language model's tokens, and the scores of Bergamot. */

import { afterAll, describe, expect, test } from 'vitest';
import { readScores } from '../src/bergamot/scores.ts';
import { confidenceOf } from '../src/confidence.ts';
import type { Draft, Engine, ProfileName } from '../src/engines.ts';
import { createLanguageModel } from '../src/engines.ts';
import { textOf, translated } from './conformance.ts';
import { type Answer, chatServer, completion, contentOf } from './servers/chat.ts';
import { type HttpResult, serve, stopServices, type TestService } from './servers/service.ts';

afterAll(stopServices);

const SOURCES = ['The old house is red, and the garden is green.', 'Every letter was sent on Monday.'];
const TARGETS = ['tHE OLD HOUSE IS RED, AND THE GARDEN IS GREEN.', 'eVERY LETTER WAS SENT ON mONDAY.'];

/** A token as servers return it. */
interface Token {
  token: string;
  logprob: unknown;
  bytes?: unknown;
}

/** Splits a text into tokens of three bytes, which cut characters. The tokens of one word have the probability 0.2. */
function tokensOf(text: string, unlikely = 'HOUSE'): Token[] {
  const all = Buffer.from(text);
  const word = all.indexOf(unlikely);
  return Array.from({ length: Math.ceil(all.length / 3) }, (_, n) => {
    const bytes = all.subarray(3 * n, 3 * n + 3);
    const isUnlikely = word >= 0 && 3 * n < word + unlikely.length && 3 * n + 3 > word;
    return { token: bytes.toString('utf8'), logprob: Math.log(isUnlikely ? 0.2 : 0.9), bytes: [...bytes] };
  });
}

/** Adds `logprobs` to the reply of a server. */
function withLogprobs({ json, ...result }: HttpResult, logprobs: unknown): HttpResult {
  const { choices } = json as { choices: object[] };
  return { ...result, json: { choices: [{ ...choices[0], logprobs }] } };
}

const make = (service: TestService, profile: ProfileName, options = {}): Engine =>
  createLanguageModel({
    baseUrl: service.url,
    retryMs: 1,
    model: 'm',
    directions: ['en>es'],
    profile,
    ...options,
  });

async function draft(profile: ProfileName, answer: Answer | undefined, sources = SOURCES): Promise<Draft[]> {
  const engine = make(await serve(chatServer(profile, () => answer)), profile);
  const segments = sources.map((text, n) => ({ id: String(n), pieces: [{ text }] }));
  const drafts = await engine.draft({ from: 'en', to: 'es', segments, lane: 'bulk' });
  await engine.stop();
  return drafts;
}

/** Replies with the correct translations and with the result of `make` for the tokens of the reply. */
const reply =
  (profile: ProfileName, make: (tokens: Token[]) => unknown): Answer =>
  (targets) => {
    const content = contentOf(profile, targets);
    return withLogprobs(completion(content), make(tokensOf(content)));
  };

const confidences = (drafts: Draft[]) => drafts.map((one) => one.status === 'translated' && one.confidence);

describe('the confidence of a language model', () => {
  test('is computed from the tokens of each translation in a JSON answer', async () => {
    const drafts = await draft(
      'chat',
      reply('chat', (content) => ({ content })),
    );
    const [first, second] = confidences(drafts);
    expect(first).toMatchObject({ minimum: 0.2 });
    expect(second).toEqual({ mean: 0.9, minimum: 0.9 });
  });

  test('belongs to the segment that an entry of the answer names', async () => {
    const answer: Answer = (targets) => {
      const entries = targets.map((target, n) => ({ target, id: String(n + 1) })).reverse();
      const content = `\`\`\`json\n${JSON.stringify({ segments: entries }, null, 1)}\n\`\`\``;
      return withLogprobs(completion(content), { content: tokensOf(content) });
    };
    const drafts = await draft('chat', answer);
    expect(drafts.map((one) => textOf(translated(one)))).toEqual(TARGETS);
    expect(confidences(drafts)).toMatchObject([{ minimum: 0.2 }, { minimum: 0.9 }]);
  });

  test('is computed from all tokens of an answer that is one translation', async () => {
    const drafts = await draft(
      'plain',
      reply('plain', (content) => ({ content })),
      SOURCES.slice(0, 1),
    );
    const tokens = tokensOf(` ${TARGETS[0]}`);
    const mean = tokens.reduce((sum, { logprob }) => sum + Math.exp(Number(logprob)), 0) / tokens.length;
    expect(confidences(drafts)).toEqual([{ mean: Math.round(1_000 * mean) / 1_000, minimum: 0.2 }]);
  });

  test.each<[string, (tokens: Token[]) => Token[]]>([
    ['no bytes', (tokens) => tokens.map(({ token, logprob }) => ({ token, logprob, bytes: null }))],
    ['a last token that ends the answer', (tokens) => [...tokens, { token: '<|end|>', logprob: -1 }]],
    ['a last token without text', (tokens) => [...tokens, { token: '', logprob: -1 }]],
    [
      'tokens of reasoning before the answer',
      (tokens) => [{ token: 'The house', logprob: -9 }, ...tokens, { token: '<|end|>', logprob: -9 }],
    ],
  ])('is the same with %s', async (_, change) => {
    const drafts = await draft(
      'chat',
      reply('chat', (tokens) => ({ content: change(tokens) })),
    );
    expect(confidences(drafts)).toMatchObject([{ minimum: 0.2 }, { mean: 0.9, minimum: 0.9 }]);
  });

  test('counts the bytes of characters that tokens cut', async () => {
    const content = JSON.stringify({
      segments: [
        { id: '1', target: 'La casa «roja» está allí, señor 😀. \\ "Sí"' },
        { id: '2', target: 'LA CARTA fue enviada el lunes, por supuesto.' },
      ],
    });
    const answer: Answer = () => withLogprobs(completion(content), { content: tokensOf(content, 'CARTA') });
    const sources = ['The "red" house is there, sir 😀. \\ Yes', SOURCES[1]!];
    expect(confidences(await draft('chat', answer, sources))).toMatchObject([
      { mean: 0.9, minimum: 0.9 },
      { minimum: 0.2 },
    ]);
  });

  const hostile: [string, (tokens: Token[]) => unknown][] = [
    ['null', () => null],
    ['a number', () => 7],
    ['a list', (tokens) => tokens],
    ['no list', () => ({ content: { 0: { token: 'a', logprob: -1 } } })],
    ['an empty list', () => ({ content: [] })],
    ['a list of null', (tokens) => ({ content: tokens.map(() => null) })],
    ['a list of lists', (tokens) => ({ content: tokens.map((one) => [one]) })],
    ['the form of completions', () => ({ tokens: ['a'], token_logprobs: [-1], text_offset: [0] })],
    [
      'a probability instead of its logarithm',
      ([first, ...rest]) => ({ content: [{ ...first, logprob: 0.9 }, ...rest] }),
    ],
    ['a text as a logarithm', ([first, ...rest]) => ({ content: [{ ...first, logprob: '-0.1' }, ...rest] })],
    ['no logarithm', ([first, ...rest]) => ({ content: [{ ...first, logprob: null }, ...rest] })],
    ['a number as a token', ([first, ...rest]) => ({ content: [{ ...first, token: 5 }, ...rest] })],
    ['a missing token', (tokens) => ({ content: tokens.toSpliced(9, 1) })],
    ['a repeated token', (tokens) => ({ content: tokens.toSpliced(9, 0, tokens[9]!) })],
    ['the tokens of another text', () => ({ content: tokensOf('{"segments":[]}') })],
    [
      'bytes that are no bytes',
      (tokens) => ({ content: tokens.map((one) => ({ ...one, bytes: [{}, 'x', [-1]] })) }),
    ],
    ['more tokens than allowed', (tokens) => ({ content: [...Array(20_000).fill(tokens[0]), ...tokens] })],
  ];
  test.each(hostile)(
    'is unknown, and the translation is used, after this value of logprobs: %s',
    async (_, make) => {
      for (const profile of ['chat', 'plain'] as const) {
        const drafts = await draft(profile, reply(profile, make));
        expect(drafts.map((one) => textOf(translated(one)))).toEqual(TARGETS);
        expect(confidences(drafts)).toEqual([undefined, undefined]);
      }
    },
  );

  test('is unknown for an answer with other values of the key “target”', async () => {
    const answer: Answer = (targets) => {
      const segments = targets.map((target, n) => ({ id: String(n + 1), target, more: { target: 'x' } }));
      const content = JSON.stringify({ segments });
      return withLogprobs(completion(content), { content: tokensOf(content) });
    };
    expect(confidences(await draft('chat', answer))).toEqual([undefined, undefined]);
  });

  test.each([400, 403, 422])(
    'is not requested again from a server that refused it with the status %i',
    async (status) => {
      const service = await serve({
        ...chatServer('chat', () => undefined),
        answer: (request, translate) =>
          request.body?.logprobs === undefined
            ? chatServer('chat', () => undefined).answer(request, translate)
            : { status, json: { error: { message: 'logprobs is not supported with this model' } } },
      });
      const engine = make(service, 'chat');
      expect(await engine.directions()).toMatchObject([{ from: 'en', to: 'es' }]);
      const segments = [{ id: 'a', pieces: [{ text: SOURCES[1]! }] }];
      const [one] = await engine.draft({ from: 'en', to: 'es', segments, lane: 'bulk' });
      expect(textOf(translated(one))).toBe(TARGETS[1]);
      expect(service.requests.map(({ body }) => body.logprobs)).toEqual([true, undefined, undefined]);
      await engine.stop();
    },
  );

  test('is requested again after the server refused a text for another reason', async () => {
    const refuse: Answer = () => ({ status: 400, json: { error: { message: 'bad text' } } });
    let answer: Answer | undefined = refuse;
    const service = await serve(chatServer('chat', () => answer));
    const engine = make(service, 'chat');
    const segments = [{ id: 'a', pieces: [{ text: SOURCES[1]! }] }];
    const ask = async () => (await engine.draft({ from: 'en', to: 'es', segments, lane: 'bulk' }))[0];
    expect(await ask()).toMatchObject({ status: 'failed', reason: 'refused' });
    answer = reply('chat', (content) => ({ content }));
    expect(await ask()).toMatchObject({ status: 'translated', confidence: { mean: 0.9 } });
    // The server accepts the field, so a refused text is sent once.
    const before = service.requests.length;
    answer = refuse;
    expect(await ask()).toMatchObject({ status: 'failed', reason: 'refused' });
    expect(service.requests.length - before).toBe(1);
    await engine.stop();
  });

  test('is not requested when the operator removes the field', async () => {
    const service = await serve(chatServer('chat', () => undefined));
    const engine = make(service, 'chat', { parameters: { logprobs: null } });
    await engine.directions();
    expect(service.requests[0]!.body).not.toHaveProperty('logprobs');
    expect(service.requests[0]!.body).not.toHaveProperty('top_logprobs');
    await engine.stop();
  });
});

describe('confidenceOf', () => {
  test.each<[number[], ReturnType<typeof confidenceOf>]>([
    [[0, Math.log(0.5)], { mean: 0.75, minimum: 0.5 }],
    [[-9999, 0], { mean: 0.5, minimum: 0 }],
    [[Number.NEGATIVE_INFINITY], { mean: 0, minimum: 0 }],
    [[], undefined],
    [[-1, Number.NaN], undefined],
    [[-1, 0.001], undefined],
  ])('returns for the logarithms %j: %j', (logarithms, expected) =>
    expect(confidenceOf(logarithms)).toEqual(expected),
  );
});

describe('readScores', () => {
  const font = (sentence: number, words: [number, string, string][]) => {
    const inside = words.map(
      ([index, score, word]) =>
        `<font x-bergamot-word-index="${index}" x-bergamot-word-score="${score}">${word}</font>`,
    );
    const attributes = `x-bergamot-sentence-index="${sentence}" x-bergamot-sentence-score="-1"`;
    return `<font ${attributes}>${inside.join(' ')}</font>`;
  };

  test('returns the score of each word, and the text without the elements of the scores', () => {
    const first = font(0, [
      [0, '-0.25', 'Hola'],
      [1, '-1.5e-05', 'a&lt;b&gt;.'],
    ]);
    expect(readScores(`${first} ${font(1, [[0, '-3', 'Adiós.']])}`)).toEqual({
      html: 'Hola a&lt;b&gt;. Adiós.',
      scores: [-0.25, -1.5e-5, -3],
    });
  });

  test('counts a word once that other tags interrupt', () => {
    const parts = [font(0, [[0, '-2', 'Ho']]), font(0, [[0, '-2', 'la']])];
    expect(readScores(`<span id="1">${parts[0]}</span>${parts[1]}`)).toEqual({
      html: '<span id="1">Ho</span>la',
      scores: [-2],
    });
  });

  test('returns no number for a score that is none, and nothing for a text without scores', () => {
    expect(readScores(font(0, [[0, 'nan', 'a']])).scores).toEqual([Number.NaN]);
    expect(readScores(font(0, [[0, '-inf', 'a']])).scores).toEqual([Number.NaN]);
    expect(readScores('a &amp; <img id="1"/>')).toEqual({ html: 'a &amp; <img id="1"/>', scores: [] });
  });
});
