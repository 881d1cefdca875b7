/** The overview of an account. */
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FormattedNumber, useIntl } from 'react-intl';
import { call, query } from '../api/client.ts';
import type { OwnAccount, OwnDay } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { useLiveUpdates } from '../live-updates.ts';
import { type Loading, type PageProps, useFilters } from '../page.tsx';
import { paths } from '../paths.ts';
import { Chart, useDay } from '../ui/Chart.tsx';
import { CopyBlock, CopyLine } from '../ui/CopyButton.tsx';
import { type Fact, Numbers } from '../ui/Facts.tsx';
import { Form, FormActions, SubmitButton } from '../ui/form.tsx';
import { ButtonLink, Link } from '../ui/Link.tsx';
import { Money } from '../ui/Money.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Page, Section } from '../ui/Page.tsx';
import css from './account.module.css';
import { type Environment, EnvironmentSwitch, environmentOf } from './environment.tsx';
import { JobPanel } from './JobPanel.tsx';
import { JobTable } from './JobTable.tsx';
import { balanceOf, LowBalance } from './LowBalance.tsx';
import { firstRequest } from './snippets.ts';

const own = () => query('readOwnAccount');

export const load = ({ queries }: Loading) => queries.fetchQuery(own());

export default function Overview({ search }: PageProps) {
  const t = useTranslate();
  const environment = environmentOf(search);
  const { data } = useSuspenseQuery(own());
  useLiveUpdates('jobs', 'readOwnAccount');
  useLiveUpdates('balance', 'readOwnAccount');
  useLiveUpdates('deliveries', 'readOwnAccount');
  const jobs = data.latest_jobs[environment];
  const sandbox = environment === 'sandbox' ? { environment } : undefined;
  const setFilters = useFilters();
  const failed = data.failed_deliveries[environment];
  const figures = useFigures(data, environment);
  const [started, setStarted] = useState<Environment>();
  return (
    <Page
      title={t('account.overview.title')}
      lead={<bdi>{data.username}</bdi>}
      actions={
        <>
          <ButtonLink variant="filled" to={paths.account.translate} search={sandbox}>
            {t('account.translate.action')}
          </ButtonLink>
          <EnvironmentSwitch search={search} />
        </>
      }
    >
      <LowBalance account={data} environment={environment} isLinked />
      {failed > 0 && (
        <Notice
          tone="danger"
          action={
            <Link to={paths.account.deliveries} search={{ ...sandbox, status: 'dead' }}>
              {t('account.overview.to_deliveries')}
            </Link>
          }
        >
          {t('account.overview.failed', { count: failed })}
        </Notice>
      )}
      {data.failed_endpoints[environment] > 0 && (
        <Notice
          tone="danger"
          action={<Link to={paths.account.access}>{t('account.overview.to_endpoints')}</Link>}
        >
          {t('account.overview.failed_endpoints', { count: data.failed_endpoints[environment] })}
        </Notice>
      )}
      <Numbers facts={figures} />
      {jobs.length > 0 && <Days days={data.days[environment]} />}
      {/* The first steps stay on the page after the first job, because they show the new key, which is shown
      only once. */}
      {(jobs.length === 0 || started === environment) && (
        <FirstSteps key={environment} environment={environment} onStart={() => setStarted(environment)} />
      )}
      {jobs.length > 0 && (
        <Section
          title={t('account.overview.latest')}
          actions={
            <ButtonLink to={paths.account.jobs} search={{ ...sandbox, tier: jobs[0]!.tier }}>
              {t('account.overview.all')}
            </ButtonLink>
          }
        >
          <JobTable
            label={t('account.overview.latest')}
            jobs={jobs}
            opened={search.open}
            onOpen={(job) => setFilters({ open: job.uid })}
            empty={null}
          />
        </Section>
      )}
      <JobPanel uid={search.open} environment={environment} onClose={() => setFilters({ open: '' })} />
    </Page>
  );
}

