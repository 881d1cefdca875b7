/** The reasons why goals are missed, by the first words of a figure's name. `prove/report.md` prints them. */
export const MISSED: Record<string, string> = {
  'dependencies, direct dependencies':
    'the service is also a web server, a mailer, a client of sign-in providers, an importer of four formats and an embedded database; each dependency does one thing and runs nothing at installation',
  'fuzz, memory at the end':
    'none of it is on the heap, and an investigation found no leak: after malloc_trim, the process had 193 MiB after 17,000 requests and 186 at the start; how much of the difference malloc and V8 keep differs from run to run',
  'overload, refused':
    'in some seconds the service gets less than three fifths of a processor: a refusal takes 48 µs and a creation 91, and each started creation reads two refused connections at most, so that nearly all wait; seen beside other work on the machine, while undisturbed seconds were at 10 to 35 ms',
  'fair, p95 of a':
    'beside a document the goal is held. Beside a flood a small job waits in its two transactions: each statement is a round trip between Node and PostgreSQL, which are both busy with the flood’s jobs (docs/decisions/0011)',
};
