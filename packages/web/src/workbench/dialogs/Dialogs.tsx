/** The dialogs that confirm an action on the task. */
import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useLayoutEffect, useState } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { paths } from '../../paths.ts';
import { Dialog, DialogActions } from '../../ui/Dialog.tsx';
import { FailureNotice } from '../../ui/Failure.tsx';
import { toast } from '../../ui/Toast.tsx';
import { inconsistencies } from '../session/api.ts';
import { usePage, useWorkbench } from '../session/context.tsx';
import { chooseFilter, type Filter } from '../session/filters.ts';
import type { Dialog as Opened } from '../session/state.ts';
import { REPORT_REASONS, SKIP_REASONS } from '../session/task.ts';
import type { Workbench } from '../session/workbench.ts';
import { AskDialog } from './AskDialog.tsx';
import { Conflict } from './Conflict.tsx';
import css from './dialogs.module.css';
import { Findings, JumpButtons } from './Findings.tsx';
import { Help } from './Help.tsx';
import { IssueDialog } from './IssueDialog.tsx';
import { SplitDialog } from './SplitDialog.tsx';
import { TermDialog } from './TermDialog.tsx';

export default function Dialogs({ dialog }: { dialog: Opened }) {
  // The dialog gets the focus a moment after it opens. Until then, keys must not reach the translation.
  useLayoutEffect(() => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  }, []);
  switch (dialog.dialog) {
    case 'help':
      return <Help />;
    case 'findings':
      return <Findings />;
    case 'goTo':
      return <GoTo />;
    case 'submit':
      return <Submit />;
    case 'release':
      return <Release />;
    case 'return':
      return <Return />;
    case 'skip':
    case 'report':
      return <SkipOrReport how={dialog.dialog} />;
    case 'ask':
      return <AskDialog dialog={dialog} />;
    case 'split':
      return <SplitDialog dialog={dialog} />;
    case 'term':
      return <TermDialog dialog={dialog} />;
    case 'issue':
      return <IssueDialog dialog={dialog} />;
    case 'conflict':
      return <Conflict position={dialog.position} />;
  }
}

const close = (workbench: Workbench) => () => workbench.close('dialog');

interface EndingProps {
  title: string;
  /** The word on the button. */
  label: string;
  /** What is said when the work has ended. */
  done: string;
  disabled?: boolean;
  /** Whether the button gets the focus. */
  focused?: boolean;
  /** Resolves false if the work goes on, so that the dialog stays open. */
  act(workbench: Workbench): Promise<unknown>;
  children: ReactNode;
}

/** A dialog whose button ends the work on this task, and then shows the queue. */
function Ending({ title, label, done, disabled = false, focused = false, act, children }: EndingProps) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  async function end(): Promise<void> {
    setBusy(true);
    setError(undefined);
    try {
      if ((await act(workbench)) === false) return;
      workbench.close('dialog');
      toast(done);
      await navigate({ to: paths.queue });
    } catch (failed) {
      setError(failed as Error);
    } finally {
      setBusy(false);
    }
  }
  return (
    <Dialog opened title={title} onClose={close(workbench)}>
      {children}
      {error && <FailureNotice error={error} />}
      <DialogActions>
        <Button onClick={close(workbench)}>{t('ui.cancel')}</Button>
        <Button
          variant="filled"
          {...(focused ? { 'data-autofocus': true } : {})}
          loading={busy}
          disabled={disabled}
          onClick={() => void end()}
        >
          {label}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

function Submit() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const [refused, setRefused] = useState<readonly number[]>([]);
  const saving = usePage((page) => page.saving);
  const review = workbench.task.kind === 'review';
  const segments = workbench.editable;
  const open = segments
    .filter((one) => one.status !== 'confirmed' && !one.asked)
    .map(({ segment }) => segment.position);
  const { data: inconsistent } = useQuery(inconsistencies(workbench.task.task));
  const showFindings = () => workbench.update({ dialog: { dialog: 'findings' } });
  const warned = segments.filter(({ acknowledged }) => acknowledged.length > 0).length;
  const issues = segments.reduce((sum, one) => sum + one.issues.length, 0);
  const unseen = segments.filter(({ seen }) => !seen).map(({ segment }) => segment.position);
  const unsure = segments.filter((one) => one.unsure).map(({ segment }) => segment.position);
  const asked = segments.filter((one) => one.asked).map(({ segment }) => segment.position);
  const blocking = refused.length > 0 ? refused : review ? [] : open;
  return (
    <Ending
      title={t(review ? 'workbench.approve.title' : 'workbench.submit.title')}
      label={t(review ? 'workbench.approve' : 'workbench.submit')}
      done={t(review ? 'workbench.approve.done' : 'workbench.submit.done')}
      disabled={blocking.length > 0 || asked.length > 0}
      focused
      act={async () => {
        if (!(await workbench.saveAll())) throw new Error(t('workbench.submit.unsent'));
        if (review) return workbench.session.approve();
        const positions = await workbench.session.submit();
        setRefused(positions);
        return positions.length === 0;
      }}
    >
      <dl className={css.summary}>
        <div>
          <dt>{t('workbench.submit.confirmed')}</dt>
          <dd>{segments.filter(({ status }) => status === 'confirmed').length}</dd>
        </div>
        <div data-tone={open.length > 0 ? 'warning' : undefined}>
          <dt>{t('workbench.submit.unconfirmed')}</dt>
          <dd>
            <FilterLink count={open.length} by="open" />
          </dd>
        </div>
        <div>
          <dt>{t('workbench.submit.warnings')}</dt>
          <dd>
            <Count count={warned} onPress={showFindings} />
          </dd>
        </div>
        {(['count', 'text_count'] as const).map((kind) => (
          <div key={kind} data-tone={inconsistent && inconsistent[kind] > 0 ? 'warning' : undefined}>
            <dt>{t(`workbench.submit.inconsistencies.${kind}`)}</dt>
            <dd>
              {/* A zero would be wrong before this is known. */}
              {inconsistent ? (
                <Count
                  count={inconsistent[kind]}
                  label={t(`workbench.submit.inconsistencies.${kind}`)}
                  onPress={showFindings}
                />
              ) : (
                '…'
              )}
            </dd>
          </div>
        ))}
        {review && (
          <>
            <div data-tone={unseen.length > 0 ? 'warning' : undefined}>
              <dt>{t('workbench.submit.unseen')}</dt>
              <dd>{unseen.length}</dd>
            </div>
            <div>
              <dt>{t('workbench.issues')}</dt>
              <dd>
                <FilterLink count={issues} by="issues" />
              </dd>
            </div>
          </>
        )}
      </dl>
      <Jumps text={t('workbench.submit.open', { count: blocking.length })} positions={blocking} />
      <Jumps text={t('workbench.submit.asked', { count: asked.length })} positions={asked} />
      <Jumps text={t('workbench.submit.unseen_open', { count: unseen.length })} positions={unseen} />
      <Jumps
        text={t(review ? 'workbench.approve.unsure' : 'workbench.submit.unsure', { count: unsure.length })}
        positions={unsure}
      />
      {saving.state === 'offline' && <p role="status">{t('workbench.submit.offline')}</p>}
    </Ending>
  );
}

