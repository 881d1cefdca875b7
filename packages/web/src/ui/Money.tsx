import { FormattedNumber } from 'react-intl';

/** Shows an amount in dollars. @param cents US cents */
export function Money({ cents }: { cents: number }) {
  return (
    <bdi className="numbers" dir="ltr">
      <FormattedNumber
        value={cents / 100}
        // biome-ignore lint/style/useNamingConvention: the name of the platform
        style="currency"
        currency="USD"
        currencyDisplay="narrowSymbol"
        minimumFractionDigits={2}
        maximumFractionDigits={2}
      />
    </bdi>
  );
}
