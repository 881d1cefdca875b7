/**
 * How a page is made. A page is a module of its own, fetched when it is opened:
 *
 *     // pages/Queue.tsx
 *     const queue = () => query('readQueue');
 *
 *     export const load = ({ queries }: Loading) => queries.ensureQueryData(queue());
 *
 *     export default function Queue({ search }: PageProps) {
 *       const { data } = useSuspenseQuery(queue());   // is there: `load` has fetched it
 *       return <Page title={useSay()('queue.title')}>…</Page>;
 *     }
 *
 * and a line in `routes.tsx` (or the `routes.ts` of its area) puts it at an address: `page(parent, '/queue', () =>
 * import('./pages/Queue.tsx'))`. While `load` takes longer than 150 ms there is a skeleton; when it fails there is what
 * failed, the request's id, and a button to try again.
 *
 * A list whose filters are in the address asks with `useList(query(…, { query: search }))`: the rows of before stay
 * until the new ones are there.
 */
import {
  keepPreviousData,
  type QueryClient,
  type QueryKey,
  type UseQueryOptions,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query';
import {
  type AnyRoute,
  createRoute,
  lazyRouteComponent,
  useNavigate,
  useParams,
  useSearch,
} from '@tanstack/react-router';
import type { ComponentType } from 'react';
import type { CallError } from './api/client.ts';
import { part } from './upgrade.ts';

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

/** A page at an address below its parent's. */
export function page(parent: AnyRoute, path: string, fetchModule: () => Promise<PageModule>) {
  const Module = lazyRouteComponent(
    fetchModule as () => Promise<{ default: ComponentType<PageProps> }>,
  ) as unknown as ComponentType<PageProps>;
  return createRoute({
    getParentRoute: () => parent,
    path,
    async loader({ context, params, location, preload }) {
      // What is only thought of, under a pointer, loads no page anew.
      const { load } = await (preload ? fetchModule() : part(fetchModule));
      const { queries } = context as { queries: QueryClient };
      await load?.({ queries, params: params as Record<string, string>, search: location.search as Search });
    },
    component: function Drawn() {
      const params = useParams({ strict: false }) as Record<string, string>;
      return <Module params={params} search={useSearch({ strict: false }) as Search} />;
    },
  });
}

/** The answer of a list, that of before while another is on its way. */
export function useList<Data>(options: UseQueryOptions<Data, CallError, Data, QueryKey>) {
  return useQuery({ ...options, placeholderData: keepPreviousData });
}

/** Writes filters into the address; an empty one is left out. */
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

/** The pages of a list, one after another, as `ui/Table.tsx` shows them. */
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
