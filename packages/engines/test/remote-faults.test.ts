/**
 * Tests of faults in translation services, which a test server simulates. Every HTTP engine runs these
 * tests.
 */

import { afterAll, describe, expect, test, vi } from 'vitest';
import type { Draft, Engine, Piece } from '../src/engines.ts';
import { retryAfter } from '../src/remote/http.ts';
import { textOf, translated } from './conformance.ts';
import { makerOf, makers } from './servers/makers.ts';
import type { Fault, TestService } from './servers/service.ts';
import { stopServices } from './servers/service.ts';

afterAll(stopServices);

const text = (text: string): Piece => ({ text });

function draft(engine: Engine, texts: (string | Piece[])[], context = {}): Promise<Draft[]> {
  const segments = texts.map((each, n) => ({
    id: `s${n}`,
    pieces: typeof each === 'string' ? [text(each)] : each,
  }));
  return engine.draft({ from: 'en', to: 'es', segments, lane: 'bulk', context });
}

const TIMEOUT_MS = 60_000;
const HOUSE = 'The house is red.';
const TURNED = 'tHE HOUSE IS RED.';

const expectRecovered = async (engine: Engine): Promise<void> => {
  expect(textOf(translated((await draft(engine, [HOUSE]))[0]))).toBe(TURNED);
};

/** Simulated responses, each with the number of calls and the failure that the responses must cause. */
const FAULTS: [string, Fault[], { calls: number; reason?: string; detail?: string }][] = [
  ['429 with Retry-After', [{ status: 429, headers: { 'retry-after': '0' } }], { calls: 2 }],
  ['429 three times', times(3, { status: 429 }), { calls: 3, reason: 'unavailable', detail: '429' }],
  ['500, then 503', [{ status: 500 }, { status: 503 }], { calls: 3 }],
  ['529 three times', times(3, { status: 529 }), { calls: 3, reason: 'unavailable', detail: '529' }],
  ['a broken connection', ['reset'], { calls: 2 }],
  [
    'three broken connections',
    times<Fault>(3, 'reset'),
    { calls: 3, reason: 'unavailable', detail: 'no response' },
  ],
  [
    'a Retry-After beyond the deadline',
    [{ status: 503, headers: { 'retry-after': '3600' } }],
    { calls: 1, reason: 'unavailable', detail: '503' },
  ],
  ['401', [{ status: 401 }], { calls: 1, reason: 'unavailable', detail: 'rejects the key (401)' }],
  ['404', [{ status: 404 }], { calls: 1, reason: 'refused', detail: '404' }],
  ['456', [{ status: 456 }], { calls: 1, reason: 'unavailable', detail: 'quota is exhausted' }],
  [
    'a redirect',
    [{ status: 302, headers: { location: 'http://127.0.0.1:9/' } }],
    { calls: 1, reason: 'refused', detail: 'redirects (302)' },
  ],
  [
    'an empty response',
    [
      { status: 200, body: '' },
      { status: 200, body: '' },
    ],
    { calls: 2, reason: 'garbled', detail: 'not JSON' },
  ],
  [
    'a truncated response',
    times(2, { status: 200, body: '{"data":[' }),
    { calls: 2, reason: 'garbled', detail: 'not JSON' },
  ],
  [
    'JSON of another structure',
    times(2, { status: 200, body: '{"ok":true}' }),
    { calls: 2, reason: 'garbled', detail: 'the response has no' },
  ],
  [
    'null',
    times(2, { status: 200, body: 'null' }),
    { calls: 2, reason: 'garbled', detail: 'the response has no' },
  ],
  ['HTML, then a valid response', [{ status: 200, body: '<html>' }], { calls: 2 }],
];

function times<T>(count: number, fault: T): T[] {
  return Array.from({ length: count }, () => fault);
}

