/**
 * The checklist from an empty installation to its first job. The server finds out from its data which steps
 * are done.
 */
import { IconCircle, IconCircleCheck } from '@tabler/icons-react';
import type { Answer } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import { GUIDES, paths } from '../paths.ts';
import { Link } from '../ui/Link.tsx';
import { Section } from '../ui/Page.tsx';
import css from './console.module.css';

type Steps = Answer<'readHome'>['setup'];
type Step = Steps[number]['step'];

/** The page of the app or the guide with which an operator takes a step. */
const PLACES: Record<Exclude<Step, 'operator'>, { to: string } | { guide: string }> = {
  mail: { guide: `${GUIDES}/people#send-invitations-by-e-mail` },
  engine: { to: paths.console.engines },
  model: { guide: `${GUIDES}/engines#bergamot` },
  account: { to: paths.console.accounts },
  price: { to: paths.console.pairs },
  editors: { to: paths.console.people },
  job: { guide: `${GUIDES}/quick-start` },
};

/** @param folded shows only the number of steps until the operator opens the list */
export function Setup({ steps, folded = false }: { steps: Steps; folded?: boolean }) {
  const t = useTranslate();
  const values = { done: steps.filter(({ done }) => done).length, all: steps.length };
  const list = (
    <ol className={css.steps}>
      {steps.map((step) => (
        <SetupStep key={step.step} {...step} />
      ))}
    </ol>
  );
  if (!folded) {
    return (
      <Section title={t('console.setup.title')}>
        <p className={css.muted}>{t('console.setup.count', values)}</p>
        {list}
      </Section>
    );
  }
  return (
    <details className={css.setup}>
      <summary>
        {t('console.setup.title')} <span className={css.muted}>{t('console.setup.count', values)}</span>
      </summary>
      {list}
    </details>
  );
}

function SetupStep({ step, done }: Steps[number]) {
  const t = useTranslate();
  const Icon = done ? IconCircleCheck : IconCircle;
  return (
    <li data-done={done}>
      <Icon size={20} role="img" aria-label={t(done ? 'console.setup.done' : 'console.setup.open')} />
      <span className={css.what}>
        <span>{t(`console.setup.step.${step}`)}</span>
        {!done && step !== 'operator' && <Action step={step} />}
      </span>
    </li>
  );
}

function Action({ step }: { step: keyof typeof PLACES }) {
  const t = useTranslate();
  const place = PLACES[step];
  const label = t(`console.setup.action.${step}`);
  return 'to' in place ? <Link to={place.to}>{label}</Link> : <a href={place.guide}>{label}</a>;
}
