/** Everybody who may sign in: inviting, what editors may do, what they have in hand and how they do it. */
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useIntl } from 'react-intl';
import { CallError, call, query } from '../api/client.ts';
import type { ConsolePerson, EditorLanguage, SentLink } from '../api/generated.ts';
import { type Loading, type PageProps, type Search, useList } from '../page.tsx';
import { CopyLine } from '../ui/CopyButton.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Duration } from '../ui/Duration.tsx';
import { Empty } from '../ui/Empty.tsx';
import { ChoiceFilter, Filters, SearchFilter } from '../ui/Filters.tsx';
import { ChoiceField, Field, Form, SubmitButton, TextField, type Values } from '../ui/form.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Page, Section } from '../ui/Page.tsx';
import { RevokeKeys } from '../ui/RevokeKeys.tsx';
import { StatusBadge } from '../ui/StatusBadge.tsx';
import { Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';
import css from './console.module.css';
import { AccountLink, Count, useChange } from './parts.tsx';

const ROLES = ['operator', 'editor', 'customer'] as const;
type Role = (typeof ROLES)[number];

const people = ({ q, role }: Search) =>
  query('listPeople', { query: { q, ...(role ? { role: role as Role } : {}) } });
const DAYS = 30;
const effort = () =>
  query('readEffort', {
    query: {
      by: 'editor',
      since: `${new Date(Date.now() - DAYS * 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`,
    },
  });
/** What editors have in hand; more than a page of it is not told apart. */
const held = () => query('listTasks', { query: { status: 'claimed', limit: 200 } });

export const load = ({ queries, search }: Loading) => queries.ensureQueryData(people(search));

export default function People({ search }: PageProps) {
  const say = useSay();
  const { data, error, refetch } = useList(people(search));
  const tasks = useQuery(held());
  const [inviting, setInviting] = useState(false);
  const [editing, setEditing] = useState<ConsolePerson>();
  const load = Map.groupBy(tasks.data?.tasks ?? [], ({ editor }) => editor?.user);
  return (
    <Page
      title={say('nav.people')}
      actions={
        <Button
          variant="filled"
          leftSection={<IconPlus size={16} aria-hidden />}
          onClick={() => setInviting(true)}
        >
          {say('console.people.invite')}
        </Button>
      }
    >
      <Filters>
        <SearchFilter name="q" label={say('console.accounts.search')} search={search} />
        <ChoiceFilter
          name="role"
          label={say('console.people.role')}
          search={search}
          choices={[
            { value: '', label: say('console.any') },
            ...ROLES.map((value) => ({ value, label: say(`console.role.${value}`) })),
          ]}
        />
      </Filters>
      <Table
        label={say('nav.people')}
        rows={data?.people}
        error={error}
        onRetry={() => void refetch()}
        rowKey={({ user_id }) => user_id}
        empty={<Empty>{say('console.people.empty')}</Empty>}
        onOpen={setEditing}
        columns={[
          { key: 'name', header: say('console.name'), cell: ({ name, email }) => <bdi>{name || email}</bdi> },
          {
            key: 'email',
            header: say('session.email'),
            wide: true,
            cell: ({ email, account }) => (
              <span className={css.row}>
                <bdi>{email}</bdi>
                {account !== null && <AccountLink username={account} />}
              </span>
            ),
          },
          {
            key: 'role',
            header: say('console.people.role'),
            cell: ({ role }) => say(`console.role.${role}`),
          },
          {
            key: 'languages',
            header: say('console.languages'),
            cell: ({ languages }) => (
              <bdi dir="ltr">
                {languages.slice(0, 3).map(writeLanguage).join(', ') + (languages.length > 3 ? ' …' : '')}
              </bdi>
            ),
          },
          {
            key: 'load',
            header: say('console.people.load'),
            align: 'end',
            cell: ({ user_id, role }) =>
              role === 'customer' ? '–' : <Count value={load.get(user_id)?.length ?? 0} />,
          },
          {
            key: 'status',
            header: say('console.state'),
            cell: ({ status }) => <StatusBadge status={status} />,
          },
          {
            key: 'seen',
            header: say('console.people.seen'),
            cell: ({ last_seen_at }) => (last_seen_at === null ? '–' : <When at={last_seen_at} />),
          },
        ]}
      />
      <Effort />
      <Dialog title={say('console.people.invite')} opened={inviting} onClose={() => setInviting(false)}>
        {inviting && <Invite onDone={() => setInviting(false)} />}
      </Dialog>
      <Dialog
        title={editing === undefined ? '' : editing.name || editing.email}
        opened={editing !== undefined}
        onClose={() => setEditing(undefined)}
      >
        {editing !== undefined && <Edit person={editing} onDone={() => setEditing(undefined)} />}
      </Dialog>
    </Page>
  );
}

function Effort() {
  const say = useSay();
  const intl = useIntl();
  const { data, error, refetch } = useQuery(effort());
  return (
    <Section title={say('console.people.effort')}>
      <Table
        label={say('console.people.effort')}
        rows={data?.rows}
        error={error}
        onRetry={() => void refetch()}
        rowKey={({ key }) => key}
        empty={<Empty>{say('console.people.no_effort')}</Empty>}
        columns={[
          {
            key: 'name',
            header: say('console.tasks.editor'),
            wide: true,
            cell: ({ key }) => <bdi>{key}</bdi>,
          },
          {
            key: 'words',
            header: say('console.words'),
            align: 'end',
            cell: ({ words }) => <Count value={words} />,
          },
          {
            key: 'time',
            header: say('console.people.time'),
            align: 'end',
            cell: ({ active_ms }) => <Duration milliseconds={active_ms} />,
          },
          {
            key: 'rate',
            header: say('console.people.rate'),
            align: 'end',
            cell: ({ words, active_ms }) => (
              <Count value={active_ms === 0 ? 0 : Math.round(words / (active_ms / 3_600_000))} />
            ),
          },
          {
            key: 'untouched',
            header: say('console.people.untouched'),
            align: 'end',
            cell: ({ untouched, segments }) =>
              intl.formatNumber(segments === 0 ? 0 : untouched / segments, { style: 'percent' }),
          },
        ]}
      />
    </Section>
  );
}

/** `en>es`, with `+review` where they may review it too. */
const writeLanguage = ({ source_language, target_language, review }: EditorLanguage) =>
  `${source_language}>${target_language}${review ? '+review' : ''}`;

function readLanguages(written: string): EditorLanguage[] | undefined {
  const found = written
    .split(/[\s,;]+/)
    .filter((one) => one !== '')
    .map((one) => /^([a-z0-9-]+)>([a-z0-9-]+)(\+review)?$/.exec(one.toLowerCase()));
  if (found.some((one) => one === null)) return undefined;
  return found.map((one) => ({
    source_language: one![1]!,
    target_language: one![2]!,
    review: one![3] !== undefined,
  }));
}

function useWork() {
  const say = useSay();
  return (values: Values) => {
    const languages = readLanguages(values.languages ?? '');
    if (languages === undefined) {
      throw new CallError('invalid_request', '', {
        fields: { languages: say('console.people.languages_wrong') },
      });
    }
    return { languages, review_share: Number(values.review_share ?? 100) };
  };
}

function WorkFields({ person }: { person?: ConsolePerson }) {
  const say = useSay();
  return (
    <>
      <TextField
        name="languages"
        rows={2}
        label={say('console.languages')}
        description={say('console.people.languages_about')}
        defaultValue={person?.languages.map(writeLanguage).join(', ') ?? ''}
        optional
        ltr
      />
      <Field
        name="review_share"
        label={say('console.people.review_share')}
        defaultValue={String(person?.review_share ?? 100)}
        ltr
      />
    </>
  );
}

function Invite({ onDone }: { onDone(): void }) {
  const say = useSay();
  const change = useChange();
  const work = useWork();
  const [role, setRole] = useState<Role>('editor');
  const [sent, setSent] = useState<Sent>();
  if (sent !== undefined) return <Link sent={sent} onDone={onDone} />;
  return (
    <Form
      onSubmit={async (values) => {
        const body = {
          email: values.email ?? '',
          ...(values.name ? { name: values.name } : {}),
          role,
          ...(role === 'customer' ? { account: values.account ?? '' } : {}),
          ...(role === 'editor' ? work(values) : {}),
        };
        const { person, ...link } = await change(() => call('invitePerson', { body }));
        setSent({ email: person.email, ...link });
      }}
    >
      <Field name="email" type="email" label={say('session.email')} autoFocus ltr />
      <Field name="name" label={say('console.name')} optional />
      <ChoiceField
        name="role"
        label={say('console.people.role')}
        defaultValue={role}
        onChange={(value) => setRole(value as Role)}
        choices={ROLES.map((value) => ({ value, label: say(`console.role.${value}`) }))}
      />
      {role === 'customer' && <Field name="account" label={say('console.account')} ltr />}
      {role === 'editor' && <WorkFields />}
      <DialogActions>
        <Button onClick={onDone}>{say('ui.cancel')}</Button>
        <SubmitButton>{say('console.people.invite')}</SubmitButton>
      </DialogActions>
    </Form>
  );
}

interface Sent extends SentLink {
  email: string;
}

function Link({ sent, onDone }: { sent: Sent; onDone(): void }) {
  const say = useSay();
  return (
    <>
      {sent.mailed ? (
        <Notice tone="success">{say('console.people.mailed', { email: sent.email })}</Notice>
      ) : (
        <Notice tone="warning">{say('console.people.link', { email: sent.email })}</Notice>
      )}
      {sent.link !== null && <CopyLine text={sent.link} what={say('console.people.link_name')} />}
      <DialogActions>
        <Button variant="filled" onClick={onDone}>
          {say('ui.close')}
        </Button>
      </DialogActions>
    </>
  );
}

function Edit({ person, onDone }: { person: ConsolePerson; onDone(): void }) {
  const say = useSay();
  const change = useChange();
  const work = useWork();
  const [disabling, setDisabling] = useState(false);
  const [revoking, setRevoking] = useState(false);
  const [sent, setSent] = useState<Sent>();
  const path = { user_id: person.user_id };
  if (sent !== undefined) return <Link sent={sent} onDone={onDone} />;
  const disabled = person.status === 'disabled';
  return (
    <>
      <p className={css.muted}>
        <bdi>{person.email}</bdi>, {say(`console.role.${person.role}`)}
      </p>
      {person.role === 'editor' && (
        <Form
          onSubmit={async (values) => {
            await change(() => call('changePerson', { path, body: work(values) }), say('ui.saved'));
            onDone();
          }}
        >
          <WorkFields person={person} />
          <DialogActions>
            <SubmitButton>{say('ui.save')}</SubmitButton>
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
            {say(person.status === 'invited' ? 'console.people.invite_again' : 'console.people.reset')}
          </Button>
        )}
        {disabled ? (
          <Button
            onClick={() => void change(() => call('enablePerson', { path }), say('ui.saved')).then(onDone)}
          >
            {say('console.people.enable')}
          </Button>
        ) : (
          <Button color="danger" onClick={() => setDisabling(true)}>
            {say('console.people.disable')}
          </Button>
        )}
      </div>
      <ConfirmDialog
        title={say('console.people.disable')}
        action={say('console.people.disable')}
        danger
        opened={disabling}
        onClose={() => setDisabling(false)}
        onConfirm={async () => {
          await change(
            () => call('disablePerson', { path, body: { revoke_keys: revoking } }),
            say('console.people.disabled'),
          );
          onDone();
        }}
      >
        {say('console.people.disable_about', { email: person.email })}
        <RevokeKeys keys={person.keys} checked={revoking} onChange={setRevoking} />
      </ConfirmDialog>
    </>
  );
}
