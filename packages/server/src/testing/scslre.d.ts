/** Types of the part of `scslre` that the tests use. */
declare module 'scslre' {
  type Cause = 'Self' | 'Trade' | 'Move';
  export function analyse(
    literal: { source: string; flags: string },
    options: { reportTypes: Record<Cause, boolean>; maxReports: number },
  ): { reports: readonly { type: Cause; exponential: boolean }[] };
}
