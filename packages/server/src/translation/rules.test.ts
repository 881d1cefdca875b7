/**
 * Tests of pure functions: engine routes, circuit breaker, check of replies, cache, and canonical segments.
 */
import type { Piece } from '@dragoman/documents';
import { faultOf } from '@dragoman/engines';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBreaker } from './breaker.ts';
import { cacheKeyOf, createDraftCache } from './cache.ts';
import { canonical } from './canonical.ts';
import { type EngineRoute, enginesFor } from './engine-routes.ts';

describe('enginesFor', () => {
  const rule = (engine: string, fields: Partial<EngineRoute>): EngineRoute => ({
    source_language: '*',
    target_language: '*',
    tier: '*',
    account_id: null,
    brand: null,
    engines: [engine],
    ...fields,
  });
  const rules = [
    rule('all', {}),
    rule('tier', { tier: 'chat' }),
    rule('from', { source_language: 'en' }),
    rule('to', { target_language: 'es' }),
    rule('pair', { source_language: 'en', target_language: 'es' }),
    rule('account', { account_id: 'a' }),
    rule('account pair', { account_id: 'a', source_language: 'en', target_language: 'es' }),
    rule('brand', { account_id: 'a', brand: 'b' }),
  ];
  const question = { from: 'fr', to: 'ca', tier: 'machine', accountId: 'x', brand: undefined } as const;
  it.each([
    ['all', {}],
    ['tier', { tier: 'chat' }],
    ['from', { from: 'en', tier: 'chat' }],
    ['to', { to: 'es', tier: 'chat' }],
    ['pair', { from: 'en', to: 'es' }],
    ['account', { accountId: 'a' }],
    ['account pair', { accountId: 'a', from: 'en', to: 'es' }],
    ['brand', { accountId: 'a', brand: 'b', from: 'en', to: 'es' }],
    ['all', { brand: 'b' }],
  ] as const)('returns the engines of the most specific rule (%s) for %j', (engine, asked) => {
    for (const given of [rules, rules.toReversed()]) {
      expect(enginesFor(given, { ...question, ...asked }, ['settings'])).toEqual([engine]);
    }
  });

  it('returns the engines of the settings when no rule matches', () => {
    expect(enginesFor(rules.slice(1), question, ['settings'])).toEqual(['settings']);
  });
});

describe('the circuit breaker', () => {
  it('opens after five failures in a row, lets one trial pass, and closes when the trial succeeds', () => {
    let now = 0;
    const breaker = createBreaker(() => now);
    const fail = (times: number) => {
      for (let i = 0; i < times; i++) breaker.failed();
    };
    fail(4);
    breaker.succeeded();
    fail(4);
    expect(breaker.enter()).toBe(true);
    fail(1);
    expect([breaker.state, breaker.enter()]).toEqual(['open', false]);
    now += 10_000;
    expect([breaker.state, breaker.enter(), breaker.enter()]).toEqual(['half-open', true, false]);
    breaker.failed();
    now += 10_000;
    expect(breaker.state).toBe('open');
    now += 10_000;
    expect(breaker.enter()).toBe(true);
    breaker.succeeded();
    expect([breaker.state, breaker.enter(), breaker.enter()]).toEqual(['closed', true, true]);
  });
});

