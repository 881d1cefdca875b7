/** The audit entries, newest first. */
import { query } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import { type Loading, type PageProps, type Search, useList } from '../page.tsx';
import { List } from '../ui/List.tsx';
import { Page } from '../ui/Page.tsx';
import { When } from '../ui/When.tsx';
import css from './console.module.css';
import { AccountLink } from './shared.tsx';

const audit = ({ account, action, name, subject, after }: Search) =>
  query('listAudit', { query: { account, action, name, subject, after } });

export const load = ({ queries, search }: Loading) => queries.ensureQueryData(audit(search));

export default function Audit({ search }: PageProps) {
  const t = useTranslate();
  const { data, error, refetch } = useList(audit(search));
  return (
    <Page title={t('nav.audit')}>
      <List
        label={t('nav.audit')}
        search={search}
        filters={[
          { name: 'account', label: t('console.account') },
          { name: 'action', label: t('console.audit.search_action') },
          { name: 'name', label: t('console.audit.search_name') },
          { name: 'subject', label: t('console.audit.subject') },
        ]}
        rows={data?.entries}
        error={error}
        onRetry={() => void refetch()}
        rowKey={({ audit_id }) => audit_id}
        empty={t('console.audit.empty')}
        next={data?.next == null ? undefined : { after: data.next }}
        columns={[
          { header: t('console.when'), cell: ({ at }) => <When at={at} /> },
          { header: t('console.audit.by'), cell: ({ name }) => <bdi>{name}</bdi> },
          {
            header: t('console.audit.action'),
            cell: ({ action, subject }) => (
              <>
                <bdi className={css.code}>{action}</bdi>
                <br />
                <bdi className={css.muted}>{subject}</bdi>
              </>
            ),
          },
          {
            header: t('console.account'),
            cell: ({ account }) => (account === null ? '–' : <AccountLink username={account} />),
          },
          { header: t('console.audit.detail'), wide: true, cell: ({ detail }) => <Detail detail={detail} /> },
        ]}
      />
    </Page>
  );
}

const MAX_CHARACTERS = 200;

/** Returns a value as text. The items of a list are separated by commas. */
function writtenOf(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map(writtenOf).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The details of an entry as `name: value` pairs. */
function Detail({ detail }: { detail: Record<string, unknown> }) {
  const lines = Object.entries(detail).map(([name, value]) => {
    const written = writtenOf(value);
    return `${name}: ${written.length > MAX_CHARACTERS ? `${written.slice(0, MAX_CHARACTERS)}…` : written}`;
  });
  return (
    <bdi className={`${css.code} ${css.lines}`} dir="ltr">
      {lines.join('\n')}
    </bdi>
  );
}
