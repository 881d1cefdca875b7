/** A progress bar with its numbers. */
import type { ReactNode } from 'react';
import css from './Progress.module.css';

interface ProgressProps {
  /** The accessible name of the progress bar. */
  label: string;
  done: number;
  of: number;
  /** The progress in numbers, as text. */
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
