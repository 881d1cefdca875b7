/** The list of all findings of the task. A click goes to the segment. */
import { IconAlertTriangle, IconCircleX } from '@tabler/icons-react';
import { useEffect, useSyncExternalStore } from 'react';
import { useTranslate } from '../i18n.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { keyOfFinding } from './checking.ts';
import { useWorkbench } from './context.tsx';
import css from './dialogs.module.css';
import { Inconsistencies } from './Inconsistencies.tsx';
import { useSentence } from './sentences.ts';

export function Findings() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const sentence = useSentence();
  useEffect(() => workbench.checkAll(), [workbench]);
  const checked = useSyncExternalStore(
    (listener) => workbench.watch('filters', listener),
    () => workbench.filterCounts.checked,
  );
  const left = workbench.total - checked;
  const found = workbench.editable.flatMap(({ segment: { position }, findings = [], acknowledged }) =>
    findings.map((finding) => ({
      position,
      finding,
      kept: acknowledged.includes(keyOfFinding(finding)),
    })),
  );
  return (
    <Dialog opened title={t('workbench.findings')} onClose={() => workbench.close('dialog')}>
      <p role="status">
        {left > 0
          ? t('workbench.findings.left', { count: left })
          : t('workbench.findings.count', { count: found.length })}
      </p>
      <ol className={css.findings}>
        {found.map(({ position, finding, kept }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a segment may have the same finding twice
          <li key={`${position} ${index}`} data-severity={finding.severity} data-kept={kept}>
            <button
              type="button"
              data-autofocus={index === 0 || undefined}
              onClick={() => {
                workbench.close('dialog');
                workbench.activate(position, 'text');
              }}
            >
              <span className={css.number}>{workbench.numberOf(position)}</span>
              {finding.severity === 'error' ? (
                <IconCircleX size={16} aria-hidden />
              ) : (
                <IconAlertTriangle size={16} aria-hidden />
              )}
              <span>
                <span className="visually-hidden">{t(`workbench.severity.${finding.severity}`)}: </span>
                {sentence(finding, position)}
                {kept && <small> · {t('workbench.findings.kept')}</small>}
              </span>
            </button>
          </li>
        ))}
      </ol>
      <Inconsistencies />
    </Dialog>
  );
}