describe('faultOf', () => {
  const visible = (pieces: readonly Piece[]) =>
    pieces.map((piece) => ('text' in piece ? piece.text : '')).join('');
  const long = 'The house near the river is very big and old.';
  it.each<[source: Piece[], reply: Piece[], language: string, fault: RegExp | undefined]>([
    [[{ text: long }], [{ text: 'La casa cerca del río es muy grande y vieja.' }], 'es', undefined],
    [[{ text: long }], [{ text: '  ' }], 'es', /empty/],
    [[{ text: '123' }], [{ text: '' }], 'es', undefined],
    [[{ text: long }], [{ text: 'Sí.' }], 'es', /times as long/],
    [[{ text: long }], [{ text: `${long} `.repeat(4) }], 'es', /times as long/],
    [[{ text: 'Yes.' }], [{ text: 'Por supuesto que sí.' }], 'es', undefined],
    [[{ text: long }], [{ text: '靠近河边的房子非常大而且非常古老。' }], 'zh', undefined],
    [[{ text: '靠近河边的房子非常大而且非常古老。' }], [{ text: long }], 'en', undefined],
    [[{ text: long }], [{ text: `\`\`\`\nLa casa cerca del río es muy vieja.\n\`\`\`` }], 'es', /fence/],
    [[{ text: long }], [{ text: 'La casa https://evil.example es muy grande.' }], 'es', /URL/],
    [
      [{ text: 'See ' }, { keep: 1, text: 'https://a.example' }],
      [{ text: 'Vea ' }, { keep: 1, text: 'https://a.example' }],
      'es',
      undefined,
    ],
    [[{ text: long }], [{ text: long }], 'ru', /script/],
    [
      [{ text: 'Дом у реки очень большой и очень старый.' }],
      [{ text: 'Дом у реки очень большой и очень старый.' }],
      'en',
      /script/,
    ],
    [[{ text: long }], [{ text: 'Дом у реки очень большой и очень старый.' }], 'ru', undefined],
  ])('returns the fault of a reply, or null: %j → %j (%s)', (source, reply, language, fault) => {
    const from = /\p{sc=Han}/u.test(visible(source))
      ? 'zh'
      : /\p{sc=Cyrl}/u.test(visible(source))
        ? 'ru'
        : 'en';
    const found = faultOf(reply, source, { from, to: language });
    if (fault === undefined) expect(found).toBeNull();
    else expect(found).toMatch(fault);
  });
});

describe('the cache of drafts', () => {
  const value = (text: string) => ({ pieces: [{ text }], route: 'x:a-b', notes: [] });

  it('evicts the least recently used entry first, and never exceeds its limit of bytes', () => {
    const cache = createDraftCache(2_000);
    for (const key of ['a', 'b', 'c']) cache.set(key, value('x'.repeat(100)));
    expect(cache.get('a')).toBeDefined();
    for (const key of ['d', 'e']) cache.set(key, value('x'.repeat(100)));
    expect(cache.bytes).toBeLessThanOrEqual(2_000);
    expect([cache.get('a'), cache.get('b')]).toEqual([value('x'.repeat(100)), undefined]);
    cache.set('huge', value('x'.repeat(10_000)));
    expect(cache.get('huge')).toBeUndefined();
  });

  it('has different keys for different lists of parts, even if the joined parts are the same text', () => {
    expect(cacheKeyOf(['a', 'b'])).not.toBe(cacheKeyOf(['ab', '']));
    expect(cacheKeyOf(['a', 'b'])).toBe(cacheKeyOf(['a', 'b']));
  });
});

describe('canonical segments', () => {
  const code = fc.nat({ max: 5 });
  const piece = fc.oneof(
    fc.record({ text: fc.string({ minLength: 1 }) }),
    fc.record({ open: code }),
    fc.record({ close: code }),
    fc.record({ single: code }),
    fc.record({ keep: code, text: fc.string() }),
  ) as fc.Arbitrary<Piece>;

  it('are identical however the codes are numbered, and convert back to the original numbers', () => {
    const moved = (pieces: Piece[], by: number) =>
      pieces.map((one): Piece => {
        if ('keep' in one) return { keep: one.keep + by, text: one.text };
        if ('open' in one) return { open: one.open + by };
        if ('close' in one) return { close: one.close + by };
        return 'single' in one ? { single: one.single + by } : one;
      });
    fc.assert(
      fc.property(fc.array(piece), fc.nat({ max: 1000 }), (pieces, by) => {
        const [one, other] = [canonical(pieces), canonical(moved(pieces, by))];
        expect(other.pieces).toEqual(one.pieces);
        expect(one.back(one.pieces)).toEqual(pieces);
        expect(other.back(other.pieces)).toEqual(moved(pieces, by));
      }),
    );
  });
});
