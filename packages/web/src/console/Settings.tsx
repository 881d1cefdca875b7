/** The settings of the API process. They are read-only, because the process reads them when it starts. */
import { useSuspenseQuery } from '@tanstack/react-query';
import { query } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import type { Loading, PageProps } from '../page.tsx';
import { Empty } from '../ui/Empty.tsx';
import { ChoiceFilter, Filters, SearchFilter } from '../ui/Filters.tsx';
import { Page } from '../ui/Page.tsx';
import { Tag } from '../ui/StatusBadge.tsx';
import { Table } from '../ui/Table.tsx';
import css from './console.module.css';

const settings = () => query('listSettings');

export const load = ({ queries }: Loading) => queries.ensureQueryData(settings());

export default function Settings({ search }: PageProps) {
  const t = useTranslate();
  const { data } = useSuspenseQuery(settings());
  const sought = (search.q ?? '').toLowerCase();
  const found = data.settings.filter(
    ({ name, meaning, set }) =>
      `${name} ${meaning}`.toLowerCase().includes(sought) && (search.status !== 'set' || set),
  );
  return (
    <Page title={t('nav.settings')} lead={t('console.settings.lead')}>
      <Filters>
        <SearchFilter name="q" label={t('console.settings.search')} search={search} />
        <ChoiceFilter
          name="status"
          label={t('console.state')}
          search={search}
          choices={[
            { value: '', label: t('console.any') },
            { value: 'set', label: t('console.settings.set') },
          ]}
        />
      </Filters>
      <Table
        label={t('nav.settings')}
        rows={found}
        rowKey={({ name }) => name}
        empty={<Empty>{t('console.settings.empty')}</Empty>}
        columns={[
          {
            header: t('console.settings.name'),
            wide: true,
            cell: ({ name, meaning }) => (
              <div>
                <bdi className={css.code} dir="ltr">
                  {name}
                </bdi>
                <p className={css.muted} lang="en" dir="auto">
                  {meaning}
                </p>
              </div>
            ),
          },
          {
            header: t('console.settings.value'),
            wide: true,
            cell: ({ value, secret, set }) => (
              <span className={css.row}>
                {secret ? (
                  <span className={css.muted}>
                    {t(set ? 'console.settings.secret' : 'console.settings.unset')}
                  </span>
                ) : value === '' ? (
                  <span className={css.muted}>{t('console.settings.unset')}</span>
                ) : (
                  <bdi className={css.code} dir="ltr">
                    {value}
                  </bdi>
                )}
                {set && <Tag>{t('console.settings.set')}</Tag>}
              </span>
            ),
          },
        ]}
      />
    </Page>
  );
}
