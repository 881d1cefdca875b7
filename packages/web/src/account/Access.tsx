/** C2: where programs reach the service, with which keys, and what signs the callbacks. */
import { Button } from '@mantine/core';
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import type { OwnKey, OwnWebhookSecret } from '../api/generated.ts';
import type { Loading } from '../page.tsx';
import { usePerson } from '../session.ts';
import { CopyBlock, CopyLine } from '../ui/CopyButton.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Facts } from '../ui/Facts.tsx';
import { ChoiceField, Field, Form, SubmitButton } from '../ui/form.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Page, Section } from '../ui/Page.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import { toast } from '../ui/Toast.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';
import css from './account.module.css';
import { addressOf, ENVIRONMENTS, type Environment } from './environment.tsx';
import { firstRequest } from './snippets.ts';

const keys = () => query('listOwnKeys');
const secrets = () => query('listOwnWebhookSecrets');

export const load = ({ queries }: Loading) =>
  Promise.all([queries.ensureQueryData(keys()), queries.ensureQueryData(secrets())]);

/** A secret that was just made: shown this once. */
interface Shown {
  secret: string;
  /** Of a key; that of callbacks needs no example. */
  environment?: Environment;
}

export default function Access() {
  const say = useSay();
  const username = usePerson()?.account ?? '';
  const [making, setMaking] = useState(false);
  const [shown, setShown] = useState<Shown>();
  return (
    <Page
      title={say('account.access.title')}
      lead={say('account.access.lead')}
      actions={
        <Button variant="filled" onClick={() => setMaking(true)}>
          {say('account.key.make')}
        </Button>
      }
    >
      <Section title={say('account.access.addresses')}>
        <Card>
          <Facts
            facts={[
              ...ENVIRONMENTS.map((environment) => ({
                label: say(`account.${environment}`),
                value: <CopyLine text={addressOf(environment)} what={say(`account.${environment}`)} />,
              })),
              {
                label: say('account.access.header'),
                value: (
                  <CopyLine
                    text={`Authorization: ApiKey ${username}:…`}
                    what={say('account.access.header')}
                  />
                ),
              },
            ]}
          />
        </Card>
      </Section>
      <Keys onMade={setShown} />
      <Secrets onMade={setShown} />
      <MakeKey opened={making} onClose={() => setMaking(false)} onMade={setShown} />
      <ShownOnce shown={shown} onClose={() => setShown(undefined)} />
    </Page>
  );
}

/** What a key is now. One that has been rolled goes on for a while. */
function statusOf(key: OwnKey): string {
  const isPast = (moment: string | null) => moment !== null && new Date(moment) <= new Date();
  if (key.live) return key.revoked_at === null ? 'active' : 'expiring';
  return isPast(key.revoked_at) ? 'revoked' : 'expired';
}

function Keys({ onMade }: { onMade(shown: Shown): void }) {
  const say = useSay();
  const queries = useQueryClient();
  const { data } = useSuspenseQuery(keys());
  const [acting, setActing] = useState<{ act: 'roll' | 'revoke'; key: OwnKey }>();
  const close = () => setActing(undefined);
  // Those that open come first; a key that ended stays to be seen, below.
  const rows = [...data.objects].sort((one, other) => Number(other.live) - Number(one.live));
  const columns: Column<OwnKey>[] = [
    {
      key: 'name',
      header: say('account.key.name'),
      wide: true,
      cell: ({ name, key_id, read_only }) => (
        <>
          <bdi>{name}</bdi> {read_only && <Tag>{say('account.key.read_only')}</Tag>}
          <div className={css.muted}>
            <code dir="ltr">{key_id}…</code>
          </div>
        </>
      ),
    },
    {
      key: 'environment',
      header: say('account.environment'),
      cell: ({ environment }) => (
        <Tag {...(environment === 'production' ? { tone: 'info' } : {})}>{say(`account.${environment}`)}</Tag>
      ),
    },
    { key: 'status', header: say('account.status'), cell: (key) => <StatusBadge status={statusOf(key)} /> },
    {
      key: 'used',
      header: say('account.key.used'),
      cell: ({ last_used_at }) => (last_used_at === null ? say('account.never') : <When at={last_used_at} />),
    },
    {
      key: 'maker',
      header: say('account.key.maker'),
      cell: ({ made_by }) => (made_by === null ? say('account.key.operator') : <bdi>{made_by}</bdi>),
    },
    { key: 'created', header: say('account.created'), cell: ({ created_at }) => <When at={created_at} /> },
    {
      key: 'acts',
      header: say('account.acts'),
      bare: true,
      align: 'end',
      cell: (key) =>
        key.live && (
          <span className={css.buttons}>
            {key.revoked_at === null && (
              <Button size="xs" onClick={() => setActing({ act: 'roll', key })}>
                {say('account.key.roll')}
              </Button>
            )}
            <Button
              size="xs"
              variant="subtle"
              color="danger"
              onClick={() => setActing({ act: 'revoke', key })}
            >
              {say('account.key.revoke')}
            </Button>
          </span>
        ),
    },
  ];
  return (
    <Section title={say('account.keys')}>
      <Table
        label={say('account.keys')}
        columns={columns}
        rows={rows}
        rowKey={({ key_id }) => key_id}
        empty={<Empty>{say('account.keys.empty')}</Empty>}
      />
      <RollDialog
        title={say('account.key.roll.title', { name: acting?.key.name })}
        opened={acting?.act === 'roll'}
        onClose={close}
        onRoll={async (overlap) => {
          const path = { key_id: acting!.key.key_id };
          const { key, environment } = await call('rollOwnKey', { path, body: { overlap } });
          await queries.invalidateQueries(keys());
          onMade({ secret: key, environment });
        }}
      >
        {say('account.key.roll.text')}
      </RollDialog>
      <ConfirmDialog
        title={say('account.key.revoke.title', { name: acting?.key.name })}
        opened={acting?.act === 'revoke'}
        onClose={close}
        action={say('account.key.revoke')}
        danger
        onConfirm={async () => {
          await call('revokeOwnKey', { path: { key_id: acting!.key.key_id } });
          await queries.invalidateQueries(keys());
          toast(say('account.key.revoked'));
        }}
      >
        {say('account.key.revoke.text')}
      </ConfirmDialog>
    </Section>
  );
}

