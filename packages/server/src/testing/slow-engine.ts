/** An engine that pauses after a number of slices of a large text, until `goOn` is called. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';

export interface SlowEngine extends FakeEngine {
  goOn(): void;
}

const SLICE_MILLISECONDS = 200;

/**
 * Creates the engine.
 * @param slices the number of slices after which the engine pauses
 * @param start a promise; the engine drafts nothing until it resolves
 */
export function createSlow(slices: number, start?: Promise<void>): SlowEngine {
  const fake = createFake();
  const draft = fake.draft.bind(fake);
  const gate = Promise.withResolvers<void>();
  let drafted = 0;
  fake.draft = async (request) => {
    await start;
    if (++drafted > slices) await gate.promise;
    else await new Promise((resolve) => setTimeout(resolve, SLICE_MILLISECONDS * drafted));
    return draft(request);
  };
  return Object.assign(fake, { goOn: gate.resolve });
}

/** Returns a text with `count` different sentences. */
export function sentences(count: number): string {
  return Array.from({ length: count }, (_, at) => `This is sentence number ${at + 1} of the book.`).join(
    '\n',
  );
}
