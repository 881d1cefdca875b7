/**
 * Lists, for each proof, the tests that plant faults. These tests show that the checks of the proof detect faults.
 * `npm run prove -- teeth` reports a proof without such tests.
 */
export interface Planted {
  /** The path of the test file, relative to `prove`. */
  file: string;
  /** Matches the full names (`describe > test`) of the tests that plant a fault. */
  tests: RegExp;
}

const judged = (name: string, tests = / is missed when /): Planted => ({
  file: `${name}/${name}.test.ts`,
  tests,
});

export const PLANTED: Readonly<Record<string, Planted>> = {
  addresses: judged('addresses', /a guard with a fault /),
  canary: judged('canary'),
  crash: judged('crash', /: finds /),
  delivery: judged('delivery', /: finds /),
  dependencies: judged('dependencies', /is missed when /),
  editing: judged('editing', /: finds /),
  engines: judged('engines', /: finds /),
  failover: judged('failover'),
  fair: judged('fair'),
  fuzz: judged('fuzz', /finds | is missed when /),
  hold: judged('hold'),
  idempotency: judged('idempotency', /: finds /),
  migrate: judged('migrate'),
  money: judged('money', /: finds /),
  overload: judged('overload', /is missed when /),
  propagation: judged('propagation', /: finds /),
  recovery: judged('recovery'),
  replay: judged('replay'),
  restore: judged('restore'),
  rotate: judged('rotate'),
  scale: judged('scale'),
  slow: judged('slow', /is missed when /),
  soak: judged('soak'),
  sweep: judged('sweep'),
  teeth: judged('teeth'),
  tenants: judged('tenants'),
  xss: judged('xss', / is missed when | find an? /),
};
