/** Segments that are not in the source language are kept. The route of their drafts says so, and why. */
import type { Kept } from '@dragoman/documents';

const PREFIX = 'kept:';

export const routeOfKept = (kept: Kept): string => `${PREFIX}${kept}`;

/** Why a segment is kept, by the route of its draft; undefined for one that is translated. */
export const keptOf = (route: string | null | undefined): Kept | undefined =>
  route?.startsWith(PREFIX) ? (route.slice(PREFIX.length) as Kept) : undefined;
