/**
 * The account's data: retention, export and erasure. Only owners can change them; other customers see the
 * retention.
 */
import { Button } from '@mantine/core';
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useIntl } from 'react-intl';
import { type CallError, call, download, query } from '../api/client.ts';
import type { Retention } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import type { Loading } from '../page.tsx';
import { paths } from '../paths.ts';
import { sessionQuery, useUser } from '../session.ts';
import { Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Facts } from '../ui/Facts.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { ChoiceField, Field, Form, FormActions, SubmitButton } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Page, Section } from '../ui/Page.tsx';
import { toast } from '../ui/Toast.tsx';
import css from './account.module.css';

const retention = () => query('readRetention');

export const load = ({ queries }: Loading) => queries.ensureQueryData(retention());

export default function Data() {
  const t = useTranslate();
  const owner = useUser()?.owner === true;
  return (
    <Page title={t('account.data.title')} lead={t('account.data.lead')} prose>
      {!owner && (
        <Notice tone="info" action={<Link to={paths.account.team}>{t('account.team.title')}</Link>}>
          {t('account.data.owners')}
        </Notice>
      )}
      {owner ? <RetentionForm /> : <RetentionPeriods />}
      {owner && <Export />}
      {owner && <Erasure />}
    </Page>
  );
}

const KINDS = ['texts', 'events', 'attempts'] as const;
const PERIOD_DAYS = [7, 30, 90, 180, 365, 730];
const FOREVER = 'forever';

function usePeriodName(): (days: number | null) => string {
  const t = useTranslate();
  return (days) => (days === null ? t('account.retention.forever') : t('account.retention.days', { days }));
}

function RetentionPeriods() {
  const t = useTranslate();
  const { data } = useSuspenseQuery(retention());
  const nameOf = usePeriodName();
  return (
    <Section title={t('account.retention.title')}>
      <Card>
        <Facts
          facts={KINDS.map((one) => ({ label: t(`account.retention.${one}`), value: nameOf(data[one]) }))}
        />
      </Card>
    </Section>
  );
}

/** Returns whether a retention period becomes shorter, which deletes older data for good. */
function shortens(before: Retention, after: Retention): boolean {
  const daysOf = (days: number | null) => days ?? Number.POSITIVE_INFINITY;
  return KINDS.some((one) => daysOf(after[one]) < daysOf(before[one]));
}

function RetentionForm() {
  const t = useTranslate();
  const queries = useQueryClient();
  const { data } = useSuspenseQuery(retention());
  const nameOf = usePeriodName();
  const [confirming, setConfirming] = useState<Retention>();
  async function write(changed: Retention): Promise<void> {
    queries.setQueryData(retention().queryKey, await call('changeRetention', { body: changed }));
    setConfirming(undefined);
    toast(t('ui.saved'));
  }
  const choices = (now: number | null) => [
    ...[...new Set([...PERIOD_DAYS, ...(now === null ? [] : [now])])]
      .sort((one, other) => one - other)
      .map((days) => ({ value: String(days), label: nameOf(days) })),
    { value: FOREVER, label: nameOf(null) },
  ];
  return (
    <Section title={t('account.retention.title')}>
      <Card>
        <Form
          key={JSON.stringify(data)}
          onSubmit={async (values) => {
            const read = (one: (typeof KINDS)[number]) =>
              values[one] === FOREVER ? null : Number(values[one]);
            const changed = { attempts: read('attempts'), events: read('events'), texts: read('texts') };
            if (shortens(data, changed)) setConfirming(changed);
            else await write(changed);
          }}
        >
          {KINDS.map((one) => (
            <ChoiceField
              key={one}
              name={one}
              label={t(`account.retention.${one}`)}
              description={t(`account.retention.${one}.help`)}
              defaultValue={String(data[one] ?? FOREVER)}
              choices={choices(data[one])}
            />
          ))}
          <p className={css.muted}>{t('account.retention.stays')}</p>
          <FormActions>
            <SubmitButton secondary>{t('ui.save')}</SubmitButton>
          </FormActions>
        </Form>
      </Card>
      <Dialog
        title={t('account.retention.shorter')}
        opened={confirming !== undefined}
        onClose={() => setConfirming(undefined)}
      >
        <p>{t('account.retention.shorter.text')}</p>
        {confirming !== undefined && (
          <Form onSubmit={() => write(confirming)}>
            <Facts
              facts={KINDS.map((one) => ({
                label: t(`account.retention.${one}`),
                value: nameOf(confirming[one]),
              }))}
            />
            <DialogActions>
              <Button onClick={() => setConfirming(undefined)}>{t('ui.cancel')}</Button>
              <SubmitButton danger>{t('account.retention.shorten')}</SubmitButton>
            </DialogActions>
          </Form>
        )}
      </Dialog>
    </Section>
  );
}

