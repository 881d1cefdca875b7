/** C1: how the account stands. */
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FormattedNumber, useIntl } from 'react-intl';
import { call, query } from '../api/client.ts';
import type { OwnAccount, OwnDay } from '../api/generated.ts';
import { useLive } from '../live.ts';
import { type Loading, type PageProps, useFilters } from '../page.tsx';
import { paths } from '../paths.ts';
import { Chart, useDay } from '../ui/Chart.tsx';
import { CopyBlock, CopyLine } from '../ui/CopyButton.tsx';
import { Numbers } from '../ui/Facts.tsx';
import { Form, FormActions, SubmitButton } from '../ui/form.tsx';
import { ButtonLink, Link } from '../ui/Link.tsx';
import { Money } from '../ui/Money.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Page, Section } from '../ui/Page.tsx';
import { useSay } from '../words.tsx';
import css from './account.module.css';
import { type Environment, EnvironmentSwitch, environmentOf } from './environment.tsx';
import { JobPanel } from './JobPanel.tsx';
import { JobTable } from './JobTable.tsx';
import { firstRequest } from './snippets.ts';

const own = () => query('readOwnAccount');

export const load = ({ queries }: Loading) => queries.fetchQuery(own());

export default function Overview({ search }: PageProps) {
  const say = useSay();
  const environment = environmentOf(search);
  const { data } = useSuspenseQuery(own());
  useLive('jobs', 'readOwnAccount');
  useLive('balance', 'readOwnAccount');
  useLive('deliveries', 'readOwnAccount');
  const jobs = data.latest_jobs[environment];
  const sandbox = environment === 'sandbox' ? { environment } : undefined;
  const setFilters = useFilters();
  const failed = data.failed_deliveries[environment];
  const [began, setBegan] = useState<Environment>();
  return (
    <Page
      title={say('account.overview.title')}
      lead={<bdi>{data.username}</bdi>}
      actions={<EnvironmentSwitch search={search} />}
    >
      {isEmpty(data, environment) && (
        <Notice
          tone="warning"
          action={<Link to={paths.account.balance}>{say('account.overview.to_balance')}</Link>}
        >
          {say('account.overview.low')}
        </Notice>
      )}
      {failed > 0 && (
        <Notice
          tone="danger"
          action={
            <Link to={paths.account.deliveries} search={{ ...sandbox, status: 'dead' }}>
              {say('account.overview.to_deliveries')}
            </Link>
          }
        >
          {say('account.overview.failed', { count: failed })}
        </Notice>
      )}
      <Numbers facts={numbers(data, environment)} />
      {jobs.length > 0 && <Days days={data.days[environment]} />}
      {/* The key that was made is shown this once: it stays although its first job has come. */}
      {(jobs.length === 0 || began === environment) && (
        <FirstSteps key={environment} environment={environment} onBegin={() => setBegan(environment)} />
      )}
      {jobs.length > 0 && (
        <Section
          title={say('account.overview.latest')}
          actions={
            <ButtonLink to={paths.account.jobs} search={{ ...sandbox, tier: jobs[0]!.tier }}>
              {say('account.overview.all')}
            </ButtonLink>
          }
        >
          <JobTable
            label={say('account.overview.latest')}
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

  function numbers(account: OwnAccount, of: Environment) {
    const counted = (...statuses: string[]) =>
      account.jobs
        .filter((row) => row.environment === of && statuses.includes(row.status))
        .reduce((sum, row) => sum + row.jobs, 0);
    const month = account.last_30_days.filter((row) => row.environment === of);
    const sum = (pick: (row: (typeof month)[number]) => number) =>
      month.reduce((total, row) => total + pick(row), 0);
    return [
      { label: say('account.balance'), value: <Money cents={balanceOf(account, of)?.balance ?? 0} /> },
      {
        label: say('account.overview.under_way'),
        value: (
          <FormattedNumber
            value={counted('new', 'translating', 'rejected', 'machine_translate_in_progress')}
          />
        ),
      },
      {
        label: say('account.overview.done'),
        value: <FormattedNumber value={counted('completed', 'accepted')} />,
      },
      { label: say('account.overview.words'), value: <FormattedNumber value={sum((row) => row.words)} /> },
      { label: say('account.overview.spent'), value: <Money cents={sum((row) => row.cents)} /> },
    ];
  }
}

const balanceOf = ({ balances }: OwnAccount, environment: Environment) =>
  balances.find((one) => one.environment === environment);

/** Nothing left to spend in production; the sandbox charges nobody. */
function isEmpty(account: OwnAccount, environment: Environment): boolean {
  const found = balanceOf(account, environment);
  if (environment === 'sandbox' || found === undefined || found.credit_limit === null) return false;
  return found.balance <= 0;
}

/** What was asked for on each of the last days, and what it costs. */
function Days({ days }: { days: readonly OwnDay[] }) {
  const say = useSay();
  const intl = useIntl();
  const dayOf = useDay();
  const charts = [
    {
      label: say('account.overview.jobs_a_day'),
      of: ({ jobs }: OwnDay) => jobs,
      format: (value: number) => intl.formatNumber(value),
    },
    {
      label: say('account.overview.cost_a_day'),
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
              heads={{ label: say('ui.chart.day'), value: label }}
              format={format}
            />
          </Card>
        </Section>
      ))}
    </div>
  );
}

/** A key, then the line that uses it as it is: nothing in it is left to be filled in. */
function FirstSteps({ environment, onBegin }: { environment: Environment; onBegin(): void }) {
  const say = useSay();
  const [key, setKey] = useState<string>();
  return (
    <Section title={say('account.first.title')}>
      <Card>
        <ol className={css.firsts}>
          <li>
            {say('account.first.key')}
            {key === undefined ? (
              <Form
                onSubmit={async () => {
                  const made = await call('makeOwnKey', {
                    body: { name: say('account.first.key_name'), environment },
                  });
                  setKey(made.key);
                  onBegin();
                }}
              >
                <FormActions>
                  <SubmitButton>{say('account.key.make')}</SubmitButton>
                </FormActions>
              </Form>
            ) : (
              <>
                <Notice tone="warning">{say('account.shown.text')}</Notice>
                <CopyLine text={key} what={say('account.shown.secret')} />
              </>
            )}
          </li>
          <li>
            {say('account.first.send')}
            {key !== undefined && (
              <CopyBlock text={firstRequest(environment, key)} what={say('account.first.snippet')} />
            )}
          </li>
          <li>
            {say('account.first.read')}{' '}
            <Link
              to={paths.account.jobs}
              search={{ tier: 'machine', ...(environment === 'sandbox' ? { environment } : {}) }}
            >
              {say('account.overview.all')}
            </Link>
          </li>
        </ol>
      </Card>
    </Section>
  );
}
