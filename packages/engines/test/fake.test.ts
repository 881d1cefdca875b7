import { describe, expect, test } from 'vitest';
import { createFake } from '../src/fake.ts';
import { conformance, textOf, translated } from './conformance.ts';

conformance('the fake', { make: () => createFake(), to: 'es' });

describe('the fake does as it is told', () => {
  const request = (text: string) => ({
    from: 'en',
    to: 'es',
    lane: 'live' as const,
    segments: [{ id: 'a', pieces: [{ open: 1 }, { text }, { close: 1 }] }],
  });

  test('records what it was asked', async () => {
    const fake = createFake();
    await fake.draft(request('house'));
    expect(fake.asked).toEqual([request('house')]);
    await fake.waitForAsked(1);
  });

  test('fails on a text until told otherwise', async () => {
    const fake = createFake();
    fake.failOn('house', 'timeout');
    expect(await fake.draft(request('house'))).toMatchObject([{ status: 'failed', reason: 'timeout' }]);
    expect(await fake.draft(request('garden'))).toMatchObject([{ status: 'translated' }]);
    fake.failOn(null);
    expect(await fake.draft(request('house'))).toMatchObject([{ status: 'translated' }]);
  });

  test('drops codes', async () => {
    const fake = createFake();
    fake.dropCodes(true);
    expect(translated((await fake.draft(request('house')))[0])).toEqual([{ text: 'HOUSE' }]);
  });

  test('crashes as often as told', async () => {
    const fake = createFake();
    fake.crash(2);
    await expect(fake.draft(request('house'))).rejects.toThrow('crashed');
    await expect(fake.draft(request('house'))).rejects.toThrow('crashed');
    expect(await fake.draft(request('house'))).toMatchObject([{ status: 'translated' }]);
  });

  test('stalls until told to go on', async () => {
    const fake = createFake();
    fake.stall();
    const work = fake.draft(request('house'));
    await fake.waitForAsked(1);
    fake.resume();
    expect(textOf(translated((await work)[0]))).toBe('HOUSE');
  });

  test('a stalled call ends with stop and with abort', async () => {
    const fake = createFake({ directions: ['en>es'] });
    fake.stall();
    const abort = new AbortController();
    const aborted = fake.draft({ ...request('house'), signal: abort.signal });
    abort.abort(new Error('given up'));
    await expect(aborted).rejects.toThrow('given up');
    const stopped = fake.draft(request('house'));
    await fake.stop();
    expect(await stopped).toMatchObject([{ status: 'failed', reason: 'stopped' }]);
  });
});
