/** Defines a test for one sentence of the specification, named by its id. */
import { test } from 'vitest';
import { SENTENCES } from './sentences.ts';

export function conforms(id: string, holds: () => Promise<void>): void {
  const sentence = SENTENCES.find((one) => one.id === id);
  if (sentence === undefined) throw new Error(`there is no sentence ${id}`);
  test(`§${id} ${sentence.text}`, holds);
}
