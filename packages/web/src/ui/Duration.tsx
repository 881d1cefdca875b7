import { useIntl } from 'react-intl';

const MINUTE_MILLISECONDS = 60_000;

/** Shows a duration in hours and minutes. */
export function Duration({ milliseconds }: { milliseconds: number }) {
  const intl = useIntl();
  const minutes = Math.round(milliseconds / MINUTE_MILLISECONDS);
  const write = (value: number, unit: 'hour' | 'minute') =>
    intl.formatNumber(value, { style: 'unit', unit, unitDisplay: 'short' });
  if (minutes < 60) return write(minutes, 'minute');
  const rest = minutes % 60;
  return rest === 0
    ? write((minutes - rest) / 60, 'hour')
    : `${write((minutes - rest) / 60, 'hour')} ${write(rest, 'minute')}`;
}
