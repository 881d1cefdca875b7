import { useIntl } from 'react-intl';
import { useTranslate } from '../i18n.tsx';

/**
 * Returns the function that names a language in the app's language. Unknown languages are shown by their
 * code.
 */
export function useLanguageName(): (code: string) => string {
  const intl = useIntl();
  return (code) => {
    try {
      return intl.formatDisplayName(code, { type: 'language', style: 'long', fallback: 'code' }) ?? code;
    } catch {
      return code;
    }
  };
}

/** Shows a language pair by the names of its languages. */
export function Pair({ from, to }: { from: string; to: string }) {
  const t = useTranslate();
  const name = useLanguageName();
  return t('ui.pair', { from: name(from), to: name(to) });
}
