/** Says who chose the text that a segment got from other tasks or jobs: editors, or the customer. */
import { useIntl } from 'react-intl';
import { useTranslate } from '../../i18n.tsx';

/** @returns a function that returns a sentence with the names of these editors. A deleted user has an empty name */
export function useVoteName(): (vote: { agree: number; by: readonly string[]; rule: boolean }) => string {
  const t = useTranslate();
  const { formatList } = useIntl();
  return ({ agree, by, rule }) => {
    if (rule) return t('workbench.row.rule');
    const names = by.filter((name) => name !== '');
    return names.length < agree
      ? t('workbench.row.vote', { agree })
      : t('workbench.row.vote_by', { names: formatList(names) });
  };
}
