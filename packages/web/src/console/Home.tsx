import { Empty } from '../ui/Empty.tsx';
import { Card, Page } from '../ui/Page.tsx';
import { useSay } from '../words.tsx';

export default function Home() {
  const say = useSay();
  return (
    <Page title={say('console.home.title')}>
      <Card>
        <Empty>{say('console.home.empty')}</Empty>
      </Card>
    </Page>
  );
}
