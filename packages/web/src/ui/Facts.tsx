import type { ReactNode } from 'react';
import css from './Facts.module.css';

export interface Fact {
  label: string;
  value: ReactNode;
}

/** Shows a few important numbers in a row. */
export function Numbers({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className={css.numbers}>
      {facts.map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Shows names with their values, line by line. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className={css.facts}>
      {facts.map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
