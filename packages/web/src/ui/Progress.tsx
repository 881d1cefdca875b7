/** How far something is: a bar and the numbers, in a place that is there before they are. */
import type { ReactNode } from 'react';
import css from './Progress.module.css';

interface ProgressProps {
  /** What is under way. */
  label: string;
  done: number;
  of: number;
  /** The same in words. */
  children: ReactNode;
}

export function Progress({ label, done, of, children }: ProgressProps) {
  return (
    <span className={css.progress}>
      <progress className={css.bar} aria-label={label} value={Math.min(done, of)} max={Math.max(of, 1)} />
      <span className={css.numbers}>{children}</span>
    </span>
  );
}
