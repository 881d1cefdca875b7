/** Warns when the balance is used up or soon will be. */
import type { OwnAccount } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { paths } from '../paths.ts';
import { Link } from '../ui/Link.tsx';
import { Notice } from '../ui/Notice.tsx';
import type { Environment } from './environment.tsx';

/** A warning is shown if, at the average cost per day of the last 30 days, the balance lasts fewer days than this. */
const WARNING_DAYS = 7;

export const balanceOf = ({ balances }: Pick<OwnAccount, 'balances'>, environment: Environment) =>
  balances.find((one) => one.environment === environment);

/** Returns the cents that an account can spend; undefined if it has no credit limit. */
export function availableOf(
  account: Pick<OwnAccount, 'balances'>,
  environment: Environment,
): number | undefined {
  const found = balanceOf(account, environment);
  return found?.credit_limit == null ? undefined : found.balance + found.credit_limit;
}

export function LowBalance({
  account,
  environment,
  isLinked = false,
}: {
  account: OwnAccount;
  environment: Environment;
  /** Whether the notice has a link to the page of the balance. */
  isLinked?: boolean;
}) {
  const t = useTranslate();
  const available = availableOf(account, environment);
  if (environment === 'sandbox' || available === undefined) return null;
  const spent = account.last_30_days
    .filter((row) => row.environment === environment)
    .reduce((sum, { cents }) => sum + cents, 0);
  const days = Math.floor(available / (spent / 30));
  if (available > 0 && !(days < WARNING_DAYS)) return null;
  const link = isLinked && <Link to={paths.account.balance}>{t('account.overview.to_balance')}</Link>;
  return (
    <Notice tone="warning" action={link}>
      {available <= 0 ? t('account.overview.low') : t('account.balance.soon', { days })}
    </Notice>
  );
}
