import { describe, expect, test } from 'vitest';
import { createFake } from '../src/fake.ts';
import { conformance, textOf, translated } from './conformance.ts';

conformance('the fake engine', { make: () => createFake(), to: 'es' });

describe('the fake engine', () => {
  const request = (text: string) => ({
    from: 'en',
    to: 'es',
    lane: 'interactive' as const,
    segments: [{ id: 'a', pieces: [{ open: 1 }, { text }, { close: 1 }] }],
  });

  test('records its requests', async () => {
    const fake = createFake();
    await fake.draft(request('house'));
    expect(fake.requests).toEqual([request('house')]);
    await fake.waitForRequests(1);
  });

  test('fails segments that contain a chosen text, until the choice is reset', async () => {
    const fake = createFake();
    fake.failOn('house', 'timeout');
    expect(await fake.draft(request('house'))).toMatchObject([{ status: 'failed', reason: 'timeout' }]);
    expect(await fake.draft(request('garden'))).toMatchObject([{ status: 'translated' }]);
    fake.failOn(null);
    expect(await fake.draft(request('house'))).toMatchObject([{ status: 'translated' }]);
  });

  test('drops the codes of drafts on demand', async () => {
    const fake = createFake();
    fake.dropCodes(true);
    expect(translated((await fake.draft(request('house')))[0])).toEqual([{ text: 'HOUSE' }]);
  });

  test('rejects the requested number of calls', async () => {
    const fake = createFake();
    fake.crash(2);
    await expect(fake.draft(request('house'))).rejects.toThrow('crashed');
    await expect(fake.draft(request('house'))).rejects.toThrow('crashed');
    expect(await fake.draft(request('house'))).toMatchObject([{ status: 'translated' }]);
  });

  test('suspends calls until it is resumed', async () => {
    const fake = createFake();
    fake.stall();
    const work = fake.draft(request('house'));
    await fake.waitForRequests(1);
    fake.resume();
    expect(textOf(translated((await work)[0]))).toBe('HOUSE');
  });

  test('ends suspended calls when it is stopped or the request is aborted', async () => {
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
