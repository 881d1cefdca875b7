/** What is kept of the account and for how long, all of it in a file, and its end. For owners; others read how long. */
import { Button } from '@mantine/core';
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { FormattedNumber } from 'react-intl';
import { type CallError, call, download, query } from '../api/client.ts';
import type { Keeping } from '../api/generated.ts';
import type { Loading } from '../page.tsx';
import { paths } from '../paths.ts';
import { person, usePerson } from '../session.ts';
import { Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Facts } from '../ui/Facts.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { ChoiceField, Field, Form, FormActions, SubmitButton } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Page, Section } from '../ui/Page.tsx';
import { toast } from '../ui/Toast.tsx';
import { useSay } from '../words.tsx';
import css from './account.module.css';

const keeping = () => query('readKeeping');

export const load = ({ queries }: Loading) => queries.ensureQueryData(keeping());

export default function Data() {
  const say = useSay();
  const owner = usePerson()?.owner === true;
  return (
    <Page title={say('account.data.title')} lead={say('account.data.lead')} prose>
      {!owner && (
        <Notice tone="info" action={<Link to={paths.account.team}>{say('account.team.title')}</Link>}>
          {say('account.data.owners')}
        </Notice>
      )}
      {owner ? <Keep /> : <Kept />}
      {owner && <TakeOut />}
      {owner && <End />}
    </Page>
  );
}

const WHAT = ['texts', 'events', 'attempts'] as const;
const DAYS = [7, 30, 90, 180, 365, 730];
const FOR_EVER = 'forever';

function useDays(): (days: number | null) => string {
  const say = useSay();
  return (days) => (days === null ? say('account.keep.forever') : say('account.keep.days', { days }));
}

function Kept() {
  const say = useSay();
  const { data } = useSuspenseQuery(keeping());
  const daysOf = useDays();
  return (
    <Section title={say('account.keep.title')}>
      <Card>
        <Facts facts={WHAT.map((one) => ({ label: say(`account.keep.${one}`), value: daysOf(data[one]) }))} />
      </Card>
    </Section>
  );
}

/** Whether something ends sooner than it did: what is past the new time is gone for good. */
function shortens(before: Keeping, after: Keeping): boolean {
  const daysOf = (days: number | null) => days ?? Number.POSITIVE_INFINITY;
  return WHAT.some((one) => daysOf(after[one]) < daysOf(before[one]));
}

function Keep() {
  const say = useSay();
  const queries = useQueryClient();
  const { data } = useSuspenseQuery(keeping());
  const daysOf = useDays();
  const [asking, setAsking] = useState<Keeping>();
  async function write(wanted: Keeping): Promise<void> {
    queries.setQueryData(keeping().queryKey, await call('changeKeeping', { body: wanted }));
    setAsking(undefined);
    toast(say('ui.saved'));
  }
  const choices = (now: number | null) => [
    ...[...new Set([...DAYS, ...(now === null ? [] : [now])])]
      .sort((one, other) => one - other)
      .map((days) => ({ value: String(days), label: daysOf(days) })),
    { value: FOR_EVER, label: daysOf(null) },
  ];
  return (
    <Section title={say('account.keep.title')}>
      <Card>
        <Form
          key={JSON.stringify(data)}
          onSubmit={async (values) => {
            const read = (one: (typeof WHAT)[number]) =>
              values[one] === FOR_EVER ? null : Number(values[one]);
            const wanted = { attempts: read('attempts'), events: read('events'), texts: read('texts') };
            if (shortens(data, wanted)) setAsking(wanted);
            else await write(wanted);
          }}
        >
          {WHAT.map((one) => (
            <ChoiceField
              key={one}
              name={one}
              label={say(`account.keep.${one}`)}
              description={say(`account.keep.${one}.help`)}
              defaultValue={String(data[one] ?? FOR_EVER)}
              choices={choices(data[one])}
            />
          ))}
          <p className={css.muted}>{say('account.keep.stays')}</p>
          <FormActions>
            <SubmitButton secondary>{say('ui.save')}</SubmitButton>
          </FormActions>
        </Form>
      </Card>
      <Dialog
        title={say('account.keep.shorter')}
        opened={asking !== undefined}
        onClose={() => setAsking(undefined)}
      >
        <p>{say('account.keep.shorter.text')}</p>
        {asking !== undefined && (
          <Form onSubmit={() => write(asking)}>
            <Facts
              facts={WHAT.map((one) => ({
                label: say(`account.keep.${one}`),
                value: daysOf(asking[one]),
              }))}
            />
            <DialogActions>
              <Button onClick={() => setAsking(undefined)}>{say('ui.cancel')}</Button>
              <SubmitButton danger>{say('account.keep.shorten')}</SubmitButton>
            </DialogActions>
          </Form>
        )}
      </Dialog>
    </Section>
  );
}

