/** The page *API access*: the addresses of the API, API keys, webhook secrets, webhook endpoints and web pages. */
import { Button } from '@mantine/core';
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import type { ApiKey, OwnWebhookSecret } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import type { Loading } from '../page.tsx';
import { useUser } from '../session.ts';
import { CopyBlock, CopyLine } from '../ui/CopyButton.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Facts } from '../ui/Facts.tsx';
import { ChoiceField, Field, Form, SubmitButton } from '../ui/form.tsx';
import { KeyLimitFields, KeyLimitTags, keyLimitsOf } from '../ui/KeyLimits.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Page, Section } from '../ui/Page.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import { toast } from '../ui/Toast.tsx';
import { When } from '../ui/When.tsx';
import css from './account.module.css';
import { useActionsColumn } from './actions.tsx';
import { Endpoints, endpointsQuery } from './Endpoints.tsx';
import { baseUrlOf, ENVIRONMENTS, type Environment } from './environment.tsx';
import { Origins, originsQuery } from './Origins.tsx';
import { RollDialog } from './RollDialog.tsx';
import { firstRequest } from './snippets.ts';

const keys = () => query('listOwnKeys');
const secrets = () => query('listOwnWebhookSecrets');

export const load = ({ queries }: Loading) =>
  Promise.all([
    queries.ensureQueryData(keys()),
    queries.ensureQueryData(secrets()),
    queries.ensureQueryData(endpointsQuery()),
    queries.ensureQueryData(originsQuery()),
  ]);

/** A new key or webhook secret, which is shown only once. */
interface Shown {
  secret: string;
  /** The environment of a key; undefined for a webhook secret. */
  environment?: Environment;
}

export default function Access() {
  const t = useTranslate();
  const username = useUser()?.account ?? '';
  const { data } = useSuspenseQuery(keys());
  const [making, setMaking] = useState(false);
  const [shown, setShown] = useState<Shown>();
  return (
    <Page
      title={t('account.access.title')}
      lead={t('account.access.lead')}
      actions={
        <Button variant="filled" onClick={() => setMaking(true)}>
          {t('account.key.make')}
        </Button>
      }
    >
      <Section title={t('account.access.addresses')}>
        <Card>
          <Facts
            facts={[
              ...ENVIRONMENTS.map((environment) => ({
                label: t(`account.${environment}`),
                value: <CopyLine text={baseUrlOf(environment)} what={t(`account.${environment}`)} />,
              })),
              {
                label: t('account.access.header'),
                value: (
                  <CopyLine text={`Authorization: ApiKey ${username}:…`} what={t('account.access.header')} />
                ),
              },
            ]}
          />
        </Card>
      </Section>
      <Keys onMade={setShown} />
      <Secrets onMade={setShown} />
      <Endpoints keys={data.objects} onMade={(secret) => setShown({ secret })} />
      <Origins />
      <MakeKey opened={making} onClose={() => setMaking(false)} onMade={setShown} />
      <ShownOnce shown={shown} onClose={() => setShown(undefined)} />
    </Page>
  );
}

/** Returns the status of a key. A key that was replaced is `expiring` until its overlap with the new key ends. */
function statusOf(key: ApiKey): string {
  const isPast = (moment: string | null) => moment !== null && new Date(moment) <= new Date();
  if (key.live) return key.revoked_at === null ? 'active' : 'expiring';
  return isPast(key.revoked_at) ? 'revoked' : 'expired';
}

interface KeyAction {
  act: 'roll' | 'revoke';
  key: ApiKey;
}

function Keys({ onMade }: { onMade(shown: Shown): void }) {
  const t = useTranslate();
  const { data } = useSuspenseQuery(keys());
  const [acting, setActing] = useState<KeyAction>();
  // Lists valid keys before revoked and expired ones.
  const rows = [...data.objects].sort((one, other) => Number(other.live) - Number(one.live));
  const columns: Column<ApiKey>[] = [
    {
      header: t('account.key.name'),
      wide: true,
      cell: ({ name, key_id, read_only, ...limits }) => (
        <>
          <bdi>{name}</bdi> {read_only && <Tag>{t('account.key.read_only')}</Tag>}{' '}
          <KeyLimitTags {...limits} />
          <div className={css.muted}>
            <code dir="ltr">{key_id}…</code>
          </div>
        </>
      ),
    },
    {
      header: t('account.environment'),
      cell: ({ environment }) => (
        <Tag {...(environment === 'production' ? { tone: 'info' } : {})}>{t(`account.${environment}`)}</Tag>
      ),
    },
    { header: t('account.status'), cell: (key) => <StatusBadge status={statusOf(key)} /> },
    {
      header: t('account.key.used'),
      cell: ({ last_used_at }) => (last_used_at === null ? t('account.never') : <When at={last_used_at} />),
    },
    {
      header: t('account.key.maker'),
      cell: ({ made_by }) => (made_by === null ? t('account.key.operator') : <bdi>{made_by}</bdi>),
    },
    { header: t('account.created'), cell: ({ created_at }) => <When at={created_at} /> },
    useActionsColumn<ApiKey>([
      {
        label: t('account.key.roll'),
        run: (key) => setActing({ act: 'roll', key }),
        applies: ({ live, revoked_at }) => live && revoked_at === null,
      },
      {
        label: t('account.key.revoke'),
        run: (key) => setActing({ act: 'revoke', key }),
        danger: true,
        applies: ({ live }) => live,
      },
    ]),
  ];
  return (
    <Section title={t('account.keys')}>
      <Table
        label={t('account.keys')}
        columns={columns}
        rows={rows}
        rowKey={({ key_id }) => key_id}
        empty={<Empty>{t('account.keys.empty')}</Empty>}
      />
      <KeyDialogs acting={acting} onClose={() => setActing(undefined)} onMade={onMade} />
    </Section>
  );
}

