/** Why goals are missed today, by the beginnings of the figures' names: what `prove/report.md` says beside them. */
export const MISSED: Record<string, string> = {
  'dependencies, direct dependencies':
    'the service is also a web server, a mailer, an importer of four formats and an embedded database; each does one thing and runs nothing at installation',
  'fair, p95 of a':
    'nothing of a load stands before it in a line of ours any more; on two cores each of its commits and of the thirteen stages of a pipeline waits for the processor beside the load’s own (docs/decisions/0011)',
};
