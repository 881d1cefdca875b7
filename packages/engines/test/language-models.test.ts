/** Tests of the profiles of language models: their requests, and hostile replies to them. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Engine, Piece, Segment } from '../src/engines.ts';
import { createLanguageModel, PROFILE_NAMES, type ProfileName, restrictionOf } from '../src/engines.ts';
import { profileFor } from '../src/remote/profiles.ts';
import { textOf, translated } from './conformance.ts';
import { type Answer, chatServer, completion, contentOf } from './servers/chat.ts';
import { serve, stopServices, swap, type TestService } from './servers/service.ts';

afterAll(stopServices);

const text = (text: string): Piece => ({ text });
const SEGMENTS: Segment[] = [
  {
    id: 'pair',
    pieces: [
      { open: 1 },
      text('The old house of my family is red'),
      { close: 1 },
      text(', and the garden that you saw from the street is green with roses.'),
    ],
  },
  {
    id: 'text',
    pieces: [text('Please send this letter with your signed form to the office before the month ends.')],
  },
  {
    id: 'kept',
    pieces: [
      text('Your order '),
      { keep: 1, text: '{n}' },
      text(' was sent today and should be there when they open the shop.'),
    ],
  },
];
const CORRECT = SEGMENTS.map(({ pieces }) =>
  pieces.map((piece) => ('text' in piece && !('keep' in piece) ? text(swap(piece.text)) : piece)),
);

const make = (service: TestService, profile: ProfileName, options = {}): Engine =>
  createLanguageModel({
    baseUrl: service.url,
    retryMs: 1,
    maxResponseBytes: 200_000,
    model: 'm',
    directions: ['en>es'],
    profile,
    ...options,
  });

const draft = (engine: Engine, segments = SEGMENTS) =>
  engine.draft({ from: 'en', to: 'es', segments, lane: 'bulk' });

describe('profileFor', () => {
  test.each<[string, ProfileName]>([
    ['Qwen/Qwen3-8B', 'chat'],
    ['gemma-4-12b-it', 'chat'],
    ['utter-project/EuroLLM-9B-Instruct', 'chat'],
    ['mistral-small', 'chat'],
    ['Unbabel/TowerInstruct-7B-v0.2', 'tower'],
    ['Unbabel/Tower-Plus-9B', 'tower'],
    ['google/translategemma-4b-it', 'translategemma'],
    ['translategemma:12b', 'translategemma-ollama'],
    ['translategemma', 'translategemma-ollama'],
    ['tencent/Hunyuan-MT-7B', 'hunyuan'],
    ['tencent/HY-MT1.5-1.8B-GGUF', 'hunyuan'],
    ['tencent/Hy-MT2-7B', 'hunyuan2'],
    ['hy-mt2:1.8b', 'hunyuan2'],
  ])('returns the profile of the model %s: %s', (model, profile) => expect(profileFor(model)).toBe(profile));
});

describe('restrictionOf', () => {
  test.each<[string, ProfileName | undefined, RegExp | undefined]>([
    ['Qwen3-8B', undefined, undefined],
    ['Hy-MT2-7B', undefined, undefined],
    ['HY-MT1.5-7B', undefined, /European Union/],
    ['HY-MT1.5-7B', 'plain', /European Union/],
    ['ours', 'hunyuan', /European Union/],
    ['TowerInstruct-7B', 'chat', /commercial/],
  ])('returns what the license of the model %s with the profile %s forbids', (model, profile, expected) => {
    const found = restrictionOf(model, profile);
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(expected);
  });
});

/** Faulty replies: texts that a model writes instead of a translation, or adds to it. */
const TEXTS: Record<string, (target: string, source: string) => string> = {
  'no text': () => '',
  'white space': () => ' \n\t ',
  'the source': (_, source) => source,
  'the source in other words': (_, source) => source.replace(/\b(?:old|signed|sent)\b/, 'fine'),
  'an English sentence': () =>
    'You gave me the text and the rules that I should follow when they apply, with your terms.',
  'a refusal': () => 'I’m sorry, but I can’t translate this text, because it is against my guidelines.',
  'a refusal in the target language': () =>
    'Lo siento, pero no puedo ayudar con esta solicitud, porque infringe las normas de uso.',
  'a statement about itself': (target) => `As an AI language model, I would say: ${target}`,
  'an announcement': (target) => `Sure! Here is the translation: ${target}`,
  'the label of a translation': (target) => `Translation: ${target}`,
  'the label of a translation into Spanish': (target) => `Translation (Spanish): ${target}`,
  'the label of the language': (target) => `Spanish: ${target}`,
  'a note in another paragraph': (target) => `${target}\n\nNote: I kept the markers.`,
  'two translations': (target) => `${target}\n${target}`,
  'a code fence': (target) => `\`\`\`${target}\`\`\``,
  'quotation marks': (target) => `"${target}"`,
  'unfinished reasoning': (target) => `<think>The user wants a translation. ${target}`,
  'a token of the chat template': (target) => `${target}<|im_end|>`,
  'a token of another chat template': (target) => `${target}<end_of_turn>`,
  JSON: (target) => JSON.stringify({ translation: target }),
  'an invented URL': (target) =>
    target.replace('RED', 'https://evil.example').replace('SEN', 'www.evil.example '),
  'the text sixty times': (target) => `${target} `.repeat(60),
  'control characters': (target) => `\u001b[31m${target}\u001b[0m`,
  'a null character': (target) => `${target}\0`,
  'a change of direction': (target) => `\u202e${target}`,
  'broken characters': (target) => `${target}\ufffd`,
  'another script': (target) => target.replace(/[a-z]{2,}/gi, 'дом'),
  'a beginning only': (target) => target.slice(0, 12),
  'an invented code': (target) => `${target}⟦9⟧`,
};

