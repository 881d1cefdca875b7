/** Each check of the crash run is shown to catch a planted fault, and to be silent about a sound history. */
import { describe, expect, it } from 'vitest';
import { CHECKS } from './checks.ts';
import type { History } from './history.ts';

function soundHistory(): History {
  const uids = ['one', 'two', 'three'];
  // The last one's uid was assigned by the server.
  const uidOf = (name: string) => (name === 'three' ? 'assigned' : name);
  const body = (name: string) =>
    JSON.stringify({
      uid: uidOf(name),
      text: 'The sea.',
      translated_text: 'El mar.',
      status: 'completed',
    });
  const asked = { environment: 'sandbox', tier: 'human', text: 'The sea.', sentAt: 0 } as const;
  return {
    attempted: [
      ...uids.map((name, index) => ({
        ...asked,
        name,
        ...(name === 'three' ? {} : { uid: name }),
        acknowledged: { at: index, uid: uidOf(name), orderNumber: index + 1, priceCents: 6 },
      })),
      { ...asked, name: 'gave-up', uid: 'gave-up' },
      { ...asked, name: 'gave-up-without-uid' },
    ],
    delivered: uids.map((name, at) => ({
      name,
      webhookId: `delivery-${name}`,
      body: body(name),
      at: 1000 + at,
    })),
    kills: [1],
    databaseKills: 0,
    holdMilliseconds: 1000,
    deliveriesAtATime: 1,
    jobs: uids.map((name, index) => ({
      name,
      uid: uidOf(name),
      environment: 'sandbox',
      jobId: `id-${name}`,
      orderNumber: index + 1,
      status: 'completed',
      failure: null,
      priceCents: 6,
    })),
    transfers: uids.flatMap((uid) => [
      {
        jobId: `id-${uid}`,
        environment: 'sandbox',
        kind: 'hold',
        debit: 'available',
        credit: 'held',
        cents: 6,
      },
      {
        jobId: `id-${uid}`,
        environment: 'sandbox',
        kind: 'capture',
        debit: 'held',
        credit: 'revenue',
        cents: 6,
      },
    ]),
    deliveries: uids.map((uid) => ({
      deliveryId: `delivery-${uid}`,
      jobId: `id-${uid}`,
      status: 'delivered',
      unfinishedAttempts: uid === 'one' ? 1 : 0,
    })),
    balances: [
      { environment: 'sandbox', availableCents: -18 },
      { environment: 'production', availableCents: 0 },
    ],
  };
}

const PLANTED: { check: keyof typeof CHECKS; fault: string; plant(history: History): void }[] = [
  { check: 'nothing lost', fault: 'an acknowledged job is gone', plant: (h) => h.jobs.pop() },
  { check: 'nothing lost', fault: 'a job is there twice', plant: (h) => h.jobs.push({ ...h.jobs[0]! }) },
  {
    check: 'nothing lost',
    fault: 'a job came back under another order number',
    plant: (h) => {
      h.jobs[0]!.orderNumber = 99;
    },
  },
  {
    check: 'nothing invented',
    fault: 'a job that nobody asked for',
    plant: (h) => h.jobs.push({ ...h.jobs[0]!, name: 'ghost', uid: 'ghost' }),
  },
  {
    check: 'nothing invented',
    fault: 'a job under another uid than was asked for',
    plant: (h) => {
      h.jobs[0]!.uid = 'other';
    },
  },
  {
    check: 'nothing invented',
    fault: 'two jobs of one request without a uid',
    plant: (h) => h.jobs.push({ ...h.jobs[2]!, uid: 'assigned-too', jobId: 'id-four' }),
  },
  {
    check: 'nothing lost',
    fault: 'a job under another uid than was answered',
    plant: (h) => {
      h.jobs[2]!.uid = 'assigned-anew';
    },
  },
  {
    check: 'everything done',
    fault: 'a job that never ended',
    plant: (h) => {
      h.jobs[0]!.status = 'translating';
    },
  },
  { check: 'delivered under one id', fault: 'a job never delivered', plant: (h) => h.delivered.pop() },
  {
    check: 'delivered under one id',
    fault: 'a job delivered twice under two ids',
    plant: (h) => h.delivered.push({ ...h.delivered[0]!, webhookId: 'another' }),
  },
  {
    check: 'delivered under one id',
    fault: 'a retry with other bytes',
    plant: (h) => h.delivered.push({ ...h.delivered[0]!, body: `${h.delivered[0]!.body} ` }),
  },
  {
    check: 'few repeats',
    fault: 'a repeat of a delivery whose every attempt had an end',
    plant: (h) => h.delivered.push({ ...h.delivered[1]! }),
  },
  {
    check: 'few repeats',
    fault: 'more repeats of a delivery than attempts without an end',
    plant: (h) => h.delivered.push({ ...h.delivered[0]! }, { ...h.delivered[0]! }),
  },
  {
    check: 'few repeats',
    fault: 'more attempts without an end than a kill can have met',
    plant: (h) => {
      h.deliveries[1]!.unfinishedAttempts = 1;
    },
  },
  {
    check: 'not before its hold',
    fault: 'a held job delivered a millisecond early',
    plant: (h) => {
      h.delivered[0]!.at = 999;
    },
  },
  {
    check: 'delivered under one id',
    fault: 'a job that nobody was told of, never delivered',
    plant: (h) => h.jobs.push({ ...h.jobs[0]!, name: 'gave-up-without-uid', uid: 'assigned-too' }),
  },
  {
    check: 'translated',
    fault: 'the source passed off as a translation',
    plant: (h) => {
      h.delivered[0]!.body = h.delivered[0]!.body.replace('El mar.', 'The sea.');
    },
  },
  {
    check: 'translated',
    fault: 'another job’s text',
    plant: (h) => {
      h.delivered[0]!.body = h.delivered[0]!.body.replace('The sea.', 'The land.');
    },
  },
  {
    check: 'charged once',
    fault: 'a job charged twice',
    plant: (h) => h.transfers.push({ ...h.transfers[0]! }),
  },
  { check: 'charged once', fault: 'a job never captured', plant: (h) => h.transfers.pop() },
  {
    check: 'charged once',
    fault: 'a job charged too much',
    plant: (h) => {
      h.transfers[0]!.cents = 7;
    },
  },
  {
    check: 'balanced',
    fault: 'a balance that lost a cent',
    plant: (h) => {
      h.balances[0]!.availableCents -= 1;
    },
  },
  {
    check: 'outbox settled',
    fault: 'a delivery left behind',
    plant: (h) => {
      h.deliveries[0]!.status = 'pending';
    },
  },
  {
    check: 'outbox settled',
    fault: 'a second delivery of one completion',
    plant: (h) => h.deliveries.push({ ...h.deliveries[0]!, deliveryId: 'another' }),
  },
];

describe('the checks of the crash run', () => {
  it('are silent about a sound history', () => {
    for (const [name, check] of Object.entries(CHECKS)) expect(check(soundHistory()), name).toEqual([]);
  });

  it('allow the one repeat that a kill explains', () => {
    const history = soundHistory();
    history.delivered.push({ ...history.delivered[0]! });
    for (const [name, check] of Object.entries(CHECKS)) expect(check(history), name).toEqual([]);
  });

  it.each(PLANTED)('$check: catches $fault', ({ check, plant }) => {
    const history = soundHistory();
    plant(history);
    expect(CHECKS[check](history)).not.toEqual([]);
  });

  it('has a planted fault for every check', () => {
    expect(new Set(PLANTED.map(({ check }) => check))).toEqual(new Set(Object.keys(CHECKS)));
  });
});
