/** What a money run must not show. Each check gives its faults, a line each; none is a promise kept. */
import type { History, JobFact, TransferFact } from './history.ts';

type Check = (history: History) => string[];

const keyOf = ({ account, environment, uid }: { account: string; environment: string; uid: string | null }) =>
  `${account} ${environment} ${uid}`;

/** Nothing lost: every order that was acknowledged has its job, and each of its answers named that one. */
const lost: Check = ({ orders, creates, jobs }) => {
  const byKey = new Map(jobs.map((job) => [keyOf(job), job]));
  return orders.flatMap(({ name, account, environment, answers }) => {
    if (answers.length !== creates) return [`${name}: ${answers.length} of ${creates} creates were answered`];
    return answers.flatMap((answer) => {
      const job = byKey.get(keyOf({ account, environment, uid: answer.uid }));
      if (job === undefined) return [`${name}: ${answer.uid} was acknowledged and is not there`];
      const same =
        job.name === name && job.orderNumber === answer.orderNumber && job.priceCents === answer.priceCents;
      return same ? [] : [`${name}: an answer speaks of another job than ${answer.uid}`];
    });
  });
};

/** Nothing twice: one job an order, one answer 201 at most, no job without an order. */
const doubled: Check = ({ orders, jobs }) => {
  const byName = Map.groupBy(jobs, ({ name }) => name);
  const known = new Set(orders.map(({ name }) => name));
  return [
    ...orders.flatMap(({ name, answers }) => {
      const made = byName.get(name)?.length ?? 0;
      const created = answers.filter(({ status }) => status === 201).length;
      return [
        ...(made > 1 ? [`${name}: ${made} jobs`] : []),
        ...(created > 1 ? [`${name}: ${created} answers say that it was created`] : []),
      ];
    }),
    ...jobs.filter(({ name }) => !known.has(name)).map(({ uid }) => `${uid}: nobody ordered it`),
  ];
};

const ENDS: Record<string, string> = { completed: 'capture', canceled: 'void', failed: 'void' };

/** Every job is charged exactly once: one hold of its price, and the one end that its status asks for. */
const charged: Check = ({ jobs, transfers }) => {
  const byJob = Map.groupBy(transfers, keyOf);
  return jobs.flatMap((job) => {
    const own = byJob.get(keyOf(job)) ?? [];
    const end = ENDS[job.status];
    const wanted = [`hold ${job.priceCents}`, ...(end === undefined ? [] : [`${end} ${job.priceCents}`])];
    const found = own.map(({ kind, cents }) => `${kind} ${cents}`).sort();
    return String(found) === String(wanted.sort()) ? [] : [`${job.uid} (${job.status}): ${found.join(', ')}`];
  });
};

/** What a customer was told of a cancel is so; and only what somebody canceled is canceled. */
const canceled: Check = ({ orders, jobs }) => {
  const byName = new Map(jobs.map((job) => [job.name, job]));
  return orders.flatMap(({ name, cancels }) => {
    const { status } = byName.get(name) ?? ({ status: 'missing' } as JobFact);
    if (cancels.includes(200) && status !== 'canceled') return [`${name}: canceled, and it is ${status}`];
    if (cancels.length === 0 && status === 'canceled') return [`${name}: canceled by nobody`];
    if (cancels.filter((answer) => answer === 200).length > 1) return [`${name}: canceled twice`];
    return [];
  });
};

/** Of what is canceled nobody is told, and of what is completed everybody. */
const told: Check = ({ jobs, delivered }) => {
  const names = new Set(delivered);
  return jobs.flatMap(({ name, status }) => {
    if (status === 'canceled' && names.has(name)) return [`${name}: canceled, and delivered`];
    if (status === 'completed' && !names.has(name)) return [`${name}: completed, and not delivered`];
    return [];
  });
};

const AVAILABLE: Record<string, number> = { top_up: 1, hold: -1, void: 1, capture: 0 };

/** Every balance is what its transfers add up to. */
const balanced: Check = ({ balances, transfers }) => {
  const sums = new Map<string, number>();
  for (const { account, environment, kind, cents } of transfers as TransferFact[]) {
    const key = `${account} ${environment}`;
    sums.set(key, (sums.get(key) ?? 0) + cents * (AVAILABLE[kind] ?? Number.NaN));
  }
  return balances.flatMap(({ account, environment, availableCents }) => {
    const sum = sums.get(`${account} ${environment}`) ?? 0;
    return sum === availableCents
      ? []
      : [`${account} ${environment}: ${availableCents}, its transfers ${sum}`];
  });
};

/** Nothing is left in the hands of a machine. */
const finished: Check = ({ jobs }) =>
  jobs
    .filter(({ status, environment }) => environment === 'sandbox' && !(status in ENDS))
    .map(({ uid, status }) => `${uid} is still ${status}`);

const verified: Check = ({ discrepancies }) =>
  discrepancies === 0 ? [] : [`ledger verify: ${discrepancies} discrepancies`];

export const CHECKS: Record<string, Check> = {
  'orders lost': lost,
  'orders doubled': doubled,
  'jobs not charged exactly once': charged,
  'cancels that are not so': canceled,
  'canceled and delivered, or completed and not': told,
  'balances that do not add up': balanced,
  'jobs left unfinished': finished,
  'ledger verify': verified,
};