/** Returns the key figures of an environment. */
function useFigures(account: OwnAccount, environment: Environment): Fact[] {
  const t = useTranslate();
  const counted = (...statuses: string[]) =>
    account.jobs
      .filter((row) => row.environment === environment && statuses.includes(row.status))
      .reduce((sum, row) => sum + row.jobs, 0);
  const month = account.last_30_days.filter((row) => row.environment === environment);
  const sum = (pick: (row: (typeof month)[number]) => number) =>
    month.reduce((total, row) => total + pick(row), 0);
  return [
    { label: t('account.balance'), value: <Money cents={balanceOf(account, environment)?.balance ?? 0} /> },
    {
      label: t('account.balance.on_hold'),
      value: <Money cents={balanceOf(account, environment)?.on_hold ?? 0} />,
    },
    {
      label: t('account.overview.under_way'),
      value: (
        <FormattedNumber value={counted('new', 'translating', 'rejected', 'machine_translate_in_progress')} />
      ),
    },
    {
      label: t('account.overview.done'),
      value: <FormattedNumber value={counted('completed', 'accepted')} />,
    },
    { label: t('account.overview.words'), value: <FormattedNumber value={sum((row) => row.words)} /> },
    ...(environment === 'sandbox' && account.sandbox_words !== null
      ? [
          {
            label: t('account.overview.sandbox_words'),
            value: t('account.overview.sandbox_words_of', {
              used: account.sandbox_words.used,
              limit: account.sandbox_words.limit,
            }),
          },
        ]
      : []),
    { label: t('account.overview.spent'), value: <Money cents={account.charged[environment]} /> },
  ];
}

/** Jobs and costs of each of the last days. */
function Days({ days }: { days: readonly OwnDay[] }) {
  const t = useTranslate();
  const intl = useIntl();
  const dayOf = useDay();
  const charts = [
    {
      label: t('account.overview.jobs_a_day'),
      of: ({ jobs }: OwnDay) => jobs,
      format: (value: number) => intl.formatNumber(value),
    },
    {
      label: t('account.overview.cost_a_day'),
      of: ({ cents }: OwnDay) => cents,
      format: (value: number) => intl.formatNumber(value / 100, { style: 'currency', currency: 'USD' }),
    },
  ];
  return (
    <div className={css.charts}>
      {charts.map(({ label, of, format }) => (
        <Section key={label} title={label}>
          <Card>
            <Chart
              label={label}
              bars={days.map((day) => ({ label: dayOf(day.day), value: of(day) }))}
              heads={{ label: t('ui.chart.day'), value: label }}
              format={format}
            />
          </Card>
        </Section>
      ))}
    </div>
  );
}

/** The first steps of a customer: create a key, then run a complete command with it. */
function FirstSteps({ environment, onStart }: { environment: Environment; onStart(): void }) {
  const t = useTranslate();
  const [key, setKey] = useState<string>();
  return (
    <Section title={t('account.first.title')}>
      <Card>
        <ol className={css.firsts}>
          <li>
            {t('account.first.key')}
            {key === undefined ? (
              <Form
                onSubmit={async () => {
                  const made = await call('makeOwnKey', {
                    body: { name: t('account.first.key_name'), environment },
                  });
                  setKey(made.key);
                  onStart();
                }}
              >
                <FormActions>
                  <SubmitButton secondary>{t('account.key.make')}</SubmitButton>
                </FormActions>
              </Form>
            ) : (
              <>
                <Notice tone="warning">{t('account.shown.text')}</Notice>
                <CopyLine text={key} what={t('account.shown.secret')} />
              </>
            )}
          </li>
          <li>
            {t('account.first.send')}
            {key !== undefined && (
              <CopyBlock text={firstRequest(environment, key)} what={t('account.first.snippet')} />
            )}
          </li>
          <li>
            {t('account.first.read')}{' '}
            <Link
              to={paths.account.jobs}
              search={{ tier: 'machine', ...(environment === 'sandbox' ? { environment } : {}) }}
            >
              {t('account.overview.all')}
            </Link>
          </li>
        </ol>
      </Card>
    </Section>
  );
}
