/** Who changed what, newest first. */
import { query } from '../api/client.ts';
import { type Loading, type PageProps, type Search, useFilters, useList } from '../page.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Filters, SearchFilter } from '../ui/Filters.tsx';
import { Page } from '../ui/Page.tsx';
import { More, Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';
import css from './console.module.css';
import { AccountLink } from './parts.tsx';

const audit = ({ account, action, name, after }: Search) =>
  query('listAudit', { query: { account, action, name, after } });

export const load = ({ queries, search }: Loading) => queries.ensureQueryData(audit(search));

export default function Audit({ search }: PageProps) {
  const say = useSay();
  const filter = useFilters();
  const { data, error, refetch } = useList(audit(search));
  return (
    <Page title={say('nav.audit')}>
      <Filters>
        <SearchFilter name="account" label={say('console.account')} search={search} />
        <SearchFilter name="action" label={say('console.audit.search_action')} search={search} />
        <SearchFilter name="name" label={say('console.audit.search_name')} search={search} />
      </Filters>
      <Table
        label={say('nav.audit')}
        rows={data?.entries}
        error={error}
        onRetry={() => void refetch()}
        rowKey={({ audit_id }) => audit_id}
        empty={<Empty>{say('console.audit.empty')}</Empty>}
        columns={[
          { key: 'at', header: say('console.when'), cell: ({ at }) => <When at={at} /> },
          { key: 'name', header: say('console.audit.by'), cell: ({ name }) => <bdi>{name}</bdi> },
          {
            key: 'action',
            header: say('console.audit.action'),
            cell: ({ action }) => <bdi className={css.code}>{action}</bdi>,
          },
          {
            key: 'account',
            header: say('console.account'),
            cell: ({ account }) => (account === null ? '–' : <AccountLink username={account} />),
          },
          {
            key: 'subject',
            header: say('console.audit.subject'),
            cell: ({ subject }) => <bdi>{subject}</bdi>,
          },
          {
            key: 'detail',
            header: say('console.audit.detail'),
            wide: true,
            cell: ({ detail }) => <Detail detail={detail} />,
          },
        ]}
      />
      <More
        hasMore={data?.next != null}
        busy={false}
        onMore={() => filter({ after: data!.next ?? undefined })}
      />
    </Page>
  );
}

const MAX_SHOWN = 200;

/** What an entry says, name by name. */
function Detail({ detail }: { detail: Record<string, unknown> }) {
  const lines = Object.entries(detail).map(([name, value]) => {
    const written = typeof value === 'string' ? value : JSON.stringify(value);
    return `${name}: ${written.length > MAX_SHOWN ? `${written.slice(0, MAX_SHOWN)}…` : written}`;
  });
  return (
    <bdi className={css.code} dir="ltr">
      {lines.join(', ')}
    </bdi>
  );
}
