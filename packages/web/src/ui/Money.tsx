import { useIntl } from 'react-intl';

/** Returns the function that writes an amount in dollars. Its argument is in US cents. */
export function useMoney(): (cents: number) => string {
  const intl = useIntl();
  return (cents) =>
    intl.formatNumber(cents / 100, {
      style: 'currency',
      currency: 'USD',
      currencyDisplay: 'narrowSymbol',
      minimumFractionDigits: 2,
      maximumFractionDigits: 2,
    });
}

/** Shows an amount in dollars. @param cents US cents */
export function Money({ cents }: { cents: number }) {
  const write = useMoney();
  return (
    <bdi className="numbers" dir="ltr">
      {write(cents)}
    </bdi>
  );
}

/** Parses dollars such as `12.5` or `12,50` into cents. Returns undefined for anything else. */
export function centsOf(written: string): number | undefined {
  const [, sign, whole, part = ''] = /^([-−]?)\s*(\d{1,9})(?:[.,](\d{1,2}))?$/.exec(written.trim()) ?? [];
  if (whole === undefined) return undefined;
  const cents = Number(whole) * 100 + Number(part.padEnd(2, '0'));
  return sign ? -cents : cents;
}
