/**
 * Segments that are not translated. The engine route of their draft is `kept:` followed by the reason, such
 * as a text in another language.
 */
import type { Kept } from '@dragoman/documents';

const PREFIX = 'kept:';

export const routeOfKept = (kept: Kept): string => `${PREFIX}${kept}`;

/**
 * Returns why a segment is not translated, which is stored in place of the name of its engine; undefined for
 * a translated segment.
 */
export const keptOf = (route: string | null | undefined): Kept | undefined =>
  route?.startsWith(PREFIX) ? (route.slice(PREFIX.length) as Kept) : undefined;
