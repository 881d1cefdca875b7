/** A fault beside a proof is seen: by the next look, and at the end. */
import { expect, it } from 'vitest';
import { startBeside } from './beside.ts';

it('ends when all of it has', async () => {
  let done = 0;
  const work = async () => {
    await Promise.resolve();
    done++;
  };
  const beside = startBeside(work(), work());
  beside.add(work());
  beside.check();
  await beside.done();
  expect(done).toBe(3);
});

it('throws the first fault at the next look, and does not wait for the others', async () => {
  const never = new Promise(() => {});
  const beside = startBeside(never, Promise.reject(new Error('no lease')));
  await expect(beside.done()).rejects.toThrow('no lease');
  beside.add(Promise.reject(new Error('another')));
  await Promise.resolve();
  expect(() => beside.check()).toThrow('no lease');
});
