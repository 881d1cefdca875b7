/** Says which editors confirmed the text of a segment. */
import { useIntl } from 'react-intl';
import { useTranslate } from '../i18n.tsx';

/** @returns a function that takes the editors who agree, with an empty name for a deleted user */
export function useVoteName(): (vote: { agree: number; by: readonly string[] }) => string {
  const t = useTranslate();
  const { formatList } = useIntl();
  return ({ agree, by }) => {
    const names = by.filter((name) => name !== '');
    return names.length < agree
      ? t('workbench.row.vote', { agree })
      : t('workbench.row.vote_by', { names: formatList(names) });
  };
}
