/** In the dialog that shuts a person out: the keys that they made, and whether these end too. */
import { Checkbox } from '@mantine/core';
import type { LeftKey } from '../api/generated.ts';
import { useSay } from '../words.tsx';

interface RevokeKeysProps {
  keys: readonly LeftKey[];
  checked: boolean;
  onChange(checked: boolean): void;
}

export function RevokeKeys({ keys, checked, onChange }: RevokeKeysProps) {
  const say = useSay();
  if (keys.length === 0) return null;
  return (
    <>
      <p>{say('ui.left_keys')}</p>
      <ul>
        {keys.map(({ key_id, name, username }) => (
          <li key={key_id}>
            <bdi>{name}</bdi> <code dir="ltr">{key_id}…</code> (<bdi>{username}</bdi>)
          </li>
        ))}
      </ul>
      <Checkbox
        label={say('ui.revoke_keys')}
        checked={checked}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
    </>
  );
}
