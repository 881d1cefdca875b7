import { FormattedNumber } from 'react-intl';

/** Dollars with cents. @param cents US cents, as the interface counts */
export function Money({ cents }: { cents: number }) {
  return (
    <span className="numbers">
      <FormattedNumber
        value={cents / 100}
        // biome-ignore lint/style/useNamingConvention: the name of the platform
        style="currency"
        currency="USD"
        currencyDisplay="narrowSymbol"
        minimumFractionDigits={2}
        maximumFractionDigits={2}
      />
    </span>
  );
}
