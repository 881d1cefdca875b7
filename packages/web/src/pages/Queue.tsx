import { Empty } from '../ui/Empty.tsx';
import { Card, Page } from '../ui/Page.tsx';
import { useSay } from '../words.tsx';

export default function Queue() {
  const say = useSay();
  return (
    <Page title={say('queue.title')}>
      <Card>
        <Empty>{say('queue.empty')}</Empty>
      </Card>
    </Page>
  );
}