/**
 * The download of the export. The page itself fetches the export, so that it can show the progress and notice
 * a lost connection; a download by the browser could do neither.
 */
function Export() {
  const t = useTranslate();
  const intl = useIntl();
  const username = useUser()?.account ?? '';
  const [state, setState] = useState<{ rows: number; bytes: number; done: boolean }>();
  const [error, setError] = useState<CallError>();
  const running = useRef<AbortController>(undefined);
  const busy = state !== undefined && !state.done;

  async function start(): Promise<void> {
    const controller = new AbortController();
    running.current = controller;
    setError(undefined);
    setState({ rows: 0, bytes: 0, done: false });
    try {
      const parts = await download('exportOwnAccount', controller.signal, (rows, bytes) =>
        setState({ rows, bytes, done: false }),
      );
      save(new Blob(parts, { type: 'application/x-ndjson' }), `${username}.jsonl`);
      setState((last) => last && { ...last, done: true });
    } catch (failed) {
      setState(undefined);
      if (!controller.signal.aborted) setError(failed as CallError);
    }
  }

  return (
    <Section title={t('account.export.title')}>
      <Card>
        <div className={css.block}>
          <p>{t('account.export.text')}</p>
          {error !== undefined && <FailureNotice error={error} />}
          <div role="status" className={css.muted}>
            {state !== undefined &&
              t(state.done ? 'account.export.done' : 'account.export.rows', {
                rows: state.rows,
                size: intl.formatNumber(state.bytes / 1_000_000, {
                  style: 'unit',
                  unit: 'megabyte',
                  maximumFractionDigits: 1,
                }),
              })}
          </div>
          <FormActions>
            {busy && <Button onClick={() => running.current?.abort()}>{t('ui.cancel')}</Button>}
            <Button loading={busy} onClick={() => void start()}>
              {t('account.export.download')}
            </Button>
          </FormActions>
        </div>
      </Card>
    </Section>
  );
}

/** Saves a file. Browsers keep large blobs on disk. */
function save(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // A download that has started no longer needs the URL.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function Erasure() {
  const t = useTranslate();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const username = useUser()?.account ?? '';
  const [confirming, setConfirming] = useState(false);
  const [typed, setTyped] = useState('');
  return (
    <Section title={t('account.erase.title')}>
      <Card>
        <div className={css.block}>
          <p>{t('account.erase.text')}</p>
          <ul className={css.list}>
            {(['now', 'deleted', 'stays', 'never'] as const).map((one) => (
              <li key={one}>{t(`account.erase.${one}`)}</li>
            ))}
          </ul>
          <FormActions>
            <Button color="danger" onClick={() => setConfirming(true)}>
              {t('account.erase.ask')}
            </Button>
          </FormActions>
        </div>
      </Card>
      <Dialog
        title={t('account.erase.confirm', { name: username })}
        opened={confirming}
        onClose={() => {
          setConfirming(false);
          setTyped('');
        }}
      >
        <Notice tone="danger">{t('account.erase.never')}</Notice>
        <Form
          onSubmit={async ({ username: typedName = '' }) => {
            await call('eraseOwnAccount', { body: { username: typedName } });
            queries.clear();
            queries.setQueryData(sessionQuery().queryKey, null);
            toast(t('account.erase.started'));
            await navigate({ to: paths.signIn });
          }}
        >
          <Field
            name="username"
            label={t('account.erase.name', { name: username })}
            autoComplete="off"
            ltr
            onChange={setTyped}
          />
          <DialogActions>
            <Button onClick={() => setConfirming(false)}>{t('ui.cancel')}</Button>
            <SubmitButton danger disabled={typed !== username}>
              {t('account.erase.action')}
            </SubmitButton>
          </DialogActions>
        </Form>
      </Dialog>
    </Section>
  );
}
