/** Who changed what, newest first. */
import { query } from '../api/client.ts';
import { type Loading, type PageProps, type Search, useList } from '../page.tsx';
import { List } from '../ui/List.tsx';
import { Page } from '../ui/Page.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';
import css from './console.module.css';
import { AccountLink } from './parts.tsx';

const audit = ({ account, action, name, after }: Search) =>
  query('listAudit', { query: { account, action, name, after } });

export const load = ({ queries, search }: Loading) => queries.ensureQueryData(audit(search));

export default function Audit({ search }: PageProps) {
  const say = useSay();
  const { data, error, refetch } = useList(audit(search));
  return (
    <Page title={say('nav.audit')}>
      <List
        label={say('nav.audit')}
        search={search}
        filters={[
          { name: 'account', label: say('console.account') },
          { name: 'action', label: say('console.audit.search_action') },
          { name: 'name', label: say('console.audit.search_name') },
        ]}
        rows={data?.entries}
        error={error}
        onRetry={() => void refetch()}
        rowKey={({ audit_id }) => audit_id}
        empty={say('console.audit.empty')}
        next={data?.next == null ? undefined : { after: data.next }}
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
