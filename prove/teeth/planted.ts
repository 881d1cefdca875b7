/**
 * Where each proof is shown to find what it looks for: the tests that plant a fault, by proof. A proof without an entry
 * has no teeth that anybody has seen, and `npm run prove -- teeth` says so.
 */
export interface Planted {
  /** Below `prove`. */
  file: string;
  /** The full names (`describe > test`) of its tests that plant a fault; those beside them are of sound runs. */
  tests: RegExp;
}

const judged = (name: string, tests = / is missed where /): Planted => ({
  file: `${name}/${name}.test.ts`,
  tests,
});

export const PLANTED: Readonly<Record<string, Planted>> = {
  addresses: judged('addresses', /a guard with a fault /),
  canary: judged('canary'),
  crash: { file: 'crash/checks.test.ts', tests: /: catches / },
  delivery: { file: 'delivery/checks.test.ts', tests: /: catches / },
  dependencies: judged('dependencies', /is missed where /),
  editing: judged('editing', /the checks /),
  engines: judged('engines', / find it /),
  fair: judged('fair'),
  fuzz: judged('fuzz', /tells of | is missed where /),
  hold: judged('hold'),
  idempotency: judged('idempotency', / find /),
  migrate: judged('migrate'),
  money: judged('money', / find /),
  mutation: judged('mutation', / is missed where |a test that looks at something else /),
  overload: judged('overload', /is missed where /),
  recovery: judged('recovery'),
  restore: judged('restore'),
  rotate: judged('rotate'),
  scale: judged('scale'),
  slow: judged('slow', /is missed where /),
  soak: judged('soak'),
  sweep: judged('sweep'),
  teeth: judged('teeth'),
  tenants: judged('tenants'),
  xss: judged('xss', / is missed where | are found with /),
};
