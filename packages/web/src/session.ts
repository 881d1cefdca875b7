/** Who is signed in, and how they want to see the app. Nobody is null. */
import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { CallError, call } from './api/client.ts';
import type { Me, SignIn } from './api/generated.ts';
import { knownLanguage, readLook, setLook } from './look.ts';
import { chooseLanguage } from './words.tsx';

export type Person = Me;

export const person = () =>
  queryOptions<Person | null, CallError>({
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

/** @returns whoever is signed in; pages that need somebody are not drawn without */
export function usePerson(): Person | undefined {
  return useQuery(person()).data ?? undefined;
}

export function readPerson(queries: QueryClient): Promise<Person | null> {
  return queries.ensureQueryData(person());
}

/** @throws CallError `wrong_sign_in`, `too_many_attempts` */
export async function signIn(queries: QueryClient, body: SignIn): Promise<Person> {
  return welcome(queries, await call('signIn', { body }));
}

/** Somebody is signed in from now on, and sees the app as they last chose to. */
export async function welcome(queries: QueryClient, me: Person): Promise<Person> {
  queries.clear();
  queries.setQueryData(person().queryKey, me);
  const { theme, language } = readLook();
  if (me.theme !== theme) setLook({ theme: me.theme });
  const theirs = knownLanguage(me.locale);
  if (theirs !== undefined && theirs !== language) await chooseLanguage(theirs);
  return me;
}

export async function signOut(queries: QueryClient): Promise<void> {
  await call('signOut');
  queries.clear();
  queries.setQueryData(person().queryKey, null);
}

/** Keeps theme and language on whoever is signed in, so that they are the same at another machine. */
export async function rememberLook(queries: QueryClient): Promise<void> {
  if (queries.getQueryData(person().queryKey) == null) return;
  const { theme, language } = readLook();
  queries.setQueryData(person().queryKey, await call('changeMe', { body: { theme, locale: language } }));
}
