/** Each check of the delivery run is shown to catch a planted fault, and to be silent about a sound history. */
import { describe, expect, it } from 'vitest';
import { ARRIVAL_SECONDS, CHECKS } from './checks.ts';
import type { Arrival, History } from './history.ts';

function soundHistory(): History {
  const names = ['first', 'second', 'alone'];
  const arrival = (name: string, at: number, fields: Partial<Arrival> = {}): Arrival => ({
    ...{ name, webhookId: `id-${name}`, digest: `bytes of ${name}`, signed: true, at, answer: 200 },
    ...fields,
  });
  return {
    asked: [...names, 'given up'],
    accepted: [
      { name: 'first', host: 'hostile', chat: { name: 'chat', place: 0 }, at: 1 },
      { name: 'second', host: 'hostile', chat: { name: 'chat', place: 1 }, at: 2 },
      { name: 'alone', host: 'good', at: 3 },
    ],
    arrivals: [
      arrival('first', 100, { answer: 429, retryAfter: 1 }),
      arrival('alone', 200),
      arrival('first', 1200),
      // A kill cut off the attempt that brought it.
      arrival('first', 1300),
      arrival('second', 1400, { answer: undefined }),
      arrival('second', 2400),
    ],
    kills: [1250],
    hostile: true,
    shared: { names: ['alone'], until: 250 },
    deliveries: [
      { id: 'id-first', status: 'delivered', attempts: 3, unfinished: 1 },
      { id: 'id-second', status: 'delivered', attempts: 2, unfinished: 0 },
      { id: 'id-alone', status: 'delivered', attempts: 1, unfinished: 0 },
    ],
  };
}

type Check = keyof typeof CHECKS;
const PLANTED: { check: Check; fault: string; plant(history: History): void }[] = [
  { check: 'everything arrives', fault: 'one that never came', plant: (h) => h.arrivals.splice(1, 1) },
  {
    check: 'everything arrives',
    fault: 'one that was never taken',
    plant: (h) => Object.assign(h.arrivals[1]!, { answer: 500 }),
  },
  {
    check: 'everything arrives',
    fault: 'one that came too late',
    plant: (h) => Object.assign(h.arrivals.at(-1)!, { at: 1250 + ARRIVAL_SECONDS * 1000 + 1 }),
  },
  {
    check: 'nothing invented',
    fault: 'one that nobody asked for',
    plant: (h) => h.arrivals.push({ ...h.arrivals[0]!, name: 'ghost' }),
  },
  {
    check: 'one id an event',
    fault: 'a retry under a new id',
    plant: (h) => Object.assign(h.arrivals[2]!, { webhookId: 'id-new' }),
  },
  {
    check: 'one id an event',
    fault: 'two events under one id',
    plant: (h) => Object.assign(h.arrivals[1]!, { webhookId: 'id-first' }),
  },
  {
    check: 'same bytes',
    fault: 'a retry with other bytes',
    plant: (h) => Object.assign(h.arrivals[2]!, { digest: 'other bytes' }),
  },
  {
    check: 'all signed',
    fault: 'a wrong signature',
    plant: (h) => Object.assign(h.arrivals[0]!, { signed: false }),
  },
  {
    check: 'in order',
    fault: 'the second before the first was taken',
    plant: (h) => h.arrivals.splice(1, 0, { ...h.arrivals[4]! }),
  },
  {
    check: 'few repeats',
    fault: 'a repeat that no kill explains',
    plant: (h) => h.arrivals.push({ ...h.arrivals[1]! }),
  },
  {
    check: 'few repeats',
    fault: 'a refusal of what was taken already',
    plant: (h) => h.arrivals.push({ ...h.arrivals[1]!, answer: 500 }),
  },
  {
    check: 'few repeats',
    fault: 'more repeats than attempts without an end',
    plant: (h) => h.arrivals.push({ ...h.arrivals[3]! }),
  },
  {
    check: 'few repeats',
    fault: 'more repeats than answers that a reset overtook',
    plant: (h) => {
      h.arrivals[1]!.overtaken = true;
      h.arrivals.push({ ...h.arrivals[1]!, overtaken: false }, { ...h.arrivals[1]!, overtaken: false });
    },
  },
  {
    check: 'Retry-After held',
    fault: 'a retry that came too soon',
    plant: (h) => Object.assign(h.arrivals[2]!, { at: 900 }),
  },
  {
    check: 'outbox settled',
    fault: 'a delivery left behind',
    plant: (h) => Object.assign(h.deliveries[0]!, { status: 'pending' }),
  },
  {
    check: 'outbox settled',
    fault: 'a delivery that a long Retry-After ended at its first attempt',
    plant: (h) => Object.assign(h.deliveries[0]!, { status: 'dead', attempts: 1 }),
  },
  {
    check: 'hosts shared',
    fault: 'a delivery that waited for a slow answer to another account',
    plant: (h) => Object.assign(h.arrivals[1]!, { at: 251 }),
  },
  {
    check: 'hosts shared',
    fault: 'a delivery that never came while another account had the host',
    plant: (h) => h.arrivals.splice(1, 1),
  },
  {
    check: 'attempts on record',
    fault: 'a request without an attempt on record',
    plant: (h) => Object.assign(h.deliveries[1]!, { attempts: 1 }),
  },
];

describe('the checks of the delivery run', () => {
  it('are silent about a sound history', () => {
    for (const [name, check] of Object.entries(CHECKS)) expect(check(soundHistory()), name).toEqual([]);
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
