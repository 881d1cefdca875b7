/**
 * How to write a page. Each page is a module that is loaded when a user opens the page:
 *
 *     // pages/Queue.tsx
 *     const queue = () => query('readQueue');
 *
 *     export const load = ({ queries }: Loading) => queries.ensureQueryData(queue());
 *
 *     export default function Queue({ search }: PageProps) {
 *       const { data } = useSuspenseQuery(queue());   // `load` has fetched it
 *       return <Page title={useTranslate()('queue.title')}>…</Page>;
 *     }
 *
 * `routes.tsx` (or the `routes.ts` of an area) gives the page its address: `page(parent, '/queue', () =>
 * import('./pages/Queue.tsx'))`. A skeleton is shown when `load` takes longer than 150 ms. When `load` fails,
 * the page shows the error, the request's id and a button to try again.
 *
 * A list whose filters are in the address uses `useList(query(…, { query: search }))`: the old rows stay
 * until the new ones are loaded.
 */
import {
  keepPreviousData,
  type QueryClient,
  type QueryKey,
  type UseQueryOptions,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query';
import { type AnyRoute, createRoute, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type ComponentType, useEffect, useState } from 'react';
import type { CallError } from './api/client.ts';
import { loadChunk, preloadChunk } from './upgrade.ts';

export type Search = Partial<Record<string, string>>;

export interface Loading {
  queries: QueryClient;
  params: Record<string, string>;
  search: Search;
}

export interface PageProps {
  params: Record<string, string>;
  search: Search;
}

export interface PageModule {
  load?(loading: Loading): Promise<unknown>;
  default: ComponentType<PageProps>;
}

/** Creates the route of a page below its parent's address. */
export function page(parent: AnyRoute, path: string, fetchModule: () => Promise<PageModule>) {
  // Not a lazy component: it would suspend at its first render, although the loader has already fetched the module.
  // React then shows the skeleton, and keeps it for 300 ms.
  let Loaded: ComponentType<PageProps> | undefined;
  return createRoute({
    getParentRoute: () => parent,
    path,
    async loader({ context, params, location, preload }) {
      const { load, default: component } = await (preload
        ? preloadChunk(fetchModule, location.publicHref)
        : loadChunk(fetchModule));
      Loaded = component;
      const { queries } = context as { queries: QueryClient };
      await load?.({ queries, params: params as Record<string, string>, search: location.search as Search });
    },
    component: function LoadedPage() {
      const params = useParams({ strict: false }) as Record<string, string>;
      const search = useSearch({ strict: false }) as Search;
      return Loaded && <Loaded params={params} search={search} />;
    },
  });
}

/** Queries a list; returns the previous answer while a new one is loading. */
export function useList<Data>(options: UseQueryOptions<Data, CallError, Data, QueryKey>) {
  return useQuery({ ...options, placeholderData: keepPreviousData });
}

/** Returns a function that writes filters into the address and leaves out empty filters. */
export function useFilters(): (change: Search) => void {
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as Search;
  return (change) => {
    const next = Object.entries({ ...search, ...change }).filter(
      ([, value]) => value !== undefined && value !== '',
    );
    void navigate({ to: '.', search: Object.fromEntries(next) as never, replace: true });
  };
}

/** Loads a list page by page, for `Table` and `More` of `ui/Table.tsx`. */
export function usePages<Answer extends { objects: unknown[]; next: string | null }>(
  key: QueryKey,
  fetchPage: (after: string | undefined, signal: AbortSignal) => Promise<Answer>,
) {
  const pages = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => fetchPage(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    placeholderData: keepPreviousData,
  });
  return {
    rows: pages.data?.pages.flatMap(({ objects }) => objects) as Answer['objects'] | undefined,
    first: pages.data?.pages[0],
    error: pages.error,
    onRetry: () => void pages.refetch(),
    more: {
      hasMore: pages.hasNextPage,
      busy: pages.isFetchingNextPage,
      onMore: () => void pages.fetchNextPage(),
    },
  };
}

/** How long typing must pause before the server searches. */
const TYPING_PAUSE_MS = 200;

/** Returns the text as it was at the last pause in typing. */
export function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}
