import { useTranslate } from '../i18n.tsx';

/** Returns the function that says in the user's language why an engine returned no translation. */
export function useEngineFailure(): (reason: string) => string {
  const t = useTranslate();
  // Names in the `select` of a message cannot have a space.
  return (reason) => t('engine.failure', { reason: reason.replaceAll(' ', '_') });
}
