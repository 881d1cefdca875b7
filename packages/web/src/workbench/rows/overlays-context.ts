/** The part of the chunk `overlays.ts` that rows, bars and the preview use. */
import { createContext, use } from 'react';
import type * as overlays from './overlays.ts';

type Overlays = typeof overlays;
export const OverlaysContext = createContext<Overlays | null>(null);

/** Returns the components that are loaded separately, in parallel with the task. */
export function useOverlays(): Overlays {
  return use(OverlaysContext)!;
}
