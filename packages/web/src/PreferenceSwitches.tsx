import { NativeSelect } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { chooseLanguage, useTranslate } from './i18n.tsx';
import { LANGUAGES, type Language } from './languages.ts';
import { readPreferences, setPreferences, THEMES, type Theme, watchPreferences } from './preferences.ts';
import css from './SignedInLayout.module.css';
import { savePreferences } from './session.ts';

/** The selects for language and theme. */
export function PreferenceSwitches() {
  const t = useTranslate();
  const queries = useQueryClient();
  const { theme, language } = useSyncExternalStore(watchPreferences, readPreferences);
  return (
    <div className={css.switches}>
      <NativeSelect
        size="xs"
        aria-label={t('preferences.language')}
        value={language}
        data={Object.entries(LANGUAGES).map(([value, { name }]) => ({ value, label: name }))}
        onChange={async (event) => {
          await chooseLanguage(event.currentTarget.value as Language);
          await savePreferences(queries);
        }}
      />
      <NativeSelect
        size="xs"
        aria-label={t('preferences.theme')}
        value={theme}
        data={THEMES.map((one) => ({ value: one, label: t(`preferences.theme.${one}`) }))}
        onChange={async (event) => {
          setPreferences({ theme: event.currentTarget.value as Theme });
          await savePreferences(queries);
        }}
      />
    </div>
  );
}
