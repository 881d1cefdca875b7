/** Who asked for a sandbox account, and deciding on it. */

import { Button } from '@mantine/core';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import type { GrantedSandbox, SandboxRequest } from '../api/generated.ts';
import { useLive } from '../live.ts';
import { type Loading, type PageProps, type Search, useFilters, useList } from '../page.tsx';
import { CopyLine } from '../ui/CopyButton.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { ChoiceFilter, Filters } from '../ui/Filters.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Page } from '../ui/Page.tsx';
import { StatusBadge } from '../ui/StatusBadge.tsx';
import { More, Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';
import css from './console.module.css';
import { AccountLink, useChange } from './parts.tsx';

const STATUSES = ['open', 'granted', 'refused'] as const;
type Status = (typeof STATUSES)[number];

/** Those that wait for a word, where nothing else is asked for. */
const requests = ({ status = 'open', after }: Search) =>
  query('listSandboxRequests', {
    query: { after, ...(status === 'all' ? {} : { status: status as Status }) },
  });

export const load = ({ queries, search }: Loading) => queries.ensureQueryData(requests(search));

export default function Requests({ search }: PageProps) {
  const say = useSay();
  const filter = useFilters();
  const change = useChange();
  const { data, error, refetch } = useList(requests(search));
  useLive('requests', 'listSandboxRequests');
  const [asked, setAsked] = useState<{ what: 'grant' | 'refuse'; request: SandboxRequest }>();
  const [granted, setGranted] = useState<GrantedSandbox>();
  const path = { request_id: asked?.request.request_id ?? '' };
  const who = asked?.request.email ?? '';
  return (
    <Page title={say('nav.requests')}>
      <Filters>
        <ChoiceFilter
          name="status"
          label={say('console.state')}
          search={search}
          choices={[
            { value: '', label: say('status.requested') },
            { value: 'granted', label: say('status.granted') },
            { value: 'refused', label: say('status.refused') },
            { value: 'all', label: say('console.any') },
          ]}
        />
      </Filters>
      <Table
        label={say('nav.requests')}
        rows={data?.requests}
        error={error}
        onRetry={() => void refetch()}
        rowKey={({ request_id }) => request_id}
        empty={<Empty>{say('console.requests.empty')}</Empty>}
        columns={[
          {
            key: 'name',
            header: say('console.name'),
            cell: ({ name, company }) => (
              <>
                <bdi>{name}</bdi>
                {company && (
                  <small className={css.muted}>
                    {' '}
                    <bdi>{company}</bdi>
                  </small>
                )}
              </>
            ),
          },
          { key: 'email', header: say('session.email'), cell: ({ email }) => <bdi>{email}</bdi> },
          {
            key: 'use',
            header: say('console.requests.use'),
            wide: true,
            cell: ({ use }) => <bdi>{use}</bdi>,
          },
          {
            key: 'status',
            header: say('console.state'),
            cell: ({ status, account }) => (
              <span className={css.row}>
                <StatusBadge status={status === 'open' ? 'requested' : status} />
                {account !== null && <AccountLink username={account} />}
              </span>
            ),
          },
          { key: 'at', header: say('console.when'), cell: ({ created_at }) => <When at={created_at} /> },
          {
            key: 'decide',
            header: say('console.requests.decide'),
            bare: true,
            cell: (request) =>
              request.status === 'open' && (
                <span className={css.row}>
                  <Button size="xs" onClick={() => setAsked({ what: 'grant', request })}>
                    {say('console.requests.grant')}
                  </Button>
                  <Button size="xs" onClick={() => setAsked({ what: 'refuse', request })}>
                    {say('console.requests.refuse')}
                  </Button>
                </span>
              ),
          },
        ]}
      />
      <More
        hasMore={data?.next != null}
        busy={false}
        onMore={() => filter({ after: data!.next ?? undefined })}
      />
      <ConfirmDialog
        title={say('console.requests.grant')}
        action={say('console.requests.grant')}
        opened={asked?.what === 'grant'}
        onClose={() => setAsked(undefined)}
        onConfirm={async () => setGranted(await change(() => call('grantSandbox', { path })))}
      >
        {say('console.requests.grant_about', { email: who })}
      </ConfirmDialog>
      <ConfirmDialog
        title={say('console.requests.refuse')}
        action={say('console.requests.refuse')}
        danger
        opened={asked?.what === 'refuse'}
        onClose={() => setAsked(undefined)}
        onConfirm={() => change(() => call('refuseSandbox', { path }), say('console.requests.refused'))}
      >
        {say('console.requests.refuse_about', { email: who })}
      </ConfirmDialog>
      <Dialog
        title={say('status.granted')}
        opened={granted !== undefined}
        onClose={() => setGranted(undefined)}
      >
        {granted !== undefined && (
          <>
            <Notice tone={granted.mailed ? 'success' : 'warning'}>
              {granted.mailed
                ? say('console.people.mailed', { email: granted.request.email })
                : say('console.people.link', { email: granted.request.email })}
            </Notice>
            <CopyLine text={granted.link} what={say('console.people.link_name')} />
            <DialogActions>
              <Button variant="filled" onClick={() => setGranted(undefined)}>
                {say('ui.close')}
              </Button>
            </DialogActions>
          </>
        )}
      </Dialog>
    </Page>
  );
}