/** Replies with changed codes. The reply to a text without codes stays correct. */
const CODES: Record<string, (target: string) => string> = {
  'codes lost': (target) => target.replaceAll(/⟦[^⟧]*⟧/g, ''),
  'codes doubled': (target) => target.replaceAll(/⟦[^⟧]*⟧/g, '$&$&'),
  'codes mangled': (target) => target.replaceAll('⟦', '[').replaceAll('⟧', ']'),
  'codes crossed': (target) => target.replaceAll(/⟦(\/?)1⟧/g, (_, slash) => (slash ? '⟦1⟧' : '⟦/1⟧')),
};

const status =
  (status: number, json: unknown): Answer =>
  () => ({ status, json });
const body =
  (body: string, code = 200): Answer =>
  () => ({ status: code, body });

/** Responses whose content is not a complete answer, and errors in the forms that servers document. */
const RESPONSES: Record<string, (profile: ProfileName) => Answer> = {
  'cut off (length)': (profile) => (targets) => completion(contentOf(profile, targets), 'length'),
  'cut off (model_length)': (profile) => (targets) => completion(contentOf(profile, targets), 'model_length'),
  'cut off without a reason': (profile) => (targets) => completion(contentOf(profile, targets).slice(0, 20)),
  'stopped by a filter': (profile) => (targets) => completion(contentOf(profile, targets), 'content_filter'),
  'ended by an error': (profile) => (targets) => completion(contentOf(profile, targets), 'error'),
  'a tool call': () => () => completion(null, 'tool_calls', { tool_calls: [{ id: 'a', type: 'function' }] }),
  'a refusal of its own': (profile) => (targets) =>
    completion(contentOf(profile, targets), 'stop', { refusal: 'I cannot help with that.' }),
  'no content': () => () => completion(null),
  'a number as content': () => () => completion(7),
  'an object as content': (profile) => (targets) => completion({ text: contentOf(profile, targets) }),
  'a list as content': (profile) => (targets) =>
    completion([{ type: 'text', text: contentOf(profile, targets) }]),
  'no choices': () => status(200, { object: 'chat.completion', choices: [] }),
  'an error with status 200': () => status(200, { error: { message: 'Provider returned error', code: 502 } }),
  null: () => status(200, null),
  'an empty response': () => body(''),
  'a response that is cut off': () => body('{"choices":[{"message":{"content":"lA CASA'),
  'a stream of events': () => body('data: {"choices":[{"delta":{"content":"lA"}}]}\n\ndata: [DONE]\n\n'),
  'a stream of lines': () => body('{"message":{"content":"lA"},"done":false}\n{"done":true}\n'),
  'a huge response': () => () => completion('x'.repeat(300_000)),
  'a page of a proxy': () => body('<html><h1>502 Bad Gateway</h1></html>', 502),
  'llama.cpp: the context is too short': () =>
    status(400, {
      error: {
        code: 400,
        message: 'the request exceeds the available context size, try increasing it',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 5_000,
        n_ctx: 4_096,
      },
    }),
  'llama.cpp: the model is loading': () =>
    status(503, { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } }),
  'Ollama: the model is missing': () =>
    status(404, { error: { message: 'model "m" not found, try pulling it first', type: 'api_error' } }),
  'Ollama: the model crashed': () =>
    status(500, { error: { message: 'llama runner process has terminated', type: 'api_error' } }),
  'vLLM: the context is too short': () =>
    status(400, {
      object: 'error',
      message: "This model's maximum context length is 2048 tokens.",
      type: 'BadRequestError',
      param: null,
      code: 400,
    }),
  'vLLM: a field is wrong': () => status(422, { detail: [{ loc: ['body'], msg: 'field required' }] }),
};

