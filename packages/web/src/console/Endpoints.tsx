/** The webhook endpoints of an account. */
import { useSuspenseQuery } from '@tanstack/react-query';
import { query } from '../api/client.ts';
import type { ConsoleAccount } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { paths } from '../paths.ts';
import { Empty } from '../ui/Empty.tsx';
import { Link } from '../ui/Link.tsx';
import { Section } from '../ui/Page.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';

export const endpointsQuery = (username: string) =>
  query('listAccountWebhookEndpoints', { path: { username } });

export function Endpoints({ account: { username, keys } }: { account: ConsoleAccount }) {
  const t = useTranslate();
  const { data } = useSuspenseQuery(endpointsQuery(username));
  const keyOf = (id: string) => keys.find(({ key_id }) => key_id === id);
  return (
    <Section title={t('console.endpoints')}>
      <Table
        label={t('console.endpoints')}
        rows={data.objects}
        rowKey={({ id }) => id}
        empty={<Empty>{t('console.endpoints.empty')}</Empty>}
        columns={[
          {
            header: t('console.endpoints.url'),
            wide: true,
            cell: ({ url }) => (
              <Link
                to={paths.console.deliveries}
                search={{ account: username, host: URL.parse(url)?.host ?? '' }}
              >
                <bdi dir="ltr">{url}</bdi>
              </Link>
            ),
          },
          {
            header: t('console.environment'),
            cell: ({ environment }) => <Tag>{t(`console.environment.${environment}`)}</Tag>,
          },
          {
            header: t('console.endpoints.events'),
            cell: ({ events }) => events?.join(', ') ?? t('console.endpoints.all'),
          },
          {
            header: t('console.key'),
            cell: ({ key_id }) =>
              key_id === null ? (
                '–'
              ) : (
                <>
                  <bdi>{keyOf(key_id)?.name ?? key_id}</bdi>{' '}
                  {!keyOf(key_id)?.live && <StatusBadge status="revoked" />}
                </>
              ),
          },
          { header: t('console.state'), cell: ({ status }) => <StatusBadge status={status} /> },
          { header: t('console.created'), cell: ({ created_at }) => <When at={created_at} /> },
        ]}
      />
    </Section>
  );
}
