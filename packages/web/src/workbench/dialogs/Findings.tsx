/** The list of all findings of the task, and of what the document translates inconsistently. A click goes to the segment. */

import { Button } from '@mantine/core';
import { IconAlertTriangle, IconCircleX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { FailureNotice } from '../../ui/Failure.tsx';
import { inconsistencies } from '../session/api.ts';
import { keyOfFinding } from '../session/checking.ts';
import { directionOf, localeOf, useWorkbench } from '../session/context.tsx';
import { useSentence } from '../session/sentences.ts';
import { plainText } from '../text/pieces.ts';
import css from './dialogs.module.css';

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

/** The sources of the document that were confirmed with several texts, and the texts of sources with different terms. */
function Inconsistencies() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { source_language: from, target_language: to } = workbench.task.job;
  const { data, error } = useQuery(inconsistencies(workbench.task.task));
  if (error) return <FailureNotice error={error} />;
  if (!data) return null;
  return (
    <>
      {data.count > 0 && (
        <section className={css.inconsistencies}>
          <h3>{t('workbench.inconsistencies', { count: data.count })}</h3>
          {data.sources.map(({ source, texts }) => (
            <section key={texts[0]!.positions[0]}>
              <h4 {...textIn(from)} translate="no">
                {plainText(source)}
              </h4>
              <Places
                of={texts.map(({ target, positions }) => ({ text: plainText(target), positions }))}
                language={to}
              />
            </section>
          ))}
        </section>
      )}
      {data.text_count > 0 && (
        <section className={css.inconsistencies}>
          <h3>{t('workbench.inconsistencies.texts', { count: data.text_count })}</h3>
          {data.texts.map(({ target, sources }) => (
            <section key={sources[0]!.positions[0]}>
              <h4 {...textIn(to)} translate="no">
                {plainText(target)}
              </h4>
              <Places
                of={sources.map(({ source, positions }) => ({ text: plainText(source), positions }))}
                language={from}
              />
            </section>
          ))}
        </section>
      )}
    </>
  );
}

const textIn = (language: string) => ({ lang: localeOf(language), dir: directionOf(language) });

/** Texts, each with buttons that go to its segments. */
function Places({
  of,
  language,
}: {
  of: readonly { text: string; positions: readonly number[] }[];
  language: string;
}) {
  return (
    <ul>
      {of.map(({ text, positions }) => (
        <li key={positions[0]}>
          <span {...textIn(language)} translate="no">
            {text}
          </span>
          <JumpButtons positions={positions} />
        </li>
      ))}
    </ul>
  );
}

/** The maximum number of buttons. */
const MAX_BUTTONS = 20;

/** Buttons of a dialog that go to segments. Those of other editors have no row on the page, and come last. */
export function JumpButtons({ positions }: { positions: readonly number[] }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const shown = positions.toSorted((a, b) => Number(workbench.has(b)) - Number(workbench.has(a)));
  return (
    <span className={css.jumps}>
      {shown.slice(0, MAX_BUTTONS).map((position) => (
        <Button
          key={position}
          size="xs"
          disabled={!workbench.has(position)}
          title={workbench.has(position) ? undefined : t('workbench.inconsistencies.elsewhere')}
          onClick={() => {
            workbench.close('dialog');
            workbench.activate(position, 'text');
          }}
        >
          {workbench.numberOf(position)}
        </Button>
      ))}
    </span>
  );
}
