/** One account: settings, balances, API keys and jobs by status. */
import { Button } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CallError, call, query } from '../api/client.ts';
import type { ConsoleAccount, MadeKey } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import type { Loading, PageProps } from '../page.tsx';
import { paths } from '../paths.ts';
import { CopyLine } from '../ui/CopyButton.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { ChoiceField, Field, Form, FormActions, SubmitButton, TextField, type Values } from '../ui/form.tsx';
import { KeyLimitFields, KeyLimitTags, keyLimitsOf } from '../ui/KeyLimits.tsx';
import { Link } from '../ui/Link.tsx';
import { centsOf, Money } from '../ui/Money.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Section } from '../ui/Page.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import { AccountPage } from './AccountPage.tsx';
import css from './console.module.css';
import { Endpoints, endpointsQuery } from './Endpoints.tsx';
import { Suspend, Suspended } from './Suspension.tsx';
import { Count, Facts, Figures, useChange, useEnvironmentChoices } from './shared.tsx';

const account = (username: string) => query('readAccount', { path: { username } });
const brands = (username: string) => query('listAccountBrands', { path: { username } });

export const load = ({ queries, params }: Loading) =>
  Promise.all([
    queries.ensureQueryData(account(params.username!)),
    queries.ensureQueryData(brands(params.username!)),
    queries.ensureQueryData(endpointsQuery(params.username!)),
  ]);

export default function Account({ params }: PageProps) {
  const t = useTranslate();
  const username = params.username!;
  const { data } = useSuspenseQuery(account(username));
  const [editing, setEditing] = useState(false);
  const { chat } = data;
  return (
    <AccountPage
      username={username}
      actions={
        <>
          {data.status === 'active' && <Suspend username={username} />}
          <Button onClick={() => setEditing(true)}>{t('console.edit')}</Button>
        </>
      }
    >
      {data.status === 'suspended' && <Suspended username={username} />}
      <Card>
        <div className={css.stack}>
          <Figures
            figures={data.balances.map(({ environment, balance, credit_limit }) => [
              t(`console.environment.${environment}`),
              <span key={environment}>
                <Money cents={balance} />{' '}
                <small className={css.muted}>
                  {credit_limit === null
                    ? t('console.credit_unlimited')
                    : t('console.credit_of', { limit: (credit_limit / 100).toFixed(2) })}
                </small>
              </span>,
            ])}
          />
          <Facts
            facts={[
              [t('session.email'), data.email === null ? '–' : <bdi key="email">{data.email}</bdi>],
              [t('console.created'), <When key="created" at={data.created_at} />],
              [
                t('console.default_brand'),
                data.default_brand === null ? '–' : <bdi key="brand">{data.default_brand}</bdi>,
              ],
              [
                t('console.key_requests'),
                data.key_requests === null
                  ? t('console.key_requests.usual')
                  : data.key_requests === 0
                    ? t('console.key_requests.none')
                    : t('console.key_requests.of', { limit: data.key_requests }),
              ],
              [t('console.chat'), chat === null ? t('console.chat.none') : <Chat key="chat" chat={chat} />],
            ]}
          />
        </div>
      </Card>
      <JobCounts account={data} />
      <Keys account={data} />
      <Endpoints account={data} />
      <Dialog
        title={t('console.edit_what', { what: username })}
        opened={editing}
        onClose={() => setEditing(false)}
      >
        <Edit account={data} onDone={() => setEditing(false)} />
      </Dialog>
    </AccountPage>
  );
}

/** The jobs of the account by status, as links to their lists. */
function JobCounts({ account }: { account: ConsoleAccount }) {
  const t = useTranslate();
  return (
    <Section title={t('nav.jobs')}>
      <Table
        label={t('nav.jobs')}
        rows={account.jobs}
        rowKey={({ environment, tier, status }) => `${environment} ${tier} ${status}`}
        empty={<Empty>{t('console.jobs.none_yet')}</Empty>}
        columns={[
          { header: t('console.state'), wide: true, cell: ({ status }) => <StatusBadge status={status} /> },
          {
            header: t('console.environment'),
            cell: ({ environment }) => t(`console.environment.${environment}`),
          },
          {
            header: t('console.tier'),
            cell: ({ tier }) => t(tier === 'human' ? 'console.tier.human' : 'console.tier.machine'),
          },
          {
            header: t('nav.jobs'),
            align: 'end',
            cell: ({ jobs, environment, status }) => (
              <Link to={paths.console.jobs} search={{ account: account.username, environment, status }}>
                <Count value={jobs} />
              </Link>
            ),
          },
        ]}
      />
    </Section>
  );
}

