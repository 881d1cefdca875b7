import type { ReactNode } from 'react';
import css from './Empty.module.css';

/** Nothing is here: one sentence, and at most one thing to do. */
export function Empty({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className={css.empty}>
      <p>{children}</p>
      {action}
    </div>
  );
}
