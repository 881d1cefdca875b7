/** Production or sandbox: the two halves of an account, chosen in the address. */
import { SegmentedControl } from '@mantine/core';
import { type Search, useFilters } from '../page.tsx';
import { useSay } from '../words.tsx';

export type Environment = 'production' | 'sandbox';
export const ENVIRONMENTS: readonly Environment[] = ['production', 'sandbox'];

export function environmentOf(search: Search): Environment {
  return search.environment === 'sandbox' ? 'sandbox' : 'production';
}

/** Another half has other jobs: what was open or filtered is left behind. */
export function EnvironmentSwitch({ search }: { search: Search }) {
  const say = useSay();
  const setFilters = useFilters();
  return (
    <SegmentedControl
      aria-label={say('account.environment')}
      value={environmentOf(search)}
      data={ENVIRONMENTS.map((value) => ({ value, label: say(`account.${value}`) }))}
      onChange={(value) =>
        setFilters({ environment: value === 'sandbox' ? value : '', open: '', status: '' })
      }
    />
  );
}

/** Where programs reach an environment. */
export function addressOf(environment: Environment): string {
  return environment === 'sandbox' ? `${location.origin}/sandbox` : location.origin;
}
