/** The scopes of API keys: the parts of the API that a key may use. */
import type { KeyScope } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { ChecksField, type Values } from './form.tsx';
import { Tag } from './StatusBadge.tsx';

const SCOPES: readonly KeyScope[] = ['jobs', 'chat', 'deliveries', 'account'];

/** Lets a form choose the scopes of a new key. */
export function ScopesField() {
  const t = useTranslate();
  return (
    <ChecksField
      name="scopes"
      label={t('scope.title')}
      choices={SCOPES.map((value) => ({ value, label: t(`scope.${value}`) }))}
    />
  );
}

/** Returns the chosen scopes; null for all, so that the key also has the scopes of later versions. */
export function scopesOf(values: Values): KeyScope[] | null {
  const chosen = SCOPES.filter((scope) => values[`scopes.${scope}`] !== undefined);
  return chosen.length === SCOPES.length ? null : chosen;
}

/** Shows the scopes of a key that does not have all of them. */
export function ScopeTags({ scopes }: { scopes: readonly KeyScope[] | null }) {
  const t = useTranslate();
  return scopes?.map((scope) => <Tag key={scope}>{t(`scope.${scope}`)}</Tag>);
}
