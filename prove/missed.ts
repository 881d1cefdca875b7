/** Why goals are missed today, by the beginnings of the figures' names: what `prove/report.md` says beside them. */
export const MISSED: Record<string, string> = {
  'dependencies, direct dependencies':
    'the service is also a web server, a mailer, an importer of four formats and an embedded database; each does one thing and runs nothing at installation',
  'overload, goodput':
    'it refuses some twelve thousand a second beside what it takes, on the thread that takes them: 34 µs each, the least that an HTTP answer costs in Node, is half of it; the capacity that it is held against has the refusing done by another process',
  'overload, refused':
    'the first seconds of two thousand connections that all ask at once; afterwards some 50 ms',
  'fair, p95 of a':
    'nothing of a load stands before it in a line of ours any more; on two cores each of its commits and of the thirteen stages of a pipeline waits for the processor beside the load’s own (docs/decisions/0011)',
};
