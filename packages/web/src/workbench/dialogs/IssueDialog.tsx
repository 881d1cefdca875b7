import { Button, Textarea } from '@mantine/core';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { Dialog, DialogActions } from '../../ui/Dialog.tsx';
import { FailureNotice } from '../../ui/Failure.tsx';
import { Caps } from '../actions/Caps.tsx';
import { useWorkbench } from '../session/context.tsx';
import type { Dialog as Open } from '../session/state.ts';
import { ISSUE_CATEGORIES, ISSUE_SEVERITIES, type Severity } from '../session/task.ts';
import css from './dialogs.module.css';

const SEVERITY_KEYS: Record<string, Severity> = { n: 'neutral', m: 'minor', j: 'major', c: 'critical' };

/**
 * The dialog that marks an issue. Digits choose the category, letters the severity; Enter marks the issue.
 */
export function IssueDialog({ dialog }: { dialog: Open & { dialog: 'issue' } }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const [category, setCategory] = useState<(typeof ISSUE_CATEGORIES)[number]>('accuracy');
  const [severity, setSeverity] = useState<Severity>('minor');
  const [note, setNote] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();

  const close = () => workbench.close('dialog');

  async function mark(): Promise<void> {
    if (busy) return;
    setBusy(true);
    try {
      await workbench.session.markIssue(dialog.position, category, severity, note.trim(), dialog.range);
      workbench.close('dialog');
    } catch (failed) {
      setError(failed as Error);
      setBusy(false);
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
    // The focus follows the choice, so that Space and the arrow keys go on from it.
    const choice = event.currentTarget.querySelector<HTMLElement>(`[value="${chosen ?? weight}"]`);
    choice?.focus();
  }

  return (
    <Dialog opened title={t('workbench.issues.mark')} onClose={close}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: keys of the dialog */}
      <div className={css.issueDialog} onKeyDown={press}>
        {dialog.quote !== '' && (
          <blockquote dir="auto" translate="no">
            {dialog.quote}
          </blockquote>
        )}
        <Radios legend={t('workbench.issues.category')}>
          {ISSUE_CATEGORIES.map((one, index) => (
            <label key={one}>
              <input
                type="radio"
                name="category"
                value={one}
                data-autofocus={index === 0 || undefined}
                checked={one === category}
                onChange={() => setCategory(one)}
              />
              <Caps caps={[String(index + 1)]} /> {t(`workbench.category.${one}`)}
            </label>
          ))}
        </Radios>
        <Radios legend={t('workbench.issues.severity')}>
          {ISSUE_SEVERITIES.map((one) => (
            <label key={one}>
              <input
                type="radio"
                name="severity"
                value={one}
                checked={one === severity}
                onChange={() => setSeverity(one)}
              />
              <Caps caps={[keyOfSeverity(one)]} /> {t(`workbench.mqm.${one}`)}
            </label>
          ))}
        </Radios>
        <Textarea
          label={t('workbench.note')}
          rows={2}
          maxLength={2000}
          value={note}
          onChange={(event) => setNote(event.target.value)}
        />
        {error && <FailureNotice error={error} />}
        <DialogActions>
          <Button onClick={close}>{t('ui.cancel')}</Button>
          <Button variant="filled" loading={busy} onClick={() => void mark()}>
            {t('workbench.issues.mark')}
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
