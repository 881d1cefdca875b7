import { useTranslate } from '../../i18n.tsx';
import { useWorkbench } from '../session/context.tsx';
import shared from '../styles/workbench.module.css';
import css from './panel.module.css';
import { Section } from './Section.tsx';

export function Instructions() {
  const { job } = useWorkbench().task;
  const t = useTranslate();
  const lines = [
    ...(job.brand ? [t('workbench.brand', { brand: job.brand })] : []),
    ...(job.tone ? [t('workbench.tone', { tone: t('tone', { tone: job.tone }) })] : []),
    ...(job.topics.length > 0 ? [job.topics.join(', ')] : []),
  ];
  return (
    <Section title={t('workbench.instructions')}>
      <div className={css.card}>
        {job.instructions.length === 0 && <p className={shared.muted}>{t('workbench.instructions.none')}</p>}
        {job.instructions.map(({ from, text }) => (
          <p key={from} dir="auto" className={css.instruction}>
            {job.instructions.length > 1 && <small>{t(`workbench.instructions.${from}`)}</small>}
            {text}
          </p>
        ))}
        {lines.length > 0 && <small className={shared.muted}>{lines.join(' · ')}</small>}
      </div>
    </Section>
  );
}
