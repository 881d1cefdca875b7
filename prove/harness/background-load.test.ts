import { describe, expect, it } from 'vitest';
import { startBackgroundLoad } from './background-load.ts';

describe('background load of a proof', () => {
  it('waits until all its work is completed, including work added later', async () => {
    let done = 0;
    const work = async () => {
      await Promise.resolve();
      done++;
    };
    const load = startBackgroundLoad(work(), work());
    load.add(work());
    load.check();
    await load.done();
    expect(done).toBe(3);
  });

  it('throws the first error at the next check and does not wait for other work', async () => {
    const never = new Promise(() => {});
    const load = startBackgroundLoad(never, Promise.reject(new Error('no lease')));
    await expect(load.done()).rejects.toThrow('no lease');
    load.add(Promise.reject(new Error('another')));
    await Promise.resolve();
    expect(() => load.check()).toThrow('no lease');
  });
});