describe.each(makers)('the HTTP engine for $name', ({ start }) => {
  // A language model gets the request twice, because some servers answer 403 when `logprobs` is not allowed.
  test('fails a segment as unavailable when the service responds with 403', async () => {
    const { service, make } = await start();
    const engine = make();
    service.plant(...times(2, { status: 403 }));
    expect(await draft(engine, [HOUSE])).toMatchObject([
      { status: 'failed', reason: 'unavailable', detail: expect.stringContaining('rejects the key (403)') },
    ]);
    await engine.stop();
  });

  test.concurrent.each(FAULTS)(
    'makes the expected number of calls and returns the expected draft after %s',
    async (_, faults, { calls, reason, detail }) => {
      const { service, make } = await start();
      const engine = make();
      service.plant(...faults);
      const [result] = await draft(engine, [HOUSE]);
      expect(service.requests).toHaveLength(calls);
      if (reason === undefined) expect(textOf(translated(result))).toBe(TURNED);
      else {
        const expected = {
          id: 's0',
          status: 'failed',
          reason,
          detail: expect.stringContaining(detail ?? ''),
        };
        expect(result).toEqual(expected);
      }
      const output = JSON.stringify([result, await engine.health(), await engine.version()]);
      expect(output).not.toContain(service.key);
      expect(output).not.toContain('planted');
      if (reason !== undefined) expect(output).not.toContain('house');
      await expectRecovered(engine);
      await engine.stop();
    },
  );

  // Each of these tests waits for a deadline. So they run concurrently, each with its own service.
  test.concurrent.each(['stall', 'stall in the body'] as const)(
    'fails with a timeout at the deadline after this fault: %s',
    async (fault) => {
      const { service, make } = await start();
      // The deadline is long enough to list the languages on a busy machine. The stalled call would never end by
      // itself.
      const engine = make({ deadlineMs: 2_000 });
      await expectRecovered(engine);
      service.plant(fault);
      expect(await draft(engine, [HOUSE])).toMatchObject([{ status: 'failed', reason: 'timeout' }]);
      await expectRecovered(engine);
      await engine.stop();
    },
  );

  test('fails a segment when the response exceeds the size limit', async () => {
    const { service, make } = await start();
    const engine = make({ maxResponseBytes: 20_000 });
    service.plant(...times(2, { status: 200, body: `"${'x'.repeat(100_000)}"` }));
    expect(await draft(engine, [HOUSE])).toMatchObject([{ status: 'failed', reason: 'garbled' }]);
    await expectRecovered(engine);
    await engine.stop();
  });

  test('limits the number of concurrent calls', async () => {
    const { service, make } = await start();
    const engine = make({ concurrency: 2 });
    const work = Array.from({ length: 12 }, (_, n) => draft(engine, [`House number ${n}.`]));
    for (const [n, drafts] of (await Promise.all(work)).entries()) {
      expect(textOf(translated(drafts[0]))).toBe(`hOUSE NUMBER ${n}.`);
    }
    expect(service.most()).toBeLessThanOrEqual(2);
    await engine.stop();
  });

  test.concurrent('stops calling a service that is down, and resumes when it is up again', async () => {
    const { service, make } = await start();
    const engine = make();
    await expectRecovered(engine);
    const before = service.requests.length;
    service.plant(...times(15, { status: 503 }));
    for (let n = 0; n < 8; n++) await draft(engine, [HOUSE]);
    expect(service.requests.length - before).toBe(15);
    await vi.waitFor(() => expectRecovered(engine), { timeout: 300_000, interval: 100 });
    await engine.stop();
  });

  test('offers no language pairs with a wrong key, and the health check reports the wrong key', async () => {
    const { make } = await start();
    const engine = make({ key: 'wrong', token: () => 'wrong' });
    expect(await engine.directions()).toEqual([]);
    expect(await engine.health()).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/rejects the key/),
    });
    expect(JSON.stringify(await engine.health())).not.toContain('wrong');
    await engine.stop();
  });

  test('offers the configured language pairs that the service lists, after a self-test', async () => {
    const { service, make } = await start();
    const engine = make();
    const offered = (await engine.directions()).map(({ from, to }) => `${from}>${to}`);
    expect(offered).toContain('en>es');
    expect(offered).not.toContain('en>en');
    const narrow = make({ directions: ['es>en'] });
    expect(await narrow.directions()).toMatchObject([{ from: 'es', to: 'en', hops: 1 }]);
    expect(service.requests).toHaveLength(2);
    service.bend((texts) => texts.map((each) => each.replace(/[\s\S]*/, 'x')));
    const bent = make();
    expect(await bent.directions()).toEqual([]);
    expect(await bent.health()).toMatchObject({ ok: false, detail: expect.stringContaining('self-test') });
    await Promise.all([engine, narrow, bent].map((each) => each.stop()));
  });

  test('changes its version when its settings change, but not when its key changes', async () => {
    const { make } = await start();
    const [one, same, other] = [make(), make({ key: 'other' }), make({ baseUrl: 'http://127.0.0.1:9' })];
    expect(await one.version()).toBe(await same.version());
    expect(await one.version()).not.toBe(await other.version());
  });
});

