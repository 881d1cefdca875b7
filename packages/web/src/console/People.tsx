/** All users: invitations, editors' languages, workload and effort. */
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useIntl } from 'react-intl';
import { CallError, call, query } from '../api/client.ts';
import type { ConsolePerson, SentLink } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { type Loading, type PageProps, type Search, useFilters, useList } from '../page.tsx';
import { CopyLine } from '../ui/CopyButton.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Duration } from '../ui/Duration.tsx';
import { Empty } from '../ui/Empty.tsx';
import { ChoiceFilter, Filters, SearchFilter } from '../ui/Filters.tsx';
import { ChoiceField, Field, Form, SubmitButton, type Values } from '../ui/form.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Page, Section } from '../ui/Page.tsx';
import { RevokeKeys } from '../ui/RevokeKeys.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import css from './console.module.css';
import { AccountField, PairFields, pairsOf } from './pickers.tsx';
import { AccountLink, Count, Pair, useChange } from './shared.tsx';

const ROLES = ['operator', 'editor', 'customer'] as const;
type Role = (typeof ROLES)[number];

const people = ({ q, role }: Search) =>
  query('listPeople', { query: { q, ...(role ? { role: role as Role } : {}) } });
const DAYS = 30;
const HOUR_MILLISECONDS = 3_600_000;
/** The minimum active time for an hourly rate. A rate from less time would not be reliable. */
const LEAST_RATED_MILLISECONDS = 300_000;
const effort = () =>
  query('readEffort', {
    query: {
      by: 'editor',
      since: `${new Date(Date.now() - DAYS * 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`,
    },
  });
/** The number of an editor's language pairs that the table shows. */
const SHOWN_PAIRS = 3;
/** The claimed tasks of all editors, up to 200. */
const claimedTasks = () => query('listTasks', { query: { status: 'claimed', limit: 200 } });

export const load = ({ queries, search }: Loading) => queries.ensureQueryData(people(search));

export default function People({ search }: PageProps) {
  const t = useTranslate();
  const { data, error, refetch } = useList(people(search));
  const tasks = useQuery(claimedTasks());
  const [inviting, setInviting] = useState(false);
  const setFilters = useFilters();
  const load = Map.groupBy(tasks.data?.tasks ?? [], ({ editor }) => editor?.user);
  return (
    <Page
      title={t('nav.people')}
      actions={
        <Button
          variant="filled"
          leftSection={<IconPlus size={16} aria-hidden />}
          onClick={() => setInviting(true)}
        >
          {t('console.people.invite')}
        </Button>
      }
    >
      <Filters>
        <SearchFilter name="q" label={t('console.accounts.search')} search={search} />
        <ChoiceFilter
          name="role"
          label={t('console.people.role')}
          search={search}
          choices={[
            { value: '', label: t('console.any') },
            ...ROLES.map((value) => ({ value, label: t(`console.role.${value}`) })),
          ]}
        />
      </Filters>
      <Table
        label={t('nav.people')}
        rows={data?.people}
        error={error}
        onRetry={() => void refetch()}
        rowKey={({ user_id }) => user_id}
        empty={<Empty>{t('console.people.empty')}</Empty>}
        onOpen={({ user_id }) => setFilters({ open: user_id })}
        columns={[
          { header: t('console.name'), cell: ({ name, email }) => <bdi>{name || email}</bdi> },
          {
            header: t('session.email'),
            wide: true,
            cell: ({ email, account }) => (
              <span className={css.row}>
                <bdi>{email}</bdi>
                {account !== null && <AccountLink username={account} />}
              </span>
            ),
          },
          { header: t('console.people.role'), cell: ({ role }) => t(`console.role.${role}`) },
          {
            header: t('console.languages'),
            wide: true,
            cell: ({ languages }) => (
              <span className={css.row}>
                {languages.slice(0, SHOWN_PAIRS).map((pair) => (
                  <Pair key={`${pair.source_language} ${pair.target_language}`} of={pair} />
                ))}
                {languages.length > SHOWN_PAIRS && (
                  <span className={css.muted}>
                    {t('console.people.more_pairs', { count: languages.length - SHOWN_PAIRS })}
                  </span>
                )}
                {languages.some(({ review }) => review) && <Tag>{t('console.people.reviews')}</Tag>}
              </span>
            ),
          },
          {
            header: t('console.people.load'),
            align: 'end',
            cell: ({ user_id, role }) =>
              role === 'customer' ? '–' : <Count value={load.get(user_id)?.length ?? 0} />,
          },
          { header: t('console.state'), cell: ({ status }) => <StatusBadge status={status} /> },
          {
            header: t('console.people.seen'),
            cell: ({ last_seen_at }) => (last_seen_at === null ? '–' : <When at={last_seen_at} />),
          },
        ]}
      />
      <Effort />
      <Dialog title={t('console.people.invite')} opened={inviting} onClose={() => setInviting(false)}>
        {inviting && <Invite onDone={() => setInviting(false)} />}
      </Dialog>
      <EditDialog
        person={data?.people.find(({ user_id }) => user_id === search.open)}
        onClose={() => setFilters({ open: '' })}
      />
    </Page>
  );
}

