/** One account: what it may do and spend, its keys, its jobs by state. */
import { Button } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CallError, call, query } from '../api/client.ts';
import type { ConsoleAccount, ConsoleMadeKey } from '../api/generated.ts';
import type { Loading, PageProps } from '../page.tsx';
import { paths } from '../paths.ts';
import { CopyLine } from '../ui/CopyButton.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { ChoiceField, Field, Form, FormActions, SubmitButton, TextField, type Values } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { Money } from '../ui/Money.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Section } from '../ui/Page.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';
import { AccountPage } from './AccountPage.tsx';
import css from './console.module.css';
import { Count, centsOf, Facts, Figures, useChange } from './parts.tsx';

const account = (username: string) => query('readAccount', { path: { username } });
const brands = (username: string) => query('listConsoleBrands', { path: { username } });

export const load = ({ queries, params }: Loading) =>
  Promise.all([
    queries.ensureQueryData(account(params.username!)),
    queries.ensureQueryData(brands(params.username!)),
  ]);

export default function Account({ params }: PageProps) {
  const say = useSay();
  const username = params.username!;
  const { data } = useSuspenseQuery(account(username));
  const [editing, setEditing] = useState(false);
  const { chat } = data;
  return (
    <AccountPage
      username={username}
      actions={<Button onClick={() => setEditing(true)}>{say('console.edit')}</Button>}
    >
      <Card>
        <div className={css.stack}>
          <Figures
            figures={data.balances.map(({ environment, balance, credit_limit }) => [
              say(`console.environment.${environment}`),
              <span key={environment}>
                <Money cents={balance} />{' '}
                <small className={css.muted}>
                  {credit_limit === null
                    ? say('console.credit_unlimited')
                    : say('console.credit_of', { limit: (credit_limit / 100).toFixed(2) })}
                </small>
              </span>,
            ])}
          />
          <Facts
            facts={[
              [say('session.email'), data.email === null ? '–' : <bdi key="email">{data.email}</bdi>],
              [say('console.created'), <When key="created" at={data.created_at} />],
              [
                say('console.default_brand'),
                data.default_brand === null ? '–' : <bdi key="brand">{data.default_brand}</bdi>,
              ],
              [
                say('console.chat'),
                chat === null ? say('console.chat.none') : <Chat key="chat" chat={chat} />,
              ],
            ]}
          />
        </div>
      </Card>
      <Section title={say('nav.jobs')}>
        <Table
          label={say('nav.jobs')}
          rows={data.jobs}
          rowKey={({ environment, tier, status }) => `${environment} ${tier} ${status}`}
          empty={<Empty>{say('console.jobs.none')}</Empty>}
          columns={[
            {
              key: 'status',
              header: say('console.state'),
              wide: true,
              cell: ({ status }) => <StatusBadge status={status} />,
            },
            {
              key: 'environment',
              header: say('console.environment'),
              cell: ({ environment }) => say(`console.environment.${environment}`),
            },
            {
              key: 'tier',
              header: say('console.tier'),
              cell: ({ tier }) => say(tier === 'human' ? 'console.tier.human' : 'console.tier.machine'),
            },
            {
              key: 'jobs',
              header: say('nav.jobs'),
              align: 'end',
              cell: ({ jobs, environment, status }) => (
                <Link to={paths.console.jobs} search={{ account: username, environment, status }}>
                  <Count value={jobs} />
                </Link>
              ),
            },
          ]}
        />
      </Section>
      <Keys account={data} />
      <Dialog
        title={say('console.edit_what', { what: username })}
        opened={editing}
        onClose={() => setEditing(false)}
      >
        <Edit account={data} onDone={() => setEditing(false)} />
      </Dialog>
    </AccountPage>
  );
}

function Chat({ chat }: { chat: NonNullable<ConsoleAccount['chat']> }) {
  const say = useSay();
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
      <span>{chat.pairs === null ? say('console.pairs.all') : <bdi>{chat.pairs.join(', ')}</bdi>}</span>
      {chat.until !== null && (
        <span>
          {say('console.until')} <When at={chat.until} />
        </span>
      )}
    </span>
  );
}

