/**
 * The reasons why goals are missed, by the first words of a figure's name. `bench/report.md` prints them. The first
 * matching entry is used.
 */
const ENGINE_ALONE =
  'One file keeps two cores busy alone (71 to 77 µs of processor time a word on the machine of the last whole run), so the service’s rate is at most the share that it leaves the engine; compare the processor time of a word.';
const PAGES =
  'A page reads as many rows and pages of the database in a large account as in a small one (jobs/list-cost.test.ts). The ordinary account has 4,000 jobs here and 40 in the small database, so some pages are full only here. The 99th percentile of 200 requests is the slowest two; compare the medians.';
const GROWTH =
  'Bytes are counted only in texts that may be too long: those of 5 and 9.9 MiB, not those of 2.5, and at 9.9 nearly to their end. Other growth was not found; the fastest of fifteen rounds were at 2.2.';

export const MISSED: Record<string, string> = {
  'chat, deliveries':
    'A bare post takes 71 µs of both cores with its receiver, so a ratio of 0.35 leaves 200 µs a delivery. It took 480 (program 270, database 210), and takes a fifth less since its claim records the attempt (the median of six pairs in turns on a busy machine). The rest: the delivery is written twice, the attempt and the message once, with one commit before the post; in a profile of the program, the largest parts are writes to sockets and garbage collection, a seventh and a ninth. The cores are not always busy: the worker sends 8 at a time to a host, and claims the next ones after answers. With 32 at a time (DRAGOMAN_SENDER_PER_HOST), 20,000 deliveries ran 1.3 times as fast.',
  'creations, machine tier':
    'A creation takes 505 µs of the program’s processor time, and took 335 on 21 November (old and new in turns, two rounds each, on a busy machine); the database’s time did not grow. By profiles of both, 60 of the difference are order numbers, which are given in a transaction of their own, 24 the check for foreign letters (now 6), 23 the limits and the schema of a JSON body, 15 the writing of answers, 10 garbage collection, and 9 the limits of keys and of load. pgbench does none of this.',
  'html, time to scan':
    'The figure varies more than the goal allows: in two runs in turns, the program of 21 November gave 2.73 and 2.04, the present one 2.20.',
  'text, time to scan': GROWTH,
  'srt, time to scan': GROWTH,
  'vtt, time to scan': GROWTH,
  'text, ':
    'In ms a MiB of the sample files: finding the lines takes as long as the split (0.89 and 0.84), then come the placeholders of messages (0.35), the rebuilt text (0.17), and the checks for NUL and unpaired surrogates (0.06).',
  'srt, ':
    'In ms a MiB of the sample files: reading the cues takes 2.5 (a split 2.0), the checks for NUL and unpaired surrogates 0.7, the rebuilt text 0.15.',
  'vtt, ':
    'The sample files are mostly tests of players, with a cue in 74 characters. By a profile, nearly half of the time finds and reads the time lines, a seventh makes the units, and a tenth are the checks for NUL and unpaired surrogates.',
  'translation, pages of 500 words, as a multiple':
    'The rest is the engine: 69 of 85 µs a word, which both services need.',
  'translation, pages of 500 words': `${ENGINE_ALONE} Through the service a word took 85 µs: engine 69, program 12, database 4; that is 0.83. 0.9 would leave 10 µs for everything but the engine. A flush for each segment costs most of the program’s part: with 20 sentences in a flush, the engine’s client took 2 µs a word instead of 12. But with ten in a flush, 74 of 120 groups were translated otherwise than sentence by sentence (capital letters, choice of words), so the text of a segment would depend on its neighbours.`,
  'translation, messages of 12 words': `${ENGINE_ALONE} Through the service a word took 142 µs: engine 77, program 37, database 22, client 4; that is 0.55. 0.9 would leave 100 µs a job for HTTP, two commits and a dozen rows, which take 750.`,
  'translation, one job of':
    'In µs of processor time a word, the engine takes 81 to 89. It is idle while the text is scanned before (program 2, scanner 1.5) and rebuilt after (program 0.5, scanner 1.5), a sixth of one file’s time; meanwhile the program takes 7 to 10 more, as for pages. If the idle time were used, 0.85 would be the most.',
  'one job of 12 words until its result is read':
    'A job is committed before it is acknowledged and again when it ends, and its result is requested: two commits and three requests. apertium-apy answers in the first request and stores nothing.',
  'list at 5000000 jobs, large account, deep page by offset':
    'The API counts an offset from the beginning; the same page by cursor takes a millisecond (docs/decisions/0007).',
  'list at 5000000 jobs, large account, uid begins':
    'The median is 0.5 ms, and 0.3 in the small database. What takes the difference was not measured.',
  'list at 5000000 jobs, large account, uid':
    'A search inside or at the end of a uid grows with the account, since the lists of trigrams do; two characters read the whole index of its uids (docs/decisions/0007).',
  'list at 5000000 jobs, ordinary account, uid contains':
    'As for the large account; the ordinary one has 4,000 jobs here and 40 in the small database.',
  'list at 5000000 jobs, large account, created since':
    'The matches are counted in the index, up to ten thousand; the small database has fewer.',
  'list at 5000000 jobs': PAGES,
};
