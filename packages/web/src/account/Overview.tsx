/** C1: how the account stands. */
import { useSuspenseQuery } from '@tanstack/react-query';
import { FormattedNumber } from 'react-intl';
import { query } from '../api/client.ts';
import type { OwnAccount } from '../api/generated.ts';
import { useLive } from '../live.ts';
import { type Loading, type PageProps, useFilters } from '../page.tsx';
import { paths } from '../paths.ts';
import { CopyBlock } from '../ui/CopyButton.tsx';
import { Numbers } from '../ui/Facts.tsx';
import { ButtonLink, Link } from '../ui/Link.tsx';
import { Money } from '../ui/Money.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Page, Section } from '../ui/Page.tsx';
import { useSay } from '../words.tsx';
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
      {jobs.length === 0 ? (
        <FirstRequest username={data.username} environment={environment} />
      ) : (
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

function FirstRequest({ username, environment }: { username: string; environment: Environment }) {
  const say = useSay();
  return (
    <Section title={say('account.first.title')}>
      <Card>
        <ol>
          <li>
            {say('account.first.key')} <Link to={paths.account.access}>{say('account.access.title')}</Link>
          </li>
          <li>{say('account.first.send')}</li>
          <li>{say('account.first.read')}</li>
        </ol>
      </Card>
      <CopyBlock text={firstRequest(environment, `${username}:…`)} what={say('account.first.snippet')} />
    </Section>
  );
}