function Chat({ chat }: { chat: NonNullable<ConsoleAccount['chat']> }) {
  const t = useTranslate();
  const now = new Date().toISOString();
  const status =
    chat.until !== null && chat.until <= now
      ? 'expired'
      : chat.from !== null && chat.from > now
        ? 'pending'
        : 'active';
  return (
    <span className={css.row}>
      <StatusBadge status={status} />
      <span>{chat.pairs === null ? t('console.pairs.all') : <bdi>{chat.pairs.join(', ')}</bdi>}</span>
      {chat.until !== null && (
        <span>
          {t('console.until')} <When at={chat.until} />
        </span>
      )}
    </span>
  );
}

function Edit({ account, onDone }: { account: ConsoleAccount; onDone(): void }) {
  const t = useTranslate();
  const change = useChange();
  const [stale, setStale] = useState(false);

  async function save(values: Values): Promise<void> {
    const errors: Record<string, string> = {};
    const cents = (name: string) => {
      const written = values[name] ?? '';
      if (written.trim() === '') return null;
      const found = centsOf(written);
      if (found === undefined || found < 0) errors[name] = t('ui.money_wrong');
      return found ?? null;
    };
    const written = (values.key_requests ?? '').trim();
    const limit = written === '' ? null : Number(written);
    const day = (name: string) => (values[name] ? `${values[name]}T00:00:00Z` : null);
    const pairs = (values.pairs ?? '').split(/[\s,;]+/).filter((pair) => pair !== '');
    const body = {
      version: account.version,
      email: values.email || null,
      default_brand: values.default_brand || null,
      credit_limit: cents('credit_limit'),
      sandbox_credit_limit: cents('sandbox_credit_limit'),
      key_requests: limit,
      chat:
        values.chat === 'none'
          ? null
          : {
              pairs: values.chat === 'all' ? null : pairs,
              from: day('chat_from'),
              until: day('chat_until'),
            },
    };
    if (Object.keys(errors).length > 0) throw new CallError('invalid_request', '', { fields: errors });
    try {
      await change(
        () => call('changeAccount', { path: { username: account.username }, body }),
        t('ui.saved'),
      );
      onDone();
    } catch (error) {
      if (error instanceof CallError && error.code === 'conflict') setStale(true);
      throw error;
    }
  }

  return (
    <Form key={account.version} onSubmit={save}>
      {stale && <Reload onReload={() => setStale(false)} />}
      <AccountFields account={account} />
      <FormActions>
        <SubmitButton>{t('ui.save')}</SubmitButton>
        <Button onClick={onDone}>{t('ui.cancel')}</Button>
      </FormActions>
    </Form>
  );
}

function AccountFields({ account }: { account: ConsoleAccount }) {
  const t = useTranslate();
  const { data } = useSuspenseQuery(brands(account.username));
  const published = data.objects.filter(({ version }) => version > 0);
  const limitOf = (environment: string) => {
    const limit = account.balances.find((one) => one.environment === environment)?.credit_limit ?? null;
    return limit === null ? '' : (limit / 100).toFixed(2);
  };
  return (
    <>
      <Field
        name="email"
        type="email"
        label={t('session.email')}
        defaultValue={account.email ?? ''}
        optional
        ltr
      />
      <ChoiceField
        name="default_brand"
        label={t('console.default_brand')}
        defaultValue={account.default_brand ?? ''}
        choices={[
          { value: '', label: t('console.none') },
          ...published.map(({ external_id, name }) => ({ value: external_id, label: name })),
        ]}
      />
      <Field
        name="credit_limit"
        label={t('console.credit_limit')}
        description={t('console.credit_limit.about')}
        defaultValue={limitOf('production')}
        optional
        ltr
      />
      <Field
        name="sandbox_credit_limit"
        label={t('console.credit_limit.sandbox')}
        defaultValue={limitOf('sandbox')}
        optional
        ltr
      />
      <Field
        name="key_requests"
        type="number"
        label={t('console.key_requests')}
        description={t('console.key_requests.about')}
        defaultValue={account.key_requests?.toString() ?? ''}
        optional
        ltr
      />
      <ChoiceField
        name="chat"
        label={t('console.chat.subscription')}
        defaultValue={account.chat === null ? 'none' : account.chat.pairs === null ? 'all' : 'some'}
        choices={[
          { value: 'none', label: t('console.chat.none') },
          { value: 'all', label: t('console.pairs.all') },
          { value: 'some', label: t('console.pairs.some') },
        ]}
      />
      <TextField
        name="pairs"
        rows={2}
        label={t('console.pairs.some')}
        description={t('console.pairs.about')}
        defaultValue={account.chat?.pairs?.join(', ') ?? ''}
        optional
        ltr
      />
      <div className={css.inline}>
        <Day name="chat_from" label={t('console.from')} at={account.chat?.from ?? null} />
        <Day name="chat_until" label={t('console.until')} at={account.chat?.until ?? null} />
      </div>
    </>
  );
}

