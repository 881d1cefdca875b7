import { useIntl } from 'react-intl';
import { useSay } from '../words.tsx';

/** The name of a language in the language of the page; its code where it has none. */
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

/** What is translated into what. */
export function Pair({ from, to }: { from: string; to: string }) {
  const say = useSay();
  const name = useLanguageName();
  return say('ui.pair', { from: name(from), to: name(to) });
}
