/** The environment of a page, production or sandbox. The address of the page contains it. */
import { SegmentedControl } from '@mantine/core';
import { useTranslate } from '../i18n.tsx';
import { type Search, useFilters } from '../page.tsx';

export type Environment = 'production' | 'sandbox';
export const ENVIRONMENTS: readonly Environment[] = ['production', 'sandbox'];

export function environmentOf(search: Search): Environment {
  return search.environment === 'sandbox' ? 'sandbox' : 'production';
}

/** Switches the environment; resets filters, because the other environment has other jobs. */
export function EnvironmentSwitch({ search }: { search: Search }) {
  const t = useTranslate();
  const setFilters = useFilters();
  return (
    <SegmentedControl
      aria-label={t('account.environment')}
      value={environmentOf(search)}
      data={ENVIRONMENTS.map((value) => ({ value, label: t(`account.${value}`) }))}
      onChange={(value) =>
        setFilters({ environment: value === 'sandbox' ? value : '', open: '', status: '' })
      }
    />
  );
}

export function baseUrlOf(environment: Environment): string {
  return environment === 'sandbox' ? `${location.origin}/sandbox` : location.origin;
}