/** Read by the page, not by the browser's own download: so it can say how far it is, and whether all of it came. */
function TakeOut() {
  const say = useSay();
  const username = usePerson()?.account ?? '';
  const [state, setState] = useState<{ rows: number; bytes: number; done: boolean }>();
  const [error, setError] = useState<CallError>();
  const running = useRef<AbortController>(undefined);
  const busy = state !== undefined && !state.done;

  async function take(): Promise<void> {
    const stop = new AbortController();
    running.current = stop;
    setError(undefined);
    setState({ rows: 0, bytes: 0, done: false });
    try {
      const parts = await download('exportOwnAccount', stop.signal, (rows, bytes) =>
        setState({ rows, bytes, done: false }),
      );
      save(new Blob(parts, { type: 'application/x-ndjson' }), `${username}.jsonl`);
      setState((last) => last && { ...last, done: true });
    } catch (failed) {
      setState(undefined);
      if (!stop.signal.aborted) setError(failed as CallError);
    }
  }

  return (
    <Section title={say('account.export.title')}>
      <Card>
        <div className={css.block}>
          <p>{say('account.export.text')}</p>
          {error !== undefined && <FailureNotice error={error} />}
          <div role="status" className={css.muted}>
            {state !== undefined && (
              <>
                {say(state.done ? 'account.export.done' : 'account.export.rows', { rows: state.rows })}{' '}
                <FormattedNumber
                  value={state.bytes / 1_000_000}
                  style="unit"
                  unit="megabyte"
                  maximumFractionDigits={1}
                />
              </>
            )}
          </div>
          <FormActions>
            {busy && <Button onClick={() => running.current?.abort()}>{say('ui.cancel')}</Button>}
            <Button loading={busy} onClick={() => void take()}>
              {say('account.export.take')}
            </Button>
          </FormActions>
        </div>
      </Card>
    </Section>
  );
}

/** The browser keeps a large file on its disk, not in memory. */
function save(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The download has its own hold on it once it has begun.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function End() {
  const say = useSay();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const username = usePerson()?.account ?? '';
  const [asking, setAsking] = useState(false);
  const [written, setWritten] = useState('');
  return (
    <Section title={say('account.erase.title')}>
      <Card>
        <div className={css.block}>
          <p>{say('account.erase.text')}</p>
          <ul className={css.list}>
            {(['now', 'deleted', 'stays', 'never'] as const).map((one) => (
              <li key={one}>{say(`account.erase.${one}`)}</li>
            ))}
          </ul>
          <FormActions>
            <Button color="danger" onClick={() => setAsking(true)}>
              {say('account.erase.ask')}
            </Button>
          </FormActions>
        </div>
      </Card>
      <Dialog
        title={say('account.erase.confirm', { name: username })}
        opened={asking}
        onClose={() => {
          setAsking(false);
          setWritten('');
        }}
      >
        <Notice tone="danger">{say('account.erase.never')}</Notice>
        <Form
          onSubmit={async ({ username: named = '' }) => {
            await call('eraseOwnAccount', { body: { username: named } });
            queries.clear();
            queries.setQueryData(person().queryKey, null);
            toast(say('account.erase.begun'));
            await navigate({ to: paths.signIn });
          }}
        >
          <Field
            name="username"
            label={say('account.erase.name', { name: username })}
            autoComplete="off"
            ltr
            onChange={setWritten}
          />
          <DialogActions>
            <Button onClick={() => setAsking(false)}>{say('ui.cancel')}</Button>
            <SubmitButton danger disabled={written !== username}>
              {say('account.erase.do')}
            </SubmitButton>
          </DialogActions>
        </Form>
      </Dialog>
    </Section>
  );
}
