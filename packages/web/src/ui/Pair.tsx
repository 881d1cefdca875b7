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

export interface LanguagePair {
  source_language: string;
  target_language: string;
}

/** Shows a language pair by the names of its languages. @param props.of the pair, or what has one */
export function Pair({ of }: { of: LanguagePair }) {
  const t = useTranslate();
  const name = useLanguageName();
  return t('ui.pair', { from: name(of.source_language), to: name(of.target_language) });
}