function Secrets({ onMade }: { onMade(shown: Shown): void }) {
  const say = useSay();
  const queries = useQueryClient();
  const { data } = useSuspenseQuery(secrets());
  const [rolling, setRolling] = useState<Environment>();
  const columns: Column<OwnWebhookSecret>[] = [
    {
      key: 'environment',
      header: say('account.environment'),
      wide: true,
      cell: ({ environment }) => say(`account.${environment}`),
    },
    {
      key: 'status',
      header: say('account.status'),
      cell: ({ expires_at }) => <StatusBadge status={expires_at === null ? 'active' : 'expiring'} />,
    },
    {
      key: 'ends',
      header: say('account.ends'),
      cell: ({ expires_at }) => (expires_at === null ? '' : <When at={expires_at} />),
    },
    { key: 'created', header: say('account.created'), cell: ({ created_at }) => <When at={created_at} /> },
    {
      key: 'acts',
      header: say('account.acts'),
      bare: true,
      align: 'end',
      cell: ({ environment, expires_at }) =>
        expires_at === null && (
          <Button size="xs" onClick={() => setRolling(environment)}>
            {say('account.key.roll')}
          </Button>
        ),
    },
  ];
  return (
    <Section title={say('account.secrets')}>
      <p className={css.muted}>{say('account.secrets.lead')}</p>
      <Table
        label={say('account.secrets')}
        columns={columns}
        rows={data.objects}
        rowKey={({ secret_id }) => secret_id}
        empty={<Empty>{say('account.secrets.lead')}</Empty>}
      />
      <RollDialog
        title={say('account.secret.roll.title')}
        opened={rolling !== undefined}
        onClose={() => setRolling(undefined)}
        onRoll={async (overlap) => {
          const path = { environment: rolling! };
          const { webhook_secret } = await call('rollOwnWebhookSecret', { path, body: { overlap } });
          await queries.invalidateQueries(secrets());
          onMade({ secret: webhook_secret });
        }}
      >
        {say('account.secret.roll.text')}
      </RollDialog>
    </Section>
  );
}

interface MadeProps {
  opened: boolean;
  onClose(): void;
}

function MakeKey({ opened, onClose, onMade }: MadeProps & { onMade(shown: Shown): void }) {
  const say = useSay();
  const queries = useQueryClient();
  return (
    <Dialog title={say('account.key.make')} opened={opened} onClose={onClose}>
      <Form
        onSubmit={async ({ name = '', environment, may }) => {
          const where = environment as Environment;
          const body = { name, environment: where, read_only: may === 'read' };
          const { key } = await call('makeOwnKey', { body });
          await queries.invalidateQueries(keys());
          onClose();
          onMade({ secret: key, environment: where });
        }}
      >
        <Field name="name" label={say('account.key.name')} description={say('account.key.name.help')} />
        <ChoiceField
          name="environment"
          label={say('account.environment')}
          choices={ENVIRONMENTS.map((value) => ({ value, label: say(`account.${value}`) }))}
        />
        <ChoiceField
          name="may"
          label={say('account.key.may')}
          choices={(['write', 'read'] as const).map((value) => ({
            value,
            label: say(`account.key.may.${value}`),
          }))}
        />
        <DialogActions>
          <Button onClick={onClose}>{say('ui.cancel')}</Button>
          <SubmitButton>{say('account.key.make')}</SubmitButton>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

const OVERLAPS = ['24h', '1h', 'now'] as const;
type Overlap = (typeof OVERLAPS)[number];

interface RollProps extends MadeProps {
  title: string;
  children: string;
  onRoll(overlap: Overlap): Promise<void>;
}

/** Another in its place: how long does the one of now go on? */
function RollDialog({ title, opened, onClose, children, onRoll }: RollProps) {
  const say = useSay();
  return (
    <Dialog title={title} opened={opened} onClose={onClose}>
      <p>{children}</p>
      <Form
        onSubmit={async ({ overlap }) => {
          await onRoll(overlap as Overlap);
          onClose();
        }}
      >
        <ChoiceField
          name="overlap"
          label={say('account.overlap')}
          choices={OVERLAPS.map((value) => ({ value, label: say(`account.overlap.${value}`) }))}
        />
        <DialogActions>
          <Button onClick={onClose}>{say('ui.cancel')}</Button>
          <SubmitButton>{say('account.key.roll')}</SubmitButton>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

function ShownOnce({ shown, onClose }: { shown: Shown | undefined; onClose(): void }) {
  const say = useSay();
  return (
    <Dialog wide title={say('account.shown.title')} opened={shown !== undefined} onClose={onClose}>
      {shown !== undefined && (
        <>
          <Notice tone="warning">{say('account.shown.text')}</Notice>
          <CopyLine text={shown.secret} what={say('account.shown.secret')} />
          {shown.environment !== undefined && (
            <>
              <h3>{say('account.first.snippet')}</h3>
              <CopyBlock
                text={firstRequest(shown.environment, shown.secret)}
                what={say('account.first.snippet')}
              />
            </>
          )}
          <DialogActions>
            <Button variant="filled" onClick={onClose}>
              {say('account.shown.kept')}
            </Button>
          </DialogActions>
        </>
      )}
    </Dialog>
  );
}
