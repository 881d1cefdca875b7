/** The webhook endpoints of the account: URLs that get its events. */
import { Button } from '@mantine/core';
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import type { ApiKey, EndpointEventType, WebhookEndpoint } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { useErrorMessage } from '../ui/Failure.tsx';
import { ChecksField, ChoiceField, Field, Form, SubmitButton, type Values } from '../ui/form.tsx';
import { Section } from '../ui/Page.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import { toast } from '../ui/Toast.tsx';
import css from './account.module.css';
import { useActionsColumn } from './actions.tsx';
import { ENVIRONMENTS, type Environment } from './environment.tsx';
import { RollDialog } from './RollDialog.tsx';

const EVENTS: readonly EndpointEventType[] = [
  'job.completed',
  'job.failed',
  'job.canceled',
  'job.asked',
  'message.translated',
  'message.failed',
  'message.corrected',
];

const GIVEN_STATUSES = ['active', 'disabled'] as const;
type GivenStatus = (typeof GIVEN_STATUSES)[number];

export const endpointsQuery = () => query('listOwnWebhookEndpoints');

/** What the user does with an endpoint; without an endpoint, they register one. */
interface Acting {
  act: 'edit' | 'roll' | 'delete';
  endpoint?: WebhookEndpoint;
}

interface EndpointsProps {
  /** The API keys of the account, also those that have ended. */
  keys: readonly ApiKey[];
  /** Called with a new secret, which is shown only once. */
  onMade(secret: string): void;
}

export function Endpoints({ keys, onMade }: EndpointsProps) {
  const t = useTranslate();
  const { data } = useSuspenseQuery(endpointsQuery());
  const [acting, setActing] = useState<Acting>();
  return (
    <Section
      title={t('account.endpoints')}
      actions={<Button onClick={() => setActing({ act: 'edit' })}>{t('account.endpoint.make')}</Button>}
    >
      <p className={css.muted}>{t('account.endpoints.lead')}</p>
      <Table
        label={t('account.endpoints')}
        columns={useColumns(keys, setActing)}
        rows={data.objects}
        rowKey={({ id }) => id}
        empty={<Empty>{t('account.endpoints.empty')}</Empty>}
      />
      <EndpointDialogs acting={acting} onClose={() => setActing(undefined)} onMade={onMade} />
    </Section>
  );
}

/** Returns the function that enables an endpoint with one click. */
function useEnable(): (endpoint: WebhookEndpoint) => Promise<void> {
  const t = useTranslate();
  const messageOf = useErrorMessage();
  const queries = useQueryClient();
  return async ({ id }) => {
    try {
      await call('changeOwnWebhookEndpoint', { path: { endpoint_id: id }, body: { status: 'active' } });
      toast(t('account.endpoint.enabled'));
    } catch (error) {
      toast(messageOf(error as Error), 'danger');
    }
    await queries.invalidateQueries(endpointsQuery());
  };
}

function useColumns(keys: readonly ApiKey[], onAct: (acting: Acting) => void): Column<WebhookEndpoint>[] {
  const t = useTranslate();
  const enable = useEnable();
  return [
    {
      header: t('account.delivery.url'),
      wide: true,
      cell: ({ url, description, key_id, status }) => (
        <>
          <bdi className={css.uid} dir="ltr" title={url}>
            {url}
          </bdi>
          {description !== '' && (
            <div className={css.muted}>
              <bdi>{description}</bdi>
            </div>
          )}
          {key_id !== null && <SetByKey id={key_id} keys={keys} />}
          {status === 'failed' && <p>{t('account.endpoint.failed')}</p>}
        </>
      ),
    },
    {
      header: t('account.environment'),
      cell: ({ environment }) => (
        <Tag {...(environment === 'production' ? { tone: 'info' } : {})}>{t(`account.${environment}`)}</Tag>
      ),
    },
    {
      header: t('account.endpoint.events'),
      cell: ({ events }) =>
        events === null ? (
          t('account.endpoint.events.all')
        ) : (
          <span className={css.buttons}>
            {events.map((event) => (
              <code key={event}>{event}</code>
            ))}
          </span>
        ),
    },
    { header: t('account.status'), cell: ({ status }) => <StatusBadge status={status} /> },
    useActionsColumn<WebhookEndpoint>([
      {
        label: t('account.endpoint.enable'),
        run: (endpoint) => void enable(endpoint),
        applies: ({ status }) => status !== 'active',
      },
      { label: t('account.endpoint.edit'), run: (endpoint) => onAct({ act: 'edit', endpoint }) },
      { label: t('account.endpoint.roll'), run: (endpoint) => onAct({ act: 'roll', endpoint }) },
      {
        label: t('account.endpoint.delete'),
        run: (endpoint) => onAct({ act: 'delete', endpoint }),
        danger: true,
      },
    ]),
  ];
}

