// Before each test file: properties are tried with the same chance in every run, so that a failure is the change's own
// and can be had again. `SEED=random npx vitest run …` draws another, `SEED=7` takes that one.
import fc from 'fast-check';

const FIXED = 20_261_121;
const wanted = process.env.SEED ?? '';
fc.configureGlobal({
  seed: wanted === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(wanted || FIXED),
});
