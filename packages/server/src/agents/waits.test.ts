import { expect, it } from 'vitest';
import { createWaits } from './waits.ts';

it('an account gets no further place for a waiting call when it holds as many places as are free, and another account still gets one', () => {
  const waits = createWaits(4);
  const free = [waits.take('busy'), waits.take('busy')];
  expect(free).toEqual([expect.any(Function), expect.any(Function)]);
  expect(waits.take('busy')).toBeUndefined();
  expect(waits.take('other')).toBeDefined();
  expect(waits.take('third')).toBeDefined();
  expect(waits.take('fourth')).toBeUndefined();
  free[0]!();
  expect(waits.take('busy')).toBeUndefined();
  expect(waits.take('fourth')).toBeDefined();
});
