/**
 * Segments that are not translated. The engine route of their draft is `kept:` followed by the reason, such
 * as a text in another language.
 */
import type { Kept } from '@dragoman/documents';

const PREFIX = 'kept:';

/** Returns what is stored in place of the name of an engine, for a segment that is not translated. */
export const routeOfKept = (kept: Kept): string => `${PREFIX}${kept}`;

/**
 * Returns the reason why a segment is not translated; undefined for a translated segment. The reason is stored in place
 * of the name of an engine.
 */
export const keptOf = (route: string | null | undefined): Kept | undefined =>
  route?.startsWith(PREFIX) ? (route.slice(PREFIX.length) as Kept) : undefined;