/** Names the API key that set the URL of an endpoint, and warns if the key has ended. */
function SetByKey({ id, keys }: { id: string; keys: readonly ApiKey[] }) {
  const t = useTranslate();
  const key = keys.find(({ key_id }) => key_id === id);
  return (
    <div className={css.muted}>
      {t('account.endpoint.key', { name: key?.name ?? id })}{' '}
      {!key?.live && <Tag tone="warning">{t('account.endpoint.key_ended')}</Tag>}
    </div>
  );
}

interface DialogsProps {
  acting: Acting | undefined;
  onClose(): void;
  onMade(secret: string): void;
}

function EndpointDialogs({ acting, onClose, onMade }: DialogsProps) {
  const t = useTranslate();
  const queries = useQueryClient();
  const path = { endpoint_id: acting?.endpoint?.id ?? '' };
  const url = acting?.endpoint?.url;
  return (
    <>
      <Dialog
        title={t(acting?.endpoint === undefined ? 'account.endpoint.make' : 'account.endpoint.edit.title')}
        opened={acting?.act === 'edit'}
        onClose={onClose}
      >
        <EndpointForm endpoint={acting?.endpoint} onClose={onClose} onMade={onMade} />
      </Dialog>
      <RollDialog
        title={t('account.endpoint.roll.title')}
        opened={acting?.act === 'roll'}
        onClose={onClose}
        onRoll={async (overlap) => {
          const { webhook_secret } = await call('rollOwnWebhookEndpointSecret', { path, body: { overlap } });
          onMade(webhook_secret);
        }}
      >
        {t('account.endpoint.roll.text')}
      </RollDialog>
      <ConfirmDialog
        title={t('account.endpoint.delete.title')}
        opened={acting?.act === 'delete'}
        onClose={onClose}
        action={t('account.endpoint.delete')}
        danger
        onConfirm={async () => {
          await call('deleteOwnWebhookEndpoint', { path });
          await queries.invalidateQueries(endpointsQuery());
          toast(t('account.endpoint.deleted'));
        }}
      >
        <p>
          <bdi dir="ltr" className={css.wrap}>
            {url}
          </bdi>
        </p>
        <p>{t('account.endpoint.delete.text')}</p>
      </ConfirmDialog>
    </>
  );
}

interface FormProps {
  endpoint: WebhookEndpoint | undefined;
  onClose(): void;
  onMade(secret: string): void;
}

/** Registers an endpoint, or changes it. */
function EndpointForm({ endpoint, onClose, onMade }: FormProps) {
  const t = useTranslate();
  const queries = useQueryClient();
  async function save(values: Values): Promise<void> {
    const { url = '', description = '', environment, status } = values;
    const body = { url, description, events: eventsOf(values) };
    if (endpoint === undefined) {
      const where = { environment: environment as Environment };
      const made = await call('createOwnWebhookEndpoint', { body: { ...body, ...where } });
      await queries.invalidateQueries(endpointsQuery());
      onClose();
      return onMade(made.webhook_secret);
    }
    const path = { endpoint_id: endpoint.id };
    // A failed endpoint stays failed when only its other fields change.
    const change = status === givenStatusOf(endpoint) ? body : { ...body, status: status as GivenStatus };
    await call('changeOwnWebhookEndpoint', { path, body: change });
    await queries.invalidateQueries(endpointsQuery());
    toast(t('ui.saved'));
    onClose();
  }
  return (
    <Form onSubmit={save}>
      <Field
        name="url"
        type="url"
        label={t('account.delivery.url')}
        defaultValue={endpoint?.url ?? ''}
        ltr
        autoFocus
      />
      <Field
        name="description"
        label={t('account.endpoint.description')}
        defaultValue={endpoint?.description ?? ''}
        optional
      />
      {endpoint === undefined ? (
        <ChoiceField
          name="environment"
          label={t('account.environment')}
          choices={ENVIRONMENTS.map((value) => ({ value, label: t(`account.${value}`) }))}
        />
      ) : (
        <ChoiceField
          name="status"
          label={t('account.status')}
          description={t('account.endpoint.status.help')}
          defaultValue={givenStatusOf(endpoint)}
          choices={GIVEN_STATUSES.map((value) => ({ value, label: t(`status.${value}`) }))}
        />
      )}
      <ChecksField
        name="events"
        label={t('account.endpoint.events')}
        checked={endpoint?.events ?? EVENTS}
        choices={EVENTS.map((value) => ({ value, label: value }))}
      />
      <DialogActions>
        <Button onClick={onClose}>{t('ui.cancel')}</Button>
        <SubmitButton>{t('ui.save')}</SubmitButton>
      </DialogActions>
    </Form>
  );
}

/** Returns the status that the form shows: a failed endpoint is shown as disabled. */
function givenStatusOf({ status }: WebhookEndpoint): GivenStatus {
  return status === 'active' ? 'active' : 'disabled';
}

/** Returns the chosen event types; null for all, so that the endpoint also gets the types of later versions. */
function eventsOf(values: Values): EndpointEventType[] | null {
  const chosen = EVENTS.filter((event) => values[`events.${event}`] !== undefined);
  return chosen.length === EVENTS.length ? null : chosen;
}
