import { Empty } from '../ui/Empty.tsx';
import { Card, Page } from '../ui/Page.tsx';
import { useSay } from '../words.tsx';

export default function Overview() {
  const say = useSay();
  return (
    <Page title={say('account.overview.title')}>
      <Card>
        <Empty>{say('account.overview.empty')}</Empty>
      </Card>
    </Page>
  );
}
