/**
 * `npm run prove [-- NAME …] [--json]` runs the proofs: tests under faults and load that compare their figures with
 * goals.
 */
import { runNamed } from '../bench/figures.ts';
import { killLeft } from '../scripts/program.ts';
import { proveAddresses } from './addresses/addresses.ts';
import { proveCanary } from './canary/canary.ts';
import { proveCrash } from './crash/crash.ts';
import { proveDelivery } from './delivery/delivery.ts';
import { proveDependencies } from './dependencies/dependencies.ts';
import { proveDistributed } from './distributed/distributed.ts';
import { proveEditing } from './editing/editing.ts';
import { proveEngines } from './engines/engines.ts';
import { proveFailover } from './failover/failover.ts';
import { proveFair } from './fair/fair.ts';
import { proveFuzz } from './fuzz/fuzz.ts';
import { proveHold } from './hold/hold.ts';
import { proveIdempotency } from './idempotency/idempotency.ts';
import { proveMigrate } from './migrate/migrate.ts';
import { MISSED } from './missed.ts';
import { proveMoney } from './money/money.ts';
import { proveOverload } from './overload/overload.ts';
import { provePostgres } from './postgres/postgres.ts';
import { provePropagation } from './propagation/propagation.ts';
import { proveRecovery } from './recovery/recovery.ts';
import { proveReplay } from './replay/replay.ts';
import { proveRestore } from './restore/restore.ts';
import { proveRotate } from './rotate/rotate.ts';
import { proveScale } from './scale/scale.ts';
import { proveSlow } from './slow/slow.ts';
import { proveSoak } from './soak/soak.ts';
import { proveSweep } from './sweep/sweep.ts';
import { proveTeeth } from './teeth/teeth.ts';
import { proveTenants } from './tenants/tenants.ts';
import { proveText } from './text/text.ts';
import { proveTurns } from './turns/turns.ts';
import { proveXss } from './xss/xss.ts';

await runNamed(
  {
    crash: proveCrash,
    scale: proveScale,
    failover: proveFailover,
    money: proveMoney,
    idempotency: proveIdempotency,
    delivery: proveDelivery,
    recovery: proveRecovery,
    addresses: proveAddresses,
    fuzz: proveFuzz,
    editing: proveEditing,
    propagation: provePropagation,
    replay: proveReplay,
    fair: proveFair,
    engines: proveEngines,
    slow: proveSlow,
    canary: proveCanary,
    sweep: proveSweep,
    text: proveText,
    tenants: proveTenants,
    xss: proveXss,
    turns: proveTurns,
    overload: proveOverload,
    hold: proveHold,
    migrate: proveMigrate,
    postgres: provePostgres,
    restore: proveRestore,
    rotate: proveRotate,
    dependencies: proveDependencies,
    distributed: proveDistributed,
    soak: proveSoak,
    teeth: proveTeeth,
  },
  {
    file: new URL('./report.md', import.meta.url),
    title: 'Proofs',
    lead: 'Written by `npm run prove`. `npm run prove -- NAME --seed N` repeats one proof.',
    reasons: MISSED,
  },
  killLeft,
);
