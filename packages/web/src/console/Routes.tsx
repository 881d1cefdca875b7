/** Which engines serve what, in which order. */
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import type { ConsoleRoute } from '../api/generated.ts';
import type { Loading } from '../page.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { ChoiceField, Field, Form, SubmitButton } from '../ui/form.tsx';
import { Page } from '../ui/Page.tsx';
import { Table } from '../ui/Table.tsx';
import { useSay } from '../words.tsx';
import css from './console.module.css';
import { AccountLink, Pair, useChange } from './parts.tsx';

const routes = () => query('listRoutes');

export const load = ({ queries }: Loading) => queries.ensureQueryData(routes());

const TIERS = ['*', 'human', 'machine', 'chat'] as const;

export default function Routes() {
  const say = useSay();
  const change = useChange();
  const { data } = useSuspenseQuery(routes());
  const [setting, setSetting] = useState<ConsoleRoute | 'new'>();
  const [removing, setRemoving] = useState<ConsoleRoute>();
  const tierOf = (tier: (typeof TIERS)[number]) =>
    tier === '*' ? say('console.any') : say(`console.tier.${tier}`);
  const current = setting === 'new' ? undefined : setting;
  return (
    <Page
      title={say('nav.routes')}
      lead={
        <>
          {say('console.routes.lead')} <bdi>{data.fallback.join(', ') || '–'}</bdi>
        </>
      }
      actions={
        <Button
          variant="filled"
          leftSection={<IconPlus size={16} aria-hidden />}
          onClick={() => setSetting('new')}
        >
          {say('console.routes.set')}
        </Button>
      }
    >
      <Table
        label={say('nav.routes')}
        rows={data.routes}
        rowKey={keyOf}
        empty={<Empty>{say('console.routes.empty')}</Empty>}
        columns={[
          {
            key: 'pair',
            header: say('console.pair'),
            cell: ({ source_language, target_language }) => (
              <Pair from={source_language} to={target_language} />
            ),
          },
          { key: 'tier', header: say('console.tier'), cell: ({ tier }) => tierOf(tier) },
          {
            key: 'account',
            header: say('console.account'),
            wide: true,
            cell: ({ account, brand }) => (
              <span className={css.row}>
                {account === null ? say('console.prices.everybody') : <AccountLink username={account} />}
                {brand !== null && <bdi>{brand}</bdi>}
              </span>
            ),
          },
          {
            key: 'engines',
            header: say('nav.engines'),
            cell: ({ engines }) => <bdi dir="ltr">{engines.join(', ')}</bdi>,
          },
          {
            key: 'change',
            header: say('console.edit'),
            bare: true,
            cell: (route) => (
              <span className={css.row}>
                <Button size="xs" onClick={() => setSetting(route)}>
                  {say('console.edit')}
                </Button>
                <Button size="xs" onClick={() => setRemoving(route)}>
                  {say('console.routes.remove')}
                </Button>
              </span>
            ),
          },
        ]}
      />
      <Dialog
        title={say('console.routes.set')}
        opened={setting !== undefined}
        onClose={() => setSetting(undefined)}
      >
        {setting !== undefined && (
          <Form
            onSubmit={async (values) => {
              const body = {
                source_language: values.source_language || '*',
                target_language: values.target_language || '*',
                tier: values.tier as ConsoleRoute['tier'],
                account: values.account || null,
                brand: values.brand || null,
                engines: (values.engines ?? '').split(/[\s,;]+/).filter((one) => one !== ''),
              };
              await change(() => call('setRoute', { body }), say('ui.saved'));
              setSetting(undefined);
            }}
          >
            <div className={css.inline}>
              <Field
                name="source_language"
                label={say('console.source')}
                description={say('console.prices.all_about')}
                defaultValue={current?.source_language ?? ''}
                optional
                ltr
              />
              <Field
                name="target_language"
                label={say('console.target')}
                description={say('console.prices.all_about')}
                defaultValue={current?.target_language ?? ''}
                optional
                ltr
              />
            </div>
            <ChoiceField
              name="tier"
              label={say('console.tier')}
              defaultValue={current?.tier ?? '*'}
              choices={TIERS.map((value) => ({ value, label: tierOf(value) }))}
            />
            <Field
              name="account"
              label={say('console.account')}
              defaultValue={current?.account ?? ''}
              optional
              ltr
            />
            <Field
              name="brand"
              label={say('console.brand')}
              defaultValue={current?.brand ?? ''}
              optional
              ltr
            />
            <Field
              name="engines"
              label={say('nav.engines')}
              description={say('console.routes.engines_about', { engines: data.known.join(', ') })}
              defaultValue={current?.engines.join(', ') ?? ''}
              ltr
            />
            <DialogActions>
              <Button onClick={() => setSetting(undefined)}>{say('ui.cancel')}</Button>
              <SubmitButton>{say('ui.save')}</SubmitButton>
            </DialogActions>
          </Form>
        )}
      </Dialog>
      <ConfirmDialog
        title={say('console.routes.remove')}
        action={say('console.routes.remove')}
        danger
        opened={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        onConfirm={() => {
          const { engines: _, ...body } = removing!;
          return change(() => call('removeRoute', { body }), say('ui.saved'));
        }}
      >
        {say('console.routes.remove_about')}
      </ConfirmDialog>
    </Page>
  );
}

const keyOf = ({ source_language, target_language, tier, account, brand }: ConsoleRoute) =>
  `${source_language}>${target_language} ${tier} ${account ?? '*'} ${brand ?? '*'}`;
