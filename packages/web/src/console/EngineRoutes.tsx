/** Lists the engine routes, which an operator sets and removes here. */
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import type { ConsoleRoute, Operations } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import type { Loading } from '../page.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { ChoiceField, Field, Form, SubmitButton } from '../ui/form.tsx';
import { Page } from '../ui/Page.tsx';
import { Table } from '../ui/Table.tsx';
import css from './console.module.css';
import { AccountField, EngineFields, enginesOf, LanguageField } from './pickers.tsx';
import { AccountLink, Pair, useChange } from './shared.tsx';

const routes = () => query('listRoutes');

export const load = ({ queries }: Loading) => queries.ensureQueryData(routes());

const TIERS = ['*', 'human', 'machine', 'chat'] as const;

export default function EngineRoutes() {
  const t = useTranslate();
  const change = useChange();
  const { data } = useSuspenseQuery(routes());
  const [editing, setEditing] = useState<ConsoleRoute | 'new'>();
  const [removing, setRemoving] = useState<ConsoleRoute>();
  const tierOf = useTierName();
  const current = editing === 'new' ? undefined : editing;
  return (
    <Page
      title={t('nav.routes')}
      lead={
        <>
          {t('console.routes.lead')} <bdi>{data.fallback.join(', ') || '–'}</bdi>
        </>
      }
      actions={
        <Button
          variant="filled"
          leftSection={<IconPlus size={16} aria-hidden />}
          onClick={() => setEditing('new')}
        >
          {t('console.routes.set')}
        </Button>
      }
    >
      <Table
        label={t('nav.routes')}
        rows={data.routes}
        rowKey={keyOf}
        empty={<Empty>{t('console.routes.empty')}</Empty>}
        columns={[
          { header: t('console.pair'), cell: (row) => <Pair of={row} /> },
          { header: t('console.tier'), cell: ({ tier }) => tierOf(tier) },
          {
            header: t('console.account'),
            wide: true,
            cell: ({ account, brand }) => (
              <span className={css.row}>
                {account === null ? t('console.prices.all_accounts') : <AccountLink username={account} />}
                {brand !== null && <bdi>{brand}</bdi>}
              </span>
            ),
          },
          { header: t('nav.engines'), cell: ({ engines }) => <bdi dir="ltr">{engines.join(', ')}</bdi> },
          {
            header: t('console.edit'),
            bare: true,
            cell: (route) => (
              <span className={css.row}>
                <Button size="xs" onClick={() => setEditing(route)}>
                  {t('console.edit')}
                </Button>
                <Button size="xs" onClick={() => setRemoving(route)}>
                  {t('console.routes.remove')}
                </Button>
              </span>
            ),
          },
        ]}
      />
      <Dialog
        title={t('console.routes.set')}
        opened={editing !== undefined}
        onClose={() => setEditing(undefined)}
      >
        {editing !== undefined && (
          <RouteForm route={current} engines={data.known} onDone={() => setEditing(undefined)} />
        )}
      </Dialog>
      <ConfirmDialog
        title={t('console.routes.remove')}
        action={t('console.routes.remove')}
        danger
        opened={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        onConfirm={() => {
          const { engines: _, ...body } = removing!;
          return change(() => call('removeRoute', { body }), t('ui.saved'));
        }}
      >
        {t('console.routes.remove_about')}
      </ConfirmDialog>
    </Page>
  );
}

function useTierName(): (tier: (typeof TIERS)[number]) => string {
  const t = useTranslate();
  return (tier) => (tier === '*' ? t('console.any') : t(`console.tier.${tier}`));
}

interface RouteFormProps {
  /** Undefined for a new engine route. */
  route: ConsoleRoute | undefined;
  engines: readonly string[];
  onDone(): void;
}

function RouteForm({ route, engines, onDone }: RouteFormProps) {
  const t = useTranslate();
  const change = useChange();
  const tierOf = useTierName();
  return (
    <Form
      onSubmit={async (values) => {
        const body: Operations['setRoute']['body'] = {
          source_language: values.source_language || '*',
          target_language: values.target_language || '*',
          tier: values.tier as ConsoleRoute['tier'],
          account: values.account || null,
          brand: values.brand || null,
          engines: enginesOf(values),
        };
        await change(() => call('setRoute', { body }), t('ui.saved'));
        onDone();
      }}
    >
      <div className={css.inline}>
        <LanguageField
          name="source_language"
          label={t('console.source')}
          description={t('console.prices.all_about')}
          defaultValue={route?.source_language ?? ''}
          optional
        />
        <LanguageField
          name="target_language"
          label={t('console.target')}
          description={t('console.prices.all_about')}
          defaultValue={route?.target_language ?? ''}
          optional
        />
      </div>
      <ChoiceField
        name="tier"
        label={t('console.tier')}
        defaultValue={route?.tier ?? '*'}
        choices={TIERS.map((value) => ({ value, label: tierOf(value) }))}
      />
      <AccountField
        name="account"
        label={t('console.account')}
        defaultValue={route?.account ?? ''}
        optional
      />
      <Field name="brand" label={t('console.brand')} defaultValue={route?.brand ?? ''} optional ltr />
      <p className={css.muted}>{t('console.routes.engines_about')}</p>
      <EngineFields known={engines} chosen={route?.engines ?? []} />
      <DialogActions>
        <Button onClick={onDone}>{t('ui.cancel')}</Button>
        <SubmitButton>{t('ui.save')}</SubmitButton>
      </DialogActions>
    </Form>
  );
}

const keyOf = ({ source_language, target_language, tier, account, brand }: ConsoleRoute) =>
  `${source_language}>${target_language} ${tier} ${account ?? '*'} ${brand ?? '*'}`;
