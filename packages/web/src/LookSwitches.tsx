import { NativeSelect } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import css from './frame.module.css';
import { LANGUAGES, type Language } from './languages.ts';
import { readLook, setLook, THEMES, type Theme, watchLook } from './look.ts';
import { rememberLook } from './session.ts';
import { chooseLanguage, useSay } from './words.tsx';

/** Language and theme, each in a list of its own. */
export function LookSwitches() {
  const say = useSay();
  const queries = useQueryClient();
  const { theme, language } = useSyncExternalStore(watchLook, readLook);
  return (
    <div className={css.switches}>
      <NativeSelect
        size="xs"
        aria-label={say('look.language')}
        value={language}
        data={Object.entries(LANGUAGES).map(([value, { name }]) => ({ value, label: name }))}
        onChange={async (event) => {
          await chooseLanguage(event.currentTarget.value as Language);
          await rememberLook(queries);
        }}
      />
      <NativeSelect
        size="xs"
        aria-label={say('look.theme')}
        value={theme}
        data={THEMES.map((one) => ({ value: one, label: say(`look.theme.${one}`) }))}
        onChange={async (event) => {
          setLook({ theme: event.currentTarget.value as Theme });
          await rememberLook(queries);
        }}
      />
    </div>
  );
}
