/** What a money run must not show. Each check gives its faults, a line each; none is a promise kept. */
import type { History, JobFact, TransferFact } from './history.ts';

type Check = (history: History) => string[];

const keyOf = ({ account, environment, uid }: { account: string; environment: string; uid: string | null }) =>
  `${account} ${environment} ${uid}`;

/** Nothing lost: every order that was acknowledged has its job, and each of its answers named that one. */
const lost: Check = ({ orders, creates, jobs, transfers }) => {
  const byKey = new Map(jobs.map((job) => [keyOf(job), job]));
  const transfersOf = Map.groupBy(transfers, keyOf);
  return orders.flatMap(({ name, kind, account, environment, answers }) => {
    if (answers.length !== creates) return [`${name}: ${answers.length} of ${creates} creates were answered`];
    return answers.flatMap((answer) => {
      const job = byKey.get(keyOf({ account, environment, uid: answer.uid }));
      if (job === undefined) return [`${name}: ${answer.uid} was acknowledged and is not there`];
      // A machine's answer has neither. A canceled job costs nothing, and a job that was a human's for a while had their
      // price.
      const numbered = job.orderNumber === (answer.orderNumber ?? job.orderNumber);
      const held = (transfersOf.get(keyOf(job)) ?? []).map(({ cents }) => cents);
      const prices = [
        ...[undefined, job.priceCents],
        ...(job.status === 'canceled' ? [0] : []),
        ...(kind === 'upgrade' ? held : []),
      ];
      const same = job.name === name && numbered && prices.includes(answer.priceCents);
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

/**
 * Every job is charged exactly once: one hold of its price, and the one end that its status asks for. A machine's charge
 * before an upgrade was captured, and the charge of an upgrade that was canceled was given back.
 */
const charged: Check = ({ jobs, transfers }) => {
  const byJob = Map.groupBy(transfers, keyOf);
  return jobs.flatMap((job) => {
    const byCharge = Map.groupBy(byJob.get(keyOf(job)) ?? [], ({ charge }) => charge);
    const end = job.fellBack ? 'void' : ENDS[job.status];
    const wanted = [`hold ${job.priceCents}`, ...(end === undefined ? [] : [`${end} ${job.priceCents}`])];
    const isRight = [...byCharge].every(([charge, own]) => {
      const found = own.map(({ kind, cents }) => `${kind} ${cents}`).sort();
      const cents = own[0]!.cents;
      const before = [`${charge === 1 ? 'capture' : 'void'} ${cents}`, `hold ${cents}`].sort();
      return String(found) === String(charge === job.charge ? wanted.sort() : before);
    });
    if (isRight && byCharge.has(job.charge)) return [];
    const all = [...byCharge.values()].flat().map(({ charge, kind, cents }) => `${charge} ${kind} ${cents}`);
    return [`${job.uid} (${job.status}${job.fellBack ? ', fell back' : ''}): ${all.join(', ')}`];
  });
};

/** What a customer was told of a cancel is so; and only what somebody canceled is canceled. */
const canceled: Check = ({ orders, jobs }) => {
  const byName = new Map(jobs.map((job) => [job.name, job]));
  return orders.flatMap(({ name, kind, cancels }) => {
    if (kind === 'upgrade') return [];
    const { status } = byName.get(name) ?? ({ status: 'missing' } as JobFact);
    if (cancels.includes(200) && status !== 'canceled') return [`${name}: canceled, and it is ${status}`];
    if (cancels.length === 0 && status === 'canceled') return [`${name}: canceled by nobody`];
    if (cancels.filter((answer) => answer === 200).length > 1) return [`${name}: canceled twice`];
    return [];
  });
};

/** An upgraded job is a human's; one whose upgrade was canceled is the machine's again, with its text. */
const upgraded: Check = ({ orders, jobs }) => {
  const byName = new Map(jobs.map((job) => [job.name, job]));
  return orders.flatMap(({ name, kind, upgrades, cancels }) => {
    const job = byName.get(name);
    if (kind !== 'upgrade' || job === undefined) return [];
    const isBack = cancels.some((status) => status < 300);
    // A cancel without an answer may have happened.
    if (!isBack && cancels.some((status) => status === 0 || status >= 500)) return [];
    const wanted = upgrades.includes(202) && !isBack ? 'human' : 'machine';
    if (job.tier !== wanted) return [`${name}: it is a ${job.tier}'s, not a ${wanted}'s`];
    if (wanted === 'human') return [];
    return job.status === 'completed' && job.hasResult ? [] : [`${name}: its machine's result is gone`];
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

/** Nothing is left in the hands of a machine, and nothing of a brand that does not wait past its deadline. */
const finished: Check = ({ orders, jobs }) => {
  const falls = new Set(orders.filter(({ kind }) => kind === 'fallback').map(({ name }) => name));
  return jobs
    .filter(({ name, status, environment }) => {
      return (environment === 'sandbox' || falls.has(name)) && !(status in ENDS);
    })
    .map(({ uid, status }) => `${uid} is still ${status}`);
};

/** Nobody edits here: what is completed for a human in production is a machine's draft, and says so. */
const fellBack: Check = ({ jobs }) =>
  jobs
    .filter(({ environment, tier, status, fellBack: fell }) => {
      const isDraft = environment === 'production' && tier === 'human' && status === 'completed';
      return fell !== isDraft;
    })
    .map(({ uid, status }) => `${uid} is ${status}, and does ${status === 'completed' ? 'not ' : ''}say so`);

const verified: Check = ({ discrepancies }) =>
  discrepancies === 0 ? [] : [`ledger verify: ${discrepancies} discrepancies`];

export const CHECKS: Record<string, Check> = {
  'orders lost': lost,
  'orders doubled': doubled,
  'jobs not charged exactly once': charged,
  'cancels that are not so': canceled,
  'upgrades that are not so': upgraded,
  'fallbacks that are not said': fellBack,
  'canceled and delivered, or completed and not': told,
  'balances that do not add up': balanced,
  'jobs left unfinished': finished,
  'ledger verify': verified,
};
