/** What asks before it does something, and the help. */
import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { paths } from '../paths.ts';
import { Dialog, DialogActions } from '../ui/Dialog.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { toast } from '../ui/Toast.tsx';
import { useSay } from '../words.tsx';
import { Caps } from './Caps.tsx';
import { directionOf, localeOf, mac, usePage, useWorkbench } from './context.tsx';
import css from './dialogs.module.css';
import { diff } from './diff.ts';
import { bindings, capsOf, type Group, keysOf } from './keys.ts';
import { plainText } from './pieces.ts';
import { ISSUE_CATEGORIES, ISSUE_SEVERITIES, REPORT_REASONS, type Severity, SKIP_REASONS } from './task.ts';
import shared from './workbench.module.css';
import type { Dialog as Opened, Workbench } from './workbench.ts';

export default function Dialogs({ dialog }: { dialog: Opened }) {
  switch (dialog.dialog) {
    case 'help':
      return <Help />;
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
      return <Refuse how={dialog.dialog} />;
    case 'issue':
      return <IssueDialog dialog={dialog} />;
    case 'conflict':
      return <Conflict position={dialog.position} />;
  }
}

const close = (workbench: Workbench) => () => workbench.close('dialog');

/** Something that ends the work at this task: everything is sent first, and then the queue is there. */
function useEnding() {
  const workbench = useWorkbench();
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  return {
    busy,
    error,
    async end(act: () => Promise<unknown>, said: string): Promise<void> {
      setBusy(true);
      setError(undefined);
      try {
        if ((await act()) === false) return;
        workbench.close('dialog');
        toast(said);
        await navigate({ to: paths.queue });
      } catch (failed) {
        setError(failed as Error);
      } finally {
        setBusy(false);
      }
    },
  };
}

