/**
 * A column chart over time. A column may show failures as a separate part on top. Users can open a table with
 * the same figures, which screen readers can read.
 */
import { useState } from 'react';
import { useIntl } from 'react-intl';
import { useTranslate } from '../i18n.tsx';
import css from './Chart.module.css';

export interface Bar {
  /** The hour or day of the column, formatted. */
  label: string;
  value: number;
  /** The failed part of `value`. */
  bad?: number;
}

interface ChartProps {
  /** The accessible name of the chart. */
  label: string;
  bars: readonly Bar[];
  /** The headers of the table with the same figures. */
  heads: { label: string; value: string; bad?: string };
  format(value: number): string;
}

const WIDTH = 720;
const HEIGHT = 120;
const GAP = 2;

export function Chart({ label, bars, heads, format }: ChartProps) {
  const t = useTranslate();
  const [opened, setOpened] = useState(false);
  const most = Math.max(...bars.map(({ value }) => value), 0);
  const step = WIDTH / Math.max(1, bars.length);
  const heightOf = (value: number) => (most === 0 ? 0 : (Math.max(0, value) / most) * (HEIGHT - 4));
  return (
    <figure className={css.figure}>
      {most > 0 && (
        <span className={css.most} aria-hidden>
          {format(most)}
        </span>
      )}
      <svg
        className={css.picture}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        {bars.map(({ label: of, value, bad = 0 }, at) => {
          const height = heightOf(value);
          const badHeight = heightOf(bad);
          const place = { x: at * step + GAP / 2, width: Math.max(1, step - GAP) };
          return (
            <g key={of}>
              <title>{`${of}: ${format(value)}`}</title>
              <rect className={css.ground} {...place} y={0} height={HEIGHT} />
              <rect className={css.good} {...place} y={HEIGHT - height} height={height} rx={1} />
              {bad > 0 && (
                <rect
                  className={css.bad}
                  {...place}
                  y={HEIGHT - height}
                  height={Math.max(2, badHeight)}
                  rx={1}
                />
              )}
            </g>
          );
        })}
      </svg>
      <figcaption className={css.caption}>
        <span>{bars[0]?.label}</span>
        <button
          type="button"
          className={css.toggle}
          aria-expanded={opened}
          onClick={() => setOpened(!opened)}
        >
          {t(opened ? 'ui.chart.hide' : 'ui.chart.show')}
        </button>
        <span>{bars.at(-1)?.label}</span>
      </figcaption>
      {opened && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
        <section className={css.table} tabIndex={0} aria-label={label}>
          <table>
            <thead>
              <tr>
                <th scope="col">{heads.label}</th>
                <th scope="col">{heads.value}</th>
                {heads.bad !== undefined && <th scope="col">{heads.bad}</th>}
              </tr>
            </thead>
            <tbody>
              {bars.map(({ label: of, value, bad = 0 }) => (
                <tr key={of}>
                  <th scope="row">{of}</th>
                  <td>{format(value)}</td>
                  {heads.bad !== undefined && <td>{format(bad)}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </figure>
  );
}

/**
 * Returns the values of the last `count` days in UTC, the earliest day first, with 0 for days without a
 * value.
 */
export function lastDays(
  count: number,
  values: ReadonlyMap<string, number>,
  today = new Date(),
): { day: string; value: number }[] {
  return Array.from({ length: count }, (_, at) => {
    const day = new Date(today.getTime() - (count - 1 - at) * 86_400_000).toISOString().slice(0, 10);
    return { day, value: values.get(day) ?? 0 };
  });
}

/** Returns the function that formats a day. @param day ISO 8601, in UTC */
export function useDay(): (day: string) => string {
  const intl = useIntl();
  return (day) => intl.formatDate(`${day}T00:00:00Z`, { timeZone: 'UTC', dateStyle: 'medium' });
}
