/** The transfers of one account, and a form for a new transfer. */
import { Button } from '@mantine/core';
import { IconArrowRight } from '@tabler/icons-react';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useIntl } from 'react-intl';
import { CallError, call, query } from '../api/client.ts';
import type { MovedMoney } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import type { Loading, PageProps, Search } from '../page.tsx';
import { Chart } from '../ui/Chart.tsx';
import { Discounts, EditedWordCounts } from '../ui/Discounts.tsx';
import { Empty } from '../ui/Empty.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { ChoiceFilter, Filters } from '../ui/Filters.tsx';
import { ChoiceField, Field, Form, FormActions, SubmitButton, type Values } from '../ui/form.tsx';
import { centsOf, Money as Dollars } from '../ui/Money.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Section } from '../ui/Page.tsx';
import { Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import { AccountPage } from './AccountPage.tsx';
import css from './console.module.css';
import { Figures, useChange, useEnvironmentChoices } from './shared.tsx';

type Environment = 'production' | 'sandbox';
const environmentOf = ({ environment }: Search): Environment =>
  environment === 'sandbox' ? 'sandbox' : 'production';
const statement = (username: string, search: Search) =>
  query('readAccountLedger', { path: { username }, query: { environment: environmentOf(search) } });

export const load = ({ queries, params, search }: Loading) =>
  queries.ensureQueryData(statement(params.username!, search));

const KINDS = ['top_up', 'hold', 'capture', 'release', 'void', 'refund', 'adjustment'] as const;

export default function Money({ params, search }: PageProps) {
  const t = useTranslate();
  const intl = useIntl();
  const username = params.username!;
  const { data } = useSuspenseQuery(statement(username, search));
  const kindOf = (kind: string) => {
    const known = KINDS.find((one) => one === kind);
    return known === undefined ? kind : t(`console.money.kind.${known}`);
  };
  return (
    <AccountPage username={username} title={t('console.money.title')}>
      <div className={css.columns}>
        <Section title={t('console.money.move')}>
          <Card>
            <TransferForm username={username} environment={environmentOf(search)} />
          </Card>
        </Section>
        <Section title={t('console.money.month')}>
          <Card>
            <div className={css.stack}>
              <Figures
                figures={[
                  [t('console.balance'), <Dollars key="balance" cents={data.closing} />],
                  [
                    t('console.money.spent'),
                    <Dollars key="spent" cents={data.days.reduce((sum, { spent }) => sum + spent, 0)} />,
                  ],
                  [
                    t('console.money.topped_up'),
                    <Dollars key="put" cents={data.days.reduce((sum, { put }) => sum + put, 0)} />,
                  ],
                ]}
              />
              <Chart
                label={t('console.money.chart')}
                heads={{ label: t('console.day'), value: t('console.money.spent') }}
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
      <Section title={t('console.money.movements')}>
        <Filters>
          <ChoiceFilter
            name="environment"
            label={t('console.environment')}
            search={search}
            choices={[
              { value: '', label: t('console.environment.production') },
              { value: 'sandbox', label: t('console.environment.sandbox') },
            ]}
          />
        </Filters>
        <Table
          label={t('console.money.movements')}
          rows={data.entries.toReversed()}
          rowKey={({ at, kind, uid, balance, amount }) => `${at} ${kind} ${uid} ${balance} ${amount}`}
          empty={<Empty>{t('console.money.empty')}</Empty>}
          columns={[
            { header: t('console.when'), cell: ({ at }) => <When at={at} /> },
            { header: t('console.money.kind'), cell: ({ kind }) => kindOf(kind) },
            {
              header: t('console.money.about'),
              wide: true,
              cell: ({ uid, memo, discounts, edited_words: words }) => (
                <>
                  {uid !== null && <bdi className={css.code}>{uid}</bdi>} {memo !== null && <bdi>{memo}</bdi>}
                  <Discounts discounts={discounts} />
                  <EditedWordCounts of={words} />
                </>
              ),
            },
            {
              header: t('console.money.change'),
              align: 'end',
              cell: ({ change }) => <Dollars cents={change} />,
            },
            {
              header: t('console.balance'),
              align: 'end',
              cell: ({ balance }) => <Dollars cents={balance} />,
            },
          ]}
        />
      </Section>
    </AccountPage>
  );
}

interface Transfer {
  kind: 'top_up' | 'adjustment' | 'refund';
  environment: Environment;
  cents?: number;
  uid?: string;
  memo: string;
}

interface Previewed {
  transfer: Transfer;
  moved: MovedMoney;
  /** The idempotency key, so that a second click makes no second transfer. */
  key: string;
}

/** Makes a transfer. A dry run first shows the balance after it. */
function TransferForm({ username, environment }: { username: string; environment: Environment }) {
  const t = useTranslate();
  const environments = useEnvironmentChoices();
  const [kind, setKind] = useState<Transfer['kind']>('top_up');
  const [previewed, setPreviewed] = useState<Previewed>();

  async function preview(values: Values): Promise<void> {
    const cents = kind === 'refund' ? undefined : centsOf(values.cents ?? '');
    if (kind !== 'refund' && cents === undefined) {
      throw new CallError('invalid_request', '', { fields: { cents: t('ui.money_wrong') } });
    }
    const transfer: Transfer = {
      kind,
      environment: values.environment as Environment,
      memo: values.memo ?? '',
      ...(cents === undefined ? {} : { cents }),
      ...(kind === 'refund' ? { uid: values.uid ?? '' } : {}),
    };
    const moved = await call('moveMoney', { path: { username }, body: { ...transfer, dry_run: true } });
    setPreviewed({ transfer, moved, key: crypto.randomUUID() });
  }

  if (previewed !== undefined) {
    return <Preview username={username} previewed={previewed} onDone={() => setPreviewed(undefined)} />;
  }
  return (
    <Form onSubmit={preview}>
      <ChoiceField
        name="kind"
        label={t('console.money.kind')}
        defaultValue={kind}
        onChange={(value) => setKind(value as Transfer['kind'])}
        choices={(['top_up', 'adjustment', 'refund'] as const).map((value) => ({
          value,
          label: t(`console.money.kind.${value}`),
        }))}
      />
      <ChoiceField
        name="environment"
        label={t('console.environment')}
        defaultValue={environment}
        choices={environments}
      />
      {kind === 'refund' ? (
        <Field name="uid" label={t('console.money.uid')} description={t('console.money.uid_about')} ltr />
      ) : (
        <Field
          name="cents"
          label={t('console.money.amount')}
          {...(kind === 'adjustment' ? { description: t('console.money.adjust_about') } : {})}
          ltr
        />
      )}
      <Field name="memo" label={t('console.money.reason')} description={t('console.money.reason_about')} />
      <FormActions>
        <SubmitButton>{t('console.money.preview')}</SubmitButton>
      </FormActions>
    </Form>
  );
}

interface PreviewProps {
  username: string;
  previewed: Previewed;
  onDone(): void;
}

function Preview({ username, previewed: { transfer, moved, key }, onDone }: PreviewProps) {
  const t = useTranslate();
  const change = useChange();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();

  async function apply(): Promise<void> {
    setBusy(true);
    try {
      await change(
        () => call('moveMoney', { path: { username }, body: transfer }, { idempotencyKey: key }),
        t('console.money.done'),
      );
      onDone();
    } catch (failed) {
      setError(failed as Error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <div className={css.stack}>
      <p>
        {t(`console.money.kind.${transfer.kind}`)}
        {': '}
        <bdi>{transfer.memo}</bdi>
      </p>
      <p className={css.effect}>
        <Dollars cents={moved.before} />
        <IconArrowRight size={20} role="img" aria-label={t('console.money.becomes')} />
        <Dollars cents={moved.after} />
      </p>
      {moved.after < 0 && <Notice tone="warning">{t('console.money.owes')}</Notice>}
      {error !== undefined && <FailureNotice error={error} />}
      <div className={css.row}>
        <Button variant="filled" loading={busy} onClick={() => void apply()} data-autofocus>
          {t('console.money.apply')}
        </Button>
        <Button onClick={onDone}>{t('ui.cancel')}</Button>
      </div>
    </div>
  );
}
