/**
 * Why goals are missed today, by the beginnings of the figures' names: what `bench/report.md` says beside them. The
 * first that fits counts.
 */
const ENGINE_ALONE =
  'One file takes 115 µs of processor time a word and keeps two cores busy alone (16 thousand words/s), so the service’s rate is at most the share that it leaves the engine; see the processor time of a word beside it.';

export const MISSED: Record<string, string> = {
  'translation, pages of 500 words, as a multiple':
    'What is left is the engine: 120 of 140 µs a word, which both services spend; its rate alone is some four times theirs.',
  'translation, messages of 12 words, as a multiple':
    'A job is made durable twice and read again, with its rows, indexes and ledger: about as much processor time as the engine takes for twelve words, on the same two cores. What apertium-apy is asked it forgets.',
  'translation, pages of 500 words': `${ENGINE_ALONE} Through the service a word took 140 µs: engine 120 (a flush for each segment, so that none can spoil another), program 14, database 5, asking 1; that is 0.82. 0.9 would leave 8 µs a word for all but the engine.`,
  'translation, messages of 12 words': `${ENGINE_ALONE} Through the service a word took some 225 µs: engine 128, program 50, database 40, asking 10; that is 0.5. 0.9 would be 1,680 µs a job, which the engine takes alone with a flush for each; HTTP, two commits and a dozen rows take 1,300 more.`,
  'translation, one job of':
    'A word takes 108 µs at the engine and 12 in the program, so two cores would allow 0.95; but the pipeline stands still while the text is looked through before, and put together after.',
  'one job of 12 words until its result is read':
    'A job is on disk before it is answered and again when it ends, and its result is asked for: two commits and three requests, where apertium-apy answers in the same one and keeps nothing.',
};