/** A number of segments. A click filters the grid to these segments. */
function FilterLink({ count, by }: { count: number; by: Filter }) {
  const workbench = useWorkbench();
  return (
    <Count
      count={count}
      onPress={() => {
        workbench.close('dialog');
        chooseFilter(workbench, by);
      }}
    />
  );
}

/** @param label what is counted, if these are no segments */
function Count({ count, label, onPress }: { count: number; label?: string; onPress: () => void }) {
  const t = useTranslate();
  if (count === 0) return count;
  return (
    <button
      type="button"
      className={css.count}
      onClick={onPress}
      aria-label={label === undefined ? t('workbench.submit.show', { count }) : `${label}: ${count}`}
    >
      {count}
    </button>
  );
}

/** Shows a sentence about some segments, and for each of them a button that goes to the segment. */
function Jumps({ text, positions }: { text: string; positions: readonly number[] }) {
  if (positions.length === 0) return null;
  return (
    <>
      <p>{text}</p>
      <p>
        <JumpButtons positions={positions} />
      </p>
    </>
  );
}

function Release() {
  const t = useTranslate();
  return (
    <Ending
      title={t('workbench.release')}
      label={t('workbench.release')}
      done={t('workbench.release.done')}
      focused
      act={async (workbench) => {
        await workbench.saveAll();
        await workbench.session.release();
      }}
    >
      <p>{t('workbench.release.text')}</p>
    </Ending>
  );
}

function SkipOrReport({ how }: { how: 'skip' | 'report' }) {
  const t = useTranslate();
  const reasons = how === 'skip' ? SKIP_REASONS : REPORT_REASONS;
  const [reason, setReason] = useState<string>(reasons[0]);
  const [note, setNote] = useState('');
  return (
    <Ending
      title={t(`workbench.${how}`)}
      label={t(`workbench.${how}`)}
      done={t(`workbench.${how}.done`)}
      act={async (workbench) => {
        const { session } = workbench;
        await workbench.saveAll();
        await (how === 'skip' ? session.skip(reason) : session.report(reason, note.trim()));
      }}
    >
      <p>{t(`workbench.${how}.text`)}</p>
      <NativeSelect
        label={t('workbench.reason')}
        data-autofocus
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        data={reasons.map((value) => ({ value, label: t(`workbench.reason.${value}`) }))}
      />
      {how === 'report' && <Note value={note} onChange={setNote} />}
    </Ending>
  );
}

function Note({ value, onChange, ...props }: { value: string; onChange(value: string): void }) {
  const t = useTranslate();
  return (
    <Textarea
      {...props}
      label={t('workbench.note')}
      rows={3}
      maxLength={2000}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function Return() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const [note, setNote] = useState('');
  const issues = workbench.editable.reduce((sum, one) => sum + one.issues.length, 0);
  return (
    <Ending
      title={t('workbench.return.title')}
      label={t('workbench.return')}
      done={t('workbench.return.done')}
      disabled={issues === 0 && note.trim() === ''}
      act={async () => {
        await workbench.saveAll();
        await workbench.session.returnTask(note.trim());
      }}
    >
      <p>{t('workbench.return.text', { count: issues })}</p>
      <Note data-autofocus value={note} onChange={setNote} />
    </Ending>
  );
}

function GoTo() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const [number, setNumber] = useState('');
  const position = Number(number) - 1;
  const there = workbench.positions.includes(position);
  return (
    <Dialog opened title={t('workbench.key.goTo')} onClose={close(workbench)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!there) return;
          workbench.close('dialog');
          workbench.activate(position, 'text');
        }}
      >
        <TextInput
          data-autofocus
          inputMode="numeric"
          dir="ltr"
          label={t('workbench.goto.number', {
            first: workbench.numberOf(workbench.positions[0] ?? 0),
            last: workbench.numberOf(workbench.positions.at(-1) ?? 0),
          })}
          value={number}
          onChange={(event) => setNumber(event.target.value.trim())}
        />
        <DialogActions>
          <Button type="submit" variant="filled" disabled={!there}>
            {t('workbench.goto.go')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