function Edit({ account, onDone }: { account: ConsoleAccount; onDone(): void }) {
  const say = useSay();
  const change = useChange();
  const { data } = useSuspenseQuery(brands(account.username));
  const published = data.brands.filter(({ version }) => version !== null);
  const [stale, setStale] = useState(false);
  const limitOf = (environment: string) =>
    account.balances.find((one) => one.environment === environment)?.credit_limit ?? null;

  async function save(values: Values): Promise<void> {
    const wrong: Record<string, string> = {};
    const cents = (name: string) => {
      const written = values[name] ?? '';
      if (written.trim() === '') return null;
      const found = centsOf(written);
      if (found === undefined || found < 0) wrong[name] = say('console.money.wrong');
      return found ?? null;
    };
    const day = (name: string) => (values[name] ? `${values[name]}T00:00:00Z` : null);
    const pairs = (values.pairs ?? '').split(/[\s,;]+/).filter((pair) => pair !== '');
    const body = {
      version: account.version,
      email: values.email || null,
      default_brand: values.default_brand || null,
      credit_limit: cents('credit_limit'),
      sandbox_credit_limit: cents('sandbox_credit_limit'),
      chat:
        values.chat === 'none'
          ? null
          : {
              pairs: values.chat === 'all' ? null : pairs,
              from: day('chat_from'),
              until: day('chat_until'),
            },
    };
    if (Object.keys(wrong).length > 0) throw new CallError('invalid_request', '', { fields: wrong });
    try {
      await change(
        () => call('changeAccount', { path: { username: account.username }, body }),
        say('ui.saved'),
      );
      onDone();
    } catch (error) {
      if (error instanceof CallError && error.code === 'conflict') setStale(true);
      throw error;
    }
  }

  const dollars = (limit: number | null) => (limit === null ? '' : (limit / 100).toFixed(2));
  return (
    <Form key={account.version} onSubmit={save}>
      {stale && <Reload onReload={() => setStale(false)} />}
      <Field
        name="email"
        type="email"
        label={say('session.email')}
        defaultValue={account.email ?? ''}
        optional
        ltr
      />
      <ChoiceField
        name="default_brand"
        label={say('console.default_brand')}
        defaultValue={account.default_brand ?? ''}
        choices={[
          { value: '', label: say('console.none') },
          ...published.map(({ external_id, name }) => ({ value: external_id, label: name })),
        ]}
      />
      <Field
        name="credit_limit"
        label={say('console.credit_limit')}
        description={say('console.credit_limit.about')}
        defaultValue={dollars(limitOf('production'))}
        optional
        ltr
      />
      <Field
        name="sandbox_credit_limit"
        label={say('console.credit_limit.sandbox')}
        defaultValue={dollars(limitOf('sandbox'))}
        optional
        ltr
      />
      <ChoiceField
        name="chat"
        label={say('console.chat.subscription')}
        defaultValue={account.chat === null ? 'none' : account.chat.pairs === null ? 'all' : 'some'}
        choices={[
          { value: 'none', label: say('console.chat.none') },
          { value: 'all', label: say('console.pairs.all') },
          { value: 'some', label: say('console.pairs.some') },
        ]}
      />
      <TextField
        name="pairs"
        rows={2}
        label={say('console.pairs.some')}
        description={say('console.pairs.about')}
        defaultValue={account.chat?.pairs?.join(', ') ?? ''}
        optional
        ltr
      />
      <div className={css.inline}>
        <Day name="chat_from" label={say('console.from')} at={account.chat?.from ?? null} />
        <Day name="chat_until" label={say('console.until')} at={account.chat?.until ?? null} />
      </div>
      <FormActions>
        <SubmitButton>{say('ui.save')}</SubmitButton>
        <Button onClick={onDone}>{say('ui.cancel')}</Button>
      </FormActions>
    </Form>
  );
}

/** A day, in UTC. */
function Day({ name, label, at }: { name: string; label: string; at: string | null }) {
  return <Field name={name} type="date" label={label} defaultValue={at?.slice(0, 10) ?? ''} optional ltr />;
}

