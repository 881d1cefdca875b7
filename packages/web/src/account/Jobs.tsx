/** C3: the account's jobs, with the filters of the interface, and one of them beside the list. */
import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/client.ts';
import { useLive } from '../live.ts';
import { type PageProps, useFilters, usePages } from '../page.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Page } from '../ui/Page.tsx';
import { More } from '../ui/Table.tsx';
import { useSay } from '../words.tsx';
import css from './account.module.css';
import { EnvironmentSwitch, environmentOf } from './environment.tsx';
import { JobPanel } from './JobPanel.tsx';
import { JobTable } from './JobTable.tsx';

const STATUSES = ['new', 'translating', 'completed', 'accepted', 'rejected', 'failed', 'canceled'] as const;
const TIERS = ['human', 'machine'] as const;

export default function Jobs({ search }: PageProps) {
  const say = useSay();
  const setFilters = useFilters();
  const environment = environmentOf(search);
  const { status, tier, uid } = search;
  const asked = {
    environment,
    status,
    tier: TIERS.find((one) => one === tier) ?? TIERS[0],
    uid__contains: uid,
  };
  const { rows, first, more, ...state } = usePages(['listOwnJobs', asked], (after, signal) =>
    call('listOwnJobs', { query: { ...asked, after, limit: 50 } }, { signal }),
  );
  useLive('jobs', 'listOwnJobs');
  const filtered = [status, uid].some((one) => one !== undefined);
  return (
    <Page
      title={say('account.jobs.title')}
      lead={first !== undefined && say('account.jobs.count', { count: first.total })}
      actions={<EnvironmentSwitch search={search} />}
    >
      <search className={css.filters}>
        <Find key={uid ?? ''} value={uid ?? ''} onFind={(text) => setFilters({ uid: text })} />
        <NativeSelect
          label={say('account.status')}
          value={status ?? ''}
          data={[
            { value: '', label: say('account.any') },
            ...STATUSES.map((value) => ({ value, label: say(`status.${value}`) })),
          ]}
          onChange={(event) => setFilters({ status: event.currentTarget.value })}
        />
        <NativeSelect
          label={say('account.tier')}
          value={asked.tier}
          data={TIERS.map((value) => ({ value, label: say(`account.tier.${value}`) }))}
          onChange={(event) => setFilters({ tier: event.currentTarget.value })}
        />
      </search>
      <JobTable
        label={say('account.jobs.title')}
        jobs={rows}
        opened={search.open}
        onOpen={(job) => setFilters({ open: job.uid })}
        empty={
          filtered ? (
            <Empty
              action={
                <Button onClick={() => setFilters({ status: '', uid: '' })}>{say('account.clear')}</Button>
              }
            >
              {say('account.jobs.none_match')}
            </Empty>
          ) : (
            <Empty>{say('account.jobs.empty')}</Empty>
          )
        }
        {...state}
      />
      <More {...more} />
      <JobPanel uid={search.open} environment={environment} onClose={() => setFilters({ open: '' })} />
    </Page>
  );
}

/** Found when Enter is pressed or the field is left: each letter would be a request. */
function Find({ value, onFind }: { value: string; onFind(text: string): void }) {
  const say = useSay();
  const [text, setText] = useState(value);
  const find = () => text !== value && onFind(text.trim());
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        find();
      }}
    >
      <TextInput
        type="search"
        label={say('account.jobs.uid')}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={find}
      />
    </form>
  );
}
