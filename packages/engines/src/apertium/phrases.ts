/**
 * Known sentences in each source language. They are used for self-tests and for the warm-up after a start.
 */

import type { Language } from '../engine.ts';
import { encode } from './encode.ts';

/** Self-test sentences. Each one differs from its translation in every direction of the route table. */
export const SELF_TEST: Readonly<Record<Language, string>> = {
  en: 'The big house has two windows and a red door.',
  es: 'La casa grande tiene dos ventanas y no hay puerta.',
  pt: 'A casa é muito grande, tem duas janelas e não tem portas.',
  fr: 'La grande maison a deux fenêtres et une porte rouge.',
  ca: 'La casa gran té dues finestres i una porta vermella.',
  gl: 'A casa grande ten dúas fiestras e non ten portas.',
  it: 'La casa grande ha due finestre e una porta rossa.',
  da: 'Jeg ved ikke, hvad det store hus med de to vinduer koster.',
  sv: 'Jag vet inte vad det stora huset med två fönster kostar.',
  nb: 'Jeg vet ikke hva det store huset med to vinduer koster.',
  nn: 'Eg veit ikkje kva det store huset med to vindauge kostar.',
};

/**
 * Returns the input that a pipeline gets after every start: one sentence, whose answer shows that the start
 * succeeded. Translations do not depend on it (docs/decisions/0028).
 */
export function warmUpFor(from: Language): string[] {
  const sentence = SELF_TEST[from];
  return [encode([{ text: sentence ?? 'A.' }]).stream];
}
