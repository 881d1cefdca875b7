/**
 * Kept segments, which have nothing to translate. The engine route of their draft is `kept:` followed by the
 * reason.
 */
import type { Kept } from '@dragoman/documents';

const PREFIX = 'kept:';

export const routeOfKept = (kept: Kept): string => `${PREFIX}${kept}`;

/**
 * Returns the reason why a segment is kept, taken from the route of its draft; undefined for a translated
 * segment.
 */
export const keptOf = (route: string | null | undefined): Kept | undefined =>
  route?.startsWith(PREFIX) ? (route.slice(PREFIX.length) as Kept) : undefined;
