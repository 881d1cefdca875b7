/** The root of the app: theme, direction, messages, query cache and router. */
import { DirectionProvider, MantineProvider } from '@mantine/core';
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useEffect, useSyncExternalStore } from 'react';
import { CallError, onSignedOut } from './api/client.ts';
import { MessagesProvider, useTranslate } from './i18n.tsx';
import { readPreferences, schemeOf, watchPreferences } from './preferences.ts';
import { createAppRouter, loadAhead } from './routes.tsx';
import { isAskedByPage, sessionQuery } from './session.ts';
import { toast } from './ui/Toast.tsx';
import { theme } from './ui/theme.ts';
import { nonce } from './ui/trusted-types.ts';
import { wasUpgraded } from './upgrade.ts';

/** Retries a query once when the server could not be reached or answered 5xx. */
const retry = (failures: number, error: Error) =>
  failures < 1 && error instanceof CallError && (error.status === 0 || error.status >= 500);

const queries = new QueryClient({
  queryCache: new QueryCache(),
  defaultOptions: { queries: { retry, staleTime: 5_000 }, mutations: { retry: false } },
});
const router = createAppRouter(queries);
loadAhead(queries, location.pathname);
onSignedOut(() => {
  // After the session has ended, the router runs its checks again and redirects to the sign-in page.
  if (queries.getQueryData(sessionQuery().queryKey) == null || isAskedByPage()) return;
  queries.clear();
  queries.setQueryData(sessionQuery().queryKey, null);
  void router.invalidate();
});

export function App() {
  const { theme: chosen } = useSyncExternalStore(watchPreferences, readPreferences);
  return (
    <DirectionProvider>
      <MantineProvider
        theme={theme}
        forceColorScheme={schemeOf(chosen)}
        withCssVariables={false}
        withGlobalClasses={false}
        getStyleNonce={() => nonce}
      >
        <MessagesProvider>
          <UpgradeNotice />
          <QueryClientProvider client={queries}>
            <RouterProvider router={router} />
          </QueryClientProvider>
        </MessagesProvider>
      </MantineProvider>
    </DirectionProvider>
  );
}

/** Shows a message when the page was reloaded for a new version. */
function UpgradeNotice() {
  const t = useTranslate();
  useEffect(() => {
    if (wasUpgraded()) toast(t('ui.upgraded'));
  }, [t]);
  return null;
}
