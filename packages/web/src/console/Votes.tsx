/** The confirmed texts of one account that other jobs use, and the sources that editors translate differently. */
import { useSuspenseQuery } from '@tanstack/react-query';
import { call, query } from '../api/client.ts';
import { Disagreements } from '../Disagreements.tsx';
import { useTranslate } from '../i18n.tsx';
import type { Loading, PageProps } from '../page.tsx';
import { paths } from '../paths.ts';
import { Votes as List } from '../Votes.tsx';
import { AccountPage } from './AccountPage.tsx';
import { useChange } from './shared.tsx';

const LISTED = 200;
const votes = (username: string) =>
  query('listAccountVotes', { path: { username }, query: { limit: LISTED } });

export const load = ({ queries, params }: Loading) => queries.ensureQueryData(votes(params.username!));

export default function Votes({ params }: PageProps) {
  const t = useTranslate();
  const change = useChange();
  const username = params.username!;
  const { data } = useSuspenseQuery(votes(username));
  return (
    <AccountPage username={username} title={t('votes.title')}>
      <List
        votes={data.votes}
        jobLink={(uid) => ({ to: paths.console.jobs, search: { account: username, q: uid } })}
        undo={(vote) => change(() => call('undoAccountVote', { path: { username, vote } }))}
      />
      <Disagreements
        queryKey={['listAccountDisagreements', username]}
        read={(before, signal) =>
          call('listAccountDisagreements', { path: { username }, query: { before } }, { signal })
        }
        make={(disagreement, body) => call('makeAccountRule', { path: { username, disagreement }, body })}
        end={(disagreement, rule) =>
          call('endAccountRule', { path: { username, disagreement }, query: { rule } })
        }
      />
    </AccountPage>
  );
}
