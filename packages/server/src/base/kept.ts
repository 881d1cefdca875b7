/** Kept segments: the engine route of their draft is `kept:` and the reason. */
import type { Kept } from '@dragoman/documents';

const PREFIX = 'kept:';

export const routeOfKept = (kept: Kept): string => `${PREFIX}${kept}`;

/** Returns why a segment is kept, by the route of its draft; undefined for a translated one. */
export const keptOf = (route: string | null | undefined): Kept | undefined =>
  route?.startsWith(PREFIX) ? (route.slice(PREFIX.length) as Kept) : undefined;
