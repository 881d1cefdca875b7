/** Tests that the goals of the failover proof are missed for each planted fault. The proof itself needs Patroni. */
import { testJudgement } from '../harness/testing.ts';
import { judge } from './failover.ts';
import { FAULTS, type FailoverHistory } from './run.ts';

const good: FailoverHistory = {
  orders: [],
  arrivals: [],
  kills: [1, 2, 3],
  databaseKills: 3,
  holdMilliseconds: 0,
  deliveriesAtATime: 1,
  jobs: [],
  transfers: [],
  deliveries: [],
  balances: [],
  faults: [...FAULTS],
  writesBack: [1, 12, 15],
  waits: [0.1, 14],
  ended: 0,
  ledger: '',
};

testJudgement(judge, good, [
  ['writes were away for too long after a kill', { writesBack: [16, 1, 1] }],
  ['writes never came back after a partition', { writesBack: [1, 1, Number.POSITIVE_INFINITY] }],
  ['a request waited for too long', { waits: [0.1, 15.1] }],
  ['a process ended', { ended: 1 }],
  ['the ledger has a fault', { ledger: 'The balance of failover is wrong.' }],
  [
    'a check found something',
    { balances: [{ account: 'failover', environment: 'sandbox', availableCents: 1 }] },
  ],
]);