/** Answers in JSON whose list of segments is wrong. */
const LISTS: Record<string, (targets: string[]) => unknown> = {
  'ids from 0': (targets) => targets.map((target, n) => ({ id: String(n), target })),
  'ids from 2': (targets) => targets.map((target, n) => ({ id: String(n + 2), target })),
  'no ids': (targets) => targets.map((target) => ({ target })),
  'one id for all': (targets) => targets.map((target) => ({ id: '1', target })),
  'two texts as one': (targets) =>
    targets.length < 2 ? [] : [{ id: '1', target: targets.slice(0, 2).join(' ') }, ...targets.slice(2)],
  'one text as two': (targets) => [...targets, 'eND.'].map((target, n) => ({ id: String(n + 1), target })),
  'numbers as texts': (targets) => targets.map((_, n) => ({ id: String(n + 1), target: n })),
  'no list': (targets) => ({ 1: targets[0] }),
};

/** Returns the segments whose translation is still correct after the faulty reply of this name. */
function stillCorrect(name: string): string[] {
  if (name in CODES) return ['text'];
  // After this reply, each segment is sent again alone. It then has the id 1, which is the id of the reply.
  return name === 'one id for all' ? SEGMENTS.map(({ id }) => id) : [];
}

describe.each(PROFILE_NAMES)('the profile %s', (profile) => {
  let service: TestService;
  let answer: Answer | undefined;
  beforeAll(async () => {
    service = await serve(chatServer(profile, () => answer));
  });

  test('sends the documented request, and returns the translations', async () => {
    answer = undefined;
    const engine = make(service, profile);
    expect(await engine.directions()).toMatchObject([{ from: 'en', to: 'es' }]);
    expect((await draft(engine)).map(translated)).toEqual(CORRECT);
    await engine.stop();
  });

  test('removes the reasoning that a model writes before its answer', async () => {
    answer = (targets) =>
      completion(`<think>\nThe user wants Spanish.\n</think>\n${contentOf(profile, targets)}`);
    const engine = make(service, profile);
    expect((await draft(engine)).map(translated)).toEqual(CORRECT);
    await engine.stop();
  });

  const bent = (bend: (target: string, source: string) => string): Answer => {
    return (targets, texts) =>
      completion(
        contentOf(
          profile,
          targets.map((one, n) => bend(one, texts[n]!)),
        ),
      );
  };
  const hostile: [string, Answer][] = [
    ...Object.entries({ ...TEXTS, ...CODES }).map(([name, bend]): [string, Answer] => [name, bent(bend)]),
    ...Object.entries(RESPONSES).map(([name, make]): [string, Answer] => [name, make(profile)]),
    ...Object.entries(profile === 'chat' ? LISTS : {}).map(([name, list]): [string, Answer] => [
      name,
      (targets) => completion(JSON.stringify({ segments: list(targets) })),
    ]),
  ];

  test.each(hostile)('delivers no wrong translation after this reply: %s', async (name, planted) => {
    answer = planted;
    const engine = make(service, profile);
    const drafts = await draft(engine);
    const wrong = drafts.filter(
      (one, n) => one.status === 'translated' && JSON.stringify(one.pieces) !== JSON.stringify(CORRECT[n]),
    );
    expect(wrong).toEqual([]);
    const right = drafts.filter(({ status }) => status === 'translated').map(({ id }) => id);
    expect(right).toEqual(stillCorrect(name));
    const output = JSON.stringify([
      drafts.filter(({ status }) => status === 'failed'),
      await engine.health(),
    ]);
    expect(output).not.toMatch(/house|letter|evil|sorry/i);
    await engine.stop();
  });

  test('does not send a text that does not fit into the context, and sends all others', async () => {
    answer = undefined;
    const engine = make(service, profile, { context: 1_500 });
    const before = service.requests.length;
    const long = { id: 'long', pieces: [text('The house is red. '.repeat(150))] };
    const drafts = await draft(engine, [...SEGMENTS, long]);
    expect(drafts[3]).toMatchObject({ status: 'failed', reason: 'too long' });
    expect(drafts.slice(0, 3).map(translated)).toEqual(CORRECT);
    const requests = service.requests.slice(before);
    expect(JSON.stringify(requests.map(({ body }) => body))).not.toContain('red. The house');
    for (const { body } of requests) {
      const tokens = Buffer.byteLength(JSON.stringify(body.messages)) / 3 + body.max_tokens;
      expect(tokens).toBeLessThanOrEqual(1_500);
    }
    await engine.stop();
  });
});

