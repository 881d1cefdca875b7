import { Button } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconCircleX } from '@tabler/icons-react';
import { useEffect } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { Caps } from '../actions/Caps.tsx';
import { hintOf } from '../actions/keys.ts';
import { type Finding, keyOfFinding } from '../session/checking.ts';
import { mac, usePage, useSegment, useWorkbench } from '../session/context.tsx';
import { useSentence } from '../session/sentences.ts';
import css from './panel.module.css';
import { Section } from './Section.tsx';

export function Checks({ position }: { position: number }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const sentence = useSentence();
  const state = useSegment(position);
  const blocked = usePage((page) => page.blocked === position);
  useEffect(() => {
    // If a segment has not been edited, its checks run after its row is rendered.
    if (state.findings) return;
    const timer = setTimeout(() => workbench.findings(position), 300);
    return () => clearTimeout(timer);
  }, [workbench, position, state.findings]);
  const findings = state.findings ?? [];
  const open = (finding: Finding) => !state.acknowledged.includes(keyOfFinding(finding));
  return (
    <Section title={t('workbench.checks')}>
      {findings.length === 0 && (
        // This line is rendered even before the checks have run, so that the sections below do not move
        // later.
        <p className={css.passed} data-pending={state.findings === undefined}>
          <IconCheck size={16} aria-hidden /> {t('workbench.checks.none')}
        </p>
      )}
      <ul className={css.findings}>
        {findings.map((finding) => (
          <li
            key={`${keyOfFinding(finding)} ${finding.range?.start}`}
            data-severity={finding.severity}
            data-open={open(finding)}
          >
            {finding.severity === 'error' ? (
              <IconCircleX size={16} aria-hidden />
            ) : (
              <IconAlertTriangle size={16} aria-hidden />
            )}
            <span>
              <span className="visually-hidden">{t(`workbench.severity.${finding.severity}`)}: </span>
              {sentence(finding, position)}
            </span>
          </li>
        ))}
      </ul>
      {blocked && findings.some(({ severity }) => severity === 'error') && (
        <p className={css.blocked}>{t('workbench.checks.blocked')}</p>
      )}
      {blocked && findings.every(({ severity }) => severity === 'warning') && findings.length > 0 && (
        <div className={css.acknowledge}>
          <p>{t('workbench.checks.acknowledge')}</p>
          <Button size="xs" onClick={() => workbench.confirm()}>
            {t('workbench.checks.accept')} <Caps caps={hintOf('confirm', mac)} />
          </Button>
        </div>
      )}
    </Section>
  );
}
