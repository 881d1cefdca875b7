/** The list of all accounts, with a search by name or e-mail, and the form for a new account. */
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import type { AccountCredentials } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { type Loading, type PageProps, type Search, useList } from '../page.tsx';
import { CopyLine } from '../ui/CopyButton.tsx';
import { Dialog, DialogActions } from '../ui/Dialog.tsx';
import { ChoiceField, Field, Form, SubmitButton } from '../ui/form.tsx';
import { List } from '../ui/List.tsx';
import { Money } from '../ui/Money.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Page } from '../ui/Page.tsx';
import { StatusBadge } from '../ui/StatusBadge.tsx';
import { When } from '../ui/When.tsx';
import css from './console.module.css';
import { AccountLink, useChange } from './shared.tsx';

const accounts = ({ q, overdrawn, after }: Search) =>
  query('listAccounts', { query: { q, after, ...(overdrawn === 'true' ? { overdrawn: true } : {}) } });

export const load = ({ queries, search }: Loading) => queries.ensureQueryData(accounts(search));

export default function Accounts({ search }: PageProps) {
  const t = useTranslate();
  const [making, setMaking] = useState(false);
  const { data, error, refetch } = useList(accounts(search));
  return (
    <Page
      title={t('nav.accounts')}
      actions={
        <Button
          variant="filled"
          leftSection={<IconPlus size={16} aria-hidden />}
          onClick={() => setMaking(true)}
        >
          {t('console.accounts.create')}
        </Button>
      }
    >
      <List
        label={t('nav.accounts')}
        search={search}
        filters={[
          { name: 'q', label: t('console.accounts.search') },
          {
            name: 'overdrawn',
            label: t('console.balance'),
            choices: [
              { value: '', label: t('console.any') },
              { value: 'true', label: t('console.accounts.owing') },
            ],
          },
        ]}
        rows={data?.accounts}
        error={error}
        onRetry={() => void refetch()}
        rowKey={({ username }) => username}
        empty={t('console.accounts.empty')}
        next={data?.next == null ? undefined : { after: data.next }}
        columns={[
          {
            header: t('console.account'),
            wide: true,
            cell: ({ username, status }) => (
              <span className={css.row}>
                <AccountLink username={username} />
                {status === 'suspended' && <StatusBadge status={status} />}
              </span>
            ),
          },
          { header: t('session.email'), cell: ({ email }) => <bdi>{email ?? '–'}</bdi> },
          {
            header: t('console.chat'),
            cell: ({ chat }) =>
              chat ? <StatusBadge status="active" /> : <span className={css.muted}>–</span>,
          },
          { header: t('console.balance'), align: 'end', cell: ({ balance }) => <Money cents={balance} /> },
          {
            header: t('console.credit'),
            align: 'end',
            cell: ({ credit_limit }) =>
              credit_limit === null ? t('console.credit_unlimited') : <Money cents={credit_limit} />,
          },
          { header: t('console.created'), cell: ({ created_at }) => <When at={created_at} /> },
        ]}
      />
      <MakeAccount opened={making} onClose={() => setMaking(false)} />
    </Page>
  );
}

function MakeAccount({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const t = useTranslate();
  const change = useChange();
  const [made, setMade] = useState<AccountCredentials>();
  function close(): void {
    onClose();
    setMade(undefined);
  }
  return (
    <Dialog title={t('console.accounts.create')} opened={opened} onClose={close}>
      {made === undefined ? (
        <Form
          onSubmit={async ({ username = '', email, dialect }) => {
            const body = { username, email: email || null, dialect: dialect as 'spec' | 'legacy' };
            setMade(await change(() => call('createAccount', { body })));
          }}
        >
          <Field name="username" label={t('console.username')} ltr autoFocus />
          <Field name="email" type="email" label={t('session.email')} optional ltr />
          <ChoiceField
            name="dialect"
            label={t('console.dialect')}
            choices={[
              { value: 'spec', label: t('console.dialect.spec') },
              { value: 'legacy', label: t('console.dialect.legacy') },
            ]}
          />
          <DialogActions>
            <Button onClick={close}>{t('ui.cancel')}</Button>
            <SubmitButton>{t('console.accounts.create')}</SubmitButton>
          </DialogActions>
        </Form>
      ) : (
        <Credentials made={made} onClose={close} />
      )}
    </Dialog>
  );
}

function Credentials({ made, onClose }: { made: AccountCredentials; onClose(): void }) {
  const t = useTranslate();
  const lines = [
    ['production_key', t('console.key.production')],
    ['sandbox_key', t('console.key.sandbox')],
    ['webhook_secret_production', t('console.secret.production')],
    ['webhook_secret_sandbox', t('console.secret.sandbox')],
  ] as const;
  return (
    <>
      <Notice tone="warning">{t('console.shown_once')}</Notice>
      {lines.map(([name, label]) => (
        <div key={name}>
          <p>{label}</p>
          <CopyLine text={made[name]} what={label} />
        </div>
      ))}
      <DialogActions>
        <Button variant="filled" onClick={onClose}>
          {t('console.saved_credentials')}
        </Button>
      </DialogActions>
    </>
  );
}
