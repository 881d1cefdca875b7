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
