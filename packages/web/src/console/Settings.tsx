/** The settings of the process that answers, to be read; they are changed where it is started. */
import { useSuspenseQuery } from '@tanstack/react-query';
import { query } from '../api/client.ts';
import type { Loading } from '../page.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Page } from '../ui/Page.tsx';
import { Tag } from '../ui/StatusBadge.tsx';
import { Table } from '../ui/Table.tsx';
import { useSay } from '../words.tsx';
import css from './console.module.css';

const settings = () => query('listSettings');

export const load = ({ queries }: Loading) => queries.ensureQueryData(settings());

export default function Settings() {
  const say = useSay();
  const { data } = useSuspenseQuery(settings());
  return (
    <Page title={say('nav.settings')} lead={say('console.settings.lead')}>
      <Table
        label={say('nav.settings')}
        rows={data.settings}
        rowKey={({ name }) => name}
        empty={<Empty>–</Empty>}
        columns={[
          {
            key: 'name',
            header: say('console.settings.name'),
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
            key: 'value',
            header: say('console.settings.value'),
            wide: true,
            cell: ({ value, secret, set }) => (
              <span className={css.row}>
                {secret ? (
                  <span className={css.muted}>
                    {say(set ? 'console.settings.secret' : 'console.settings.unset')}
                  </span>
                ) : value === '' ? (
                  <span className={css.muted}>{say('console.settings.unset')}</span>
                ) : (
                  <bdi className={css.code} dir="ltr">
                    {value}
                  </bdi>
                )}
                {set && <Tag>{say('console.settings.set')}</Tag>}
              </span>
            ),
          },
        ]}
      />
    </Page>
  );
}
