/** So much on each day, as bars, with the figures as a table for whoever reads rather than looks. */
import { useIntl } from 'react-intl';
import { useSay } from '../words.tsx';
import css from './Bars.module.css';

export interface Bar {
  /** ISO 8601, without a time. */
  day: string;
  value: number;
}

const WIDTH = 20;
const GAP = 4;
const HEIGHT = 96;

/** @param label what is counted @param bars the earliest first */
export function Bars({ label, bars }: { label: string; bars: readonly Bar[] }) {
  const say = useSay();
  const intl = useIntl();
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const total = bars.reduce((sum, { value }) => sum + value, 0);
  const write = (day: string) =>
    intl.formatDate(`${day}T00:00:00Z`, { timeZone: 'UTC', dateStyle: 'medium' });
  return (
    <div className={css.bars}>
      <svg
        viewBox={`0 0 ${bars.length * (WIDTH + GAP)} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${intl.formatNumber(total)}`}
      >
        {bars.map(({ day, value }, at) => {
          const height = value === 0 ? 1 : Math.max(3, (value / most) * HEIGHT);
          return (
            <rect
              key={day}
              className={value === 0 ? css.none : css.bar}
              x={at * (WIDTH + GAP)}
              y={HEIGHT - height}
              width={WIDTH}
              height={height}
              rx={2}
            >
              <title>{`${write(day)}: ${intl.formatNumber(value)}`}</title>
            </rect>
          );
        })}
      </svg>
      <details>
        <summary>{say('ui.figures')}</summary>
        <table>
          <tbody>
            {bars
              .filter(({ value }) => value > 0)
              .map(({ day, value }) => (
                <tr key={day}>
                  <th scope="row">{write(day)}</th>
                  <td>{intl.formatNumber(value)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </details>
    </div>
  );
}

/** Every one of the last days, with nothing where nothing was. */
export function lastDays(count: number, values: ReadonlyMap<string, number>, today = new Date()): Bar[] {
  return Array.from({ length: count }, (_, at) => {
    const day = new Date(today.getTime() - (count - 1 - at) * 86_400_000).toISOString().slice(0, 10);
    return { day, value: values.get(day) ?? 0 };
  });
}
