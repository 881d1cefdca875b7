/**
 * Automatic quality checks of a segment's translation: pure functions of pieces, the same in the browser and on the
 * server.
 */
import type { Piece } from '@dragoman/documents';

/** An error keeps a segment from being confirmed; a warning needs one acknowledgement. */
export type Severity = 'error' | 'warning';

export interface CheckInput {
  source: readonly Piece[];
  target: readonly Piece[];
}
