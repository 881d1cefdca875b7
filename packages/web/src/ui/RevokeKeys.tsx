/**
 * A part of the dialog that disables a user: lists the API keys that the user created, with a checkbox to
 * revoke them.
 */
import { Checkbox } from '@mantine/core';
import type { CreatedKey } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import css from './RevokeKeys.module.css';

interface RevokeKeysProps {
  keys: readonly CreatedKey[];
  checked: boolean;
  onChange(checked: boolean): void;
}

export function RevokeKeys({ keys, checked, onChange }: RevokeKeysProps) {
  const t = useTranslate();
  if (keys.length === 0) return null;
  return (
    <div className={css.keys}>
      <p>{t('ui.left_keys')}</p>
      <ul>
        {keys.map(({ key_id, name, username }) => (
          <li key={key_id}>
            <bdi>{name}</bdi>{' '}
            <small>
              <code dir="ltr">{key_id}…</code> · <bdi>{username}</bdi>
            </small>
          </li>
        ))}
      </ul>
      <Checkbox
        label={t('ui.revoke_keys')}
        checked={checked}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
    </div>
  );
}
