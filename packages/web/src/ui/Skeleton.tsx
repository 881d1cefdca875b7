import { useTranslate } from '../i18n.tsx';
import css from './Skeleton.module.css';

/** Grey lines instead of text that is loading. */
export function Lines({ count = 1 }: { count?: number }) {
  return Array.from({ length: count }, (_, at) => at).map((at) => <span key={at} className={css.line} />);
}

/** The placeholder of a page that is loading. */
export function PageSkeleton() {
  const t = useTranslate();
  return (
    <div className={css.page} role="status" aria-label={t('ui.loading')}>
      <span className={css.title} />
      <div className={css.rows}>
        <Lines count={6} />
      </div>
    </div>
  );
}
