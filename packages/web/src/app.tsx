/** The app around its pages: theme, direction, words, what was fetched, and the way between pages. */
import { DirectionProvider, MantineProvider } from '@mantine/core';
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useEffect, useSyncExternalStore } from 'react';
import { CallError, onSignedOut } from './api/client.ts';
import { readLook, schemeOf, watchLook } from './look.ts';
import { createAppRouter } from './routes.tsx';
import { person } from './session.ts';
import { toast } from './ui/Toast.tsx';
import { theme } from './ui/theme.ts';
import { nonce } from './ui/trusted.ts';
import { wasUpgraded } from './upgrade.ts';
import { useSay, Words } from './words.tsx';

/** What failed for a reason that may pass is asked once more before anybody is told. */
const retry = (failures: number, error: Error) =>
  failures < 1 && error instanceof CallError && (error.status === 0 || error.status >= 500);

const queries = new QueryClient({
  queryCache: new QueryCache(),
  defaultOptions: { queries: { retry, staleTime: 5_000 }, mutations: { retry: false } },
});
const router = createAppRouter(queries);
onSignedOut(() => {
  // Whoever was signed in is not any more: the page asks anew, and leads to the sign-in.
  if (queries.getQueryData(person().queryKey) == null) return;
  queries.clear();
  queries.setQueryData(person().queryKey, null);
  void router.invalidate();
});

export function App() {
  const { theme: chosen } = useSyncExternalStore(watchLook, readLook);
  return (
    <DirectionProvider>
      <MantineProvider
        theme={theme}
        forceColorScheme={schemeOf(chosen)}
        withCssVariables={false}
        withGlobalClasses={false}
        getStyleNonce={() => nonce}
      >
        <Words>
          <Upgraded />
          <QueryClientProvider client={queries}>
            <RouterProvider router={router} />
          </QueryClientProvider>
        </Words>
      </MantineProvider>
    </DirectionProvider>
  );
}

/** Says why the page was loaded anew. */
function Upgraded() {
  const say = useSay();
  useEffect(() => {
    if (wasUpgraded()) toast(say('ui.upgraded'));
  }, [say]);
  return null;
}
