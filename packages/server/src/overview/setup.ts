/** The steps from an empty installation to the first job. The console's home page lists them until all are done. */
import { hasOperator } from '../access/people.ts';
import type { Queryable } from '../database/database.ts';
import { hasJobs } from '../jobs/list/overview.ts';
import { listPrices } from '../ledger/price-list.ts';
import { type Settings, showSettings } from '../settings/settings.ts';
import { findSetup } from './accounts-store.ts';

export const SETUP_STEPS = [
  'operator',
  'mail',
  'engine',
  'model',
  'account',
  'price',
  'editors',
  'job',
] as const;

export interface SetupStep {
  step: (typeof SETUP_STEPS)[number];
  done: boolean;
}

/** Reads which steps are done. @returns an empty list when all are done; a model is recommended, not needed */
export async function readSetup(
  on: Queryable,
  settings: Settings,
  engines: readonly { engine: string; state: string; pairs: number }[],
  now: Date,
): Promise<SetupStep[]> {
  const [operator, people, prices, job] = await Promise.all([
    hasOperator(on),
    findSetup(on),
    listPrices(on, now),
    hasJobs(on),
  ]);
  const hasPriceSetting = showSettings(settings).some(
    ({ name, set }) => set && name.startsWith('DRAGOMAN_PRICE_'),
  );
  const done: Record<SetupStep['step'], boolean> = {
    operator,
    mail: settings.smtpUrl !== undefined,
    // Without a model, the engine bergamot works, but it offers no pair.
    engine: engines.some(({ state, pairs }) => state === 'closed' && pairs > 0),
    model: engines.some(({ engine, pairs }) => engine !== 'apertium' && pairs > 0),
    price: prices.length > 0 || hasPriceSetting,
    job,
    ...people,
  };
  const steps = SETUP_STEPS.map((step) => ({ step, done: done[step] }));
  return steps.every(({ step, done }) => done || step === 'model') ? [] : steps;
}
