import type { ReactNode } from 'react';
import css from './Empty.module.css';

/** The text that an empty list shows, with at most one action. */
export function Empty({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className={css.empty}>
      <p>{children}</p>
      {action}
    </div>
  );
}
