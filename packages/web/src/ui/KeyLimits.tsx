/** The limits of API keys: the parts of the API that a key may use, and what it may order in a day. */
import { CallError } from '../api/client.ts';
import type { KeyScope } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { ChecksField, Field, type Values } from './form.tsx';
import { centsOf, useMoney } from './Money.tsx';
import { Tag } from './StatusBadge.tsx';

const SCOPES: readonly KeyScope[] = ['jobs', 'machine', 'chat', 'deliveries', 'account'];

/** Lets a form choose the limits of a new key. */
export function KeyLimitFields() {
  const t = useTranslate();
  return (
    <>
      <ChecksField
        name="scopes"
        label={t('scope.title')}
        choices={SCOPES.map((value) => ({ value, label: t(`scope.${value}`) }))}
      />
      <Field name="daily_cents" label={t('key.daily')} description={t('key.daily.help')} optional ltr />
    </>
  );
}

export interface KeyLimits {
  /** Null for all, so that the key also has the scopes of later versions. */
  scopes: KeyScope[] | null;
  /** Null for no limit. */
  daily_cents: number | null;
}

/** Returns the chosen limits. @throws CallError for an amount that cannot be read */
export function keyLimitsOf(values: Values, t: ReturnType<typeof useTranslate>): KeyLimits {
  const chosen = SCOPES.filter((scope) => values[`scopes.${scope}`] !== undefined);
  const written = values.daily_cents ?? '';
  const cents = written.trim() === '' ? null : centsOf(written);
  if (cents === undefined || (cents !== null && cents <= 0)) {
    throw new CallError('invalid_request', '', { fields: { daily_cents: t('ui.money_wrong') } });
  }
  return { scopes: chosen.length === SCOPES.length ? null : chosen, daily_cents: cents };
}

/** Shows the limits of a key: its scopes if it does not have all, and what it ordered of its limit today. */
export function KeyLimitTags({ scopes, daily_cents, ordered_cents }: KeyLimits & { ordered_cents: number }) {
  const t = useTranslate();
  const money = useMoney();
  return (
    <>
      {scopes?.map((scope) => (
        <Tag key={scope}>{t(`scope.${scope}`)}</Tag>
      ))}
      {daily_cents !== null && (
        <Tag>{t('key.daily.today', { ordered: money(ordered_cents), limit: money(daily_cents) })}</Tag>
      )}
    </>
  );
}
