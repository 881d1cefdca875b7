/** Why goals are missed today, by the beginnings of the figures' names: what `prove/report.md` says beside them. */
export const MISSED: Record<string, string> = {
  'dependencies, direct dependencies':
    'the service is also a web server, a mailer, an importer of four formats and an embedded database; each does one thing and runs nothing at installation',
};
