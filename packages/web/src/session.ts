/** The session: the signed-in user and their preferences. */
import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { CallError, call } from './api/client.ts';
import type { Me, SignIn } from './api/generated.ts';
import { chooseLanguage } from './i18n.tsx';
import { knownLanguage, readPreferences, setPreferences } from './preferences.ts';

export type User = Me;

/** Queries the signed-in user; null without a session. */
export const sessionQuery = () =>
  queryOptions<User | null, CallError>({
    queryKey: ['session'],
    staleTime: 60_000,
    async queryFn({ signal }) {
      try {
        return await call('whoAmI', {}, { signal });
      } catch (error) {
        if (error instanceof CallError && error.status === 401) return null;
        throw error;
      }
    },
  });

let askAgain: (() => void) | undefined;

/**
 * Registers a function that asks for the password in the open page when the session ends. The app then does not open
 * the sign-in page, so unsaved input is not lost. Returns a function that removes the registration.
 */
export function askOnSessionEnd(ask: () => void): () => void {
  askAgain = ask;
  return () => {
    if (askAgain === ask) askAgain = undefined;
  };
}

/** Calls the function of `askOnSessionEnd`. Returns false if no page has registered one. */
export function isAskedByPage(): boolean {
  askAgain?.();
  return askAgain !== undefined;
}

/** Returns the signed-in user. Inside `SignedInLayout` there always is one. */
export function useUser(): User | undefined {
  return useQuery(sessionQuery()).data ?? undefined;
}

export function readUser(queries: QueryClient): Promise<User | null> {
  return queries.ensureQueryData(sessionQuery());
}

/** Signs a user in. @throws CallError `wrong_sign_in`, `too_many_attempts` */
export async function signIn(queries: QueryClient, body: SignIn): Promise<User> {
  return startSession(queries, await call('signIn', { body }));
}

/** Starts the session of a user in the page and applies their preferences. */
export async function startSession(queries: QueryClient, me: User): Promise<User> {
  queries.clear();
  queries.setQueryData(sessionQuery().queryKey, me);
  const { theme, language } = readPreferences();
  if (me.theme !== theme) setPreferences({ theme: me.theme });
  const preferred = knownLanguage(me.locale);
  if (preferred !== undefined && preferred !== language) await chooseLanguage(preferred);
  return me;
}

export async function signOut(queries: QueryClient): Promise<void> {
  await call('signOut');
  queries.clear();
  queries.setQueryData(sessionQuery().queryKey, null);
}

/** Stores theme and language on the signed-in user, for their other devices. */
export async function savePreferences(queries: QueryClient): Promise<void> {
  if (queries.getQueryData(sessionQuery().queryKey) == null) return;
  const { theme, language } = readPreferences();
  queries.setQueryData(
    sessionQuery().queryKey,
    await call('changeMe', { body: { theme, locale: language } }),
  );
}
