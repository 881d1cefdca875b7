/** The money of one account: what moved, and moving it. What an entry would do is shown before it is made. */
import { Button } from '@mantine/core';
import { IconArrowRight } from '@tabler/icons-react';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useIntl } from 'react-intl';
import { CallError, call, query } from '../api/client.ts';
import type { MovedMoney } from '../api/generated.ts';
import type { Loading, PageProps, Search } from '../page.tsx';
import { Chart } from '../ui/Chart.tsx';
import { Empty } from '../ui/Empty.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { ChoiceFilter, Filters } from '../ui/Filters.tsx';
import { ChoiceField, Field, Form, FormActions, SubmitButton, type Values } from '../ui/form.tsx';
import { Money as Dollars } from '../ui/Money.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Section } from '../ui/Page.tsx';
import { Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';
import { AccountPage } from './AccountPage.tsx';
import css from './console.module.css';
import { centsOf, Figures, useChange } from './parts.tsx';

type Environment = 'production' | 'sandbox';
const environmentOf = ({ environment }: Search): Environment =>
  environment === 'sandbox' ? 'sandbox' : 'production';
const statement = (username: string, search: Search) =>
  query('readStatement', { path: { username }, query: { environment: environmentOf(search) } });

export const load = ({ queries, params, search }: Loading) =>
  queries.ensureQueryData(statement(params.username!, search));

const KINDS = ['top_up', 'hold', 'capture', 'void', 'refund', 'adjustment'] as const;

export default function Money({ params, search }: PageProps) {
  const say = useSay();
  const intl = useIntl();
  const username = params.username!;
  const { data } = useSuspenseQuery(statement(username, search));
  const kindOf = (kind: string) => {
    const known = KINDS.find((one) => one === kind);
    return known === undefined ? kind : say(`console.money.kind.${known}`);
  };
  return (
    <AccountPage username={username} title={say('console.money.title')}>
      <div className={css.columns}>
        <Section title={say('console.money.move')}>
          <Card>
            <Move username={username} environment={environmentOf(search)} />
          </Card>
        </Section>
        <Section title={say('console.money.month')}>
          <Card>
            <div className={css.stack}>
              <Figures
                figures={[
                  [say('console.balance'), <Dollars key="balance" cents={data.closing} />],
                  [
                    say('console.money.spent'),
                    <Dollars key="spent" cents={data.days.reduce((sum, { spent }) => sum + spent, 0)} />,
                  ],
                  [
                    say('console.money.put'),
                    <Dollars key="put" cents={data.days.reduce((sum, { put }) => sum + put, 0)} />,
                  ],
                ]}
              />
              <Chart
                label={say('console.money.chart')}
                heads={{ label: say('console.day'), value: say('console.money.spent') }}
                format={(cents) => intl.formatNumber(cents / 100, { style: 'currency', currency: 'USD' })}
                bars={data.days.map(({ day, spent }) => ({
                  label: intl.formatDate(day, { month: 'short', day: 'numeric', timeZone: 'UTC' }),
                  value: spent,
                }))}
              />
            </div>
          </Card>
        </Section>
      </div>
      <Section title={say('console.money.movements')}>
        <Filters>
          <ChoiceFilter
            name="environment"
            label={say('console.environment')}
            search={search}
            choices={[
              { value: '', label: say('console.environment.production') },
              { value: 'sandbox', label: say('console.environment.sandbox') },
            ]}
          />
        </Filters>
        <Table
          label={say('console.money.movements')}
          rows={data.lines.toReversed()}
          rowKey={({ at, kind, uid, balance, amount }) => `${at} ${kind} ${uid} ${balance} ${amount}`}
          empty={<Empty>{say('console.money.empty')}</Empty>}
          columns={[
            { key: 'at', header: say('console.when'), cell: ({ at }) => <When at={at} /> },
            { key: 'kind', header: say('console.money.kind'), cell: ({ kind }) => kindOf(kind) },
            {
              key: 'about',
              header: say('console.money.about'),
              wide: true,
              cell: ({ uid, memo }) => (
                <>
                  {uid !== null && <bdi className={css.code}>{uid}</bdi>} {memo !== null && <bdi>{memo}</bdi>}
                </>
              ),
            },
            {
              key: 'change',
              header: say('console.money.change'),
              align: 'end',
              cell: ({ change }) => <Dollars cents={change} />,
            },
            {
              key: 'balance',
              header: say('console.balance'),
              align: 'end',
              cell: ({ balance }) => <Dollars cents={balance} />,
            },
          ]}
        />
      </Section>
    </AccountPage>
  );
}

interface Wanted {
  kind: 'top_up' | 'adjustment' | 'refund';
  environment: Environment;
  cents?: number;
  uid?: string;
  memo: string;
}

/** First what would become of the balance, then the entry itself: under one key, so that a second click does nothing. */
function Move({ username, environment }: { username: string; environment: Environment }) {
  const say = useSay();
  const change = useChange();
  const [kind, setKind] = useState<Wanted['kind']>('top_up');
  const [rehearsed, setRehearsed] = useState<{ wanted: Wanted; moved: MovedMoney; key: string }>();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();

  async function rehearse(values: Values): Promise<void> {
    const cents = kind === 'refund' ? undefined : centsOf(values.cents ?? '');
    if (kind !== 'refund' && cents === undefined) {
      throw new CallError('invalid_request', '', { fields: { cents: say('console.money.wrong') } });
    }
    const wanted: Wanted = {
      kind,
      environment: values.environment as Environment,
      memo: values.memo ?? '',
      ...(cents === undefined ? {} : { cents }),
      ...(kind === 'refund' ? { uid: values.uid ?? '' } : {}),
    };
    const moved = await call('moveMoney', { path: { username }, body: { ...wanted, dry_run: true } });
    setError(undefined);
    setRehearsed({ wanted, moved, key: crypto.randomUUID() });
  }

  async function apply(): Promise<void> {
    const { wanted, key } = rehearsed!;
    setBusy(true);
    try {
      await change(
        () => call('moveMoney', { path: { username }, body: wanted }, { idempotencyKey: key }),
        say('console.money.done'),
      );
      setRehearsed(undefined);
    } catch (failed) {
      setError(failed as Error);
    } finally {
      setBusy(false);
    }
  }

  if (rehearsed !== undefined) {
    const { moved, wanted } = rehearsed;
    return (
      <div className={css.stack}>
        <p>
          {say(`console.money.kind.${wanted.kind}`)}
          {': '}
          <bdi>{wanted.memo}</bdi>
        </p>
        <p className={css.effect}>
          <Dollars cents={moved.before} />
          <IconArrowRight size={20} role="img" aria-label={say('console.money.becomes')} />
          <Dollars cents={moved.after} />
        </p>
        {moved.after < 0 && <Notice tone="warning">{say('console.money.owes')}</Notice>}
        {error !== undefined && <FailureNotice error={error} />}
        <div className={css.row}>
          <Button variant="filled" loading={busy} onClick={() => void apply()} data-autofocus>
            {say('console.money.apply')}
          </Button>
          <Button onClick={() => setRehearsed(undefined)}>{say('ui.cancel')}</Button>
        </div>
      </div>
    );
  }
  return (
    <Form onSubmit={rehearse}>
      <ChoiceField
        name="kind"
        label={say('console.money.kind')}
        defaultValue={kind}
        onChange={(value) => setKind(value as Wanted['kind'])}
        choices={(['top_up', 'adjustment', 'refund'] as const).map((value) => ({
          value,
          label: say(`console.money.kind.${value}`),
        }))}
      />
      <ChoiceField
        name="environment"
        label={say('console.environment')}
        defaultValue={environment}
        choices={(['production', 'sandbox'] as const).map((value) => ({
          value,
          label: say(`console.environment.${value}`),
        }))}
      />
      {kind === 'refund' ? (
        <Field name="uid" label={say('console.money.uid')} description={say('console.money.uid_about')} ltr />
      ) : (
        <Field
          name="cents"
          label={say('console.money.amount')}
          {...(kind === 'adjustment' ? { description: say('console.money.adjust_about') } : {})}
          ltr
        />
      )}
      <Field
        name="memo"
        label={say('console.money.reason')}
        description={say('console.money.reason_about')}
      />
      <FormActions>
        <SubmitButton>{say('console.money.preview')}</SubmitButton>
      </FormActions>
    </Form>
  );
}
