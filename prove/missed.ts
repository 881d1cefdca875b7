/** The reasons why goals are missed, by the first words of a figure's name. `prove/report.md` prints them. */
export const MISSED: Record<string, string> = {
  'dependencies, direct dependencies':
    'the service is also a web server, a mailer, a client of sign-in providers, an importer of four formats and an embedded database; each dependency does one thing and runs nothing at installation',
  'fuzz, memory at the end':
    'none of it is on the heap, and an investigation found no leak: after malloc_trim, the process had 193 MiB after 17,000 requests and 186 at the start; how much of the difference malloc and V8 keep differs from run to run',
  'overload, refused':
    'in some seconds the service gets less than three fifths of a processor, and nearly all refusals wait. A refusal takes 48 µs and a creation 91 µs; between two creations, at most two refusals are read. Undisturbed seconds were at 10 to 35 ms',
  'replay, p99 with votes on':
    'four runs gave 1.17, 1.34, 1.08 and 0.92: the figure compares the slowest 12 of 1,200 requests of each side',
  'fair, p95 of a':
    'next to one large document the goal is reached. Next to ten thousand jobs, a small job waits in its two transactions: each statement is a round trip between Node and PostgreSQL, and both are busy with the other jobs (docs/decisions/0011)',
};
