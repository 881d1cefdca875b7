/** Why goals are missed today, by the beginnings of the figures' names: what `prove/report.md` says beside them. */
export const MISSED: Record<string, string> = {
  'dependencies, direct dependencies':
    'the service is also a web server, a mailer, an importer of four formats and an embedded database; each does one thing and runs nothing at installation',
  'fuzz, memory at the end':
    'none of it is on the heap, and none was lost when it was looked into: asked to give back what was freed (malloc_trim), the process had 193 MiB after 17,000 requests where it began with 186; how much of that malloc and V8 keep differs from run to run',
  'mutation, killed in':
    'of what survives, what was drawn before has tests since; the other mutants of this room were not looked at',
  'overload, refused':
    'seconds in which the service gets less than some three fifths of a processor: a refusal takes 48 µs of it and a creation 91, and two refused connections at most are read again for each creation that is begun, so that nearly all of them wait; seen beside other work on the machine, where seconds without any were at 10 to 35 ms',
  'fair, p95 of a':
    'beside a document the goal is held; beside a flood both processors are busy with what its jobs take besides their sentences, and a small job has some eighty short turns in the engine’s live lane that each wait 0.4 ms instead of 0.1, besides those in PostgreSQL and Node: the processor’s line is most of it, the disk’s a fifth. Lower priorities of the load and fewer of its commits changed nothing there (docs/decisions/0011)',
};