interface KeyDialogsProps {
  acting: KeyAction | undefined;
  onClose(): void;
  onMade(shown: Shown): void;
}

function KeyDialogs({ acting, onClose, onMade }: KeyDialogsProps) {
  const t = useTranslate();
  const queries = useQueryClient();
  return (
    <>
      <RollDialog
        title={t('account.key.roll.title', { name: acting?.key.name })}
        opened={acting?.act === 'roll'}
        onClose={onClose}
        onRoll={async (overlap) => {
          const path = { key_id: acting!.key.key_id };
          const { key, environment } = await call('rollOwnKey', { path, body: { overlap } });
          await queries.invalidateQueries(keys());
          onMade({ secret: key, environment });
        }}
      >
        {t('account.key.roll.text')}
      </RollDialog>
      <ConfirmDialog
        title={t('account.key.revoke.title', { name: acting?.key.name })}
        opened={acting?.act === 'revoke'}
        onClose={onClose}
        action={t('account.key.revoke')}
        danger
        onConfirm={async () => {
          await call('revokeOwnKey', { path: { key_id: acting!.key.key_id } });
          await queries.invalidateQueries(keys());
          toast(t('account.key.revoked'));
        }}
      >
        {t('account.key.revoke.text')}
      </ConfirmDialog>
    </>
  );
}

function Secrets({ onMade }: { onMade(shown: Shown): void }) {
  const t = useTranslate();
  const queries = useQueryClient();
  const { data } = useSuspenseQuery(secrets());
  const [rolling, setRolling] = useState<Environment>();
  const columns: Column<OwnWebhookSecret>[] = [
    { header: t('account.environment'), wide: true, cell: ({ environment }) => t(`account.${environment}`) },
    {
      header: t('account.status'),
      cell: ({ expires_at }) => <StatusBadge status={expires_at === null ? 'active' : 'expiring'} />,
    },
    {
      header: t('account.ends'),
      cell: ({ expires_at }) => (expires_at === null ? '' : <When at={expires_at} />),
    },
    { header: t('account.created'), cell: ({ created_at }) => <When at={created_at} /> },
    useActionsColumn<OwnWebhookSecret>([
      {
        label: t('account.key.roll'),
        run: ({ environment }) => setRolling(environment),
        applies: ({ expires_at }) => expires_at === null,
      },
    ]),
  ];
  return (
    <Section title={t('account.secrets')}>
      <p className={css.muted}>{t('account.secrets.lead')}</p>
      <Table
        label={t('account.secrets')}
        columns={columns}
        rows={data.objects}
        rowKey={({ secret_id }) => secret_id}
        empty={<Empty>{t('account.secrets.lead')}</Empty>}
      />
      <RollDialog
        title={t('account.secret.roll.title')}
        opened={rolling !== undefined}
        onClose={() => setRolling(undefined)}
        onRoll={async (overlap) => {
          const path = { environment: rolling! };
          const { webhook_secret } = await call('rollOwnWebhookSecret', { path, body: { overlap } });
          await queries.invalidateQueries(secrets());
          onMade({ secret: webhook_secret });
        }}
      >
        {t('account.secret.roll.text')}
      </RollDialog>
    </Section>
  );
}

interface MadeProps {
  opened: boolean;
  onClose(): void;
}

function MakeKey({ opened, onClose, onMade }: MadeProps & { onMade(shown: Shown): void }) {
  const t = useTranslate();
  const queries = useQueryClient();
  return (
    <Dialog title={t('account.key.make')} opened={opened} onClose={onClose}>
      <Form
        onSubmit={async (values) => {
          const { name = '', environment, may } = values;
          const where = environment as Environment;
          const body = {
            name,
            environment: where,
            read_only: may === 'read',
            ...keyLimitsOf(values, t),
          };
          const { key } = await call('makeOwnKey', { body });
          await queries.invalidateQueries(keys());
          onClose();
          onMade({ secret: key, environment: where });
        }}
      >
        <Field name="name" label={t('account.key.name')} description={t('account.key.name.help')} />
        <ChoiceField
          name="environment"
          label={t('account.environment')}
          choices={ENVIRONMENTS.map((value) => ({ value, label: t(`account.${value}`) }))}
        />
        <ChoiceField
          name="may"
          label={t('account.key.permissions')}
          choices={(['write', 'read'] as const).map((value) => ({
            value,
            label: t(`account.key.permissions.${value}`),
          }))}
        />
        <KeyLimitFields />
        <DialogActions>
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          <SubmitButton>{t('account.key.make')}</SubmitButton>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

function ShownOnce({ shown, onClose }: { shown: Shown | undefined; onClose(): void }) {
  const t = useTranslate();
  return (
    <Dialog wide title={t('account.shown.title')} opened={shown !== undefined} onClose={onClose}>
      {shown !== undefined && (
        <>
          <Notice tone="warning">{t('account.shown.text')}</Notice>
          <CopyLine text={shown.secret} what={t('account.shown.secret')} />
          {shown.environment !== undefined && (
            <>
              <h3>{t('account.first.snippet')}</h3>
              <CopyBlock
                text={firstRequest(shown.environment, shown.secret)}
                what={t('account.first.snippet')}
              />
            </>
          )}
          <DialogActions>
            <Button variant="filled" onClick={onClose}>
              {t('account.shown.done')}
            </Button>
          </DialogActions>
        </>
      )}
    </Dialog>
  );
}
