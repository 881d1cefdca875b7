/** An engine that takes its time over a large text: so many slices at a walk, the rest when it is told to go on. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';

export interface SlowEngine extends FakeEngine {
  goOn(): void;
}

const SLICE_MILLISECONDS = 200;

/** @param slices after which it stops and waits */
export function createSlow(slices: number): SlowEngine {
  const fake = createFake();
  const draft = fake.draft.bind(fake);
  const gate = Promise.withResolvers<void>();
  let drafted = 0;
  fake.draft = async (request) => {
    if (++drafted > slices) await gate.promise;
    else await new Promise((resolve) => setTimeout(resolve, SLICE_MILLISECONDS * drafted));
    return draft(request);
  };
  return Object.assign(fake, { goOn: gate.resolve });
}

/** A text of so many different sentences. */
export function sentences(count: number): string {
  return Array.from({ length: count }, (_, at) => `This is sentence number ${at + 1} of the book.`).join(
    '\n',
  );
}