/** @param person undefined while the dialog is closed */
function EditDialog({ person, onClose }: { person: ConsolePerson | undefined; onClose(): void }) {
  return (
    <Dialog title={person?.name || person?.email || ''} opened={person !== undefined} onClose={onClose}>
      {person !== undefined && <Edit key={person.user_id} person={person} onDone={onClose} />}
    </Dialog>
  );
}

function Effort() {
  const t = useTranslate();
  const intl = useIntl();
  const { data, error, refetch } = useQuery(effort());
  return (
    <Section title={t('console.people.effort')}>
      <Table
        label={t('console.people.effort')}
        rows={data?.rows}
        error={error}
        onRetry={() => void refetch()}
        rowKey={({ key }) => key}
        empty={<Empty>{t('console.people.no_effort')}</Empty>}
        columns={[
          { header: t('console.tasks.editor'), wide: true, cell: ({ key }) => <bdi>{key}</bdi> },
          { header: t('console.words'), align: 'end', cell: ({ words }) => <Count value={words} /> },
          {
            header: t('console.people.time'),
            align: 'end',
            cell: ({ active_ms }) => <Duration milliseconds={active_ms} />,
          },
          {
            header: t('console.people.rate'),
            align: 'end',
            cell: ({ words, active_ms }) =>
              active_ms < LEAST_RATED_MILLISECONDS ? (
                '–'
              ) : (
                <Count value={Math.round(words / (active_ms / HOUR_MILLISECONDS))} />
              ),
          },
          {
            header: t('console.people.untouched'),
            align: 'end',
            cell: ({ untouched, segments }) =>
              segments === 0 ? '–' : intl.formatNumber(untouched / segments, { style: 'percent' }),
          },
        ]}
      />
    </Section>
  );
}

function useEditorSettings() {
  const t = useTranslate();
  return (values: Values) => {
    const pairs = pairsOf(values);
    const fields = pairs.flatMap(({ row, ...pair }) =>
      (['source_language', 'target_language'] as const)
        .filter((field) => pair[field] === '')
        .map((field) => [`languages.${row}.${field}`, t('reason.required')]),
    );
    if (fields.length > 0) {
      throw new CallError('invalid_request', '', { fields: Object.fromEntries(fields) });
    }
    return {
      languages: pairs.map(({ row: _, ...pair }) => pair),
      review_share: Number(values.review_share ?? 100),
    };
  };
}

function EditorFields({ person }: { person?: ConsolePerson }) {
  const t = useTranslate();
  return (
    <>
      <PairFields pairs={person?.languages ?? []} />
      <Field
        name="review_share"
        label={t('console.people.review_share')}
        defaultValue={String(person?.review_share ?? 100)}
        ltr
      />
    </>
  );
}

