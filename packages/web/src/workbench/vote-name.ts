/** Names the editors who confirmed the text of a segment in other jobs. */
import { useIntl } from 'react-intl';
import { useTranslate } from '../i18n.tsx';

/** @returns a function that returns a sentence with the names of these editors. A deleted user has an empty name */
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