function Submit() {
  const workbench = useWorkbench();
  const say = useSay();
  const { busy, error, end } = useEnding();
  const [refused, setRefused] = useState<readonly number[]>([]);
  const saving = usePage((page) => page.saving);
  const review = workbench.task.kind === 'review';
  const segments = workbench.editable;
  const open = segments.filter(({ status }) => status !== 'confirmed').map(({ segment }) => segment.position);
  const warned = segments.filter(({ acknowledged }) => acknowledged.length > 0).length;
  const issues = segments.reduce((sum, one) => sum + one.issues.length, 0);
  const stands = refused.length > 0 ? refused : review ? [] : open;
  return (
    <Dialog
      opened
      title={say(review ? 'workbench.approve.title' : 'workbench.submit.title')}
      onClose={close(workbench)}
    >
      <dl className={css.summary}>
        <div>
          <dt>{say('workbench.submit.confirmed')}</dt>
          <dd>{segments.length - open.length}</dd>
        </div>
        <div data-tone={open.length > 0 ? 'warning' : undefined}>
          <dt>{say('workbench.submit.unconfirmed')}</dt>
          <dd>{open.length}</dd>
        </div>
        <div>
          <dt>{say('workbench.submit.warnings')}</dt>
          <dd>{warned}</dd>
        </div>
        {review && (
          <div>
            <dt>{say('workbench.issues')}</dt>
            <dd>{issues}</dd>
          </div>
        )}
      </dl>
      {stands.length > 0 && (
        <>
          <p>{say('workbench.submit.open', { count: stands.length })}</p>
          <p className={css.jumps}>
            {stands.slice(0, 20).map((position) => (
              <Button
                key={position}
                size="xs"
                onClick={() => {
                  workbench.close('dialog');
                  workbench.activate(position, 'text');
                }}
              >
                {workbench.numberOf(position)}
              </Button>
            ))}
          </p>
        </>
      )}
      {saving.state === 'offline' && <p role="status">{say('workbench.submit.offline')}</p>}
      {error && <FailureNotice error={error} />}
      <DialogActions>
        <Button onClick={close(workbench)}>{say('ui.cancel')}</Button>
        <Button
          variant="filled"
          data-autofocus
          loading={busy}
          disabled={stands.length > 0}
          onClick={() =>
            void end(
              async () => {
                if (!(await workbench.sent())) throw new Error(say('workbench.submit.unsent'));
                if (review) return workbench.approve();
                const positions = await workbench.submit();
                setRefused(positions);
                return positions.length === 0;
              },
              say(review ? 'workbench.approve.done' : 'workbench.submit.done'),
            )
          }
        >
          {say(review ? 'workbench.approve' : 'workbench.submit')}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

function Release() {
  const workbench = useWorkbench();
  const say = useSay();
  const { busy, error, end } = useEnding();
  return (
    <Dialog opened title={say('workbench.release')} onClose={close(workbench)}>
      <p>{say('workbench.release.text')}</p>
      {error && <FailureNotice error={error} />}
      <DialogActions>
        <Button onClick={close(workbench)}>{say('ui.cancel')}</Button>
        <Button
          variant="filled"
          data-autofocus
          loading={busy}
          onClick={() =>
            void end(async () => {
              await workbench.sent();
              await workbench.release();
            }, say('workbench.release.done'))
          }
        >
          {say('workbench.release')}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

function Refuse({ how }: { how: 'skip' | 'report' }) {
  const workbench = useWorkbench();
  const say = useSay();
  const { busy, error, end } = useEnding();
  const reasons = how === 'skip' ? SKIP_REASONS : REPORT_REASONS;
  const [reason, setReason] = useState<string>(reasons[0]);
  const [note, setNote] = useState('');
  return (
    <Dialog opened title={say(`workbench.${how}`)} onClose={close(workbench)}>
      <p>{say(`workbench.${how}.text`)}</p>
      <NativeSelect
        label={say('workbench.reason')}
        data-autofocus
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        data={reasons.map((value) => ({ value, label: say(`workbench.reason.${value}`) }))}
      />
      {how === 'report' && (
        <Textarea
          label={say('workbench.note')}
          rows={3}
          maxLength={2000}
          value={note}
          onChange={(event) => setNote(event.target.value)}
        />
      )}
      {error && <FailureNotice error={error} />}
      <DialogActions>
        <Button onClick={close(workbench)}>{say('ui.cancel')}</Button>
        <Button
          variant="filled"
          loading={busy}
          onClick={() =>
            void end(
              async () => {
                await workbench.sent();
                await (how === 'skip' ? workbench.skip(reason) : workbench.report(reason, note.trim()));
              },
              say(`workbench.${how}.done`),
            )
          }
        >
          {say(`workbench.${how}`)}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

function Return() {
  const workbench = useWorkbench();
  const say = useSay();
  const { busy, error, end } = useEnding();
  const [note, setNote] = useState('');
  const issues = workbench.editable.reduce((sum, one) => sum + one.issues.length, 0);
  return (
    <Dialog opened title={say('workbench.return.title')} onClose={close(workbench)}>
      <p>{say('workbench.return.text', { count: issues })}</p>
      <Textarea
        label={say('workbench.note')}
        data-autofocus
        rows={3}
        maxLength={2000}
        value={note}
        onChange={(event) => setNote(event.target.value)}
      />
      {error && <FailureNotice error={error} />}
      <DialogActions>
        <Button onClick={close(workbench)}>{say('ui.cancel')}</Button>
        <Button
          variant="filled"
          loading={busy}
          disabled={issues === 0 && note.trim() === ''}
          onClick={() =>
            void end(async () => {
              await workbench.sent();
              await workbench.giveBack(note.trim());
            }, say('workbench.return.done'))
          }
        >
          {say('workbench.return')}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

function GoTo() {
  const workbench = useWorkbench();
  const say = useSay();
  const [number, setNumber] = useState('');
  const position = Number(number) - 1;
  const there = workbench.positions.includes(position);
  return (
    <Dialog opened title={say('workbench.key.goTo')} onClose={close(workbench)}>
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
          label={say('workbench.goto.number', {
            first: workbench.numberOf(workbench.positions[0] ?? 0),
            last: workbench.numberOf(workbench.positions.at(-1) ?? 0),
          })}
          value={number}
          onChange={(event) => setNumber(event.target.value.trim())}
        />
        <DialogActions>
          <Button type="submit" variant="filled" disabled={!there}>
            {say('workbench.goto.go')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

const SEVERITY_KEYS: Record<string, Severity> = { n: 'neutral', m: 'minor', j: 'major', c: 'critical' };

/** Digits are categories and letters are severities; Enter marks. */
function IssueDialog({ dialog }: { dialog: Opened & { dialog: 'issue' } }) {
  const workbench = useWorkbench();
  const say = useSay();
  const [category, setCategory] = useState<(typeof ISSUE_CATEGORIES)[number]>('accuracy');
  const [severity, setSeverity] = useState<Severity>('minor');
  const [note, setNote] = useState('');
  const [error, setError] = useState<Error>();

  async function mark(): Promise<void> {
    try {
      await workbench.markIssue(dialog.position, category, severity, note.trim(), dialog.range);
      workbench.close('dialog');
    } catch (failed) {
      setError(failed as Error);
    }
  }

  function press(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter' && (event.target as Element).tagName !== 'BUTTON') {
      event.preventDefault();
      void mark();
    }
    if (event.target instanceof HTMLTextAreaElement || event.ctrlKey || event.metaKey || event.altKey) return;
    const chosen = ISSUE_CATEGORIES[Number(event.key) - 1];
    const weight = SEVERITY_KEYS[event.key.toLowerCase()] ?? SEVERITY_KEYS[event.code.slice(3).toLowerCase()];
    if (chosen) setCategory(chosen);
    else if (weight) setSeverity(weight);
  }

  return (
    <Dialog opened title={say('workbench.issues.mark')} onClose={close(workbench)}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: keys of the dialog */}
      <div className={css.issueDialog} onKeyDown={press}>
        {dialog.quote !== '' && (
          <blockquote dir="auto" translate="no">
            {dialog.quote}
          </blockquote>
        )}
        <Radios legend={say('workbench.issues.category')}>
          {ISSUE_CATEGORIES.map((one, index) => (
            <label key={one}>
              <input
                type="radio"
                name="category"
                data-autofocus={index === 0 || undefined}
                checked={one === category}
                onChange={() => setCategory(one)}
              />
              <Caps caps={[String(index + 1)]} /> {say(`workbench.category.${one}`)}
            </label>
          ))}
        </Radios>
        <Radios legend={say('workbench.issues.severity')}>
          {ISSUE_SEVERITIES.map((one) => (
            <label key={one}>
              <input
                type="radio"
                name="severity"
                checked={one === severity}
                onChange={() => setSeverity(one)}
              />
              <Caps caps={[keyOfSeverity(one)]} /> {say(`workbench.mqm.${one}`)}
            </label>
          ))}
        </Radios>
        <Textarea
          label={say('workbench.note')}
          rows={2}
          maxLength={2000}
          value={note}
          onChange={(event) => setNote(event.target.value)}
        />
        {error && <FailureNotice error={error} />}
        <DialogActions>
          <Button onClick={close(workbench)}>{say('ui.cancel')}</Button>
          <Button variant="filled" onClick={() => void mark()}>
            {say('workbench.issues.mark')}
          </Button>
        </DialogActions>
      </div>
    </Dialog>
  );
}

const keyOfSeverity = (severity: Severity) =>
  Object.entries(SEVERITY_KEYS)
    .find(([, one]) => one === severity)![0]
    .toUpperCase();

function Radios({ legend, children }: { legend: string; children: ReactNode }) {
  return (
    <fieldset className={css.radios}>
      <legend>{legend}</legend>
      {children}
    </fieldset>
  );
}

/** Both texts beside each other; one is taken, or both are put into one by hand. */
function Conflict({ position }: { position: number }) {
  const workbench = useWorkbench();
  const say = useSay();
  const { job } = workbench.task;
  const { target } = workbench.segment(position);
  const theirs = workbench.theirs(position);
  if (!theirs) return null;
  const language = { lang: localeOf(job.target_language), dir: directionOf(job.target_language) };
  const mine = plainText(target);
  const other = plainText(theirs.target);
  const parts = diff(other, mine, language.lang);
  return (
    <Dialog
      opened
      title={say('workbench.conflict.title', { number: workbench.numberOf(position) })}
      onClose={close(workbench)}
    >
      <p>{say('workbench.conflict.text')}</p>
      <div className={css.versions}>
        <section>
          <h3>{say('workbench.conflict.mine')}</h3>
          <p {...language} translate="no" className={shared.diff}>
            {parts
              .filter(({ change }) => change !== 'removed')
              .map(({ text, change }, index) =>
                // biome-ignore lint/suspicious/noArrayIndexKey: the parts do not change
                change === 'added' ? <ins key={index}>{text}</ins> : <span key={index}>{text}</span>,
              )}
          </p>
          <Button data-autofocus onClick={() => workbench.resolve(position, target)}>
            {say('workbench.conflict.take_mine')}
          </Button>
        </section>
        <section>
          <h3>{say('workbench.conflict.theirs')}</h3>
          <p {...language} translate="no" className={shared.diff}>
            {parts
              .filter(({ change }) => change !== 'added')
              .map(({ text, change }, index) =>
                // biome-ignore lint/suspicious/noArrayIndexKey: the parts do not change
                change === 'removed' ? <del key={index}>{text}</del> : <span key={index}>{text}</span>,
              )}
          </p>
          <Button onClick={() => workbench.resolve(position, theirs.target)}>
            {say('workbench.conflict.take_theirs')}
          </Button>
        </section>
      </div>
      <DialogActions>
        <Button onClick={() => workbench.resolve(position, [...theirs.target, { text: ' ' }, ...target])}>
          {say('workbench.conflict.merge')}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

const GROUPS: readonly Group[] = ['segment', 'moving', 'codes', 'task', 'review', 'help'];

function Help() {
  const workbench = useWorkbench();
  const say = useSay();
  return (
    <Dialog opened title={say('workbench.key.help')} onClose={close(workbench)}>
      {GROUPS.filter((group) => group !== 'review' || workbench.task.kind === 'review').map((group) => (
        <section key={group} className={css.help}>
          <h3>{say(`workbench.keys.${group}`)}</h3>
          <dl>
            {bindings
              .filter((binding) => binding.group === group)
              .map((binding) => (
                <div key={`${binding.action} ${binding.where}`}>
                  <dt>
                    {keysOf(binding, mac).map((keys) => (
                      <Caps key={keys} caps={capsOf(keys, mac)} />
                    ))}
                  </dt>
                  <dd>
                    {say(`workbench.key.${binding.action}`)}
                    {binding.where === 'row' && <small> · {say('workbench.keys.row')}</small>}
                  </dd>
                </div>
              ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