function Invite({ onDone }: { onDone(): void }) {
  const t = useTranslate();
  const change = useChange();
  const readSettings = useEditorSettings();
  const [role, setRole] = useState<Role>('editor');
  const [sent, setSent] = useState<Sent>();
  if (sent !== undefined) return <SentInvitation sent={sent} onDone={onDone} />;
  return (
    <Form
      onSubmit={async (values) => {
        const body = {
          email: values.email ?? '',
          ...(values.name ? { name: values.name } : {}),
          role,
          ...(role === 'customer' ? { account: values.account ?? '' } : {}),
          ...(role === 'editor' ? readSettings(values) : {}),
        };
        const { person, ...link } = await change(() => call('invitePerson', { body }));
        setSent({ email: person.email, ...link });
      }}
    >
      <Field name="email" type="email" label={t('session.email')} autoFocus ltr />
      <Field name="name" label={t('console.name')} optional />
      <ChoiceField
        name="role"
        label={t('console.people.role')}
        defaultValue={role}
        onChange={(value) => setRole(value as Role)}
        choices={ROLES.map((value) => ({ value, label: t(`console.role.${value}`) }))}
      />
      {role === 'customer' && <AccountField name="account" label={t('console.account')} />}
      {role === 'editor' && <EditorFields />}
      <DialogActions>
        <Button onClick={onDone}>{t('ui.cancel')}</Button>
        <SubmitButton>{t('console.people.invite')}</SubmitButton>
      </DialogActions>
    </Form>
  );
}

interface Sent extends SentLink {
  email: string;
}

function SentInvitation({ sent, onDone }: { sent: Sent; onDone(): void }) {
  const t = useTranslate();
  return (
    <>
      {sent.mailed ? (
        <Notice tone="success">{t('console.people.mailed', { email: sent.email })}</Notice>
      ) : (
        <Notice tone="warning">{t('console.people.link', { email: sent.email })}</Notice>
      )}
      {sent.link !== null && <CopyLine text={sent.link} what={t('console.people.link_name')} />}
      <DialogActions>
        <Button variant="filled" onClick={onDone}>
          {t('ui.close')}
        </Button>
      </DialogActions>
    </>
  );
}

function Edit({ person, onDone }: { person: ConsolePerson; onDone(): void }) {
  const t = useTranslate();
  const change = useChange();
  const readSettings = useEditorSettings();
  const [disabling, setDisabling] = useState(false);
  const [revoking, setRevoking] = useState(false);
  const [resetting, setResetting] = useState(false);
  const [sent, setSent] = useState<Sent>();
  const path = { user_id: person.user_id };
  if (sent !== undefined) return <SentInvitation sent={sent} onDone={onDone} />;
  const disabled = person.status === 'disabled';
  return (
    <>
      <p className={css.muted}>
        <bdi>{person.email}</bdi>, {t(`console.role.${person.role}`)}
      </p>
      {person.role === 'editor' && (
        <Form
          onSubmit={async (values) => {
            await change(() => call('changePerson', { path, body: readSettings(values) }), t('ui.saved'));
            onDone();
          }}
        >
          <EditorFields person={person} />
          <DialogActions>
            <SubmitButton>{t('ui.save')}</SubmitButton>
          </DialogActions>
        </Form>
      )}
      <div className={css.row}>
        {!disabled && (
          <Button
            onClick={() =>
              void call('linkForPerson', { path }).then((link) => setSent({ email: person.email, ...link }))
            }
          >
            {t(person.status === 'invited' ? 'console.people.invite_again' : 'console.people.reset')}
          </Button>
        )}
        {person.second_factor && (
          <Button onClick={() => setResetting(true)}>{t('console.people.reset_factor')}</Button>
        )}
        {disabled ? (
          <Button
            onClick={() => void change(() => call('enablePerson', { path }), t('ui.saved')).then(onDone)}
          >
            {t('console.people.enable')}
          </Button>
        ) : (
          <Button color="danger" onClick={() => setDisabling(true)}>
            {t('console.people.disable')}
          </Button>
        )}
      </div>
      <ConfirmDialog
        title={t('console.people.reset_factor')}
        action={t('console.people.reset_factor')}
        danger
        opened={resetting}
        onClose={() => setResetting(false)}
        onConfirm={async () => {
          await change(() => call('resetSecondFactor', { path }), t('ui.saved'));
          onDone();
        }}
      >
        {t('console.people.reset_factor_about', { email: person.email })}
      </ConfirmDialog>
      <ConfirmDialog
        title={t('console.people.disable')}
        action={t('console.people.disable')}
        danger
        opened={disabling}
        onClose={() => setDisabling(false)}
        onConfirm={async () => {
          await change(
            () => call('disablePerson', { path, body: { revoke_keys: revoking } }),
            t('console.people.disabled'),
          );
          onDone();
        }}
      >
        {t('console.people.disable_about', { email: person.email })}
        <RevokeKeys keys={person.keys} checked={revoking} onChange={setRevoking} />
      </ConfirmDialog>
    </>
  );
}