test('a batch is sent again in two halves when its reply was cut off', async () => {
  let calls = 0;
  const answer: Answer = (targets) =>
    completion(contentOf('chat', targets), ++calls === 1 ? 'length' : 'stop');
  const service = await serve(chatServer('chat', () => answer));
  const engine = make(service, 'chat');
  expect((await draft(engine)).map(translated)).toEqual(CORRECT);
  expect(service.requests.map(({ body }) => JSON.parse(body.messages[1].content).segments.length)).toEqual([
    3, 2, 1,
  ]);
  await engine.stop();
});

test.each<[ProfileName, string, string, RegExp]>([
  ['hunyuan', 'zh', 'es', /^将以下文本翻译为西班牙语，注意只需要输出翻译后的结果，不要额外解释：\n\n房子/],
  ['hunyuan2', 'zh', 'en', /^将以下文本翻译为英语，注意/],
  ['hunyuan', 'de', 'zh-hant', /^将以下文本翻译为繁体中文，注意/],
  ['translategemma', 'zh-tw', 'pt-br', /"source_lang_code":"zh-Hant","target_lang_code":"pt-BR"/],
])(
  'the profile %s names the languages of %s to %s as its model card does',
  async (profile, from, to, expected) => {
    const service = await serve(chatServer(profile, () => undefined));
    const engine = make(service, profile, { directions: [`${from}>${to}`] });
    await engine.draft({ from, to, segments: [{ id: 'a', pieces: [text('房子')] }], lane: 'bulk' });
    const { content } = service.requests[0]!.body.messages[0];
    expect(typeof content === 'string' ? content : JSON.stringify(content)).toMatch(expected);
    await engine.stop();
  },
);

test('a request has the parameters of the profile, unless the operator has set or removed them', async () => {
  const service = await serve(chatServer('hunyuan', () => undefined));
  const engine = make(service, 'hunyuan', { parameters: { temperature: 0, top_k: null } });
  expect((await draft(engine, SEGMENTS.slice(1, 2))).map(translated).map(textOf)).toEqual([
    textOf(CORRECT[1]!),
  ]);
  expect(service.requests[0]!.body).toMatchObject({ temperature: 0, top_p: 0.6, repetition_penalty: 1.05 });
  expect(service.requests[0]!.body).not.toHaveProperty('top_k');
  await engine.stop();
});

test('two requests begin with the same text, so that a server can cache it', async () => {
  const service = await serve(chatServer('chat', () => undefined));
  const engine = make(service, 'chat');
  for (const segment of SEGMENTS.slice(1)) {
    const context = { tone: 'Formal', instructions: 'Short sentences.' };
    await engine.draft({ from: 'en', to: 'es', segments: [segment], lane: 'bulk', context });
  }
  const [one, other] = service.requests.map(({ body }) => JSON.stringify(body.messages));
  const stable = one!.lastIndexOf('segments\\":');
  expect(stable).toBeGreaterThan(0);
  expect(other!.slice(0, stable)).toBe(one!.slice(0, stable));
  await engine.stop();
});

test('a request whose text is mostly digits fits into the context together with its answer', async () => {
  const service = await serve(chatServer('plain', () => undefined));
  const engine = make(service, 'plain', { context: 4_096 });
  await engine.directions();
  const before = service.requests.length;
  const digits = (length: number) => ({
    id: String(length),
    pieces: [text(`The numbers are ${'8417, 2095; '.repeat(length / 12)}`)],
  });
  const drafts = await draft(engine, [digits(3_300), digits(600)]);
  expect(drafts[0]).toMatchObject({ status: 'failed', reason: 'too long' });
  expect(drafts[1]).toMatchObject({ status: 'translated' });
  for (const { body } of service.requests.slice(before)) {
    const tokens = body.messages[0].content.match(/[\d,;]/g).length;
    expect(tokens + body.max_tokens).toBeLessThanOrEqual(4_096);
    // The answer needs at least as many tokens as the source.
    expect(body.max_tokens).toBeGreaterThan(tokens);
  }
  await engine.stop();
});
