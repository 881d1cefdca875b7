/**
 * The reasons why goals are missed, by the first words of a figure's name. `bench/report.md` prints them. The first
 * matching entry is used.
 */
const ENGINE_ALONE =
  'One file takes 112 to 125 µs of processor time a word and keeps two cores busy alone (15 to 17 thousand words/s), so the service’s rate is at most the share that it leaves the engine; compare the processor time of a word.';

const CHECKS =
  'A scan reads the whole text three times more than a split: for NUL (0.4 ms a MiB of a large text with wide letters), for unpaired surrogates (0.7) and for its length in bytes (up to 1.1); a split takes 2.6 to 3. The rest was not investigated.';
const GROWTH =
  'Bytes are counted only in texts that may be too long: those of 5 and 9.9 MiB, not those of 2.5, and at 9.9 nearly to their end. Other growth was not found; the fastest of fifteen rounds were at 2.2.';

export const MISSED: Record<string, string> = {
  'chat, deliveries':
    'A delivery takes 270 µs of processor time in the program and 210 in the database (before: 390 and 320), a bare post 65 to 80 in the program: the delivery and its attempt are written twice each and the message once, with two commits before the post. Two cores are then full at some 4,000 a second.',
  'text, time to scan': GROWTH,
  'srt, time to scan': GROWTH,
  'text, ': CHECKS,
  'srt, ': CHECKS,
  'translation, pages of 500 words, as a multiple':
    'The rest is the engine: 112 of 133 µs a word, which both services need; its rate alone is 2.3 times that of apertium-apy.',
  'translation, pages of 500 words': `${ENGINE_ALONE} Through the service a word took 133 µs: engine 112 (a flush for each segment, so that no segment can spoil another), program 15, database 6, client 1; that is 0.84 at most. 0.9 would leave 12 µs a word for everything but the engine.`,
  'translation, messages of 12 words': `${ENGINE_ALONE} Through the service a word took 257 µs: engine 122, program 68, database 59, client 7; that is 0.49. 0.9 would be some 1,670 µs a job, of which the engine takes 1,500; HTTP, two commits and a dozen rows take 1,600 more.`,
  'translation, one job of':
    'Not investigated in this run; the pipeline is idle while the text is scanned before and rebuilt after.',
  'one job of 12 words until its result is read':
    'A job is committed before it is acknowledged and again when it ends, and its result is requested: two commits and three requests. apertium-apy answers in the first request and stores nothing.',
  'list at 5000000 jobs, large account, deep page by offset':
    'The API counts an offset from the beginning; the same page by cursor takes a millisecond (docs/decisions/0007).',
  'list at 5000000 jobs, large account, uid':
    'A search inside or at the end of a uid grows with the account, since the lists of trigrams do; two characters read the whole index of its uids (docs/decisions/0007).',
  'list at 5000000 jobs, ordinary account, uid contains':
    'As for the large account; the ordinary one has 4,000 jobs here and 40 in the small database.',
  'list at 5000000 jobs, large account, created since':
    'The matches are counted in the index, up to ten thousand; the small database has fewer.',
  'list at 5000000 jobs, large account, status and language, rare': 'Not investigated.',
  'list at 5000000 jobs': 'Not investigated one by one; compare the medians.',
};
