/** Requests for sandbox accounts, which an operator grants or refuses. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import type { GrantedSandbox, SandboxRequest } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { useLiveUpdates } from '../live-updates.ts';
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
import css from './console.module.css';
import { AccountLink, useChange } from './shared.tsx';

const STATUSES = ['open', 'granted', 'refused'] as const;
type Status = (typeof STATUSES)[number];

/** Lists open requests by default. */
const requests = ({ status = 'open', after }: Search) =>
  query('listSandboxRequests', {
    query: { after, ...(status === 'all' ? {} : { status: status as Status }) },
  });

export const load = ({ queries, search }: Loading) => queries.ensureQueryData(requests(search));

interface Decision {
  what: 'grant' | 'refuse';
  request: SandboxRequest;
}

export default function Requests({ search }: PageProps) {
  const t = useTranslate();
  const filter = useFilters();
  const { data, error, refetch } = useList(requests(search));
  useLiveUpdates('requests', 'listSandboxRequests');
  const [decision, setDecision] = useState<Decision>();
  return (
    <Page title={t('nav.requests')}>
      <Filters>
        <ChoiceFilter
          name="status"
          label={t('console.state')}
          search={search}
          choices={[
            { value: '', label: t('status.requested') },
            { value: 'granted', label: t('status.granted') },
            { value: 'refused', label: t('status.refused') },
            { value: 'all', label: t('console.any') },
          ]}
        />
      </Filters>
      <RequestTable
        requests={data?.requests}
        error={error}
        onRetry={() => void refetch()}
        onDecide={setDecision}
      />
      <More
        hasMore={data?.next != null}
        busy={false}
        onMore={() => filter({ after: data!.next ?? undefined })}
      />
      <DecisionDialogs decision={decision} onClose={() => setDecision(undefined)} />
    </Page>
  );
}

interface RequestTableProps {
  requests: readonly SandboxRequest[] | undefined;
  error: Error | null;
  onRetry(): void;
  onDecide(decision: Decision): void;
}

function RequestTable({ requests, error, onRetry, onDecide }: RequestTableProps) {
  const t = useTranslate();
  return (
    <Table
      label={t('nav.requests')}
      rows={requests}
      error={error}
      onRetry={onRetry}
      rowKey={({ request_id }) => request_id}
      empty={<Empty>{t('console.requests.empty')}</Empty>}
      columns={[
        {
          header: t('console.name'),
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
        { header: t('session.email'), cell: ({ email }) => <bdi>{email}</bdi> },
        { header: t('console.requests.use'), wide: true, cell: ({ use }) => <bdi>{use}</bdi> },
        {
          header: t('console.state'),
          cell: ({ status, account }) => (
            <span className={css.row}>
              <StatusBadge status={status === 'open' ? 'requested' : status} />
              {account !== null && <AccountLink username={account} />}
            </span>
          ),
        },
        { header: t('console.when'), cell: ({ created_at }) => <When at={created_at} /> },
        {
          header: t('console.requests.decide'),
          bare: true,
          cell: (request) =>
            request.status === 'open' && (
              <span className={css.row}>
                <Button size="xs" onClick={() => onDecide({ what: 'grant', request })}>
                  {t('console.requests.grant')}
                </Button>
                <Button size="xs" onClick={() => onDecide({ what: 'refuse', request })}>
                  {t('console.requests.refuse')}
                </Button>
              </span>
            ),
        },
      ]}
    />
  );
}

function DecisionDialogs({ decision, onClose }: { decision: Decision | undefined; onClose(): void }) {
  const t = useTranslate();
  const change = useChange();
  const [granted, setGranted] = useState<GrantedSandbox>();
  const path = { request_id: decision?.request.request_id ?? '' };
  const email = decision?.request.email ?? '';
  return (
    <>
      <ConfirmDialog
        title={t('console.requests.grant')}
        action={t('console.requests.grant')}
        opened={decision?.what === 'grant'}
        onClose={onClose}
        onConfirm={async () => setGranted(await change(() => call('grantSandbox', { path })))}
      >
        {t('console.requests.grant_about', { email })}
      </ConfirmDialog>
      <ConfirmDialog
        title={t('console.requests.refuse')}
        action={t('console.requests.refuse')}
        danger
        opened={decision?.what === 'refuse'}
        onClose={onClose}
        onConfirm={() => change(() => call('refuseSandbox', { path }), t('console.requests.refused'))}
      >
        {t('console.requests.refuse_about', { email })}
      </ConfirmDialog>
      <Dialog
        title={t('status.granted')}
        opened={granted !== undefined}
        onClose={() => setGranted(undefined)}
      >
        {granted !== undefined && (
          <>
            <Notice tone={granted.mailed ? 'success' : 'warning'}>
              {granted.mailed
                ? t('console.people.mailed', { email: granted.request.email })
                : t('console.people.link', { email: granted.request.email })}
            </Notice>
            <CopyLine text={granted.link} what={t('console.people.link_name')} />
            <DialogActions>
              <Button variant="filled" onClick={() => setGranted(undefined)}>
                {t('ui.close')}
              </Button>
            </DialogActions>
          </>
        )}
      </Dialog>
    </>
  );
}
