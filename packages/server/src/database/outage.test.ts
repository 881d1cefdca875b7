import { afterEach, expect, it, vi } from 'vitest';
import type { Log } from '../base/log.ts';
import { createOutageWatch } from './outage.ts';

afterEach(() => {
  vi.useRealTimers();
});

it('a lost node of a cluster is logged once, and its return after a second without a loss', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const lines: string[] = [];
  const write = (first: unknown, message?: string) => lines.push(message ?? String(first));
  const watch = createOutageWatch(() => true, { warn: write, info: write } as unknown as Log);
  const failed = () => watch.track(() => Promise.reject(new Error('lost'))).catch(() => undefined);
  const answered = () => watch.track(async () => 1);
  for (let time = 0; time < 3; time++) {
    await failed();
    vi.advanceTimersByTime(500);
    await answered();
  }
  expect(lines).toEqual(['database connection lost']);
  vi.advanceTimersByTime(1_000);
  await answered();
  await answered();
  expect(lines).toEqual(['database connection lost', 'the database is available again']);
});
