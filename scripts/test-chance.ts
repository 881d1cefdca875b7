// Runs before each test file. Property tests use the same seed in every run, so that a failure is caused by the
// change under test and can be repeated. `SEED=random npx vitest run …` draws a seed, `SEED=7` sets one. A test whose
// examples are whole scenarios sets their number itself.
import fc from 'fast-check';
import { FULL } from './full.ts';

const FIXED = 20_261_121;
const wanted = process.env.SEED ?? '';
fc.configureGlobal({
  seed: wanted === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(wanted || FIXED),
  numRuns: FULL ? 2000 : 50,
});