describe.each(makers)(
  'the HTTP engine for $name, whose service is unreachable at first',
  ({ name, start }) => {
    test('offers its declared pairs as untested until the service can be tested', async () => {
      const { service, make } = await start();
      await service.stop();
      const engine = make();
      const declared = name.startsWith('a language model')
        ? ['en>es', 'es>en'].map((pair) => ({ pair, untested: true }))
        : [];
      const offered = async () =>
        (await engine.directions()).map(({ from, to, untested }) => ({ pair: `${from}>${to}`, untested }));
      expect(await offered()).toEqual(declared);
      // Five failed calls open the circuit breaker. The pairs are offered even then.
      for (let round = 0; round < 5; round++) expect(await offered()).toEqual(declared);
      await service.start();
      const tested = await vi.waitUntil(
        async () => {
          const now = await offered();
          return now.some(({ untested }) => !untested) && now;
        },
        { timeout: TIMEOUT_MS, interval: 50 },
      );
      expect(tested).toContainEqual({ pair: 'en>es', untested: undefined });
      await expectRecovered(engine);
      await engine.stop();
    });

    test.each<[string, Fault[]]>([
      ['that rejects the key', [{ status: 401 }]],
      ['with a fault', times(3, { status: 500 })],
      ['that returns JSON of another structure', times(2, { status: 200, body: '{"ok":true}' })],
    ])('offers no directions when it reaches a service %s', async (_, faults) => {
      const { service, make } = await start();
      service.plant(...faults);
      const engine = make();
      expect(await engine.directions()).toEqual([]);
      await engine.stop();
    });
  },
);

/**
 * Invalid replies for one segment of ten. The segment is sent again alone, and fails if the second reply is
 * invalid too.
 */
const BENT: [string, (target: string) => string, string][] = [
  ['nothing', () => '', ''],
  ['a code dropped', (target) => target.replace(/<(span|g) id="1">|⟦1⟧/, ''), ''],
  ['all codes dropped', (target) => target.replace(/<[^>]*>|⟦[^⟧]*⟧/g, ''), 'did not come back'],
  ['a code doubled', (target) => target + (/(?:<(?:img|x) id="2"\/>|⟦2⟧)/.exec(target)?.[0] ?? ''), 'twice'],
  [
    'a code invented',
    (target) =>
      `${target}${target.includes('⟦') ? '⟦9⟧' : target.includes('<g') ? '<x id="9"/>' : '<img id="9"/>'}`,
    'not sent',
  ],
  [
    'a target that is far too long',
    (target) => target.replaceAll('HOUSE', 'hOUSE '.repeat(60)),
    'times as long',
  ],
  ['an invented URL', (target) => target.replace('HOUSE', 'https://evil.example/pay'), 'URL'],
  ['a code fence', (target) => target.replace('HOUSE', '```'), 'fence'],
  [
    'an apology',
    (target) => target.replace('HOUSE', "I'm sorry, I can't translate this"),
    'comments on the task',
  ],
  [
    'another script',
    (target) => target.replace(/<[^>]*>|[a-z]{2,}/gi, (word) => (word.startsWith('<') ? word : 'дом')),
    'script',
  ],
];

