/** Why goals are missed today, by the beginnings of the figures' names: what `bench/report.md` says beside them. */
export const MISSED: Record<string, string> = {};