/** Somebody else changed it: what is there now is fetched, and what was typed is given up. */
function Reload({ onReload }: { onReload(): void }) {
  const say = useSay();
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
          {say('console.reload')}
        </Button>
      }
    >
      {say('error.conflict')}
    </Notice>
  );
}

function Keys({ account: { username, keys } }: { account: ConsoleAccount }) {
  const say = useSay();
  const change = useChange();
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<ConsoleMadeKey>();
  const [ending, setEnding] = useState<string>();
  const close = () => {
    setMaking(false);
    setMade(undefined);
  };
  return (
    <Section
      title={say('console.keys')}
      actions={<Button onClick={() => setMaking(true)}>{say('console.keys.make')}</Button>}
    >
      <Table
        label={say('console.keys')}
        rows={keys}
        rowKey={({ key_id }) => key_id}
        empty={<Empty>{say('console.keys.empty')}</Empty>}
        columns={[
          { key: 'name', header: say('console.name'), wide: true, cell: ({ name }) => <bdi>{name}</bdi> },
          {
            key: 'key',
            header: say('console.key'),
            cell: ({ key_id }) => (
              <bdi className={css.code} dir="ltr">
                {key_id}…
              </bdi>
            ),
          },
          {
            key: 'environment',
            header: say('console.environment'),
            cell: ({ environment, read_only }) => (
              <span className={css.row}>
                <Tag>{say(`console.environment.${environment}`)}</Tag>
                {read_only && <Tag>{say('console.keys.read_only')}</Tag>}
              </span>
            ),
          },
          {
            key: 'maker',
            header: say('console.keys.maker'),
            cell: ({ made_by }) => (made_by === null ? '–' : <bdi>{made_by}</bdi>),
          },
          {
            key: 'used',
            header: say('console.keys.used'),
            cell: ({ last_used_at }) => (last_used_at === null ? '–' : <When at={last_used_at} />),
          },
          {
            key: 'state',
            header: say('console.state'),
            cell: ({ live }) => <StatusBadge status={live ? 'active' : 'revoked'} />,
          },
          {
            key: 'end',
            header: say('console.keys.end'),
            bare: true,
            cell: ({ key_id, live }) =>
              live && (
                <Button size="xs" onClick={() => setEnding(key_id)}>
                  {say('console.keys.end')}
                </Button>
              ),
          },
        ]}
      />
      <Dialog title={say('console.keys.make')} opened={making} onClose={close}>
        {made === undefined ? (
          <Form
            onSubmit={async ({ name = '', environment, rights }) => {
              const body = {
                name,
                environment: environment as 'production' | 'sandbox',
                read_only: rights === 'read',
              };
              setMade(await change(() => call('makeAccountKey', { path: { username }, body })));
            }}
          >
            <Field name="name" label={say('console.name')} autoFocus />
            <ChoiceField
              name="environment"
              label={say('console.environment')}
              choices={[
                { value: 'production', label: say('console.environment.production') },
                { value: 'sandbox', label: say('console.environment.sandbox') },
              ]}
            />
            <ChoiceField
              name="rights"
              label={say('console.keys.rights')}
              choices={[
                { value: 'all', label: say('console.keys.all') },
                { value: 'read', label: say('console.keys.read_only') },
              ]}
            />
            <DialogActions>
              <Button onClick={close}>{say('ui.cancel')}</Button>
              <SubmitButton>{say('console.keys.make')}</SubmitButton>
            </DialogActions>
          </Form>
        ) : (
          <>
            <Notice tone="warning">{say('console.shown_once')}</Notice>
            <CopyLine text={made.key} what={made.name} />
            <DialogActions>
              <Button variant="filled" onClick={close}>
                {say('console.noted')}
              </Button>
            </DialogActions>
          </>
        )}
      </Dialog>
      <ConfirmDialog
        title={say('console.keys.end')}
        action={say('console.keys.end')}
        danger
        opened={ending !== undefined}
        onClose={() => setEnding(undefined)}
        onConfirm={() =>
          change(
            () => call('revokeAccountKey', { path: { username, key: ending! } }),
            say('console.keys.ended'),
          )
        }
      >
        {say('console.keys.end_about', { key: ending ?? '' })}
      </ConfirmDialog>
    </Section>
  );
}