describe.each(makers.filter(({ name }) => !name.includes('plain')))(
  'the HTTP engine for $name',
  ({ start }) => {
    const bad: Piece[] = [
      { open: 7 },
      text('The old HOUSE of my big family'),
      { close: 7 },
      text(' is red, and so is'),
      { single: 8 },
      text(' the garden.'),
    ];
    const batch = [...Array.from({ length: 9 }, (_, n) => `Garden number ${n}.`), bad];
    const isBad = (target: string): boolean => target.includes('house');

    test.each(BENT)('retries only the segment whose reply has this fault: %s', async (_, bend, detail) => {
      const { service, make } = await start();
      const engine = make();
      const upper = (target: string): string => bend(target.replaceAll('house', 'HOUSE'));
      service.bend((texts) => texts.map((each) => (isBad(each) ? upper(each) : each)));
      const drafts = await draft(engine, batch);
      expect(drafts.slice(0, 9).map((each) => textOf(translated(each)))).toEqual(
        Array.from({ length: 9 }, (_, n) => `gARDEN NUMBER ${n}.`),
      );
      const failed = {
        id: 's9',
        status: 'failed',
        reason: 'garbled',
        detail: expect.stringContaining(detail),
      };
      expect(drafts[9]).toEqual(failed);
      // The last call contains only the segment with the invalid reply.
      const again = service.requests.at(-1)!;
      expect(JSON.stringify(again.body)).not.toContain('Garden');

      let count = 0;
      service.bend((texts) => texts.map((each) => (isBad(each) && count++ === 0 ? upper(each) : each)));
      expect(textOf(translated((await draft(engine, batch))[9]))).toContain('tHE OLD house');
      await engine.stop();
    });

    test.each([
      ['one too few', (texts: string[]) => (texts.length > 1 ? texts.slice(0, -1) : texts)],
      ['one too many', (texts: string[]) => (texts.length > 1 ? [...texts, 'mORE'] : texts)],
      ['none', (texts: string[]) => (texts.length > 1 ? [] : texts)],
    ])('sends smaller batches after a reply with a wrong number of translations (%s)', async (_, bend) => {
      const { service, make } = await start();
      const engine = make();
      service.bend(bend);
      const drafts = await draft(engine, batch.slice(0, 9));
      expect(drafts.map((each) => textOf(translated(each)))).toEqual(
        Array.from({ length: 9 }, (_, n) => `gARDEN NUMBER ${n}.`),
      );
      await engine.stop();
    });
  },
);

test('an HTTP engine divides a batch after status 413', async () => {
  const { service, make } = await makerOf('DeepL');
  const engine = make();
  service.plant({ status: 413 });
  const drafts = await draft(engine, [HOUSE, HOUSE, HOUSE]);
  expect(drafts.map(({ status }) => status)).toEqual(['translated', 'translated', 'translated']);
  expect(service.requests.map(({ body }) => body.text.length)).toEqual([3, 2, 1]);
  await engine.stop();
});

describe.each(makers)('the HTTP engine for $name', ({ start }) => {
  test.concurrent.each([400, 413, 414, 422, 451])(
    'fails only the segment for which the service refuses a batch with status %i',
    async (status) => {
      const { service, make } = await start();
      const engine = make();
      await expectRecovered(engine);
      const before = service.requests.length;
      service.refuse('poison', status);
      const texts = Array.from({ length: 16 }, (_, n) => (n === 11 ? 'A poison line.' : `Line number ${n}.`));
      const drafts = await draft(engine, texts);
      expect(drafts.map(({ status }) => status)).toEqual(
        texts.map((one) => (one === 'A poison line.' ? 'failed' : 'translated')),
      );
      expect(drafts[11]).toMatchObject({
        reason: 'refused',
        detail: expect.stringContaining(String(status)),
      });
      // One call takes all 16 segments, and two halves of each of four divisions follow; or each segment has its own call.
      expect(service.requests.length - before).toBeLessThanOrEqual(texts.length);
      await engine.stop();
    },
  );
});

test('an HTTP engine sends interactive requests before bulk requests', async () => {
  const { service, make } = await makerOf('a language model');
  const engine = make({ concurrency: 1 });
  const bulk = Array.from({ length: 3 }, (_, n) => draft(engine, [`Bulk ${n}.`]));
  const segments = [{ id: 'chat', pieces: [text('Live now.')] }];
  const interactive = engine.draft({ from: 'en', to: 'es', segments, lane: 'interactive' });
  await Promise.all([...bulk, interactive]);
  const order = service.requests.map((each: TestService['requests'][number]) => {
    const { segments } = JSON.parse(each.body.messages[1].content);
    return segments[0].text.split(' ')[0];
  });
  expect(order).toEqual(['Bulk', 'Live', 'Bulk', 'Bulk']);
  await engine.stop();
});

test.each([
  ['5', 5_000],
  ['0', 0],
  ['1.5', 1_500],
  ['Thu, 01 Jan 1970 00:00:10 GMT', 8_000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['soon', null],
  ['', null],
  [undefined, null],
])('retryAfter returns the delay in milliseconds, or null for an invalid value: %j', (header, ms) =>
  expect(retryAfter(header, 2_000)).toBe(ms),
);

test.each(['ftp://a.example', 'https://me:secret@a.example', 'https://a.example/?key=secret'])(
  'an HTTP engine rejects the base URL %s, and the error does not repeat the URL',
  async (baseUrl) => {
    const { make } = await makerOf('DeepL');
    expect(() => make({ baseUrl })).toThrow(/^(?!.*secret)the URL of an engine/);
  },
);
