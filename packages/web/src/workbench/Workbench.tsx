import type { PageProps } from '../page.tsx';
import { Page } from '../ui/Page.tsx';
import { useSay } from '../words.tsx';

export default function Workbench({ params }: PageProps) {
  const say = useSay();
  return (
    <main>
      <Page title={say('workbench.title', { task: params.task })}>{null}</Page>
    </main>
  );
}
