import { useSay } from '../words.tsx';
import css from './Skeleton.module.css';

/** Grey lines in the place of text that is on its way. */
export function Lines({ count = 1 }: { count?: number }) {
  return Array.from({ length: count }, (_, at) => at).map((at) => <span key={at} className={css.line} />);
}

/** A page that takes its time, in the shape of one. */
export function PageSkeleton() {
  const say = useSay();
  return (
    <div className={css.page} role="status" aria-label={say('ui.loading')}>
      <span className={css.title} />
      <div className={css.rows}>
        <Lines count={6} />
      </div>
    </div>
  );
}
