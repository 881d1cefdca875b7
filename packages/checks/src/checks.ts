/**
 * Automatic quality checks of a segment's translation, the glossary's matcher and the edit distance: pure functions,
 * the same in the browser and on the server.
 */
export { distance, similarity, type Unit } from './distance.ts';
export type { CheckId, CheckInput, Finding, Range, Severity } from './finding.ts';
export { type Compared, type Glossary, glossary, isCapitals, type Occurrence, rendered } from './glossary.ts';
export type { Term } from './term.ts';