/** A date field whose day is in UTC. */
function Day({ name, label, at }: { name: string; label: string; at: string | null }) {
  return <Field name={name} type="date" label={label} defaultValue={at?.slice(0, 10) ?? ''} optional ltr />;
}

/**
 * A notice that another operator has changed the account. Its button loads the account again and discards the
 * input.
 */
function Reload({ onReload }: { onReload(): void }) {
  const t = useTranslate();
  const change = useChange();
  return (
    <Notice
      tone="warning"
      action={
        <Button
          size="xs"
          onClick={() => {
            void change(async () => {});
            onReload();
          }}
        >
          {t('console.reload')}
        </Button>
      }
    >
      {t('error.conflict')}
    </Notice>
  );
}

function Keys({ account: { username, keys } }: { account: ConsoleAccount }) {
  const t = useTranslate();
  const change = useChange();
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<string>();
  return (
    <Section
      title={t('console.keys')}
      actions={<Button onClick={() => setMaking(true)}>{t('console.keys.make')}</Button>}
    >
      <Table
        label={t('console.keys')}
        rows={keys}
        rowKey={({ key_id }) => key_id}
        empty={<Empty>{t('console.keys.empty')}</Empty>}
        columns={[
          { header: t('console.name'), wide: true, cell: ({ name }) => <bdi>{name}</bdi> },
          {
            header: t('console.key'),
            cell: ({ key_id }) => (
              <bdi className={css.code} dir="ltr">
                {key_id}…
              </bdi>
            ),
          },
          {
            header: t('console.environment'),
            cell: ({ environment, read_only, ...limits }) => (
              <span className={css.row}>
                <Tag>{t(`console.environment.${environment}`)}</Tag>
                {read_only && <Tag>{t('console.keys.read_only')}</Tag>}
                <KeyLimitTags {...limits} />
              </span>
            ),
          },
          {
            header: t('console.keys.maker'),
            cell: ({ made_by }) => (made_by === null ? '–' : <bdi>{made_by}</bdi>),
          },
          {
            header: t('console.keys.used'),
            cell: ({ last_used_at }) => (last_used_at === null ? '–' : <When at={last_used_at} />),
          },
          {
            header: t('console.state'),
            cell: ({ live }) => <StatusBadge status={live ? 'active' : 'revoked'} />,
          },
          {
            header: t('console.keys.end'),
            bare: true,
            cell: ({ key_id, live }) =>
              live && (
                <Button size="xs" onClick={() => setRevoking(key_id)}>
                  {t('console.keys.end')}
                </Button>
              ),
          },
        ]}
      />
      <MakeKey username={username} opened={making} onClose={() => setMaking(false)} />
      <ConfirmDialog
        title={t('console.keys.end')}
        action={t('console.keys.end')}
        danger
        opened={revoking !== undefined}
        onClose={() => setRevoking(undefined)}
        onConfirm={() =>
          change(
            () => call('revokeAccountKey', { path: { username, key: revoking! } }),
            t('console.keys.ended'),
          )
        }
      >
        {t('console.keys.end_about', { key: revoking ?? '' })}
      </ConfirmDialog>
    </Section>
  );
}

interface MakeKeyProps {
  username: string;
  opened: boolean;
  onClose(): void;
}

/** Creates an API key, then shows it once. */
function MakeKey({ username, opened, onClose }: MakeKeyProps) {
  const t = useTranslate();
  const environments = useEnvironmentChoices();
  const change = useChange();
  const [made, setMade] = useState<MadeKey>();
  const close = () => {
    onClose();
    setMade(undefined);
  };
  return (
    <Dialog title={t('console.keys.make')} opened={opened} onClose={close}>
      {made === undefined ? (
        <Form
          onSubmit={async (values) => {
            const { name = '', environment, rights } = values;
            const body = {
              name,
              environment: environment as 'production' | 'sandbox',
              read_only: rights === 'read',
              ...keyLimitsOf(values, t),
            };
            setMade(await change(() => call('makeAccountKey', { path: { username }, body })));
          }}
        >
          <Field name="name" label={t('console.name')} autoFocus />
          <ChoiceField name="environment" label={t('console.environment')} choices={environments} />
          <ChoiceField
            name="rights"
            label={t('console.keys.rights')}
            choices={[
              { value: 'all', label: t('console.keys.all') },
              { value: 'read', label: t('console.keys.read_only') },
            ]}
          />
          <KeyLimitFields />
          <DialogActions>
            <Button onClick={close}>{t('ui.cancel')}</Button>
            <SubmitButton>{t('console.keys.make')}</SubmitButton>
          </DialogActions>
        </Form>
      ) : (
        <>
          <Notice tone="warning">{t('console.shown_once')}</Notice>
          <CopyLine text={made.key} what={made.name} />
          <DialogActions>
            <Button variant="filled" onClick={close}>
              {t('console.saved_credentials')}
            </Button>
          </DialogActions>
        </>
      )}
    </Dialog>
  );
}
